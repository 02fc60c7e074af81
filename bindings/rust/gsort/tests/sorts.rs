// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sorts, argsorts, ranks, merges and segments against the sorts of the standard library.

mod common;

use common::{bits_of, compare, gather, inputs, orders, sorters, stable_order, Random, TestKey};
use gsort::{Nans, Order, Sorter};

const SIZES: [usize; 9] = [0, 1, 2, 3, 31, 256, 1023, 4097, 70_001];

/// A value of a size that no machine moves in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Parcel([u8; 3]);

impl Parcel {
    fn new(number: usize) -> Self {
        Parcel([number as u8, (number >> 8) as u8, (number >> 16) as u8])
    }
}

fn check_sorts<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    for (descending, nans, order) in orders() {
        let expected = stable_order(keys, descending, nans);
        let expected_bits = gather(keys, &expected);

        let mut in_place = keys.to_vec();
        sorter.sort(&mut in_place, order).unwrap();
        assert!(bits_of(&in_place) == expected_bits, "sort {order:?} of {} {:?}", keys.len(), K::DTYPE);

        let mut out = keys.to_vec();
        sorter.sort_into(keys, &mut out, order).unwrap();
        assert!(bits_of(&out) == expected_bits, "sort_into {order:?} of {} {:?}", keys.len(), K::DTYPE);

        let places: Vec<usize> = sorter.argsort(keys, order).unwrap();
        assert!(places == expected, "argsort {order:?} of {} {:?}", keys.len(), K::DTYPE);
        let mut places = vec![0_i32; keys.len()];
        sorter.argsort_into(keys, &mut places, order).unwrap();
        assert!(places.iter().map(|&place| place as usize).eq(expected.iter().copied()));

        let ranks: Vec<u32> = sorter.rank(keys, order).unwrap();
        let mut ranks_i64 = vec![0_i64; keys.len()];
        sorter.rank_into(keys, &mut ranks_i64, order).unwrap();
        assert_eq!(ranks.len(), keys.len());
        for (rank, &place) in expected.iter().enumerate() {
            assert_eq!((ranks[place] as usize, ranks_i64[place] as usize), (rank, rank));
        }
    }
}

fn check_pairs<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    for (descending, nans, order) in orders() {
        let expected = stable_order(keys, descending, nans);
        let expected_bits = gather(keys, &expected);

        let (mut sorted, mut numbers) = (keys.to_vec(), (0..keys.len()).collect::<Vec<usize>>());
        sorter.sort_pairs(&mut sorted, &mut numbers, order).unwrap();
        assert!(bits_of(&sorted) == expected_bits, "pairs {order:?} of {} {:?}", keys.len(), K::DTYPE);
        assert!(numbers == expected, "values {order:?} of {} {:?}", keys.len(), K::DTYPE);

        let parcels: Vec<Parcel> = (0..keys.len()).map(Parcel::new).collect();
        let (mut sorted, mut moved) = (keys.to_vec(), vec![Parcel::default(); keys.len()]);
        sorter.sort_pairs_into(keys, &parcels, &mut sorted, &mut moved, order).unwrap();
        assert!(bits_of(&sorted) == expected_bits);
        assert!(moved.iter().copied().eq(expected.iter().map(|&place| Parcel::new(place))));
    }
}

fn check_merge<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    for (descending, nans, order) in orders() {
        let (a, b) = keys.split_at(keys.len() / 3);
        let sorted = |part: &[K]| {
            let mut part = part.to_vec();
            part.sort_by(|&x, &y| compare(x, y, descending, nans));
            part
        };
        let merged = sorter.merge(&sorted(a), &sorted(b), order).unwrap();
        assert!(bits_of(&merged) == bits_of(&sorted(keys)), "merge {order:?} of {} {:?}", keys.len(), K::DTYPE);
        let mut out = keys.to_vec();
        sorter.merge_into(&sorted(b), &sorted(a), &mut out, order).unwrap();
        assert!(bits_of(&out) == bits_of(&sorted(keys)));
    }
}

