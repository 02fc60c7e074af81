// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statuses and errors.

use gsort_sys as sys;
use std::ffi::CStr;
use std::fmt;

/// The result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An argument is wrong; nothing was written.
    InvalidArgument,
    /// Host or device memory, or a limit set by the caller, ran out.
    OutOfMemory,
    /// CUDA was asked for and no usable device is there.
    NoDevice,
    /// The device failed for good; every later call on it says so at once.
    DeviceLost,
    /// A [`Canceller`](crate::Canceller) or a progress function stopped the call.
    Cancelled,
    /// The sorter was made before a fork and is used in the child.
    Forked,
    /// This sorter's backend or state cannot do what was asked.
    NotSupported,
    /// A fault of the library's own.
    Internal,
    /// A status that this version of the crate does not know.
    Unknown(i32),
}

impl Status {
    /// The status with this number in the C interface.
    fn from_code(code: sys::gsort_status) -> Self {
        match code {
            sys::GSORT_ERROR_INVALID_ARGUMENT => Status::InvalidArgument,
            sys::GSORT_ERROR_OUT_OF_MEMORY => Status::OutOfMemory,
            sys::GSORT_ERROR_NO_DEVICE => Status::NoDevice,
            sys::GSORT_ERROR_DEVICE_LOST => Status::DeviceLost,
            sys::GSORT_ERROR_CANCELLED => Status::Cancelled,
            sys::GSORT_ERROR_FORKED => Status::Forked,
            sys::GSORT_ERROR_NOT_SUPPORTED => Status::NotSupported,
            sys::GSORT_ERROR_INTERNAL => Status::Internal,
            other => Status::Unknown(other),
        }
    }

    /// The number of this status in the C interface.
    pub fn code(self) -> i32 {
        match self {
            Status::InvalidArgument => sys::GSORT_ERROR_INVALID_ARGUMENT,
            Status::OutOfMemory => sys::GSORT_ERROR_OUT_OF_MEMORY,
            Status::NoDevice => sys::GSORT_ERROR_NO_DEVICE,
            Status::DeviceLost => sys::GSORT_ERROR_DEVICE_LOST,
            Status::Cancelled => sys::GSORT_ERROR_CANCELLED,
            Status::Forked => sys::GSORT_ERROR_FORKED,
            Status::NotSupported => sys::GSORT_ERROR_NOT_SUPPORTED,
            Status::Internal => sys::GSORT_ERROR_INTERNAL,
            Status::Unknown(code) => code,
        }
    }

    /// The name of this status in the C interface, such as `GSORT_ERROR_CANCELLED`.
    pub fn name(self) -> &'static str {
        // SAFETY: the function takes any number and returns static, NUL-terminated text.
        let name = unsafe { CStr::from_ptr(sys::gsort_status_name(self.code())) };
        name.to_str().unwrap_or("unknown status")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a call failed: a status to decide by and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Error { status, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Error::new(Status::InvalidArgument, message)
    }

    /// The kind of the failure.
    pub fn status(&self) -> Status {
        self.status
    }

    /// A sentence that names what was wrong, its value and the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            return write!(f, "{}", self.status);
        }
        write!(f, "{} ({})", self.message, self.status)
    }
}

impl std::error::Error for Error {}

/// Turns the status of a call on `handle` (null: a call without one) into a result. Must be asked before this thread
/// makes another call, which could replace the message.
pub(crate) fn check(handle: *const sys::gsort, code: sys::gsort_status) -> Result<()> {
    if code == sys::GSORT_OK {
        return Ok(());
    }
    // SAFETY: the caller's handle is alive or null; the text is NUL-terminated and valid until this thread's next
    // failing call, and it is copied here.
    let message = unsafe { CStr::from_ptr(sys::gsort_error_message(handle)) };
    Err(Error::new(Status::from_code(code), message.to_string_lossy()))
}
