// SPDX-License-Identifier: MIT OR Apache-2.0
//! The best of a slice and of the rows of a matrix.

use crate::error::{Error, Result};
use crate::key::{Index, Key};
use crate::order::Pick;
use crate::raw::RawRows;
use crate::sort::filled;
use crate::sorter::Sorter;

/// A borrowed matrix whose rows lie one after the other, perhaps with gaps.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, K> {
    data: &'a [K],
    rows: usize,
    columns: usize,
    row_stride: usize,
}

impl<'a, K: Key> Rows<'a, K> {
    /// All of `data` as rows of `columns` elements.
    pub fn new(data: &'a [K], columns: usize) -> Result<Self> {
        let rows = data.len().checked_div(columns).unwrap_or(0);
        if rows * columns != data.len() {
            return Err(Error::invalid(format!(
                "data has {} elements, which is no multiple of columns = {columns}",
                data.len()
            )));
        }
        Ok(Rows { data, rows, columns, row_stride: columns })
    }

    /// `rows` rows of `columns` elements; row r begins at `data[r * row_stride]`.
    pub fn with_stride(data: &'a [K], rows: usize, columns: usize, row_stride: usize) -> Result<Self> {
        if row_stride < columns {
            return Err(Error::invalid(format!("row_stride is {row_stride}, less than columns = {columns}")));
        }
        let end = match rows.checked_sub(1) {
            None => Some(0),
            Some(last) => last.checked_mul(row_stride).and_then(|start| start.checked_add(columns)),
        };
        if !end.is_some_and(|end| end <= data.len()) {
            return Err(Error::invalid(format!(
                "data has {} elements, too few for {rows} rows of {columns} columns with row_stride = {row_stride}",
                data.len()
            )));
        }
        Ok(Rows { data, rows, columns, row_stride })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of elements in a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn as_raw(&self) -> RawRows<K> {
        RawRows {
            data: self.data.as_ptr(),
            rows: self.rows as u64,
            columns: self.columns as u64,
            row_stride: self.row_stride as u64,
        }
    }

    /// The length of a result of k elements a row.
    fn result_length(&self, k: usize) -> Result<usize> {
        check_k(k, "columns", self.columns)?;
        self.rows.checked_mul(k).ok_or_else(|| Error::invalid("rows * k is too large"))
    }
}

/// Before memory for the result is asked for.
fn check_k(k: usize, of: &str, n: usize) -> Result<()> {
    if k > n {
        return Err(Error::invalid(format!("k is {k}, more than {of} = {n}; take at most that many")));
    }
    Ok(())
}

impl Sorter {
    /// The `k` best elements, best first, and their indices. Equal elements go by the lowest index.
    ///
    /// ```
    /// use gsort::{Pick, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let scores = [0.5_f32, 0.9, 0.1, 0.9];
    /// let (best, places): (_, Vec<u32>) = Sorter::new()?.topk(&scores, 3, Pick::GREATEST)?;
    /// assert_eq!(best, [0.9, 0.9, 0.5]);
    /// assert_eq!(places, [1, 3, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn topk<K: Key, I: Index>(&self, input: &[K], k: usize, pick: Pick) -> Result<(Vec<K>, Vec<I>)> {
        check_k(k, "n", input.len())?;
        filled_pair(k, |values, indices| {
            // SAFETY: the arrays are borrowed until the work is done.
            unsafe { self.waiting().topk(input, Some(values), Some(indices), pick) }
        })
    }

    /// The best elements of [`Sorter::topk`] without their indices.
    pub fn topk_values<K: Key>(&self, input: &[K], k: usize, pick: Pick) -> Result<Vec<K>> {
        check_k(k, "n", input.len())?;
        // SAFETY: the arrays are borrowed until the work is done.
        filled(k, |values| unsafe { self.waiting().topk(input, Some(values), None::<*mut [u64]>, pick) })
    }

    /// The indices of [`Sorter::topk`] without the elements.
    pub fn topk_indices<K: Key, I: Index>(&self, input: &[K], k: usize, pick: Pick) -> Result<Vec<I>> {
        check_k(k, "n", input.len())?;
        // SAFETY: the arrays are borrowed until the work is done.
        filled(k, |indices| unsafe { self.waiting().topk(input, None, Some(indices), pick) })
    }

