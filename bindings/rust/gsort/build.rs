// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lets the examples and tests of this crate find the shared library wherever they are started from. Programs that use
//! the crate do the same in a build script of their own, or link statically.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Set by gsort-sys where it links the shared library.
    println!("cargo:rerun-if-env-changed=DEP_GSORT_RPATH");
    if let Ok(folder) = std::env::var("DEP_GSORT_RPATH") {
        println!("cargo:rustc-link-arg-examples=-Wl,-rpath,{folder}");
        println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{folder}");
    }
}
