// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stopping a call from outside.

use crate::error::{check, Result};
use crate::sorter::Handle;
use gsort_sys as sys;
use std::fmt;
use std::sync::{Arc, Weak};

/// Stops the call that runs on a [`Sorter`](crate::Sorter), from any thread. Does not keep the sorter alive.
///
/// ```
/// use gsort::{Order, Sorter};
///
/// # fn main() -> Result<(), gsort::Error> {
/// let sorter = Sorter::new()?;
/// let canceller = sorter.canceller();
/// std::thread::scope(|scope| {
///     scope.spawn(move || canceller.cancel());
///     let mut keys = vec![7_u32; 1000];
///     match sorter.sort(&mut keys, Order::ASCENDING) {
///         Ok(()) => println!("sorted before it was stopped"),
///         Err(error) => assert_eq!(error.status(), gsort::Status::Cancelled),
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Canceller {
    handle: Weak<Handle>,
}

impl Canceller {
    pub(crate) fn new(handle: &Arc<Handle>) -> Self {
        Canceller { handle: Arc::downgrade(handle) }
    }

    /// Asks the call that runs now, if any, to stop; it then fails with
    /// [`Status::Cancelled`](crate::Status::Cancelled). Does not wait for that. An array that is sorted in place is then
    /// untouched or holds a permutation of its input; other outputs hold unspecified elements. Without a running call,
    /// or after the sorter is gone, nothing happens.
    pub fn cancel(&self) -> Result<()> {
        let Some(handle) = self.handle.upgrade() else { return Ok(()) };
        // SAFETY: the handle is alive while it is borrowed here; this call is allowed during any other.
        check(handle.pointer(), unsafe { sys::gsort_cancel(handle.pointer()) })
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").field("sorter_alive", &(self.handle.strong_count() > 0)).finish()
    }
}
