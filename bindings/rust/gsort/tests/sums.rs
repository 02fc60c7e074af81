// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums, extremes, means and running sums.

mod common;

use common::{inputs, sorters, stable_order, Random, TestKey};
use gsort::{Bf16, Key, Nans, Scan, Sorter, F16};

const SIZES: [usize; 6] = [0, 1, 3, 100, 4097, 50_000];

#[test]
fn integers_are_added_modulo_two_to_the_64() {
    fn check<K: TestKey>(sorter: &Sorter, wrapping_sum: impl Fn(&[K]) -> K::Sum) {
        for n in SIZES {
            for keys in inputs::<K>(n) {
                assert_eq!(sorter.sum(&keys).unwrap(), wrapping_sum(&keys), "{n} {:?}", K::DTYPE);
            }
        }
    }
    macro_rules! check_types {
        ($sorter:expr, $($type:ident to $sum:ident),*) => {
            $(check::<$type>($sorter, |keys| keys.iter().fold(0, |sum: $sum, &key| sum.wrapping_add($sum::from(key))));)*
        };
    }
    for sorter in sorters() {
        check_types!(&sorter, u8 to u64, u16 to u64, u32 to u64, u64 to u64);
        check_types!(&sorter, i8 to i64, i16 to i64, i32 to i64, i64 to i64);
    }
}

#[test]
fn float_sums_are_exact_and_rounded_once() {
    // Multiples of 2^-60 below 2^40: i128 adds them exactly and rounds once, ties to even, when it becomes f64.
    const UNIT: f64 = 1.0 / (1_u64 << 60) as f64;
    for n in [1, 2, 1000, 40_001] {
        let mut random = Random(n as u64);
        let keys: Vec<f64> = (0..n)
            .map(|_| {
                let mantissa = (random.next() as i64 >> 11) as f64; // 53 bits and the sign
                mantissa * UNIT * (1_u64 << random.below(40)) as f64
            })
            .collect();
        let exact = |keys: &[f64]| keys.iter().map(|&key| (key / UNIT) as i128).sum::<i128>() as f64 * UNIT;
        let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).filter(|key| key.abs() > 1e-6).collect();
        let narrow_as_wide: Vec<f64> = narrow.iter().map(|&key| f64::from(key)).collect();
        for sorter in sorters() {
            assert_eq!(sorter.sum(&keys).unwrap().to_bits(), exact(&keys).to_bits(), "{n} f64");
            assert_eq!(sorter.sum(&narrow).unwrap().to_bits(), exact(&narrow_as_wide).to_bits(), "{n} f32");
        }
    }
}

#[test]
fn halves_are_added_as_the_numbers_that_they_are() {
    fn check<K: TestKey>(sorter: &Sorter, to_f32: impl Fn(K) -> f32) {
        let mut random = Random(9);
        // Small numbers and their opposites: f64 adds 1000 of them without rounding.
        let keys: Vec<K> = (0..1000).map(|_| K::from_low_bits(0x3c00 ^ (random.next() & 0x80ff))).collect();
        let expected: f64 = keys.iter().map(|&key| f64::from(to_f32(key))).sum();
        assert_eq!(format!("{:?}", sorter.sum(&keys).unwrap()), format!("{expected:?}"), "{:?}", K::DTYPE);
    }
    for sorter in sorters() {
        check::<F16>(&sorter, F16::to_f32);
        check::<Bf16>(&sorter, Bf16::to_f32);
    }
}

#[test]
fn sums_of_unusual_floats_follow_the_contract() {
    const QUIET_NAN: u64 = 0x7ff8_0000_0000_0000;
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    for sorter in sorters() {
        let sum = |keys: &[f64]| sorter.sum(keys).unwrap().to_bits();
        assert_eq!(sum(&[]), 0);
        assert_eq!(sum(&[-0.0, -0.0]), (-0.0_f64).to_bits());
        assert_eq!(sum(&[-0.0, 0.0]), 0);
        assert_eq!(sum(&[1.0, -1.0]), 0);
        assert_eq!(sum(&[1.0, infinity, -5.0]), infinity.to_bits());
        assert_eq!(sum(&[-infinity, 5.0]), (-infinity).to_bits());
        assert_eq!(sum(&[-infinity, infinity]), QUIET_NAN);
        assert_eq!(sum(&[1.0, -nan]), QUIET_NAN);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), infinity.to_bits());
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX.to_bits());
        assert_eq!(sum(&[1e300, 5e-324, -1e300]), 1);
        assert_eq!(sorter.sum(&[f32::MAX, f32::MAX]).unwrap(), 2.0 * f64::from(f32::MAX));
    }
}

