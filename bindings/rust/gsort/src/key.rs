// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types of keys and of indices.

use gsort_sys as sys;
use std::cmp::Ordering;
use std::fmt;

mod sealed {
    /// Keeps [`Key`](super::Key) and [`Index`](super::Index) to the types that the library knows: the safe methods rely
    /// on `DTYPE` naming the type's size and on every bit pattern being a value.
    pub trait Sealed {}
}

/// Type of an array's elements, as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum Dtype {
    /// `u8`
    U8 = sys::GSORT_U8,
    /// `i8`
    I8 = sys::GSORT_I8,
    /// `u16`
    U16 = sys::GSORT_U16,
    /// `i16`
    I16 = sys::GSORT_I16,
    /// `u32`
    U32 = sys::GSORT_U32,
    /// `i32`
    I32 = sys::GSORT_I32,
    /// `u64`
    U64 = sys::GSORT_U64,
    /// `i64`
    I64 = sys::GSORT_I64,
    /// [`F16`](crate::F16)
    F16 = sys::GSORT_F16,
    /// [`Bf16`](crate::Bf16)
    Bf16 = sys::GSORT_BF16,
    /// `f32`
    F32 = sys::GSORT_F32,
    /// `f64`
    F64 = sys::GSORT_F64,
}

impl Dtype {
    pub(crate) fn code(self) -> sys::gsort_dtype {
        self as sys::gsort_dtype
    }
}

/// A type that gsort can order and add: the integers of 8 to 64 bits, [`F16`], [`Bf16`], `f32` and `f64`.
///
/// No other type can implement it. `usize` and `isize` are not keys, because their size is not the same everywhere.
pub trait Key: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Type of [`Sorter::sum`](crate::Sorter::sum): `u64` for unsigned integers, `i64` for signed ones, `f64` for
    /// floats.
    type Sum: Copy + fmt::Debug + PartialEq + Send + Sync + 'static;

    /// The type as a value.
    const DTYPE: Dtype;
}

/// A type for indices and ranks: `u32`, `i32`, `u64`, `i64`, `usize` or `isize`. No other type can implement it.
pub trait Index: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The type as a value.
    const DTYPE: Dtype;
}

