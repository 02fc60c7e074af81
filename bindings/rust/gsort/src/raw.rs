// SPDX-License-Identifier: MIT OR Apache-2.0
//! All calls on raw pointers. The safe methods go through here too, so that lengths are checked in one place.

use crate::error::{Error, Result};
use crate::key::{Index, Key};
use crate::order::{Nans, Order, Pick, Scan};
use crate::sorter::{Sorter, Wait};
use gsort_sys as sys;
use std::ffi::c_void;
use std::ptr;

/// The calls of a [`Sorter`] on raw slices, which may lie in device memory; [`Sorter::raw`] makes one.
///
/// A raw slice is a pointer and a length: [`std::ptr::slice_from_raw_parts`]. Each may name host memory (pageable or
/// pinned), managed memory or memory of the sorter's device, on its own; a CPU sorter takes host and managed memory
/// only. An output may be the same slice as the input of the same role; any other overlap is answered with an error.
///
/// # Safety
/// Every method that is `unsafe` asks this of the caller:
/// - each input is readable and each output writable for its whole length, and, in host memory, inputs are initialised;
/// - nobody else writes to the inputs or touches the outputs until the work has ended.
///
/// On CUDA, if all arrays lie in device or managed memory, a call only enqueues the work on the sorter's stream: it ends
/// in stream order, and [`Raw::synchronize`] waits for it.
///
/// ```
/// use gsort::{Order, Sorter};
/// use std::ptr::slice_from_raw_parts_mut;
///
/// # fn main() -> Result<(), gsort::Error> {
/// let sorter = Sorter::new()?;
/// let mut keys = vec![3_u32, 1, 2]; // in place of memory from cudaMalloc()
/// let array = slice_from_raw_parts_mut(keys.as_mut_ptr(), keys.len());
/// // SAFETY: the array is valid and nobody else uses it before synchronize() has returned.
/// unsafe { sorter.raw().sort(array, array, Order::ASCENDING)? };
/// sorter.raw().synchronize()?;
/// assert_eq!(keys, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    sorter: &'a Sorter,
    wait: Wait,
}

/// A matrix behind a raw pointer: row r begins at element `r * row_stride`.
#[derive(Debug, Clone, Copy)]
pub struct RawRows<K> {
    /// The first element of the first row.
    pub data: *const K,
    /// The number of rows.
    pub rows: u64,
    /// The number of elements in a row.
    pub columns: u64,
    /// Elements from one row to the next, at least `columns`.
    pub row_stride: u64,
}

/// What [`Raw::reduce`] computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The first element of the ascending order.
    Min,
    /// The first element of the descending order.
    Max,
    /// Index of the minimum, the lowest of equals.
    Argmin,
    /// Index of the maximum, the lowest of equals.
    Argmax,
    /// The exact sum divided by n, rounded once.
    Mean,
}

impl Reduction {
    fn code(self) -> u32 {
        match self {
            Reduction::Min => sys::GSORT_MIN,
            Reduction::Max => sys::GSORT_MAX,
            Reduction::Argmin => sys::GSORT_ARGMIN,
            Reduction::Argmax => sys::GSORT_ARGMAX,
            Reduction::Mean => sys::GSORT_MEAN,
        }
    }
}

impl<'a> Raw<'a> {
    pub(crate) fn new(sorter: &'a Sorter, wait: Wait) -> Self {
        Raw { sorter, wait }
    }

    /// Chooses the CUDA stream on which later calls enqueue their work; null: CUDA's legacy default stream.
    ///
    /// # Safety
    /// `cuda_stream` is a `cudaStream_t` (`CUstream`) of the sorter's device that stays valid until another stream is set
    /// or the sorter is dropped.
    pub unsafe fn set_stream(self, cuda_stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller vouches for the stream.
        self.sorter.run(Wait::No, |g| unsafe { sys::gsort_set_stream(g, cuda_stream) })
    }

    /// Lends the sorter device memory to work in instead of its own; null and 0 take it back. A call that needs more
    /// fails with [`Status::OutOfMemory`](crate::Status::OutOfMemory) and says how much.
    ///
    /// # Safety
    /// The memory is device memory of the sorter's device, and nobody else uses it until it is taken back and the
    /// sorter's work is done.
    pub unsafe fn set_workspace(self, device_memory: *mut c_void, bytes: u64) -> Result<()> {
        // SAFETY: the caller vouches for the memory.
        self.sorter.run(Wait::No, |g| unsafe { sys::gsort_set_workspace(g, device_memory, bytes) })
    }

    /// Waits for all work that the sorter has enqueued and reports its errors.
    pub fn synchronize(self) -> Result<()> {
        // SAFETY: the handle is alive.
        self.sorter.run(Wait::No, |g| unsafe { sys::gsort_synchronize(g) })
    }

