// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sort, select and sum arrays at the speed of the memory they lie in.
//!
//! gsort runs kernels of its own on an NVIDIA GPU and threads on a machine without one. The result of every call is
//! defined by mathematics, not by the machine: the same bits from either backend, in every run, at any thread count.
//!
//! ```
//! use gsort::{Order, Pick, Sorter};
//!
//! # fn main() -> Result<(), gsort::Error> {
//! let sorter = Sorter::new()?;
//!
//! let mut keys = [3.0_f32, -0.0, f32::NEG_INFINITY, 0.0];
//! sorter.sort(&mut keys, Order::ASCENDING)?;
//! assert_eq!(keys, [f32::NEG_INFINITY, -0.0, 0.0, 3.0]);
//!
//! let (best, places) = sorter.topk::<_, usize>(&keys, 2, Pick::GREATEST)?;
//! assert_eq!((best, places), (vec![3.0, 0.0], vec![3, 2]));
//!
//! assert_eq!(sorter.sum(&[u32::MAX, 1])?, 1 << 32);
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//! Integers order by value, floats as [`f32::total_cmp`] does: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
//! [`Order`] reverses that or puts every NaN at the end. Two keys are equal only if all their bits are. Sorts of pairs,
//! argsorts and ranks are stable in either direction.
//!
//! # Errors
//! A wrong length, an unfit index type or a lack of memory is an [`Error`], never a panic: a [`Status`] to decide by and
//! a sentence that names the argument, its value and the remedy. After any error the inputs are as they were and the
//! [`Sorter`] can be used again, [`Status::DeviceLost`] and [`Status::Forked`] excepted.
//!
//! # Threads
//! A [`Sorter`] is [`Send`] and [`Sync`] and all its methods take `&self`: calls from several threads take turns.
//! Several sorters work independently. [`Canceller`] stops a running call from another thread.
//!
//! # Memory
//! Every method works on slices and returns when its result is there. Arrays in device memory, and calls that only
//! enqueue work on a CUDA stream, are the business of [`Raw`], whose methods are `unsafe`.
//!
//! # Finding the library
//! See the crate `gsort-sys`: `GSORT_DIR`, then pkg-config, then, with the feature `vendored`, a build with CMake from
//! the sources in that crate; with `static` programs have the library inside.
//!
//! # Features
//! - `vendored`, `static`, `bindgen`: of `gsort-sys`.
//! - `half`: keys of the types `half::f16` and `half::bf16`.
//! - `ndarray`: views and matrices of the crate ndarray, such as `Sorter::sort_rows` and `Sorter::topk_of_rows`.
//! - `cudarc`: `CudaSorter`, which works on cudarc's device memory and streams.
#![deny(missing_docs)]

#[cfg(feature = "ndarray")]
mod arrays;
mod builder;
mod callbacks;
mod cancel;
#[cfg(feature = "cudarc")]
mod device;
mod error;
mod info;
mod key;
mod memory;
mod order;
mod raw;
mod select;
mod sort;
mod sorter;
mod sums;

pub use builder::{Backend, SorterBuilder};
pub use callbacks::Progress;
pub use cancel::Canceller;
#[cfg(feature = "cudarc")]
pub use device::CudaSorter;
pub use error::{Error, Result, Status};
pub use info::{header_version, version, Info, Version};
pub use key::{Bf16, Dtype, Index, Key, F16};
pub use memory::{workspace_bytes, Operation};
pub use order::{Nans, Order, Pick, Scan};
pub use raw::{Raw, RawRows, Reduction};
pub use select::Rows;
pub use sorter::Sorter;

/// Runs the snippets of the crate's README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
