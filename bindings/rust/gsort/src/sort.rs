// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sorting slices.

use crate::builder::Backend;
use crate::error::{Error, Result, Status};
use crate::key::{Bf16, Index, Key, F16};
use crate::order::Order;
use crate::sorter::Sorter;
use std::any::TypeId;
use std::ptr;

impl Sorter {
    /// Sorts keys in place.
    ///
    /// After [`Status::Cancelled`] the keys are untouched or in another order; none is lost.
    pub fn sort<K: Key>(&self, keys: &mut [K], order: Order) -> Result<()> {
        let keys: *mut [K] = keys;
        // SAFETY: the slice is borrowed until the work is done, and an output may be its own input.
        unsafe { self.waiting().sort(keys, keys, order) }
    }

    /// Sorts the keys of `keys_in` into `keys_out`, which must be as long.
    pub fn sort_into<K: Key>(&self, keys_in: &[K], keys_out: &mut [K], order: Order) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().sort(keys_in, keys_out, order) }
    }

    /// Sorts keys in place and moves a value with each. Stable.
    ///
    /// Values may have any type that is `Copy`, of up to 65536 bytes: they are moved as the `size_of::<V>()` bytes that
    /// they are, padding included, and never looked at.
    ///
    /// After [`Status::Cancelled`] each of the two slices is untouched or in another order, and keys and values need no
    /// longer belong together: use [`Sorter::sort_pairs_into`] where that matters. On a GPU, values of a type other than
    /// the plain numbers are sorted through a copy as large as they are.
    ///
    /// ```
    /// use gsort::{Order, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let mut ages = [31_u8, 25, 31, 7];
    /// let mut names = ["Ann", "Bob", "Cid", "Dot"];
    /// Sorter::new()?.sort_pairs(&mut ages, &mut names, Order::DESCENDING)?;
    /// assert_eq!(names, ["Ann", "Cid", "Bob", "Dot"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort_pairs<K: Key, V: Copy + 'static>(&self, keys: &mut [K], values: &mut [V], order: Order) -> Result<()> {
        if std::mem::size_of::<V>() == 0 {
            return self.sort_keys_beside(keys, values.len(), order);
        }
        let keys: *mut [K] = keys;
        if self.backend() == Backend::Cuda && !any_bits_make_a::<V>() {
            // A device that fails for good in the middle of a copy could leave half a value behind.
            let n = values.len();
            // SAFETY: the slices are borrowed until the work is done; the moved values have room of their own.
            let moved = filled(n, |moved| unsafe { self.waiting().sort_pairs(keys, values, keys, moved, order) })?;
            values.copy_from_slice(&moved);
            return Ok(());
        }
        let values: *mut [V] = values;
        // SAFETY: the slices are borrowed until the work is done. On the CPU the values stay a permutation of themselves
        // whatever happens; otherwise any bytes make a V.
        unsafe { self.waiting().sort_pairs(keys, values, keys, values, order) }
    }

    /// Sorts the pairs of `keys_in` and `values_in` into `keys_out` and `values_out`. All must have the same length.
    /// See [`Sorter::sort_pairs`] about values. After a failure `values_out` holds `values_in` or what it held before.
    pub fn sort_pairs_into<K: Key, V: Copy + 'static>(
        &self,
        keys_in: &[K],
        values_in: &[V],
        keys_out: &mut [K],
        values_out: &mut [V],
        order: Order,
    ) -> Result<()> {
        if std::mem::size_of::<V>() == 0 {
            if values_in.len() != values_out.len() {
                return Err(Error::invalid("values_in and values_out must have as many elements"));
            }
            if keys_in.len() != keys_out.len() {
                return Err(Error::invalid("keys_in and keys_out must have as many elements"));
            }
            keys_out.copy_from_slice(keys_in);
            return self.sort_keys_beside(keys_out, values_in.len(), order);
        }
        let mut outcome = Restore { values_in, values_out, failed: true };
        let values_out: *mut [V] = outcome.values_out;
        // SAFETY: the slices are borrowed until the work is done; `outcome` makes `values_out` values again should the
        // call fail or a progress function panic.
        unsafe { self.waiting().sort_pairs(keys_in, values_in, keys_out, values_out, order) }?;
        outcome.failed = false;
        Ok(())
    }

    /// The stable order of the keys: `keys[result[0]]`, `keys[result[1]]`, ... is sorted.
    pub fn argsort<K: Key, I: Index>(&self, keys: &[K], order: Order) -> Result<Vec<I>> {
        // SAFETY: the arrays are borrowed until the work is done.
        filled(keys.len(), |indices| unsafe { self.waiting().argsort(keys, indices, order) })
    }

    /// [`Sorter::argsort`] into a slice as long as `keys`.
    pub fn argsort_into<K: Key, I: Index>(&self, keys: &[K], indices_out: &mut [I], order: Order) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().argsort(keys, indices_out, order) }
    }

    /// The place of every key in the stable order: `result[i]` is the number of keys that come before `keys[i]`. The
    /// inverse permutation of [`Sorter::argsort`].
    pub fn rank<K: Key, I: Index>(&self, keys: &[K], order: Order) -> Result<Vec<I>> {
        // SAFETY: the arrays are borrowed until the work is done.
        filled(keys.len(), |ranks| unsafe { self.waiting().rank(keys, ranks, order) })
    }

    /// [`Sorter::rank`] into a slice as long as `keys`.
    pub fn rank_into<K: Key, I: Index>(&self, keys: &[K], ranks_out: &mut [I], order: Order) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().rank(keys, ranks_out, order) }
    }

    /// Merges two slices that are each in `order`. If they are not, the result holds the same keys in an unspecified
    /// order.
    pub fn merge<K: Key>(&self, a: &[K], b: &[K], order: Order) -> Result<Vec<K>> {
        let n = a.len().checked_add(b.len()).ok_or_else(|| Error::invalid("a and b are too long together"))?;
        // SAFETY: the arrays are borrowed until the work is done.
        filled(n, |out| unsafe { self.waiting().merge(a, b, out, order) })
    }

    /// [`Sorter::merge`] into a slice as long as `a` and `b` together.
    pub fn merge_into<K: Key>(&self, a: &[K], b: &[K], out: &mut [K], order: Order) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().merge(a, b, out, order) }
    }

    /// Sorts every segment of a slice on its own, in place: segment s is `keys[offsets[s]..offsets[s + 1]]`. Offsets
    /// ascend (equal ones make an empty segment), none above `keys.len()`; keys outside all segments stay.
    ///
    /// ```
    /// use gsort::{Order, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let mut keys = [3_i32, 1, 2, 9, 8, 7];
    /// Sorter::new()?.sort_segments(&mut keys, &[0, 3, 5], Order::ASCENDING)?;
    /// assert_eq!(keys, [1, 2, 3, 8, 9, 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort_segments<K: Key>(&self, keys: &mut [K], offsets: &[u64], order: Order) -> Result<()> {
        let keys: *mut [K] = keys;
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().sort_segments(keys, keys, offsets, order) }
    }

    /// [`Sorter::sort_segments`] into a slice as long as `keys_in`.
    pub fn sort_segments_into<K: Key>(
        &self,
        keys_in: &[K],
        keys_out: &mut [K],
        offsets: &[u64],
        order: Order,
    ) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().sort_segments(keys_in, keys_out, offsets, order) }
    }

    /// A sort of pairs whose values have no size: there is nothing to move.
    fn sort_keys_beside<K: Key>(&self, keys: &mut [K], values: usize, order: Order) -> Result<()> {
        if keys.len() != values {
            return Err(Error::invalid(format!(
                "there are {values} values and {} keys; they must be as many",
                keys.len()
            )));
        }
        self.sort(keys, order)
    }
}