fn check_segments<K: TestKey>(sorter: &Sorter, keys: &[K]) {
    // Ascending offsets that leave keys before, between equal ones and behind.
    let mut random = Random(keys.len() as u64);
    let mut offsets: Vec<u64> = (0..20).map(|_| random.below(keys.len() as u64 + 1)).collect();
    offsets.push(offsets[0]);
    offsets.sort_unstable();
    for (descending, nans, order) in orders() {
        let mut expected = keys.to_vec();
        for window in offsets.windows(2) {
            expected[window[0] as usize..window[1] as usize].sort_by(|&a, &b| compare(a, b, descending, nans));
        }
        let mut in_place = keys.to_vec();
        sorter.sort_segments(&mut in_place, &offsets, order).unwrap();
        assert!(bits_of(&in_place) == bits_of(&expected), "segments {order:?} of {} {:?}", keys.len(), K::DTYPE);
        let mut out = vec![K::from_low_bits(77); keys.len()];
        sorter.sort_segments_into(keys, &mut out, &offsets, order).unwrap();
        assert!(bits_of(&out) == bits_of(&expected));
    }
}

fn check_all<K: TestKey>(sorters: &[Sorter]) {
    for sorter in sorters {
        for n in SIZES {
            // The largest size in one input each, or the run would take minutes.
            let count = if n > 5000 { 2 } else { 5 };
            for keys in inputs::<K>(n).iter().take(count) {
                check_sorts(sorter, keys);
                check_pairs(sorter, keys);
                check_merge(sorter, keys);
                check_segments(sorter, keys);
            }
        }
    }
}

#[test]
fn integers_agree_with_std() {
    let sorters = sorters();
    check_all::<u8>(&sorters);
    check_all::<i8>(&sorters);
    check_all::<u16>(&sorters);
    check_all::<i16>(&sorters);
    check_all::<u32>(&sorters);
    check_all::<i32>(&sorters);
    check_all::<u64>(&sorters);
    check_all::<i64>(&sorters);
}

#[test]
fn floats_agree_with_total_order() {
    let sorters = sorters();
    check_all::<gsort::F16>(&sorters);
    check_all::<gsort::Bf16>(&sorters);
    check_all::<f32>(&sorters);
    check_all::<f64>(&sorters);
}

#[test]
fn the_reference_itself_agrees_with_total_cmp() {
    for keys in inputs::<f64>(300) {
        for pair in keys.windows(2) {
            assert_eq!(compare(pair[0], pair[1], false, Nans::Ordered), pair[0].total_cmp(&pair[1]));
        }
    }
}

#[test]
fn every_small_size_sorts() {
    for sorter in sorters() {
        for n in 0..200 {
            let keys = &inputs::<f32>(n)[n % 5];
            check_sorts(&sorter, keys);
        }
    }
}

#[test]
fn values_of_every_kind_follow_their_keys() {
    for sorter in sorters() {
        let mut keys = [2_u16, 0, 1];
        let mut words = ["two", "zero", "one"];
        sorter.sort_pairs(&mut keys, &mut words, Order::ASCENDING).unwrap();
        assert_eq!((keys, words), ([0, 1, 2], ["zero", "one", "two"]));

        let mut keys = [2_u16, 0, 1];
        let mut flags = [(true, 'b'), (false, 'z'), (true, 'o')];
        sorter.sort_pairs(&mut keys, &mut flags, Order::DESCENDING).unwrap();
        assert_eq!(flags, [(true, 'b'), (true, 'o'), (false, 'z')]);

        let mut large = [[0_u64; 512]; 3];
        for (number, value) in [7, 8, 9].into_iter().enumerate() {
            large[number] = [value; 512];
        }
        let mut keys = [f32::NAN, -0.0, 0.0];
        sorter.sort_pairs(&mut keys, &mut large, Order::ASCENDING).unwrap();
        assert_eq!([large[0][0], large[1][511], large[2][100]], [8, 9, 7]);

        // Values without a size: there is nothing to move.
        let mut keys = [3_i64, -3];
        sorter.sort_pairs(&mut keys, &mut [(), ()], Order::ASCENDING).unwrap();
        assert_eq!(keys, [-3, 3]);
        let mut out = [0_i64; 2];
        sorter.sort_pairs_into(&keys, &[(), ()], &mut out, &mut [(), ()], Order::DESCENDING).unwrap();
        assert_eq!(out, [3, -3]);
    }
}

#[test]
fn unaligned_slices_are_sorted_alone() {
    // Slices that begin anywhere in an array leave what is around them.
    for sorter in sorters() {
        for start in 0..16 {
            let mut keys: Vec<u16> = (0..100).rev().collect();
            sorter.sort(&mut keys[start..start + 60], Order::ASCENDING).unwrap();
            let mut expected: Vec<u16> = (0..100).rev().collect();
            expected[start..start + 60].sort_unstable();
            assert_eq!(keys, expected);
        }
    }
}
