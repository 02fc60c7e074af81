// SPDX-License-Identifier: MIT OR Apache-2.0
//! Top-k against a stable sort of the standard library.

mod common;

use common::{bits_of, gather, inputs, sorters, stable_order, TestKey};
use gsort::{Nans, Pick, Rows, Sorter};

/// Every choice with the direction and the place of NaNs that it stands for.
fn picks() -> [(bool, Nans, Pick); 4] {
    [
        (true, Nans::Ordered, Pick::GREATEST),
        (false, Nans::Ordered, Pick::SMALLEST),
        (true, Nans::Last, Pick::GREATEST.nan_last()),
        (false, Nans::Last, Pick::SMALLEST.nan_last()),
    ]
}

fn check_topk<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    let n = keys.len();
    for (descending, nans, pick) in picks() {
        let order = stable_order(keys, descending, nans);
        let mut ks = vec![0, 1, 2, 10, 257, n / 2, n.saturating_sub(1), n];
        ks.retain(|&k| k <= n);
        for k in ks {
            let (values, indices) = sorter.topk::<_, usize>(keys, k, pick).unwrap();
            assert!(indices == order[..k], "{pick:?}, {k} of {n} {:?}", K::DTYPE);
            assert!(bits_of(&values) == gather(keys, &order[..k]), "{pick:?}, {k} of {n} {:?}", K::DTYPE);
        }
        let k = n.min(33);
        assert_eq!(bits_of(&sorter.topk_values(keys, k, pick).unwrap()), gather(keys, &order[..k]));
        let indices: Vec<i32> = sorter.topk_indices(keys, k, pick).unwrap();
        assert!(indices.iter().map(|&index| index as usize).eq(order[..k].iter().copied()));
        let (mut values, mut indices) = (vec![K::from_low_bits(1); k], vec![0_u32; k]);
        sorter.topk_into(keys, Some(&mut values), Some(&mut indices), pick).unwrap();
        assert_eq!(bits_of(&values), gather(keys, &order[..k]));
        assert!(indices.iter().map(|&index| index as usize).eq(order[..k].iter().copied()));
    }
}

fn check_rows<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    for (columns, row_stride) in [(1, 1), (7, 7), (100, 130), (300, 300)] {
        if keys.len() < columns {
            continue;
        }
        let rows = (keys.len() - columns) / row_stride + 1;
        let matrix = Rows::with_stride(keys, rows, columns, row_stride).unwrap();
        for (descending, nans, pick) in picks() {
            for k in [0, 1, columns / 2, columns] {
                let (mut expected_bits, mut expected) = (Vec::new(), Vec::new());
                for row in 0..rows {
                    let row = &keys[row * row_stride..row * row_stride + columns];
                    let order = &stable_order(row, descending, nans)[..k];
                    expected_bits.extend(gather(row, order));
                    expected.extend(order.iter().map(|&column| column as u64));
                }
                let (values, indices) = sorter.topk_rows::<_, u64>(matrix, k, pick).unwrap();
                assert!(bits_of(&values) == expected_bits, "{pick:?}, {k} of {rows} x {columns} {:?}", K::DTYPE);
                assert!(indices == expected, "{pick:?}, {k} of {rows} x {columns} {:?}", K::DTYPE);
                let mut only = vec![0_u64; rows * k];
                sorter.topk_rows_into(matrix, k, None, Some(&mut only), pick).unwrap();
                assert!(only == expected);
            }
        }
    }
}

fn check_segments<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    let n = keys.len();
    let offsets = [1, 1, n / 3, n / 3 + 2, n].map(|offset| offset as u64);
    for (descending, nans, pick) in picks() {
        for k in [0, 1, 5, n] {
            let (mut expected_bits, mut expected) = (Vec::new(), Vec::new());
            for pair in offsets.windows(2) {
                let segment = &keys[pair[0] as usize..pair[1] as usize];
                let order = stable_order(segment, descending, nans);
                let order = &order[..k.min(order.len())];
                expected_bits.extend(gather(segment, order));
                expected_bits.resize(expected_bits.len() + k - order.len(), 0);
                expected.extend(order.iter().map(|&place| place as i64));
                expected.resize(expected.len() + k - order.len(), -1);
            }
            let (values, indices) = sorter.topk_segments::<_, i64>(keys, &offsets, k, pick).unwrap();
            assert!(bits_of(&values) == expected_bits, "{pick:?}, {k} of segments, {:?}", K::DTYPE);
            assert!(indices == expected, "{pick:?}, {k} of segments, {:?}", K::DTYPE);
            let mut only = vec![0_i64; expected.len()];
            sorter.topk_segments_into(keys, &offsets, k, None, Some(&mut only), pick).unwrap();
            assert!(only == expected);
        }
    }
}

fn check_all<K: TestKey>(sorters: &[Sorter]) {
    for sorter in sorters {
        for n in [0, 1, 2, 64, 1000, 5003] {
            for keys in inputs::<K>(n) {
                check_topk(sorter, &keys);
            }
        }
        for keys in inputs::<K>(1500).iter().take(3) {
            check_rows(sorter, keys);
            check_segments(sorter, keys);
        }
    }
}

#[test]
fn topk_agrees_with_a_stable_sort() {
    let sorters = sorters();
    for_all_types!(check_all, &sorters);
}

#[test]
fn a_matrix_without_rows_or_columns_is_empty() {
    for sorter in sorters() {
        let nothing: [f32; 0] = [];
        let (values, indices) = sorter.topk_rows::<_, u32>(Rows::new(&nothing, 4).unwrap(), 2, Pick::GREATEST).unwrap();
        assert_eq!((values.len(), indices.len()), (0, 0));
        let matrix = Rows::with_stride(&nothing, 3, 0, 0).unwrap();
        assert_eq!((matrix.rows(), matrix.columns()), (3, 0));
        let (values, _) = sorter.topk_rows::<_, u32>(matrix, 0, Pick::GREATEST).unwrap();
        assert!(values.is_empty());
    }
}
