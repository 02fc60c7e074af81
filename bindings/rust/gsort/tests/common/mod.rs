// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs, an order of keys that owes nothing to the library, and the sorters to test.
#![allow(dead_code)] // No test program uses all of it.

use gsort::{Backend, Bf16, Key, Nans, Sorter, F16};
use std::cmp::Ordering;
use std::fmt::Debug;

/// A key with its bits and its place in IEEE 754 totalOrder.
pub trait TestKey: Key + Debug {
    const BITS: u32;
    fn from_low_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn is_nan(self) -> bool;
    fn total_order(self, other: Self) -> Ordering;
    /// Zeros, extremes and, of floats, infinities, subnormals and NaNs of both signs with several payloads.
    fn specials() -> Vec<Self>;
}

macro_rules! integer_keys {
    ($($type:ident as $unsigned:ident),*) => {$(
        impl TestKey for $type {
            const BITS: u32 = $type::BITS;
            fn from_low_bits(bits: u64) -> Self { bits as $type }
            fn bits(self) -> u64 { u64::from(self as $unsigned) }
            fn is_nan(self) -> bool { false }
            fn total_order(self, other: Self) -> Ordering { self.cmp(&other) }
            fn specials() -> Vec<Self> { vec![0, 1, $type::MIN, $type::MAX, $type::MAX - 1, $type::MAX / 2] }
        }
    )*};
}
integer_keys!(u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64);

macro_rules! float_keys {
    ($($type:ident, $bits:ident, $width:expr, $infinity:expr;)*) => {$(
        impl TestKey for $type {
            const BITS: u32 = $width;
            fn from_low_bits(bits: u64) -> Self { $type::from_bits(bits as $bits) }
            fn bits(self) -> u64 { u64::from(self.to_bits()) }
            fn is_nan(self) -> bool { self.bits() & !(1 << ($width - 1)) > $infinity }
            fn total_order(self, other: Self) -> Ordering {
                // Sign and magnitude: negative numbers in reverse, before all others.
                let place = |key: Self| {
                    let (negative, magnitude) = (key.bits() >> ($width - 1) == 1, key.bits() & ((1 << ($width - 1)) - 1));
                    if negative { -i128::from(magnitude) - 1 } else { i128::from(magnitude) }
                };
                place(self).cmp(&place(other))
            }
            fn specials() -> Vec<Self> {
                let positive = [0, 1, 2, $infinity / 2, $infinity - 1, $infinity, $infinity + 1, $infinity | $infinity >> 1];
                let negative = positive.map(|bits: u64| bits | 1 << ($width - 1));
                positive.into_iter().chain(negative).chain([u64::MAX]).map(Self::from_low_bits).collect()
            }
        }
    )*};
}
float_keys! {
    F16, u16, 16, 0x7c00;
    Bf16, u16, 16, 0x7f80;
    f32, u32, 32, 0x7f80_0000;
    f64, u64, 64, 0x7ff0_0000_0000_0000;
}

/// Runs a generic function for all twelve types.
#[macro_export]
macro_rules! for_all_types {
    ($function:ident $(, $argument:expr)*) => {
        $function::<u8>($($argument),*);
        $function::<i8>($($argument),*);
        $function::<u16>($($argument),*);
        $function::<i16>($($argument),*);
        $function::<u32>($($argument),*);
        $function::<i32>($($argument),*);
        $function::<u64>($($argument),*);
        $function::<i64>($($argument),*);
        $function::<gsort::F16>($($argument),*);
        $function::<gsort::Bf16>($($argument),*);
        $function::<f32>($($argument),*);
        $function::<f64>($($argument),*);
    };
}

/// The order that gsort's header defines.
pub fn compare<K: TestKey>(a: K, b: K, descending: bool, nans: Nans) -> Ordering {
    if nans == Nans::Last && (a.is_nan() || b.is_nan()) {
        return a.is_nan().cmp(&b.is_nan()).then(a.bits().cmp(&b.bits()));
    }
    let ascending = a.total_order(b);
    if descending {
        ascending.reverse()
    } else {
        ascending
    }
}

/// The stable order of the keys.
pub fn stable_order<K: TestKey>(keys: &[K], descending: bool, nans: Nans) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| compare(keys[a], keys[b], descending, nans));
    order
}

pub fn bits_of<K: TestKey>(keys: &[K]) -> Vec<u64> {
    keys.iter().map(|key| key.bits()).collect()
}

/// The keys, by their bits, in the order of `places`.
pub fn gather<K: TestKey>(keys: &[K], places: &[usize]) -> Vec<u64> {
    places.iter().map(|&place| keys[place].bits()).collect()
}

/// Every direction with every place of NaNs.
pub fn orders() -> [(bool, Nans, gsort::Order); 4] {
    use gsort::Order;
    [
        (false, Nans::Ordered, Order::ASCENDING),
        (true, Nans::Ordered, Order::DESCENDING),
        (false, Nans::Last, Order::ASCENDING.nan_last()),
        (true, Nans::Last, Order::DESCENDING.nan_last()),
    ]
}

/// A generator of numbers (SplitMix64), so that every run tests the same.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Inputs of n keys: any bits; special values; three values; sorted; reverse.
pub fn inputs<K: TestKey>(n: usize) -> Vec<Vec<K>> {
    let mut random = Random(n as u64 + u64::from(K::BITS));
    let specials = K::specials();
    let any: Vec<K> = (0..n).map(|_| K::from_low_bits(random.next())).collect();
    let special = (0..n).map(|_| specials[random.below(specials.len() as u64) as usize]).collect();
    let three = (0..n).map(|_| K::from_low_bits(random.below(3))).collect();
    let mut sorted = any.clone();
    sorted.sort_by(|a, b| a.total_order(*b));
    let reverse = sorted.iter().rev().copied().collect();
    vec![any, special, three, sorted, reverse]
}

/// CPU sorters of one and of three threads, and one on the GPU if there is one.
pub fn sorters() -> Vec<Sorter> {
    let cpu = |threads| Sorter::builder().backend(Backend::Cpu).threads(threads).build().expect("a CPU is there");
    let mut sorters = vec![cpu(1), cpu(3)];
    match Sorter::builder().backend(Backend::Cuda).build() {
        Ok(sorter) => sorters.push(sorter),
        Err(error) => eprintln!("not tested on a GPU: {error}"),
    }
    sorters
}

pub fn cpu() -> Sorter {
    Sorter::builder().backend(Backend::Cpu).threads(2).build().expect("a CPU is there")
}