    /// [`Sorter::topk`] into slices, with k their common length. At least one must be given.
    pub fn topk_into<K: Key, I: Index>(
        &self,
        input: &[K],
        values_out: Option<&mut [K]>,
        indices_out: Option<&mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let (values, indices) = (values_out.map(|out| out as *mut [K]), indices_out.map(|out| out as *mut [I]));
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().topk(input, values, indices, pick) }
    }

    /// [`Sorter::topk`] of every row of a matrix: elements and column indices, `k` of each row without gaps.
    ///
    /// ```
    /// use gsort::{Pick, Rows, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let matrix = [1_u32, 3, 2, 6, 4, 5];
    /// let (best, columns) = Sorter::new()?.topk_rows::<_, u32>(Rows::new(&matrix, 3)?, 1, Pick::GREATEST)?;
    /// assert_eq!((best, columns), (vec![3, 6], vec![1, 0]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn topk_rows<K: Key, I: Index>(&self, input: Rows<'_, K>, k: usize, pick: Pick) -> Result<(Vec<K>, Vec<I>)> {
        filled_pair(input.result_length(k)?, |values, indices| {
            // SAFETY: the arrays are borrowed until the work is done, and the rows lie within their slice.
            unsafe { self.waiting().topk_rows(input.as_raw(), k as u64, Some(values), Some(indices), pick) }
        })
    }

    /// [`Sorter::topk_rows`] into slices of `rows * k` elements. At least one must be given.
    pub fn topk_rows_into<K: Key, I: Index>(
        &self,
        input: Rows<'_, K>,
        k: usize,
        values_out: Option<&mut [K]>,
        indices_out: Option<&mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let (values, indices) = (values_out.map(|out| out as *mut [K]), indices_out.map(|out| out as *mut [I]));
        // SAFETY: the slices are borrowed until the work is done, and the rows lie within theirs.
        unsafe { self.waiting().topk_rows(input.as_raw(), k as u64, values, indices, pick) }
    }

    /// [`Sorter::topk`] of every segment of a slice, `input[offsets[s]..offsets[s + 1]]`: elements, and their indices
    /// counted from the segment's beginning, `k` entries of each without gaps. A segment of fewer elements leaves
    /// entries that are 0 in every bit of the value and 1 in every bit of the index.
    ///
    /// ```
    /// use gsort::{Pick, Sorter};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let (best, places) =
    ///     Sorter::new()?.topk_segments::<_, i32>(&[1_u32, 3, 2, 6], &[0, 3, 4], 2, Pick::GREATEST)?;
    /// assert_eq!((best, places), (vec![3, 2, 6, 0], vec![1, 2, 0, -1]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn topk_segments<K: Key, I: Index>(
        &self,
        input: &[K],
        offsets: &[u64],
        k: usize,
        pick: Pick,
    ) -> Result<(Vec<K>, Vec<I>)> {
        let entries = offsets.len().saturating_sub(1).checked_mul(k);
        filled_pair(entries.ok_or_else(|| Error::invalid("segments * k is too large"))?, |values, indices| {
            // SAFETY: the arrays are borrowed until the work is done.
            unsafe { self.waiting().topk_segments(input, offsets, k as u64, Some(values), Some(indices), pick) }
        })
    }

    /// [`Sorter::topk_segments`] into slices of `segments * k` elements. At least one must be given.
    pub fn topk_segments_into<K: Key, I: Index>(
        &self,
        input: &[K],
        offsets: &[u64],
        k: usize,
        values_out: Option<&mut [K]>,
        indices_out: Option<&mut [I]>,
        pick: Pick,
    ) -> Result<()> {
        let (values, indices) = (values_out.map(|out| out as *mut [K]), indices_out.map(|out| out as *mut [I]));
        // SAFETY: the slices are borrowed until the work is done.
        unsafe { self.waiting().topk_segments(input, offsets, k as u64, values, indices, pick) }
    }
}

/// Two vectors of `n` elements that `fill` writes.
fn filled_pair<K: Copy, I: Copy>(
    n: usize,
    fill: impl FnOnce(*mut [K], *mut [I]) -> Result<()>,
) -> Result<(Vec<K>, Vec<I>)> {
    let mut indices = Vec::new();
    let values = filled(n, |values| {
        indices = filled(n, |indices| fill(values, indices))?;
        Ok(())
    })?;
    Ok((values, indices))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_within_their_slice() {
        let data = [0_u8; 10];
        assert_eq!(Rows::new(&data, 5).map(|rows| rows.rows()), Ok(2));
        assert!(Rows::new(&data, 3).is_err() && Rows::new(&data, 0).is_err());
        assert_eq!(Rows::new(&data[..0], 0).map(|rows| rows.rows()), Ok(0));
        assert!(Rows::with_stride(&data, 2, 4, 6).is_ok());
        assert!(Rows::with_stride(&data, 2, 5, 6).is_err());
        assert!(Rows::with_stride(&data, 3, 4, 2).is_err());
        assert!(Rows::with_stride(&data, usize::MAX, 1, usize::MAX).is_err());
        assert!(Rows::with_stride(&data[..0], 0, 7, 9).is_ok());
        assert!(Rows::with_stride(&data[..0], usize::MAX, 0, 0).is_ok());
    }
}
