// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays and views of the crate ndarray. What lies in memory without gaps and in order is used where it is; the rest
//! is copied. An array's slice (`as_slice`) goes to every other method.

use crate::error::{Error, Result};
use crate::key::{Index, Key};
use crate::order::{Order, Pick};
use crate::select::Rows;
use crate::sorter::Sorter;
use ndarray::{Array1, Array2, ArrayRef, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Dimension};

impl Sorter {
    /// Sorts a view in place.
    ///
    /// ```
    /// use gsort::{Order, Sorter};
    /// use ndarray::{array, s};
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let mut matrix = array![[3, 9], [1, 8], [2, 7]];
    /// Sorter::new()?.sort_view(matrix.slice_mut(s![.., 0]), Order::ASCENDING)?;
    /// assert_eq!(matrix, array![[1, 9], [2, 8], [3, 7]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort_view<K: Key>(&self, mut keys: ArrayViewMut1<'_, K>, order: Order) -> Result<()> {
        if let Some(slice) = keys.as_slice_mut() {
            return self.sort(slice, order);
        }
        let mut copy = keys.to_vec();
        self.sort(&mut copy, order)?;
        keys.assign(&ArrayView1::from(&copy));
        Ok(())
    }

    /// Sorts every row of a matrix in place, as NumPy's `sort(axis=-1)` does.
    pub fn sort_rows<K: Key>(&self, mut matrix: ArrayViewMut2<'_, K>, order: Order) -> Result<()> {
        let (rows, columns) = matrix.dim();
        let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * columns as u64).collect();
        if let Some(slice) = matrix.as_slice_mut() {
            return self.sort_segments(slice, &offsets, order);
        }
        let mut copy: Vec<K> = matrix.iter().copied().collect();
        self.sort_segments(&mut copy, &offsets, order)?;
        matrix.iter_mut().zip(copy).for_each(|(to, key)| *to = key);
        Ok(())
    }

    /// The stable order of a view, as an array of indices.
    pub fn argsort_view<K: Key, I: Index>(&self, keys: ArrayView1<'_, K>, order: Order) -> Result<Array1<I>> {
        let places = match keys.as_slice() {
            Some(slice) => self.argsort(slice, order),
            None => self.argsort(&keys.to_vec(), order),
        };
        places.map(Array1::from_vec)
    }

    /// The `k` best elements of every row of a matrix and their columns, each as a matrix of `k` columns.
    ///
    /// ```
    /// use gsort::{Pick, Sorter};
    /// use ndarray::array;
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let scores = array![[0.5_f32, 0.9, 0.1], [0.2, 0.3, 0.8]];
    /// let (best, columns) = Sorter::new()?.topk_of_rows::<_, u32>(scores.view(), 2, Pick::GREATEST)?;
    /// assert_eq!(best, array![[0.9, 0.5], [0.8, 0.3]]);
    /// assert_eq!(columns, array![[1, 0], [2, 1]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn topk_of_rows<K: Key, I: Index>(
        &self,
        matrix: ArrayView2<'_, K>,
        k: usize,
        pick: Pick,
    ) -> Result<(Array2<K>, Array2<I>)> {
        let (rows, columns) = matrix.dim();
        // Rows with gaps between them are copied: a slice over them would also cover the gaps, which another view may be
        // changing.
        let copy: Vec<K>;
        let data = match matrix.as_slice() {
            Some(slice) => slice,
            None => {
                copy = matrix.iter().copied().collect();
                &copy
            }
        };
        let (values, places) = self.topk_rows(Rows::with_stride(data, rows, columns, columns)?, k, pick)?;
        Ok((shaped(rows, k, values)?, shaped(rows, k, places)?))
    }

    /// The sum of all elements of an array of any shape: [`Sorter::sum`], which does not depend on their order.
    pub fn sum_all<K: Key, D: Dimension>(&self, array: &ArrayRef<K, D>) -> Result<K::Sum> {
        match array.as_slice_memory_order() {
            Some(slice) => self.sum(slice),
            None => self.sum(&array.iter().copied().collect::<Vec<K>>()),
        }
    }
}

fn shaped<T>(rows: usize, columns: usize, elements: Vec<T>) -> Result<Array2<T>> {
    Array2::from_shape_vec((rows, columns), elements).map_err(|error| Error::invalid(error.to_string()))
}
