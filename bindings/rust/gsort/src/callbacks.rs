// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that the library calls back, and what Rust needs around them: no panic may cross into C, and a
//! function must not use the sorter that is calling it.

use crate::error::{Error, Result, Status};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void, CStr};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a long call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The work done so far, in bytes or elements, whichever the call counts.
    pub done: u64,
    /// The whole work, in the same unit.
    pub total: u64,
}

impl Progress {
    /// The part that is done, from 0 to 1.
    pub fn fraction(self) -> f64 {
        if self.total == 0 {
            return 1.0;
        }
        self.done as f64 / self.total as f64
    }
}

pub(crate) type LogFn = Box<dyn Fn(&str) + Send + Sync>;
pub(crate) type ProgressFn = Box<dyn FnMut(Progress) -> ControlFlow<()> + Send>;

thread_local! {
    /// The sorters, by the address of their callbacks, whose functions run on this thread now, innermost last.
    static RUNNING: RefCell<Vec<*const Callbacks>> = const { RefCell::new(Vec::new()) };
    /// The panic of a function that ran on this thread, until the call that it belongs to has returned.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// The functions of one sorter. Its address is the `user` argument that the library hands back.
pub(crate) struct Callbacks {
    log: Option<LogFn>,
    progress: Mutex<Option<ProgressFn>>,
}

impl Callbacks {
    pub(crate) fn new(log: Option<LogFn>) -> Self {
        Callbacks { log, progress: Mutex::new(None) }
    }

    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Exchanges the progress function; the old one is the caller's to drop, outside of the lock.
    #[must_use]
    pub(crate) fn replace_progress(&self, new: Option<ProgressFn>) -> Option<ProgressFn> {
        std::mem::replace(&mut *self.lock_progress(), new)
    }

    fn lock_progress(&self) -> MutexGuard<'_, Option<ProgressFn>> {
        // A panic poisons the lock and has already been handed to the caller, who may go on with the function.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error if one of this sorter's functions is running on this thread. The C contract forbids such a call, and it
    /// would wait for itself.
    pub(crate) fn refuse_reentry(&self) -> Result<()> {
        let runs_here = RUNNING.try_with(|running| running.borrow().contains(&(self as *const Callbacks)));
        // Without the thread's storage no function is running: `enter` needs it.
        if runs_here.unwrap_or(false) {
            return Err(Error::new(
                Status::NotSupported,
                "a progress or log function must not use the sorter that calls it; a Canceller is all it may use",
            ));
        }
        Ok(())
    }

    /// Runs `function` as one of this sorter's. None: it panicked, and `resume_panic` will go on with that.
    fn enter<R>(&self, function: impl FnOnce() -> R) -> Option<R> {
        let entered = RUNNING.try_with(|running| running.borrow_mut().push(self));
        if entered.is_err() {
            // The thread is ending, and its storage is gone: there is nobody left to tell.
            return None;
        }
        let result = catch_unwind(AssertUnwindSafe(function));
        RUNNING.with(|running| running.borrow_mut().pop());
        result.map_err(|panic| PANIC.with(|slot| slot.set(Some(panic)))).ok()
    }
}

/// The panic that a function raised during the call that has just returned, if any.
pub(crate) fn take_panic() -> Option<Box<dyn Any + Send>> {
    PANIC.try_with(Cell::take).unwrap_or(None)
}

/// Goes on with the panic of a function that ran during the call that has just returned.
pub(crate) fn resume_panic() {
    if let Some(panic) = take_panic() {
        resume_unwind(panic);
    }
}

/// The progress function that the library knows. `user` points to a sorter's live `Callbacks`.
pub(crate) unsafe extern "C" fn progress_trampoline(user: *mut c_void, done: u64, total: u64) -> i32 {
    // SAFETY: the sorter gave the library this address and keeps the callbacks until the handle is destroyed.
    let callbacks = unsafe { &*user.cast::<Callbacks>() };
    let answer = callbacks.enter(|| match callbacks.lock_progress().as_mut() {
        Some(progress) => progress(Progress { done, total }),
        None => ControlFlow::Continue(()),
    });
    // A panic stops the call, so that it reaches the caller soon.
    i32::from(answer.map_or(true, |flow| flow.is_break()))
}

/// The log function that the library knows. `user` points to a sorter's live `Callbacks`.
pub(crate) unsafe extern "C" fn log_trampoline(user: *mut c_void, message: *const c_char) {
    // SAFETY: as above; the callbacks are shared, never borrowed mutably.
    let callbacks = unsafe { &*user.cast::<Callbacks>() };
    // SAFETY: the library hands over NUL-terminated text that is valid during this call.
    let message = unsafe { CStr::from_ptr(message) };
    if let Some(log) = &callbacks.log {
        callbacks.enter(|| log(&message.to_string_lossy()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn call_progress(callbacks: &Arc<Callbacks>) -> i32 {
        // SAFETY: the address is that of live callbacks.
        unsafe { progress_trampoline(Arc::as_ptr(callbacks) as *mut c_void, 1, 4) }
    }

    #[test]
    fn progress_answers_and_fraction() {
        let callbacks = Arc::new(Callbacks::new(None));
        assert_eq!(call_progress(&callbacks), 0);
        let stop: ProgressFn = Box::new(|progress| {
            assert_eq!(progress.fraction(), 0.25);
            ControlFlow::Break(())
        });
        assert!(callbacks.replace_progress(Some(stop)).is_none());
        assert_eq!(call_progress(&callbacks), 1);
        assert_eq!(Progress { done: 0, total: 0 }.fraction(), 1.0);
    }

    #[test]
    fn a_panic_stops_the_call_and_waits_for_the_caller() {
        let callbacks = Arc::new(Callbacks::new(None));
        drop(callbacks.replace_progress(Some(Box::new(|_| panic!("stop here")))));
        assert_eq!(call_progress(&callbacks), 1);
        let panic = take_panic().expect("the panic was kept");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"stop here"));
        assert!(take_panic().is_none());
        // Poisoned, yet usable.
        drop(callbacks.replace_progress(Some(Box::new(|_| ControlFlow::Continue(())))));
        assert_eq!(call_progress(&callbacks), 0);
    }

    #[test]
    fn reentry_is_refused_only_inside() {
        let callbacks = Arc::new(Callbacks::new(None));
        let other = Arc::new(Callbacks::new(None));
        assert!(callbacks.refuse_reentry().is_ok());
        let inside = callbacks.enter(|| {
            other.enter(|| (callbacks.refuse_reentry().is_err(), other.refuse_reentry().is_err())).expect("no panic")
        });
        assert_eq!(inside, Some((true, true)));
        let inside = callbacks.enter(|| (callbacks.refuse_reentry().is_err(), other.refuse_reentry().is_err()));
        assert_eq!(inside, Some((true, false)));
        assert!(callbacks.refuse_reentry().is_ok());
    }
}
