// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for calls on device arrays.

use crate::error::{check, Result};
use crate::key::{Dtype, Key};
use crate::sorter::{Sorter, Wait};
use gsort_sys as sys;
use std::ptr;

/// The shape of a call, for [`Sorter::reserve`] and [`workspace_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// A sort of `n` keys.
    Sort,
    /// A sort of `n` pairs.
    SortPairs {
        /// Size of a value.
        value_bytes: u32,
    },
    /// An argsort of `n` keys.
    Argsort {
        /// Size of an index, 4 or 8.
        index_bytes: u32,
    },
    /// The ranks of `n` keys.
    Rank {
        /// Size of a rank, 4 or 8.
        index_bytes: u32,
    },
    /// A merge to `n` keys.
    Merge,
    /// A sort of segments of `n` keys.
    SortSegments {
        /// The number of segments.
        segments: u64,
    },
    /// The best of `n` elements.
    Topk {
        /// How many are taken.
        k: u64,
    },
    /// The best of each row of a matrix of `n` elements.
    TopkRows {
        /// How many are taken of each row.
        k: u64,
    },
    /// The best of every segment of `n` elements.
    TopkSegments {
        /// How many are taken of each segment.
        k: u64,
    },
    /// A sum of `n` elements.
    Sum,
    /// A minimum, a maximum, their index or the mean of `n` elements.
    Reduce,
    /// Running sums of `n` elements.
    Scan,
}

impl Operation {
    /// The number of the operation and its last argument.
    fn codes(self) -> (u32, u64) {
        match self {
            Operation::Sort => (sys::GSORT_OP_SORT, 0),
            Operation::SortPairs { value_bytes } => (sys::GSORT_OP_SORT_PAIRS, value_bytes.into()),
            Operation::Argsort { index_bytes } => (sys::GSORT_OP_ARGSORT, index_bytes.into()),
            Operation::Rank { index_bytes } => (sys::GSORT_OP_RANK, index_bytes.into()),
            Operation::Merge => (sys::GSORT_OP_MERGE, 0),
            Operation::SortSegments { segments } => (sys::GSORT_OP_SORT_SEGMENTS, segments),
            Operation::Topk { k } => (sys::GSORT_OP_TOPK, k),
            Operation::TopkRows { k } => (sys::GSORT_OP_TOPK_ROWS, k),
            Operation::TopkSegments { k } => (sys::GSORT_OP_TOPK_SEGMENTS, k),
            Operation::Sum => (sys::GSORT_OP_SUM, 0),
            Operation::Reduce => (sys::GSORT_OP_REDUCE, 0),
            Operation::Scan => (sys::GSORT_OP_SCAN, 0),
        }
    }
}

/// Device memory beyond its arrays that a call with device arrays of `dtype` needs. Needs no GPU.
pub fn workspace_bytes(operation: Operation, dtype: Dtype, n: u64) -> Result<u64> {
    let (code, last) = operation.codes();
    let mut bytes = 0;
    // SAFETY: arithmetic on numbers; the result is written to a local variable.
    check(ptr::null(), unsafe { sys::gsort_workspace_bytes(code, dtype.code(), n, last, &mut bytes) })?;
    Ok(bytes)
}

impl Sorter {
    /// Allocates now what a later call of this shape with device arrays of `K` needs, so that the call can be captured
    /// into a CUDA graph. On the CPU it does nothing.
    pub fn reserve<K: Key>(&self, operation: Operation, n: u64) -> Result<()> {
        let (code, last) = operation.codes();
        // SAFETY: the call takes numbers alone.
        self.run(Wait::No, |g| unsafe { sys::gsort_reserve(g, code, K::DTYPE.code(), n, last) })
    }
}
