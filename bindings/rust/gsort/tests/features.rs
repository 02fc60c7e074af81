// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the optional features add. `check` runs them all.

#![cfg(any(feature = "half", feature = "ndarray", feature = "cudarc"))]

#[allow(unused_imports)] // Some of it by each feature.
use gsort::{Nans, Order, Pick, Sorter};

#[cfg(feature = "half")]
#[test]
fn keys_of_the_crate_half() {
    use half::{bf16, f16};
    let sorter = Sorter::new().unwrap();
    let mut keys = [2.5, -1.0, f32::NAN, 0.25].map(f16::from_f32);
    sorter.sort(&mut keys, Order::ASCENDING.nan_last()).unwrap();
    assert_eq!(keys[..3], [-1.0, 0.25, 2.5].map(f16::from_f32));
    assert!(keys[3].is_nan());
    assert_eq!(sorter.max(&keys, Nans::Last), Ok(Some(f16::from_f32(2.5))));
    let keys = [3.0, -8.0, 0.5].map(bf16::from_f32);
    assert_eq!(sorter.sum(&keys), Ok(-4.5));
    assert_eq!(sorter.argsort(&keys, Order::DESCENDING), Ok(vec![0_u32, 2, 1]));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{array, s, Array1, Array2, Axis};

    fn matrix() -> Array2<i32> {
        Array2::from_shape_fn((37, 23), |(row, column)| ((row * 1000 + column * 77) % 91) as i32 - 40)
    }

    fn sorted_rows(mut matrix: Array2<i32>) -> Array2<i32> {
        for mut row in matrix.rows_mut() {
            let mut keys = row.to_vec();
            keys.sort();
            row.assign(&Array1::from(keys));
        }
        matrix
    }

    #[test]
    fn views_with_and_without_gaps() {
        let sorter = Sorter::new().unwrap();
        let mut whole = matrix();
        let untouched = whole.clone();
        sorter.sort_view(whole.column_mut(5), Order::DESCENDING).unwrap();
        let mut column = untouched.column(5).to_vec();
        column.sort_by(|a, b| b.cmp(a));
        assert_eq!(whole.column(5).to_vec(), column);
        assert_eq!(whole.slice(s![.., ..5]), untouched.slice(s![.., ..5]));
        sorter.sort_view(whole.row_mut(3), Order::ASCENDING).unwrap();
        assert!(whole.row(3).windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
        let backwards = untouched.row(0).slice_move(s![..;-1]);
        let places: Array1<u64> = sorter.argsort_view(backwards, Order::ASCENDING).unwrap();
        assert!(places.windows(2).into_iter().all(|two| backwards[two[0] as usize] <= backwards[two[1] as usize]));
    }

    #[test]
    fn rows_of_matrices_in_either_layout() {
        let sorter = Sorter::new().unwrap();
        for mut matrix in [matrix(), matrix().reversed_axes()] {
            let expected = sorted_rows(matrix.clone());
            let sum: i64 = matrix.iter().map(|&key| i64::from(key)).sum();
            assert_eq!(sorter.sum_all(&matrix), Ok(sum));
            assert_eq!(
                sorter.sum_all(&matrix.slice(s![1.., ..;2])),
                Ok(matrix.slice(s![1.., ..;2]).iter().map(|&key| i64::from(key)).sum())
            );
            let (best, columns) = sorter.topk_of_rows::<_, u32>(matrix.view(), 4, Pick::SMALLEST).unwrap();
            assert_eq!(best, expected.slice(s![.., ..4]));
            for (row, of_row) in columns.axis_iter(Axis(0)).enumerate() {
                for (place, &column) in of_row.iter().enumerate() {
                    assert_eq!(matrix[[row, column as usize]], best[[row, place]]);
                }
            }
            sorter.sort_rows(matrix.view_mut(), Order::ASCENDING).unwrap();
            assert_eq!(matrix, expected);
        }
        let mut part = matrix();
        sorter.sort_rows(part.slice_mut(s![.., 2..9]), Order::ASCENDING).unwrap();
        assert_eq!(part.slice(s![.., 2..9]), sorted_rows(matrix().slice(s![.., 2..9]).to_owned()));
        assert_eq!(part.slice(s![.., 9..]), matrix().slice(s![.., 9..]));
        assert_eq!(
            sorter.topk_of_rows::<_, u32>(Array2::<f32>::zeros((0, 5)).view(), 2, Pick::GREATEST).unwrap().0.dim(),
            (0, 2)
        );
        assert!(sorter.topk_of_rows::<_, u32>(array![[1, 2]].view(), 3, Pick::GREATEST).is_err());
    }
}

#[cfg(feature = "cudarc")]
mod device {
    use super::*;
    use cudarc::driver::{sys, CudaContext, DriverError};
    use gsort::{CudaSorter, Scan};

    #[test]
    fn arrays_of_cudarc() {
        // SAFETY: asks the loader for the driver's library and nothing more.
        if !unsafe { sys::is_culib_present() } {
            return eprintln!("skipped: no CUDA driver is installed");
        }
        let Ok(context) = CudaContext::new(0) else { return eprintln!("skipped: the driver shows no GPU") };
        if !Sorter::new().unwrap().info().unwrap().reason.contains("usable CUDA device") {
            return eprintln!("skipped: this build of gsort has no CUDA engine");
        }
        on_device(&context).unwrap();
    }

    fn on_device(context: &std::sync::Arc<CudaContext>) -> Result<(), DriverError> {
        let keys: Vec<u32> = (0..200_000_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let mut expected = keys.clone();
        expected.sort();
        for stream in [context.default_stream(), context.new_stream()?] {
            let sorter = CudaSorter::new(&stream).unwrap();
            let mut on_device = stream.clone_htod(&keys)?;
            let mut sum = stream.alloc_zeros::<u64>(1)?;
            sorter.sum_into(&on_device, &mut sum).unwrap();
            let mut places = stream.alloc_zeros::<u32>(keys.len())?;
            sorter.argsort_into(&on_device, &mut places, Order::ASCENDING).unwrap();
            let (mut best, mut where_best) = (stream.alloc_zeros::<u32>(10)?, stream.alloc_zeros::<i64>(10)?);
            sorter.topk_into(&on_device, &mut best, &mut where_best, Pick::SMALLEST).unwrap();
            let mut running = stream.alloc_zeros::<u32>(keys.len())?;
            sorter.scan_into(&on_device, &mut running, Scan::Inclusive).unwrap();
            let mut values = stream.clone_htod(&keys)?;
            let mut sorted = stream.alloc_zeros::<u32>(keys.len())?;
            sorter.sort_into(&on_device, &mut sorted, Order::ASCENDING).unwrap();
            sorter.sort_pairs(&mut on_device, &mut values, Order::DESCENDING).unwrap();
            assert_eq!(stream.clone_dtoh(&sorted)?, expected);
            assert_eq!(stream.clone_dtoh(&best)?, expected[..10]);
            assert_eq!(stream.clone_dtoh(&sum)?[0], keys.iter().map(|&key| u64::from(key)).sum());
            assert_eq!(stream.clone_dtoh(&values)?, expected.iter().rev().copied().collect::<Vec<_>>());
            let places = stream.clone_dtoh(&places)?;
            assert!(places.iter().map(|&place| keys[place as usize]).eq(expected.iter().copied()));
            let last = keys.iter().fold(0_u32, |sum, &key| sum.wrapping_add(key));
            assert_eq!(stream.clone_dtoh(&running)?.last(), Some(&last));
            sorter.sort(&mut sorted, Order::DESCENDING).unwrap();
            assert_eq!(stream.clone_dtoh(&sorted)?, expected.iter().rev().copied().collect::<Vec<_>>());
            assert!(sorter.sum_into(&sorted, &mut stream.alloc_zeros::<u64>(2)?).is_err());
        }
        Ok(())
    }
}
