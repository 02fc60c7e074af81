// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device memory and streams of the crate cudarc.

use crate::builder::{Backend, SorterBuilder};
use crate::error::{Error, Result};
use crate::key::{Index, Key};
use crate::order::{Order, Pick, Scan};
use crate::sorter::Sorter;
use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};
use std::fmt;
use std::ptr::slice_from_raw_parts_mut;
use std::sync::Arc;

/// A sorter that works on cudarc's arrays in device memory and on one of its streams. Its calls enqueue their work and
/// return; cudarc's events keep arrays of other streams in order.
///
/// Outputs are slices of the right length that the caller allocates. With a CUDA graph in mind, see
/// [`Sorter::reserve`].
///
/// ```no_run
/// use cudarc::driver::CudaContext;
/// use gsort::{CudaSorter, Order, Pick};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let sorter = CudaSorter::new(&stream)?;
/// let mut scores = stream.clone_htod(&[0.5_f32, 0.9, 0.1])?;
/// let (mut best, mut places) = (stream.alloc_zeros::<f32>(2)?, stream.alloc_zeros::<u32>(2)?);
/// sorter.topk_into(&scores, &mut best, &mut places, Pick::GREATEST)?;
/// sorter.sort(&mut scores, Order::ASCENDING)?;
/// assert_eq!(stream.clone_dtoh(&best)?, [0.9, 0.5]);
/// # Ok(())
/// # }
/// ```
pub struct CudaSorter {
    // Dropped before the stream that it works on.
    sorter: Sorter,
    stream: Arc<CudaStream>,
}

impl CudaSorter {
    /// A sorter on a stream and on its device.
    pub fn new(stream: &Arc<CudaStream>) -> Result<CudaSorter> {
        CudaSorter::with_options(Sorter::builder(), stream)
    }

    /// The same with limits, a log and other options; backend and device are the stream's.
    pub fn with_options(options: SorterBuilder, stream: &Arc<CudaStream>) -> Result<CudaSorter> {
        let ordinal = u32::try_from(stream.context().ordinal()).map_err(|error| Error::invalid(error.to_string()))?;
        let sorter = options.backend(Backend::Cuda).device(ordinal).build()?;
        // SAFETY: the stream is one of that device, and `self` keeps it for as long as the sorter.
        unsafe { sorter.raw().set_stream(stream.cu_stream().cast()) }?;
        Ok(CudaSorter { sorter, stream: stream.clone() })
    }

    /// The sorter, for [`Sorter::reserve`], [`Sorter::info`] and calls on host memory.
    pub fn sorter(&self) -> &Sorter {
        &self.sorter
    }

    /// The stream.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Sorts in place.
    pub fn sort<K: Key>(&self, keys: &mut impl DevicePtrMut<K>, order: Order) -> Result<()> {
        let (keys, _event) = self.output(keys);
        // SAFETY: device memory that is borrowed while the call is enqueued; cudarc orders what follows behind it.
        unsafe { self.sorter.raw().sort(keys, keys, order) }
    }

    /// Sorts into another array.
    pub fn sort_into<K: Key>(
        &self,
        keys: &impl DevicePtr<K>,
        keys_out: &mut impl DevicePtrMut<K>,
        order: Order,
    ) -> Result<()> {
        let ((keys, _in), (keys_out, _out)) = (self.input(keys), self.output(keys_out));
        // SAFETY: as in `sort`.
        unsafe { self.sorter.raw().sort(keys, keys_out, order) }
    }

    /// Sorts keys in place and moves the value of each along. Stable.
    pub fn sort_pairs<K: Key, V: Copy>(
        &self,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
        order: Order,
    ) -> Result<()> {
        let ((keys, _keys), (values, _values)) = (self.output(keys), self.output(values));
        // SAFETY: as in `sort`.
        unsafe { self.sorter.raw().sort_pairs(keys, values, keys, values, order) }
    }

    /// The stable order of the keys, as indices.
    pub fn argsort_into<K: Key, I: Index>(
        &self,
        keys: &impl DevicePtr<K>,
        indices_out: &mut impl DevicePtrMut<I>,
        order: Order,
    ) -> Result<()> {
        let ((keys, _in), (indices_out, _out)) = (self.input(keys), self.output(indices_out));
        // SAFETY: as in `sort`.
        unsafe { self.sorter.raw().argsort(keys, indices_out, order) }
    }

    /// The best elements, best first, and their indices: as many as the outputs hold.
    pub fn topk_into<K: Key, I: Index>(
        &self,
        input: &impl DevicePtr<K>,
        values_out: &mut impl DevicePtrMut<K>,
        indices_out: &mut impl DevicePtrMut<I>,
        pick: Pick,
    ) -> Result<()> {
        let ((input, _in), (values, _values)) = (self.input(input), self.output(values_out));
        let (indices, _indices) = self.output(indices_out);
        // SAFETY: as in `sort`.
        unsafe { self.sorter.raw().topk(input, Some(values), Some(indices), pick) }
    }

    /// The sum of all elements, exact as said at [`Sorter::sum`], into an array of one.
    pub fn sum_into<K: Key>(&self, input: &impl DevicePtr<K>, out: &mut impl DevicePtrMut<K::Sum>) -> Result<()> {
        let ((input, _in), (out, _out)) = (self.input(input), self.output(out));
        if out.len() != 1 {
            return Err(Error::invalid(format!("out has {} elements; a sum is one", out.len())));
        }
        // SAFETY: as in `sort`, and the output holds a sum.
        unsafe { self.sorter.raw().sum(input, out.cast()) }
    }

    /// Running sums.
    pub fn scan_into<K: Key>(
        &self,
        input: &impl DevicePtr<K>,
        out: &mut impl DevicePtrMut<K>,
        scan: Scan,
    ) -> Result<()> {
        let ((input, _in), (out, _out)) = (self.input(input), self.output(out));
        // SAFETY: as in `sort`.
        unsafe { self.sorter.raw().scan(input, out, scan) }
    }

    /// The address of an array that is read, and what records when that is over.
    fn input<'a, T>(&'a self, array: &'a impl DevicePtr<T>) -> (*const [T], SyncOnDrop<'a>) {
        let (address, event) = array.device_ptr(&self.stream);
        (slice_from_raw_parts_mut(address as *mut T, array.len()), event)
    }

    /// The same of an array that is written.
    fn output<'a, T>(&'a self, array: &'a mut impl DevicePtrMut<T>) -> (*mut [T], SyncOnDrop<'a>) {
        let length = array.len();
        let (address, event) = array.device_ptr_mut(&self.stream);
        (slice_from_raw_parts_mut(address as *mut T, length), event)
    }
}

impl fmt::Debug for CudaSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaSorter").field("sorter", &self.sorter).finish_non_exhaustive()
    }
}