fn check_extremes<K: TestKey>(sorters: &[Sorter]) {
    for sorter in sorters {
        for n in SIZES {
            for keys in inputs::<K>(n).iter().take(3) {
                for nans in [Nans::Ordered, Nans::Last] {
                    let first = |descending| stable_order(keys, descending, nans).first().copied();
                    let bits = |place: Option<usize>| place.map(|place| keys[place].bits());
                    let (least, greatest) = (first(false), first(true));
                    assert_eq!(sorter.argmin(keys, nans).unwrap(), least, "{n} {:?} {nans:?}", K::DTYPE);
                    assert_eq!(sorter.argmax(keys, nans).unwrap(), greatest, "{n} {:?} {nans:?}", K::DTYPE);
                    assert_eq!(sorter.min(keys, nans).unwrap().map(TestKey::bits), bits(least));
                    assert_eq!(sorter.max(keys, nans).unwrap().map(TestKey::bits), bits(greatest));
                }
            }
        }
    }
}

#[test]
fn extremes_come_first_in_the_order() {
    let sorters = sorters();
    for_all_types!(check_extremes, &sorters);
}

#[test]
fn means_are_rounded_once() {
    for sorter in sorters() {
        assert!(sorter.mean::<f32>(&[]).unwrap().is_nan());
        assert_eq!(sorter.mean(&[1_u8, 2]).unwrap(), 1.5);
        // The sum does not fit 64 bits, the mean is exact all the same.
        assert_eq!(sorter.mean(&[u64::MAX, u64::MAX]).unwrap(), u64::MAX as f64);
        assert_eq!(sorter.mean(&[f64::MAX, f64::MAX]).unwrap(), f64::MAX);
        for n in [3_u32, 7, 1000] {
            let keys: Vec<u32> = (0..n).map(|i| i * i).collect();
            // Both numbers are exact in f64, so that their division rounds once.
            let sum: u64 = keys.iter().map(|&key| u64::from(key)).sum();
            assert_eq!(sorter.mean(&keys).unwrap(), sum as f64 / f64::from(n));
        }
    }
}

fn scan_of<K: Copy>(keys: &[K], zero: K, scan: Scan, add: impl Fn(K, K) -> K) -> Vec<K> {
    let mut sum = zero;
    keys.iter()
        .map(|&key| {
            let before = sum;
            sum = add(sum, key);
            if scan == Scan::Inclusive {
                sum
            } else {
                before
            }
        })
        .collect()
}

#[test]
fn running_sums_of_integers_wrap() {
    macro_rules! check_types {
        ($sorter:expr, $($type:ident)*) => {$(
            for n in SIZES {
                for keys in inputs::<$type>(n).iter().take(2) {
                    for scan in [Scan::Inclusive, Scan::Exclusive] {
                        let expected = scan_of(keys, 0, scan, $type::wrapping_add);
                        assert!($sorter.scan(keys, scan).unwrap() == expected, "{scan:?} of {n} {}", stringify!($type));
                        let mut out = vec![1; n];
                        $sorter.scan_into(keys, &mut out, scan).unwrap();
                        assert!(out == expected);
                        let mut in_place = keys.clone();
                        $sorter.scan_in_place(&mut in_place, scan).unwrap();
                        assert!(in_place == expected);
                    }
                }
            }
        )*};
    }
    for sorter in sorters() {
        check_types!(sorter, u8 i8 u16 i16 u32 i32 u64 i64);
    }
}

#[test]
fn running_sums_of_whole_floats_are_exact() {
    for sorter in sorters() {
        for n in SIZES {
            let mut random = Random(3);
            let keys: Vec<f64> = (0..n).map(|_| random.below(1000) as f64 - 500.0).collect();
            let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
            for scan in [Scan::Inclusive, Scan::Exclusive] {
                assert_eq!(sorter.scan(&keys, scan).unwrap(), scan_of(&keys, 0.0, scan, |a, b| a + b));
                // Below 2^24, where f32 holds every whole number.
                assert_eq!(sorter.scan(&narrow, scan).unwrap(), scan_of(&narrow, 0.0, scan, |a, b| a + b));
            }
        }
    }
}

#[test]
fn float_results_have_the_same_bits_from_every_sorter() {
    fn check<K: TestKey>(sorters: &[Sorter])
    where
        K::Sum: Into<f64>,
    {
        for keys in inputs::<K>(30_000) {
            let usual: Vec<K> = keys.iter().copied().filter(|&key| !key.is_nan()).collect();
            let sums: Vec<u64> = sorters.iter().map(|sorter| sorter.sum(&usual).unwrap().into().to_bits()).collect();
            let scans: Vec<Vec<u64>> =
                sorters.iter().map(|sorter| common::bits_of(&sorter.scan(&usual, Scan::Inclusive).unwrap())).collect();
            assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "sums of {:?}", <K as Key>::DTYPE);
            assert!(scans.windows(2).all(|pair| pair[0] == pair[1]), "scans of {:?}", <K as Key>::DTYPE);
        }
    }
    let sorters = sorters();
    check::<F16>(&sorters);
    check::<Bf16>(&sorters);
    check::<f32>(&sorters);
    check::<f64>(&sorters);
}
