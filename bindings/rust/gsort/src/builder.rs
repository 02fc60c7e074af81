// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of a sorter.

use crate::callbacks::{log_trampoline, resume_panic, Callbacks, LogFn};
use crate::error::{check, Error, Result, Status};
use crate::sorter::{Handle, Sorter};
use gsort_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Backend {
    /// The GPU if there is a usable one, the CPU otherwise; the environment variable `GSORT_BACKEND=cpu|cuda` decides.
    #[default]
    Auto,
    /// Threads on the CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

impl Backend {
    fn code(self) -> u32 {
        match self {
            Backend::Auto => sys::GSORT_BACKEND_AUTO,
            Backend::Cpu => sys::GSORT_BACKEND_CPU,
            Backend::Cuda => sys::GSORT_BACKEND_CUDA,
        }
    }
}

/// How to make a [`Sorter`].
///
/// ```
/// use gsort::{Backend, Sorter};
///
/// # fn main() -> Result<(), gsort::Error> {
/// let sorter = Sorter::builder().backend(Backend::Cpu).threads(2).build()?;
/// assert_eq!(sorter.backend(), Backend::Cpu);
/// assert_eq!(sorter.info()?.threads, 2);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is made before build()"]
#[derive(Default)]
pub struct SorterBuilder {
    backend: Backend,
    device: Option<u32>,
    threads: u32,
    device_memory_limit_bytes: u64,
    host_memory_limit_bytes: u64,
    log: Option<LogFn>,
}

impl SorterBuilder {
    /// The defaults: [`Backend::Auto`], the current device, all processors, no limits, no log.
    pub fn new() -> Self {
        SorterBuilder::default()
    }

    /// What does the work.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The CUDA device, by its ordinal; without this call the calling thread's current one.
    pub fn device(mut self, ordinal: u32) -> Self {
        self.device = Some(ordinal);
        self
    }

    /// CPU threads, the caller's included; 0: one for each processor that the process may use.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// The most device memory that the sorter may hold; 0: no limit.
    pub fn device_memory_limit_bytes(mut self, bytes: u64) -> Self {
        self.device_memory_limit_bytes = bytes;
        self
    }

    /// The most host scratch memory that the sorter may hold; 0: no limit.
    pub fn host_memory_limit_bytes(mut self, bytes: u64) -> Self {
        self.host_memory_limit_bytes = bytes;
        self
    }

    /// A function that receives a line of text about each decision of the library: the plan of a call, a fallback and
    /// its reason. It must not use the sorter, whose calls answer
    /// [`Status::NotSupported`](crate::Status::NotSupported) there.
    pub fn log<F>(mut self, log: F) -> Self
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        self.log = Some(Box::new(log));
        self
    }

    /// Makes the sorter.
    pub fn build(self) -> Result<Sorter> {
        let device = match self.device {
            None => -1,
            Some(ordinal) => {
                i32::try_from(ordinal).map_err(|_| Error::invalid(format!("device is {ordinal}: no such device")))?
            }
        };
        let callbacks = Arc::new(Callbacks::new(self.log));
        let options = sys::gsort_options {
            struct_size: size_of_u32::<sys::gsort_options>(),
            backend: self.backend.code(),
            device,
            threads: self.threads,
            device_memory_limit_bytes: self.device_memory_limit_bytes,
            host_memory_limit_bytes: self.host_memory_limit_bytes,
            host_allocate: None,
            host_deallocate: None,
            device_allocate: None,
            device_deallocate: None,
            allocator_user: ptr::null_mut(),
            log: if callbacks.has_log() { Some(log_trampoline) } else { None },
            log_user: Arc::as_ptr(&callbacks) as *mut c_void,
        };
        let mut pointer = ptr::null_mut();
        // SAFETY: the options are whole and read during the call alone, but for the log function and its callbacks,
        // which live as long as the handle.
        let status = unsafe { sys::gsort_create(&options, &mut pointer) };
        check(ptr::null(), status).inspect_err(|_| resume_panic())?;
        let pointer = NonNull::new(pointer)
            .ok_or_else(|| Error::new(Status::Internal, "gsort_create() succeeded without a handle"))?;
        let handle = Handle::new(pointer, callbacks)?;
        resume_panic();
        Ok(Sorter::from_handle(handle))
    }
}

impl fmt::Debug for SorterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SorterBuilder")
            .field("backend", &self.backend)
            .field("device", &self.device)
            .field("threads", &self.threads)
            .field("device_memory_limit_bytes", &self.device_memory_limit_bytes)
            .field("host_memory_limit_bytes", &self.host_memory_limit_bytes)
            .field("log", &self.log.is_some())
            .finish()
    }
}

/// The size of one of the C interface's structs.
pub(crate) const fn size_of_u32<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}