/// Makes an output of values whole again if its call did not get to the end.
struct Restore<'a, V: Copy> {
    values_in: &'a [V],
    values_out: &'a mut [V],
    failed: bool,
}

impl<V: Copy> Drop for Restore<'_, V> {
    fn drop(&mut self) {
        // Of slices of different length nothing was written.
        if self.failed && self.values_in.len() == self.values_out.len() {
            self.values_out.copy_from_slice(self.values_in);
        }
    }
}

/// Whether V is a type of which any bytes are a value. Says no when in doubt.
fn any_bits_make_a<V: 'static>() -> bool {
    macro_rules! is_one_of {
        ($($type:ty)*) => { [$(TypeId::of::<$type>()),*].contains(&TypeId::of::<V>()) };
    }
    is_one_of!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize F16 Bf16 f32 f64)
}

/// A vector of `n` elements that `fill` writes, all of them if it succeeds.
pub(crate) fn filled<T: Copy>(n: usize, fill: impl FnOnce(*mut [T]) -> Result<()>) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(n).map_err(|_| {
        let bytes = n as u128 * std::mem::size_of::<T>() as u128;
        Error::new(Status::OutOfMemory, format!("no {bytes} bytes of host memory for the {n} elements of the result"))
    })?;
    fill(ptr::slice_from_raw_parts_mut(elements.as_mut_ptr(), n))?;
    // SAFETY: there is room for n elements, and a successful call has written each.
    unsafe { elements.set_len(n) };
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_types_are_told_from_others() {
        assert!(any_bits_make_a::<u8>() && any_bits_make_a::<f64>() && any_bits_make_a::<Bf16>());
        assert!(!any_bits_make_a::<bool>() && !any_bits_make_a::<char>() && !any_bits_make_a::<&'static str>());
    }

    #[test]
    fn an_unfinished_output_is_restored() {
        let mut out = [9, 9];
        drop(Restore { values_in: &[1, 2], values_out: &mut out, failed: true });
        assert_eq!(out, [1, 2]);
        drop(Restore { values_in: &[3, 4], values_out: &mut out, failed: false });
        assert_eq!(out, [1, 2]);
        drop(Restore { values_in: &[5], values_out: &mut out, failed: true });
        assert_eq!(out, [1, 2]);
    }

    #[test]
    fn a_vector_too_large_is_an_error() {
        let error = filled::<u64>(usize::MAX / 4, |_| Ok(())).expect_err("there is not that much memory");
        assert_eq!(error.status(), Status::OutOfMemory);
        assert!(error.message().contains("elements"), "{error}");
    }
}
