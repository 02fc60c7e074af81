// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order, which end, which sums.

use gsort_sys as sys;

/// Where NaNs stand. No effect on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nans {
    /// As IEEE 754 totalOrder puts them: negative ones before everything, positive ones after everything.
    #[default]
    Ordered,
    /// After everything else in either direction, whatever their sign; among themselves they then ascend by their bits
    /// read as an unsigned integer, in either direction.
    Last,
}

impl Nans {
    pub(crate) fn flags(self) -> u32 {
        match self {
            Nans::Ordered => 0,
            Nans::Last => sys::GSORT_NAN_LAST,
        }
    }
}

/// The order of a sort.
///
/// ```
/// use gsort::Order;
///
/// assert_eq!(Order::default(), Order::ASCENDING);
/// let order = Order::DESCENDING.nan_last();
/// # assert_ne!(order, Order::DESCENDING);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Order {
    descending: bool,
    nans: Nans,
}

impl Order {
    /// From the least to the greatest.
    pub const ASCENDING: Order = Order { descending: false, nans: Nans::Ordered };
    /// From the greatest to the least. Stable sorts stay stable: equal keys keep the order of the input.
    pub const DESCENDING: Order = Order { descending: true, nans: Nans::Ordered };

    /// The same order with every NaN at the end: [`Nans::Last`].
    #[must_use]
    pub const fn nan_last(self) -> Order {
        Order { nans: Nans::Last, ..self }
    }

    pub(crate) fn flags(self) -> u32 {
        (if self.descending { sys::GSORT_DESCENDING } else { 0 }) | self.nans.flags()
    }
}

/// Which elements a top-k takes. Equal elements go by the lowest index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pick {
    smallest: bool,
    nans: Nans,
}

impl Pick {
    /// The greatest, from the greatest downwards.
    pub const GREATEST: Pick = Pick { smallest: false, nans: Nans::Ordered };
    /// The least, from the least upwards.
    pub const SMALLEST: Pick = Pick { smallest: true, nans: Nans::Ordered };

    /// The same choice with NaNs taken after everything else: [`Nans::Last`].
    #[must_use]
    pub const fn nan_last(self) -> Pick {
        Pick { nans: Nans::Last, ..self }
    }

    pub(crate) fn flags(self) -> u32 {
        (if self.smallest { sys::GSORT_SMALLEST } else { 0 }) | self.nans.flags()
    }
}

/// Which elements a running sum holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scan {
    /// Element i is the sum of the elements up to and with i.
    #[default]
    Inclusive,
    /// Element i is the sum of the elements before i; the first is 0.
    Exclusive,
}

impl Scan {
    pub(crate) fn flags(self) -> u32 {
        match self {
            Scan::Inclusive => 0,
            Scan::Exclusive => sys::GSORT_EXCLUSIVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_of_the_header() {
        assert_eq!(Order::ASCENDING.flags(), 0);
        assert_eq!(Order::DESCENDING.flags(), sys::GSORT_DESCENDING);
        assert_eq!(Order::DESCENDING.nan_last().flags(), sys::GSORT_DESCENDING | sys::GSORT_NAN_LAST);
        assert_eq!(Pick::GREATEST.flags(), 0);
        assert_eq!(Pick::SMALLEST.nan_last().flags(), sys::GSORT_SMALLEST | sys::GSORT_NAN_LAST);
        assert_eq!((Scan::Inclusive.flags(), Scan::Exclusive.flags()), (0, sys::GSORT_EXCLUSIVE));
    }
}
