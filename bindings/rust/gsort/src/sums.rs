// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums, extremes, the mean and running sums of slices.

use crate::error::Result;
use crate::key::Key;
use crate::order::{Nans, Scan};
use crate::raw::Reduction;
use crate::sort::filled;
use crate::sorter::Sorter;
use std::mem::MaybeUninit;

impl Sorter {
    /// The sum of all elements; 0 if there is none.
    ///
    /// Integers: modulo 2^64. Floats: the exact sum, rounded once to `f64`, whatever the order and the magnitude of the
    /// elements. A NaN, or both infinities, among them give a NaN, an infinity gives that infinity.
    ///
    /// ```
    /// # fn main() -> Result<(), gsort::Error> {
    /// let sorter = gsort::Sorter::new()?;
    /// assert_eq!(sorter.sum(&[1e300_f64, 1.0, -1e300])?, 1.0);
    /// assert_eq!(sorter.sum(&[-1_i8, -2])?, -3_i64);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sum<K: Key>(&self, input: &[K]) -> Result<K::Sum> {
        let mut out = MaybeUninit::<K::Sum>::uninit();
        // SAFETY: the slice and `out` are borrowed until the work is done.
        unsafe { self.waiting().sum(input, out.as_mut_ptr()) }?;
        // SAFETY: a successful call has written the sum.
        Ok(unsafe { out.assume_init() })
    }

    /// The mean: the exact quotient of the exact sum and the number of elements, rounded once. NaN if there is none.
    pub fn mean<K: Key>(&self, input: &[K]) -> Result<f64> {
        self.reduce(Reduction::Mean, input, Nans::Ordered)
    }

    /// The element that comes first in ascending order; none of an empty slice.
    pub fn min<K: Key>(&self, input: &[K], nans: Nans) -> Result<Option<K>> {
        let least = self.reduce(Reduction::Min, input, nans)?;
        Ok((!input.is_empty()).then_some(least))
    }

    /// The element that comes first in descending order; none of an empty slice.
    ///
    /// ```
    /// use gsort::{Nans, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let sorter = Sorter::new()?;
    /// let samples = [1.5_f32, f32::NAN, 2.5];
    /// assert!(sorter.max(&samples, Nans::Ordered)?.unwrap().is_nan());
    /// assert_eq!(sorter.max(&samples, Nans::Last)?, Some(2.5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn max<K: Key>(&self, input: &[K], nans: Nans) -> Result<Option<K>> {
        let greatest = self.reduce(Reduction::Max, input, nans)?;
        Ok((!input.is_empty()).then_some(greatest))
    }

    /// The index of [`Sorter::min`], the lowest of equals.
    pub fn argmin<K: Key>(&self, input: &[K], nans: Nans) -> Result<Option<usize>> {
        let index: u64 = self.reduce(Reduction::Argmin, input, nans)?;
        Ok((!input.is_empty()).then_some(index as usize))
    }

    /// The index of [`Sorter::max`], the lowest of equals.
    pub fn argmax<K: Key>(&self, input: &[K], nans: Nans) -> Result<Option<usize>> {
        let index: u64 = self.reduce(Reduction::Argmax, input, nans)?;
        Ok((!input.is_empty()).then_some(index as usize))
    }

    /// Running sums in the type of the elements. Integers wrap. Floats are added as `f64` in an order that is fixed, and
    /// each running sum is rounded once.
    ///
    /// ```
    /// use gsort::{Scan, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let sorter = Sorter::new()?;
    /// assert_eq!(sorter.scan(&[1_u32, 2, 3], Scan::Inclusive)?, [1, 3, 6]);
    /// assert_eq!(sorter.scan(&[1_u32, 2, 3], Scan::Exclusive)?, [0, 1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan<K: Key>(&self, input: &[K], scan: Scan) -> Result<Vec<K>> {
        // SAFETY: the arrays are borrowed until the work is done.
        filled(input.len(), |out| unsafe { self.waiting().scan(input, out, scan) })
    }

    /// [`Sorter::scan`] into a slice as long as `input`.
    pub fn scan_into<K: Key>(&self, input: &[K], out: &mut [K], scan: Scan) -> Result<()> {
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().scan(input, out, scan) }
    }

    /// [`Sorter::scan`] in place.
    pub fn scan_in_place<K: Key>(&self, elements: &mut [K], scan: Scan) -> Result<()> {
        let elements: *mut [K] = elements;
        // SAFETY: the slice is borrowed until the work is done, and an output may be its own input.
        unsafe { self.waiting().scan(elements, elements, scan) }
    }

    /// `R` must be the type that `reduction` writes.
    fn reduce<K: Key, R: Copy>(&self, reduction: Reduction, input: &[K], nans: Nans) -> Result<R> {
        let mut out = MaybeUninit::<R>::uninit();
        // SAFETY: the slice and `out`, which every caller above gives the right type, are borrowed until the work is
        // done.
        unsafe { self.waiting().reduce(reduction, input, out.as_mut_ptr().cast(), nans) }?;
        // SAFETY: a successful call has written the result.
        Ok(unsafe { out.assume_init() })
    }
}
