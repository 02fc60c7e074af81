// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sorter: a handle of the library and the one way through which all calls on it go.

use crate::builder::{Backend, SorterBuilder};
use crate::callbacks::{progress_trampoline, resume_panic, take_panic, Callbacks, Progress};
use crate::cancel::Canceller;
use crate::error::{check, Result};
use crate::info::Info;
use crate::raw::Raw;
use gsort_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::ops::ControlFlow;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A live handle. The library calls into `callbacks` until `Drop` has destroyed the handle.
pub(crate) struct Handle {
    pointer: NonNull<sys::gsort>,
    callbacks: Arc<Callbacks>,
    backend: Backend,
}

// SAFETY: the library allows a handle to be used, and destroyed, by any thread; it keeps nothing of the thread that made
// it. The callbacks are Send and Sync by their own types.
unsafe impl Send for Handle {}

// SAFETY: the library lets calls on one handle from several threads take turns, and keeps error messages by thread.
// Destroying is the one call that needs the handle alone, and only `drop`, which has it alone, does that.
unsafe impl Sync for Handle {}

impl Handle {
    /// Takes over `pointer`, a handle that was made with `callbacks` and that nothing else destroys.
    pub(crate) fn new(pointer: NonNull<sys::gsort>, callbacks: Arc<Callbacks>) -> Result<Handle> {
        let mut handle = Handle { pointer, callbacks, backend: Backend::Cpu };
        handle.backend = Info::of(&handle)?.backend;
        Ok(handle)
    }

    pub(crate) fn pointer(&self) -> *mut sys::gsort {
        self.pointer.as_ptr()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive, and this is its last use: nobody else holds `self`.
        unsafe { sys::gsort_destroy(self.pointer()) };
        // A log function that panicked meanwhile: raising that from a drop would do more harm than good.
        drop(take_panic());
    }
}

/// Whether a call may return while a device is still at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The caller keeps the arrays alive until [`Raw::synchronize`].
    No,
    /// The arrays are borrowed for the call alone.
    Yes,
}

/// Sorts, selects and sums arrays on one backend.
///
/// Making one is cheap next to a large sort, not next to a small one: keep it. Scratch memory is kept between calls and
/// freed on drop.
///
/// A sorter may be used from several threads at once; their calls take turns.
///
/// ```
/// use gsort::{Order, Sorter};
///
/// # fn main() -> Result<(), gsort::Error> {
/// let sorter = Sorter::new()?;
/// let keys = [30_u32, 10, 20];
/// let places: Vec<usize> = sorter.argsort(&keys, Order::ASCENDING)?;
/// assert_eq!(places, [1, 2, 0]);
/// # Ok(())
/// # }
/// ```
pub struct Sorter {
    handle: Arc<Handle>,
}

impl Sorter {
    /// A sorter on the GPU if there is a usable one, on all processors otherwise. [`Sorter::info`] says which and why.
    pub fn new() -> Result<Sorter> {
        Sorter::builder().build()
    }

    /// A sorter with options of your own.
    pub fn builder() -> SorterBuilder {
        SorterBuilder::new()
    }

    pub(crate) fn from_handle(handle: Handle) -> Sorter {
        Sorter { handle: Arc::new(handle) }
    }

    /// What this sorter is: backend, device, threads, memory, and why this backend was chosen.
    pub fn info(&self) -> Result<Info> {
        self.handle.callbacks.refuse_reentry()?;
        Info::of(&self.handle)
    }

    /// The backend at work: [`Backend::Cpu`] or [`Backend::Cuda`].
    pub fn backend(&self) -> Backend {
        self.handle.backend
    }

    /// A handle that stops a running call of this sorter, from any thread and from its progress function.
    pub fn canceller(&self) -> Canceller {
        Canceller::new(&self.handle)
    }

    /// Sets the function that is called between the chunks of long work, on the thread that made the call.
    /// [`ControlFlow::Break`] stops the call, which then fails with [`Status::Cancelled`](crate::Status::Cancelled);
    /// so does a panic, which goes on in the thread that made the call.
    ///
    /// The function must not use this sorter, whose calls answer [`Status::NotSupported`](crate::Status::NotSupported)
    /// there. It may use a [`Canceller`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// # fn main() -> Result<(), gsort::Error> {
    /// let sorter = gsort::Sorter::new()?;
    /// sorter.set_progress(|progress| {
    ///     eprint!("\r{:.0} %", progress.fraction() * 100.0);
    ///     ControlFlow::Continue(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_progress<F>(&self, progress: F) -> Result<()>
    where
        F: FnMut(Progress) -> ControlFlow<()> + Send + 'static,
    {
        let user = Arc::as_ptr(&self.handle.callbacks) as *mut c_void;
        // SAFETY: the callbacks that the function reads live until the handle is destroyed.
        self.run(Wait::No, |g| unsafe { sys::gsort_set_progress(g, Some(progress_trampoline), user) })?;
        drop(self.handle.callbacks.replace_progress(Some(Box::new(progress))));
        Ok(())
    }

    /// Takes the progress function away.
    pub fn clear_progress(&self) -> Result<()> {
        // SAFETY: no function is no danger.
        self.run(Wait::No, |g| unsafe { sys::gsort_set_progress(g, None, ptr::null_mut()) })?;
        drop(self.handle.callbacks.replace_progress(None));
        Ok(())
    }

    /// The same calls on raw pointers, which may be device memory, without waiting where the library need not.
    pub fn raw(&self) -> Raw<'_> {
        Raw::new(self, Wait::No)
    }

    /// The calls behind the safe methods: they return when the work is done.
    pub(crate) fn waiting(&self) -> Raw<'_> {
        Raw::new(self, Wait::Yes)
    }

    /// The C handle, for calls that this crate does not have. It stays owned by the sorter: do not destroy it.
    pub fn as_ptr(&self) -> *mut sys::gsort {
        self.handle.pointer()
    }

    /// Makes a call on the handle, the one way in: refuses calls from the sorter's own functions, fetches the message
    /// of a failure and goes on with a panic of a function that ran meanwhile.
    pub(crate) fn run(&self, wait: Wait, call: impl FnOnce(*mut sys::gsort) -> sys::gsort_status) -> Result<()> {
        self.handle.callbacks.refuse_reentry()?;
        let mut result = check(self.as_ptr(), call(self.as_ptr()));
        if wait == Wait::Yes && self.handle.backend == Backend::Cuda {
            // Calls on host memory have waited. Slices of managed memory have not, and the borrow ends here, be it with
            // a failure.
            // SAFETY: the handle is alive.
            let waited = check(self.as_ptr(), unsafe { sys::gsort_synchronize(self.as_ptr()) });
            result = result.and(waited);
        }
        resume_panic();
        result
    }
}

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorter").field("backend", &self.backend()).field("handle", &self.as_ptr()).finish()
    }
}
