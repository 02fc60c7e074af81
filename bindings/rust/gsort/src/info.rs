// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a sorter is, and versions.

use crate::builder::{size_of_u32, Backend};
use crate::error::{check, Result};
use crate::sorter::Handle;
use gsort_sys as sys;
use std::ffi::c_char;
use std::fmt;
use std::mem::MaybeUninit;

/// What a [`Sorter`](crate::Sorter) is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// [`Backend::Cpu`] or [`Backend::Cuda`].
    pub backend: Backend,
    /// Ordinal of the CUDA device; none on the CPU.
    pub device: Option<u32>,
    /// Threads that CPU work uses, the caller's included.
    pub threads: u32,
    /// Compute capability of the device, major and minor; none on the CPU.
    pub compute_capability: Option<(u32, u32)>,
    /// CUDA version of the driver, as CUDA counts (13000 is 13.0); none without a driver.
    pub driver_version: Option<u32>,
    /// Memory of the device, 0 on the CPU.
    pub device_memory_bytes: u64,
    /// Memory of the device that is free now, 0 on the CPU.
    pub device_memory_free_bytes: u64,
    /// Device memory that the sorter holds now.
    pub device_held_bytes: u64,
    /// Host scratch memory that the sorter holds now.
    pub host_held_bytes: u64,
    /// Name of the device or of the processor.
    pub device_name: String,
    /// Why this backend was chosen.
    pub reason: String,
}

impl Info {
    pub(crate) fn of(handle: &Handle) -> Result<Info> {
        // SAFETY: the struct is made of integers, for which zero is a value.
        let mut raw: sys::gsort_info = unsafe { MaybeUninit::zeroed().assume_init() };
        raw.struct_size = size_of_u32::<sys::gsort_info>();
        // SAFETY: the handle is alive and the struct as large as it says.
        check(handle.pointer(), unsafe { sys::gsort_info_get(handle.pointer(), &mut raw) })?;
        let capability = raw.compute_capability;
        Ok(Info {
            backend: if raw.backend == sys::GSORT_BACKEND_CUDA { Backend::Cuda } else { Backend::Cpu },
            device: u32::try_from(raw.device).ok(),
            threads: raw.threads,
            compute_capability: (capability != 0).then_some((capability / 10, capability % 10)),
            driver_version: (raw.driver_version != 0).then_some(raw.driver_version),
            device_memory_bytes: raw.device_memory_bytes,
            device_memory_free_bytes: raw.device_memory_free_bytes,
            device_held_bytes: raw.device_held_bytes,
            host_held_bytes: raw.host_held_bytes,
            device_name: text(&raw.device_name),
            reason: text(&raw.reason),
        })
    }
}

/// The text before the first NUL.
fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A version of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Changes when the C interface breaks.
    pub major: u32,
    /// Grows with what the interface has.
    pub minor: u32,
    /// Grows with repairs.
    pub patch: u32,
}

impl Version {
    const fn from_number(number: u32) -> Version {
        Version { major: number / 10_000, minor: number / 100 % 100, patch: number % 100 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version of the library that was loaded.
pub fn version() -> Version {
    // SAFETY: the function takes nothing and returns a number.
    Version::from_number(unsafe { sys::gsort_version() })
}

/// The version of the header that these bindings were made from.
pub const fn header_version() -> Version {
    Version::from_number(sys::GSORT_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_taken_apart() {
        assert_eq!(Version::from_number(12_345), Version { major: 1, minor: 23, patch: 45 });
        assert_eq!(Version::from_number(10_203).to_string(), "1.2.3");
        assert!(Version::from_number(10_203) < Version::from_number(10_300));
    }

    #[test]
    fn text_ends_at_the_first_nul_or_with_the_field() {
        assert_eq!(text(&[b'a' as c_char, b'b' as c_char, 0, b'c' as c_char]), "ab");
        assert_eq!(text(&[b'a' as c_char; 3]), "aaa");
        assert_eq!(text(&[]), "");
    }
}