macro_rules! keys {
    ($($type:ty, $dtype:ident, $sum:ty;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Key for $type {
            type Sum = $sum;
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}

keys! {
    u8, U8, u64;
    i8, I8, i64;
    u16, U16, u64;
    i16, I16, i64;
    u32, U32, u64;
    i32, I32, i64;
    u64, U64, u64;
    i64, I64, i64;
    F16, F16, f64;
    Bf16, Bf16, f64;
    f32, F32, f64;
    f64, F64, f64;
}

#[cfg(feature = "half")]
keys! {
    ::half::f16, F16, f64;
    ::half::bf16, Bf16, f64;
}

macro_rules! indices {
    ($($type:ty, $dtype:expr;)*) => {$(
        impl Index for $type {
            const DTYPE: Dtype = $dtype;
        }
    )*};
}

impl sealed::Sealed for usize {}
impl sealed::Sealed for isize {}

indices! {
    u32, Dtype::U32;
    i32, Dtype::I32;
    u64, Dtype::U64;
    i64, Dtype::I64;
    usize, if usize::BITS == 64 { Dtype::U64 } else { Dtype::U32 };
    isize, if isize::BITS == 64 { Dtype::I64 } else { Dtype::I32 };
}

macro_rules! half {
    ($(#[$docs:meta])* $type:ident, $to_f32:expr) => {
        $(#[$docs])*
        ///
        /// Only its bits are held: arithmetic is left to other crates, and equality and order are those of the sorts:
        /// two values are equal only if all their bits are, and they order as [`f32::total_cmp`] orders floats.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $type(u16);

        impl $type {
            /// The value with these bits.
            pub const fn from_bits(bits: u16) -> Self {
                $type(bits)
            }

            /// The bits of the value.
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// The same value as `f32`, which holds it exactly. A NaN keeps its sign and becomes quiet.
            pub fn to_f32(self) -> f32 {
                let convert: fn(u16) -> f32 = $to_f32;
                convert(self.0)
            }
        }

        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                // A negative value orders the more to the front the greater its magnitude is.
                let ordered = |bits: u16| if bits >> 15 == 1 { !bits } else { bits | 0x8000 };
                ordered(self.0).cmp(&ordered(other.0))
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl From<$type> for f32 {
            fn from(value: $type) -> f32 {
                value.to_f32()
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.to_f32())
            }
        }
    };
}

half!(
    /// A number of 16 bits in the format IEEE 754 binary16.
    F16,
    |bits| {
        let sign = u32::from(bits >> 15) << 31;
        let exponent = u32::from(bits >> 10) & 0x1f;
        let fraction = u32::from(bits) & 0x3ff;
        match (exponent, fraction) {
            // Zeros and subnormals: fraction / 2^24, a product that f32 holds exactly.
            (0, _) => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
            (0x1f, 0) => f32::from_bits(sign | 0x7f80_0000),
            (0x1f, _) => f32::from_bits(sign | 0x7fc0_0000 | fraction << 13),
            // The exponents are biased by 15 and by 127.
            _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
        }
    }
);

half!(
    /// A number of 16 bits in the format bfloat16: the upper half of an `f32`.
    Bf16,
    |bits| {
        let is_nan = bits & 0x7fff > 0x7f80;
        f32::from_bits(u32::from(bits) << 16 | if is_nan { 0x0040_0000 } else { 0 })
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_converts_exactly() {
        let cases = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, expected) in cases {
            assert_eq!(F16::from_bits(bits).to_f32().to_bits(), f32::to_bits(expected), "{bits:#06x}");
        }
        for bits in [0x7c01_u16, 0x7e00, 0xfc01, 0xffff] {
            let converted = F16::from_bits(bits).to_f32();
            assert!(converted.is_nan() && converted.is_sign_negative() == (bits >> 15 == 1), "{bits:#06x}");
        }
    }

    #[test]
    fn bf16_is_the_upper_half_of_f32() {
        for value in [0.0_f32, -0.0, 1.0, -2.5, f32::INFINITY, f32::NEG_INFINITY] {
            let converted = Bf16::from_bits((value.to_bits() >> 16) as u16).to_f32();
            assert_eq!(converted.to_bits(), value.to_bits());
        }
        assert!(Bf16::from_bits(0x7f81).to_f32().is_nan());
    }

    #[test]
    fn halves_order_as_total_cmp_does() {
        // The conversion keeps the order and, among NaNs, the order of all payloads that stay different.
        let order_of = |a: u16, b: u16| F16::from_bits(a).cmp(&F16::from_bits(b));
        for a in (0..=u16::MAX).step_by(97) {
            for b in (0..=u16::MAX).step_by(89) {
                let (x, y) = (F16::from_bits(a).to_f32(), F16::from_bits(b).to_f32());
                if !x.is_nan() && !y.is_nan() {
                    assert_eq!(order_of(a, b), x.total_cmp(&y), "{a:#06x} {b:#06x}");
                }
                let (x, y) = (Bf16::from_bits(a), Bf16::from_bits(b));
                let wide = |value: Bf16| f32::from_bits(u32::from(value.to_bits()) << 16);
                assert_eq!(x.cmp(&y), wide(x).total_cmp(&wide(y)), "{a:#06x} {b:#06x}");
            }
        }
        assert!(order_of(0xfe00, 0xfc00).is_lt() && order_of(0x7c00, 0x7c01).is_lt());
    }

    #[test]
    fn dtypes_carry_the_numbers_of_the_header() {
        assert_eq!(<u8 as Key>::DTYPE.code(), sys::GSORT_U8);
        assert_eq!(<f64 as Key>::DTYPE.code(), sys::GSORT_F64);
        assert_eq!(<Bf16 as Key>::DTYPE.code(), sys::GSORT_BF16);
        assert_eq!(<usize as Index>::DTYPE.code(), sys::GSORT_U64);
    }
}
