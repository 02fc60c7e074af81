// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed bindings against the text of the header, for machines without libclang, and against the library.

use gsort_sys as sys;
use std::ffi::CStr;
use std::path::Path;

/// The header without its comments.
fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor/include/gsort.h");
    let text = std::fs::read_to_string(path).expect("the crate holds the header");
    let mut code = String::new();
    for (number, part) in text.split("/*").enumerate() {
        code.push_str(if number == 0 { part } else { part.split_once("*/").expect("comments end").1 });
    }
    code
}

fn bindings() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bindings.rs")).expect("they are committed")
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches('u');
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[test]
fn every_number_of_the_header_is_bound() {
    let header = header();
    let bindings = bindings();
    let mut found = 0;
    for line in header.lines() {
        let mut words = line.split_whitespace();
        let (Some("#define"), Some(name), Some(value)) = (words.next(), words.next(), words.next()) else { continue };
        let Some(value) = number(value) else { continue };
        let bound = ["i32", "u32"].iter().any(|of| bindings.contains(&format!("pub const {name}: {of} = {value};")));
        assert!(bound, "{name} = {value} is not in src/bindings.rs");
        found += 1;
    }
    assert_eq!(found, bindings.matches("pub const GSORT_").count() - 1, "GSORT_VERSION is the one that is computed");
    assert_eq!(sys::GSORT_VERSION, sys::GSORT_VERSION_MAJOR * 10_000 + sys::GSORT_VERSION_MINOR * 100);
}

#[test]
fn every_function_of_the_header_is_bound() {
    let header = header();
    let bindings = bindings();
    let mut found = 0;
    for declaration in header.split("GSORT_API ").skip(1).filter(|text| text.contains('(')) {
        let Some((before, arguments)) = declaration.split_once('(') else { continue };
        let name = before.split([' ', '*']).next_back().unwrap_or_default();
        if !name.starts_with("gsort_") {
            continue;
        }
        let arguments = arguments.split_once(')').expect("a declaration ends").0;
        let count = if arguments.trim() == "void" { 0 } else { arguments.split(',').count() };
        let bound = bindings.split_once(&format!("pub fn {name}(")).unwrap_or_else(|| panic!("{name} is not bound")).1;
        let bound = bound.split_once(')').expect("a declaration ends").0;
        assert_eq!(bound.matches(": ").count(), count, "arguments of {name}: {bound}");
        found += 1;
    }
    assert_eq!(found, bindings.matches("pub fn gsort_").count());
    assert!(found > 30, "only {found} functions were found in the header");
}

#[test]
fn the_library_answers() {
    let mut handle = std::ptr::null_mut();
    // SAFETY: as the header says; the handle and all arrays are this function's own.
    unsafe {
        assert_eq!(sys::gsort_version() / 10_000, sys::GSORT_VERSION_MAJOR);
        assert_eq!(CStr::from_ptr(sys::gsort_status_name(sys::GSORT_OK)).to_bytes(), b"GSORT_OK");
        assert_eq!(sys::gsort_create(std::ptr::null(), &mut handle), sys::GSORT_OK);
        let mut info: sys::gsort_info = std::mem::zeroed();
        info.struct_size = std::mem::size_of::<sys::gsort_info>() as u32;
        assert_eq!(sys::gsort_info_get(handle, &mut info), sys::GSORT_OK);
        assert!(info.backend == sys::GSORT_BACKEND_CPU || info.backend == sys::GSORT_BACKEND_CUDA);
        let mut keys = [3_u32, 1, 2];
        assert_eq!(sys::gsort_sort_u32(handle, keys.as_mut_ptr(), 3, sys::GSORT_DESCENDING), sys::GSORT_OK);
        assert_eq!(keys, [3, 2, 1]);
        assert_eq!(sys::gsort_sort_u32(handle, keys.as_mut_ptr(), 3, 1 << 30), sys::GSORT_ERROR_INVALID_ARGUMENT);
        assert!(!CStr::from_ptr(sys::gsort_error_message(handle)).is_empty());
        sys::gsort_destroy(handle);
    }
}
