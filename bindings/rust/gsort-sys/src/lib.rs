// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raw bindings to gsort: the C header, name for name.
//!
//! Nothing here is checked by the compiler: the contract of every function is the comment above it, and the rules for
//! order, memory, threads and errors are those of `gsort.h`. The crate `gsort` wraps all of it safely.
//!
//! The bindings are committed, so that a build needs neither libclang nor a crate from anywhere. With the feature
//! `bindgen` they are made from the header while the crate is built.
#![no_std]
#![allow(non_camel_case_types)]
// The comments are the C header's: keys[i] in them is an element, not a link.
#![allow(rustdoc::broken_intra_doc_links)]

#[cfg(not(feature = "bindgen"))]
#[rustfmt::skip]
mod bindings;

#[cfg(feature = "bindgen")]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

pub use bindings::*;

/// Runs the snippets of the crate's README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
