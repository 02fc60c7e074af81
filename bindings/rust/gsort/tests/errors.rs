// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong arguments: a status, a sentence, nothing written, and the sorter goes on.

mod common;

use common::cpu;
use gsort::{Backend, Dtype, Error, Operation, Order, Pick, Rows, Scan, Sorter, Status};
use std::ffi::c_void;

/// Asserts that a call was refused as an invalid argument with a sentence that names `word`.
#[track_caller]
fn assert_invalid<T: std::fmt::Debug>(result: Result<T, Error>, word: &str) {
    let error = result.expect_err("the argument is wrong");
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    assert!(error.message().contains(word), "{word:?} is not in: {error}");
    assert!(error.to_string().ends_with("(GSORT_ERROR_INVALID_ARGUMENT)"), "{error}");
}

#[test]
fn lengths_that_differ_are_refused_before_anything_is_written() {
    let sorter = cpu();
    let order = Order::ASCENDING;
    let (keys, mut out) = ([3_u32, 1, 2], [9_u32; 2]);
    assert_invalid(sorter.sort_into(&keys, &mut out, order), "keys_out has 2 elements");
    assert_invalid(sorter.argsort_into(&keys, &mut out, order), "indices_out");
    assert_invalid(sorter.rank_into(&keys, &mut out, order), "ranks_out");
    assert_invalid(sorter.merge_into(&keys, &keys, &mut out, order), "a and b together has 6");
    assert_invalid(sorter.sort_segments_into(&keys, &mut out, &[0, 2], order), "keys_out");
    assert_invalid(sorter.scan_into(&keys, &mut out, Scan::Inclusive), "out has 2");
    assert_invalid(sorter.sort_pairs_into(&keys, &keys, &mut out, &mut [0; 3], order), "keys_out");
    assert_invalid(sorter.sort_pairs_into(&keys, &keys, &mut [0_u32; 3], &mut out, order), "values_out");
    assert_invalid(sorter.sort_pairs_into(&keys, &[0_u8; 4], &mut [0_u32; 3], &mut [0; 4], order), "values_in");
    let mut both = ([2_u32, 1], [1_u8; 3]);
    assert_invalid(sorter.sort_pairs(&mut both.0, &mut both.1, order), "values_in has 3");
    assert_invalid(sorter.sort_pairs(&mut both.0, &mut [(); 3], order), "3 values");
    assert_invalid(sorter.sort_pairs_into(&keys, &[(); 3], &mut out, &mut [(); 3], order), "keys_out");
    assert_invalid(sorter.sort_pairs_into(&keys, &[(); 3], &mut [0; 3], &mut [(); 2], order), "values_out");
    assert_eq!((both.0, out), ([2, 1], [9, 9]));
    assert_eq!(sorter.sum(&keys), Ok(6));
}

#[test]
fn selections_of_more_than_there_is_are_refused() {
    let sorter = cpu();
    let keys = [1.0_f32, 2.0];
    assert_invalid(sorter.topk::<_, u32>(&keys, 3, Pick::GREATEST), "k is 3");
    assert_invalid(sorter.topk_values(&keys, usize::MAX, Pick::GREATEST), "k is");
    assert_invalid(sorter.topk_indices::<_, u32>(&keys, 3, Pick::GREATEST), "k is 3");
    assert_invalid(sorter.topk_into(&keys, Some(&mut [0.0; 3]), None::<&mut [u32]>, Pick::GREATEST), "k");
    assert_invalid(sorter.topk_into(&keys, Some(&mut [0.0; 2]), Some(&mut [0_u32]), Pick::GREATEST), "indices_out");
    assert_invalid(sorter.topk_into(&keys, None, None::<&mut [u32]>, Pick::GREATEST), "neither");
    let rows = Rows::new(&keys, 1).unwrap();
    assert_invalid(sorter.topk_rows::<_, u32>(rows, 2, Pick::SMALLEST), "k is 2");
    assert_invalid(sorter.topk_rows_into(rows, 1, Some(&mut [0.0]), None::<&mut [u32]>, Pick::SMALLEST), "rows * k");
    assert_invalid(sorter.topk_rows_into(rows, 2, Some(&mut [0.0; 4]), None::<&mut [u32]>, Pick::SMALLEST), "k");
}

#[test]
fn indices_that_do_not_fit_their_type_are_refused() {
    // Needs 2^31 + 1 keys in an array; the bytes are zero pages that no one touches before the argument is refused.
    let sorter = cpu();
    let keys = vec![0_u8; (1 << 31) + 1];
    assert_invalid(sorter.topk_indices::<_, i32>(&keys, 1, Pick::GREATEST), "index_t");
}

#[test]
fn offsets_that_are_wrong_are_refused_and_nothing_is_written() {
    let sorter = cpu();
    let mut keys = [4_i16, 3, 2, 1];
    assert_invalid(sorter.sort_segments(&mut keys, &[0, 3, 2], Order::ASCENDING), "offsets");
    assert_invalid(sorter.sort_segments(&mut keys, &[0, 5], Order::ASCENDING), "offsets");
    assert_eq!(keys, [4, 3, 2, 1]);
    // No segment at all is right.
    sorter.sort_segments(&mut keys, &[], Order::ASCENDING).unwrap();
    sorter.sort_segments(&mut keys, &[4], Order::ASCENDING).unwrap();
    assert_eq!(keys, [4, 3, 2, 1]);
}