    /// Sorts keys. `keys_out` may be `keys_in`.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn sort<K: Key>(self, keys_in: *const [K], keys_out: *mut [K], order: Order) -> Result<()> {
        same_length("keys_out", keys_out.len(), "keys_in", keys_in.len())?;
        let (input, output, n) = (keys_in.cast(), keys_out.cast(), keys_in.len() as u64);
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe { sys::gsort_sort(g, K::DTYPE.code(), input, output, n, order.flags()) })
    }

    /// Sorts keys and moves a value with each, as bytes. Stable. Each output may be its input. If `V` has a size that is
    /// a power of two up to 16, device arrays of values must be aligned to that size or to 8, whichever is less.
    ///
    /// # Safety
    /// As said at [`Raw`]. On failure `values_out` may hold bytes that are not a `V`.
    pub unsafe fn sort_pairs<K: Key, V: Copy>(
        self,
        keys_in: *const [K],
        values_in: *const [V],
        keys_out: *mut [K],
        values_out: *mut [V],
        order: Order,
    ) -> Result<()> {
        same_length("values_in", values_in.len(), "keys_in", keys_in.len())?;
        same_length("keys_out", keys_out.len(), "keys_in", keys_in.len())?;
        same_length("values_out", values_out.len(), "keys_in", keys_in.len())?;
        let value_bytes = u32::try_from(std::mem::size_of::<V>()).unwrap_or(u32::MAX);
        let (keys, values, n) = (keys_in.cast(), values_in.cast(), keys_in.len() as u64);
        let (sorted, moved, flags) = (keys_out.cast(), values_out.cast(), order.flags());
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_sort_pairs(g, K::DTYPE.code(), keys, sorted, value_bytes, values, moved, n, flags)
        })
    }

    /// The stable order of the keys: `keys[indices_out[0]]`, `keys[indices_out[1]]`, ... is sorted.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn argsort<K: Key, I: Index>(self, keys: *const [K], indices_out: *mut [I], order: Order) -> Result<()> {
        same_length("indices_out", indices_out.len(), "keys", keys.len())?;
        let (input, output, n) = (keys.cast(), indices_out.cast(), keys.len() as u64);
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_argsort(g, K::DTYPE.code(), input, n, I::DTYPE.code(), output, order.flags())
        })
    }

    /// The place of every key in the stable order: the inverse permutation of [`Raw::argsort`].
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn rank<K: Key, I: Index>(self, keys: *const [K], ranks_out: *mut [I], order: Order) -> Result<()> {
        same_length("ranks_out", ranks_out.len(), "keys", keys.len())?;
        let (input, output, n) = (keys.cast(), ranks_out.cast(), keys.len() as u64);
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_rank(g, K::DTYPE.code(), input, n, I::DTYPE.code(), output, order.flags())
        })
    }

    /// Merges two arrays that are each in `order`. `out` must overlap neither.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn merge<K: Key>(self, a: *const [K], b: *const [K], out: *mut [K], order: Order) -> Result<()> {
        let whole = a.len().checked_add(b.len()).ok_or_else(|| Error::invalid("a and b are too long together"))?;
        same_length("out", out.len(), "a and b together", whole)?;
        let (a_n, b_n, flags) = (a.len() as u64, b.len() as u64, order.flags());
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_merge(g, K::DTYPE.code(), a.cast(), a_n, b.cast(), b_n, out.cast(), flags)
        })
    }

    /// Sorts every segment of an array on its own: segment s holds the keys `offsets[s]..offsets[s + 1]`. Keys outside
    /// all segments are copied as they are. `keys_out` may be `keys_in`; `offsets` may lie in host or device memory.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn sort_segments<K: Key>(
        self,
        keys_in: *const [K],
        keys_out: *mut [K],
        offsets: *const [u64],
        order: Order,
    ) -> Result<()> {
        same_length("keys_out", keys_out.len(), "keys_in", keys_in.len())?;
        let (input, output, n, flags) = (keys_in.cast(), keys_out.cast(), keys_in.len() as u64, order.flags());
        let segments = offsets.len().saturating_sub(1) as u64;
        // SAFETY: the caller vouches for the arrays, whose lengths agree; the library checks the offsets.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_sort_segments(g, K::DTYPE.code(), input, output, n, offsets.cast(), segments, flags)
        })
    }

    /// The best elements, best first, as many as an output holds; equal elements go by the lowest index. At least one
    /// output must be given; two must have the same length.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn topk<K: Key, I: Index>(
        self,
        input: *const [K],
        values_out: Option<*mut [K]>,
        indices_out: Option<*mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let k = common_length(values_out, indices_out)?;
        let (n, k, flags) = (input.len() as u64, k as u64, pick.flags());
        let (values, indices) = (address(values_out), address(indices_out));
        // SAFETY: the caller vouches for the arrays; the library checks that k is at most n.
        self.sorter.run(self.wait, |g| unsafe {
            sys::gsort_topk(g, K::DTYPE.code(), input.cast(), n, k, values, I::DTYPE.code(), indices, flags)
        })
    }

    /// [`Raw::topk`] of every row of a matrix: `k` elements of each, written without gaps. Indices are those of columns.
    ///
    /// # Safety
    /// As said at [`Raw`]; the matrix is readable from the first element to the end of the last row.
    pub unsafe fn topk_rows<K: Key, I: Index>(
        self,
        input: RawRows<K>,
        k: u64,
        values_out: Option<*mut [K]>,
        indices_out: Option<*mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let length = common_length(values_out, indices_out)?;
        let expected = input.rows.checked_mul(k).and_then(|elements| usize::try_from(elements).ok());
        let expected = expected.ok_or_else(|| Error::invalid("rows * k is too large"))?;
        same_length("an output", length, "rows * k", expected)?;
        let RawRows { data, rows, columns, row_stride } = input;
        let (values, indices) = (address(values_out), address(indices_out));
        let (dtype, index_dtype, flags) = (K::DTYPE.code(), I::DTYPE.code(), pick.flags());
        // SAFETY: the caller vouches for the arrays; the library checks k and the stride.
        self.sorter.run(self.wait, |g| unsafe {
            let data = data.cast();
            sys::gsort_topk_rows(g, dtype, data, rows, columns, row_stride, k, values, index_dtype, indices, flags)
        })
    }

    /// [`Raw::topk`] of every segment of an array: `k` entries of each, without gaps; segment s holds the elements
    /// `offsets[s]..offsets[s + 1]`, and entries that it is too short for are 0 in every bit of a value and 1 in every
    /// bit of an index. `offsets` may lie in host or device memory.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn topk_segments<K: Key, I: Index>(
        self,
        input: *const [K],
        offsets: *const [u64],
        k: u64,
        values_out: Option<*mut [K]>,
        indices_out: Option<*mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let length = common_length(values_out, indices_out)?;
        let segments = offsets.len().saturating_sub(1) as u64;
        let expected = segments.checked_mul(k).and_then(|elements| usize::try_from(elements).ok());
        let expected = expected.ok_or_else(|| Error::invalid("segments * k is too large"))?;
        same_length("an output", length, "segments * k", expected)?;
        let (values, indices) = (address(values_out), address(indices_out));
        let (dtype, index_dtype, flags) = (K::DTYPE.code(), I::DTYPE.code(), pick.flags());
        let (n, offsets) = (input.len() as u64, offsets.cast());
        // SAFETY: the caller vouches for the arrays; the library checks the offsets.
        self.sorter.run(self.wait, |g| unsafe {
            let input = input.cast();
            sys::gsort_topk_segments(g, dtype, input, n, offsets, segments, k, values, index_dtype, indices, flags)
        })
    }

    /// The sum of all elements, exact as said at [`Sorter::sum`].
    ///
    /// # Safety
    /// As said at [`Raw`]; `out` is writable and aligned to 8.
    pub unsafe fn sum<K: Key>(self, input: *const [K], out: *mut K::Sum) -> Result<()> {
        let n = input.len() as u64;
        // SAFETY: the caller vouches for the array and for `out`, whose type has the 8 bytes that are written.
        self.sorter.run(self.wait, |g| unsafe { sys::gsort_sum(g, K::DTYPE.code(), input.cast(), n, out.cast(), 0) })
    }

    /// Minimum, maximum, their index, or the mean, for which `nans` must be [`Nans::Ordered`].
    ///
    /// # Safety
    /// As said at [`Raw`]; `out` is writable and aligned for one `K` (minimum, maximum), `u64` (their index) or `f64`
    /// (mean).
    pub unsafe fn reduce<K: Key>(
        self,
        reduction: Reduction,
        input: *const [K],
        out: *mut c_void,
        nans: Nans,
    ) -> Result<()> {
        let (dtype, n, flags) = (K::DTYPE.code(), input.len() as u64, nans.flags());
        // SAFETY: the caller vouches for the array and for `out`.
        self.sorter
            .run(self.wait, |g| unsafe { sys::gsort_reduce(g, reduction.code(), dtype, input.cast(), n, out, flags) })
    }

    /// Running sums. `out` may be `input`.
    ///
    /// # Safety
    /// As said at [`Raw`].
    pub unsafe fn scan<K: Key>(self, input: *const [K], out: *mut [K], scan: Scan) -> Result<()> {
        same_length("out", out.len(), "input", input.len())?;
        let (dtype, n) = (K::DTYPE.code(), input.len() as u64);
        // SAFETY: the caller vouches for the arrays, whose lengths agree.
        self.sorter.run(self.wait, |g| unsafe { sys::gsort_scan(g, dtype, input.cast(), out.cast(), n, scan.flags()) })
    }
}

fn same_length(name: &str, length: usize, other_name: &str, other_length: usize) -> Result<()> {
    if length == other_length {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{name} has {length} elements and {other_name} has {other_length}; they must have as many"
    )))
}

/// The number of elements that the outputs of a top-k have room for.
fn common_length<K, I>(values: Option<*mut [K]>, indices: Option<*mut [I]>) -> Result<usize> {
    match (values, indices) {
        (Some(values), Some(indices)) => {
            same_length("indices_out", indices.len(), "values_out", values.len())?;
            Ok(values.len())
        }
        (Some(values), None) => Ok(values.len()),
        (None, Some(indices)) => Ok(indices.len()),
        (None, None) => Err(Error::invalid("neither values_out nor indices_out is given; give at least one")),
    }
}

fn address<T>(output: Option<*mut [T]>) -> *mut c_void {
    output.map_or(ptr::null_mut(), |slice| slice.cast())
}