#[test]
fn values_that_are_too_large_are_refused() {
    let mut values = vec![[0_u8; 65537]; 2];
    assert_invalid(cpu().sort_pairs(&mut [1_u8, 0], &mut values, Order::ASCENDING), "value_bytes");
    let mut values = vec![[0_u8; 65536]; 2];
    values[0][65535] = 1;
    cpu().sort_pairs(&mut [1_u8, 0], &mut values, Order::ASCENDING).unwrap();
    assert_eq!((values[0][65535], values[1][65535]), (0, 1));
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let error = Sorter::builder().backend(Backend::Cuda).device(4000).build().expect_err("nobody has that many");
    assert!(matches!(error.status(), Status::NoDevice | Status::InvalidArgument), "{error}");
    assert!(!error.message().is_empty());
    let error = Sorter::builder().backend(Backend::Cuda).device(u32::MAX).build().expect_err("no int32_t");
    assert_eq!(error.status(), Status::InvalidArgument);
}

#[test]
fn a_cpu_sorter_refuses_what_only_a_gpu_has() {
    let sorter = cpu();
    #[repr(align(256))]
    struct Aligned([u8; 256]);
    let mut memory = Aligned([0; 256]);
    let pointer: *mut c_void = memory.0.as_mut_ptr().cast();
    // SAFETY: a CPU sorter uses neither a stream nor device memory; it refuses them.
    let stream = unsafe { sorter.raw().set_stream(pointer) };
    assert_eq!(stream.map_err(|error| error.status()), Err(Status::NotSupported));
    // SAFETY: as above.
    let workspace = unsafe { sorter.raw().set_workspace(pointer, 256) };
    assert_eq!(workspace.map_err(|error| error.status()), Err(Status::NotSupported));
    assert_eq!(sorter.raw().synchronize(), Ok(()));
    assert_eq!(sorter.reserve::<f32>(Operation::Topk { k: 8 }, 1000), Ok(()));
}

#[test]
fn host_memory_limits_hold() {
    let sorter = Sorter::builder().backend(Backend::Cpu).host_memory_limit_bytes(64).build().unwrap();
    let keys: Vec<u32> = (0..1_000_000).rev().collect();
    let mut out = vec![0; keys.len()];
    // Either the sort gets by with less, or it says that it cannot.
    match sorter.sort_into(&keys, &mut out, Order::ASCENDING) {
        Ok(()) => assert!(out.windows(2).all(|pair| pair[0] < pair[1])),
        Err(error) => assert_eq!(error.status(), Status::OutOfMemory, "{error}"),
    }
    assert_eq!((keys[0], keys[999_999]), (999_999, 0));
    assert_eq!(sorter.sum(&[1_u8, 2]), Ok(3));
}

#[test]
fn overlapping_raw_arrays_are_refused() {
    let sorter = cpu();
    let mut keys = [4_u32, 3, 2, 1];
    let (from, to) = (std::ptr::slice_from_raw_parts(keys.as_ptr(), 3), {
        std::ptr::slice_from_raw_parts_mut(keys.as_mut_ptr().wrapping_add(1), 3)
    });
    // SAFETY: both arrays are valid; that they overlap is what the library is to notice.
    assert_invalid(unsafe { sorter.raw().sort(from, to, Order::ASCENDING) }, "overlap");
    assert_eq!(keys, [4, 3, 2, 1]);
}

#[test]
fn workspace_sizes_need_no_gpu() {
    let operations = [
        Operation::Sort,
        Operation::SortPairs { value_bytes: 4 },
        Operation::Argsort { index_bytes: 8 },
        Operation::Rank { index_bytes: 4 },
        Operation::Merge,
        Operation::SortSegments { segments: 10 },
        Operation::Topk { k: 10 },
        Operation::TopkRows { k: 10 },
        Operation::TopkSegments { k: 10 },
        Operation::Sum,
        Operation::Reduce,
        Operation::Scan,
    ];
    for operation in operations {
        assert!(gsort::workspace_bytes(operation, Dtype::F32, 1 << 20).is_ok(), "{operation:?}");
    }
    let wrong = gsort::workspace_bytes(Operation::Argsort { index_bytes: 3 }, Dtype::F32, 1 << 20);
    assert_eq!(wrong.map_err(|error| error.status()), Err(Status::InvalidArgument));
}

#[test]
fn statuses_have_names_and_numbers() {
    assert_eq!(Status::Cancelled.name(), "GSORT_ERROR_CANCELLED");
    assert_eq!(Status::DeviceLost.code(), 4);
    assert_eq!(Status::Unknown(77).to_string(), "unknown status");
    let error: Box<dyn std::error::Error + Send + Sync> =
        cpu().topk_values(&[0_u8], 2, Pick::GREATEST).unwrap_err().into();
    assert!(error.to_string().starts_with("k is 2"));
}
