// SPDX-License-Identifier: MIT OR Apache-2.0
// Made from include/gsort.h by build/generate.rs; `check-bindings --update` makes it anew.

pub const GSORT_VERSION_MAJOR: u32 = 1;
pub const GSORT_VERSION_MINOR: u32 = 0;
pub const GSORT_VERSION_PATCH: u32 = 0;
pub const GSORT_VERSION: u32 = 10000;
pub const GSORT_OK: i32 = 0;
pub const GSORT_ERROR_INVALID_ARGUMENT: i32 = 1;
pub const GSORT_ERROR_OUT_OF_MEMORY: i32 = 2;
pub const GSORT_ERROR_NO_DEVICE: i32 = 3;
pub const GSORT_ERROR_DEVICE_LOST: i32 = 4;
pub const GSORT_ERROR_CANCELLED: i32 = 5;
pub const GSORT_ERROR_FORKED: i32 = 6;
pub const GSORT_ERROR_NOT_SUPPORTED: i32 = 7;
pub const GSORT_ERROR_INTERNAL: i32 = 8;
pub const GSORT_U8: u32 = 1;
pub const GSORT_I8: u32 = 2;
pub const GSORT_U16: u32 = 3;
pub const GSORT_I16: u32 = 4;
pub const GSORT_U32: u32 = 5;
pub const GSORT_I32: u32 = 6;
pub const GSORT_U64: u32 = 7;
pub const GSORT_I64: u32 = 8;
pub const GSORT_F16: u32 = 9;
pub const GSORT_BF16: u32 = 10;
pub const GSORT_F32: u32 = 11;
pub const GSORT_F64: u32 = 12;
pub const GSORT_DESCENDING: u32 = 1;
pub const GSORT_NAN_LAST: u32 = 2;
pub const GSORT_SMALLEST: u32 = 4;
pub const GSORT_EXCLUSIVE: u32 = 8;
pub const GSORT_MIN: u32 = 1;
pub const GSORT_MAX: u32 = 2;
pub const GSORT_ARGMIN: u32 = 3;
pub const GSORT_ARGMAX: u32 = 4;
pub const GSORT_MEAN: u32 = 5;
pub const GSORT_BACKEND_AUTO: u32 = 0;
pub const GSORT_BACKEND_CPU: u32 = 1;
pub const GSORT_BACKEND_CUDA: u32 = 2;
pub const GSORT_OP_SORT: u32 = 1;
pub const GSORT_OP_SORT_PAIRS: u32 = 2;
pub const GSORT_OP_ARGSORT: u32 = 3;
pub const GSORT_OP_RANK: u32 = 4;
pub const GSORT_OP_MERGE: u32 = 5;
pub const GSORT_OP_SORT_SEGMENTS: u32 = 6;
pub const GSORT_OP_TOPK: u32 = 7;
pub const GSORT_OP_TOPK_ROWS: u32 = 8;
pub const GSORT_OP_SUM: u32 = 9;
pub const GSORT_OP_REDUCE: u32 = 10;
pub const GSORT_OP_SCAN: u32 = 11;
pub const GSORT_OP_TOPK_SEGMENTS: u32 = 12;
/// Result of a call: `GSORT_OK` or one of the errors below.
pub type gsort_status = i32;
/// Type of an array's elements.
pub type gsort_dtype = u32;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct gsort {
    _unused: [u8; 0],
}
/** Called during long work with the work done so far and the whole, in bytes or elements, whichever the call counts.
Runs on the calling thread; must not call gsort on the same handle, gsort_cancel() excepted.

Returns 0 to go on, anything else to cancel.*/
pub type gsort_progress_fn = ::core::option::Option<
    unsafe extern "C" fn(user: *mut ::core::ffi::c_void, done: u64, total: u64) -> i32,
>;
/** Receives one line of text (no newline) about a decision of the library: the plan of a call, a fallback and its
reason. The text is valid during the call only. Must not call gsort on the same handle.*/
pub type gsort_log_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        message: *const ::core::ffi::c_char,
    ),
>;
/** Returns memory of at least `bytes` bytes aligned to `alignment` (a power of two), or NULL. Any thread may call it. Of
device memory every stream may make use as soon as the function has returned; it is also called while a stream of the
handle is captured.*/
pub type gsort_allocate_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        bytes: u64,
        alignment: u64,
    ) -> *mut ::core::ffi::c_void,
>;
/// Gives back what the matching allocate function returned. Any thread may call it.
pub type gsort_deallocate_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        memory: *mut ::core::ffi::c_void,
        bytes: u64,
    ),
>;
/// How to create a handle: begin with `GSORT_OPTIONS_INIT`, or with zeros and the struct_size, and set what you want.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct gsort_options {
    /// sizeof(gsort_options).
    pub struct_size: u32,
    /// GSORT_BACKEND_*.
    pub backend: u32,
    /// CUDA device ordinal, 0 if not set; -1: the calling thread's current one.
    pub device: i32,
    /// CPU threads of a call, the caller's included; 0: one a processor allowed.
    pub threads: u32,
    /// Most device memory the handle may hold; 0: no limit.
    pub device_memory_limit_bytes: u64,
    /// Most host scratch memory the handle may hold; 0: no limit.
    pub host_memory_limit_bytes: u64,
    /// Host scratch memory; NULL: the library's own. Set both or none.
    pub host_allocate: gsort_allocate_fn,
    /// Gives back host scratch memory.
    pub host_deallocate: gsort_deallocate_fn,
    /// Device memory; NULL: cudaMalloc. Set both or none.
    pub device_allocate: gsort_allocate_fn,
    /// Gives back device memory.
    pub device_deallocate: gsort_deallocate_fn,
    /// First argument of the four functions above.
    pub allocator_user: *mut ::core::ffi::c_void,
    /// NULL: no log.
    pub log: gsort_log_fn,
    /// First argument of log.
    pub log_user: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gsort_options"][::core::mem::size_of::<gsort_options>() - 88usize];
    ["Alignment of gsort_options"][::core::mem::align_of::<gsort_options>() - 8usize];
    [
        "Offset of field: gsort_options::struct_size",
    ][::core::mem::offset_of!(gsort_options, struct_size) - 0usize];
    [
        "Offset of field: gsort_options::backend",
    ][::core::mem::offset_of!(gsort_options, backend) - 4usize];
    [
        "Offset of field: gsort_options::device",
    ][::core::mem::offset_of!(gsort_options, device) - 8usize];
    [
        "Offset of field: gsort_options::threads",
    ][::core::mem::offset_of!(gsort_options, threads) - 12usize];
    [
        "Offset of field: gsort_options::device_memory_limit_bytes",
    ][::core::mem::offset_of!(gsort_options, device_memory_limit_bytes) - 16usize];
    [
        "Offset of field: gsort_options::host_memory_limit_bytes",
    ][::core::mem::offset_of!(gsort_options, host_memory_limit_bytes) - 24usize];
    [
        "Offset of field: gsort_options::host_allocate",
    ][::core::mem::offset_of!(gsort_options, host_allocate) - 32usize];
    [
        "Offset of field: gsort_options::host_deallocate",
    ][::core::mem::offset_of!(gsort_options, host_deallocate) - 40usize];
    [
        "Offset of field: gsort_options::device_allocate",
    ][::core::mem::offset_of!(gsort_options, device_allocate) - 48usize];
    [
        "Offset of field: gsort_options::device_deallocate",
    ][::core::mem::offset_of!(gsort_options, device_deallocate) - 56usize];
    [
        "Offset of field: gsort_options::allocator_user",
    ][::core::mem::offset_of!(gsort_options, allocator_user) - 64usize];
    [
        "Offset of field: gsort_options::log",
    ][::core::mem::offset_of!(gsort_options, log) - 72usize];
    [
        "Offset of field: gsort_options::log_user",
    ][::core::mem::offset_of!(gsort_options, log_user) - 80usize];
};
/// What a handle is. Set struct_size to sizeof(gsort_info) before gsort_info_get().
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct gsort_info {
    /// sizeof(gsort_info).
    pub struct_size: u32,
    /// `GSORT_BACKEND_CPU` or `GSORT_BACKEND_CUDA`.
    pub backend: u32,
    /// CUDA device ordinal, -1 on the CPU.
    pub device: i32,
    /// Threads that CPU work uses, the caller's included.
    pub threads: u32,
    /// major * 10 + minor, 0 on the CPU.
    pub compute_capability: u32,
    /// CUDA version of the driver, as CUDA counts (13000 is 13.0), 0 if none.
    pub driver_version: u32,
    /// Memory of the device, 0 on the CPU.
    pub device_memory_bytes: u64,
    /// Free now, 0 on the CPU.
    pub device_memory_free_bytes: u64,
    /// Device memory that the handle holds now.
    pub device_held_bytes: u64,
    /** Host scratch memory that the handle holds now: up to 256 MiB stay for the
next call, none with a limit or functions of the caller's.*/
    pub host_held_bytes: u64,
    /// Name of the device or of the processor, NUL-terminated.
    pub device_name: [::core::ffi::c_char; 128usize],
    /// Why this backend was chosen, NUL-terminated.
    pub reason: [::core::ffi::c_char; 256usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gsort_info"][::core::mem::size_of::<gsort_info>() - 440usize];
    ["Alignment of gsort_info"][::core::mem::align_of::<gsort_info>() - 8usize];
    [
        "Offset of field: gsort_info::struct_size",
    ][::core::mem::offset_of!(gsort_info, struct_size) - 0usize];
    [
        "Offset of field: gsort_info::backend",
    ][::core::mem::offset_of!(gsort_info, backend) - 4usize];
    [
        "Offset of field: gsort_info::device",
    ][::core::mem::offset_of!(gsort_info, device) - 8usize];
    [
        "Offset of field: gsort_info::threads",
    ][::core::mem::offset_of!(gsort_info, threads) - 12usize];
    [
        "Offset of field: gsort_info::compute_capability",
    ][::core::mem::offset_of!(gsort_info, compute_capability) - 16usize];
    [
        "Offset of field: gsort_info::driver_version",
    ][::core::mem::offset_of!(gsort_info, driver_version) - 20usize];
    [
        "Offset of field: gsort_info::device_memory_bytes",
    ][::core::mem::offset_of!(gsort_info, device_memory_bytes) - 24usize];
    [
        "Offset of field: gsort_info::device_memory_free_bytes",
    ][::core::mem::offset_of!(gsort_info, device_memory_free_bytes) - 32usize];
    [
        "Offset of field: gsort_info::device_held_bytes",
    ][::core::mem::offset_of!(gsort_info, device_held_bytes) - 40usize];
    [
        "Offset of field: gsort_info::host_held_bytes",
    ][::core::mem::offset_of!(gsort_info, host_held_bytes) - 48usize];
    [
        "Offset of field: gsort_info::device_name",
    ][::core::mem::offset_of!(gsort_info, device_name) - 56usize];
    [
        "Offset of field: gsort_info::reason",
    ][::core::mem::offset_of!(gsort_info, reason) - 184usize];
};
extern "C" {
    /** Makes a handle. AUTO succeeds on the CPU where no GPU can be used, and gsort_info says why.

`options`: how; NULL for the defaults, as `GSORT_OPTIONS_INIT` has them. Not kept.

`out`: receives the handle, or NULL on failure. Must not be NULL.

Returns `GSORT_OK`, `GSORT_ERROR_INVALID_ARGUMENT`, `GSORT_ERROR_OUT_OF_MEMORY`, or `GSORT_ERROR_NO_DEVICE`. On failure
gsort_error_message(NULL) tells the calling thread more.*/
    pub fn gsort_create(
        options: *const gsort_options,
        out: *mut *mut gsort,
    ) -> gsort_status;
    /** Waits for the handle's work and frees it. NULL is fine. No other thread may use the handle during or after the call.
Where a stream of the device may be captured meanwhile, wait by gsort_synchronize() before: what is left to wait for
on a stream of the caller's, which may be destroyed by then, makes captures invalid, as said there. In a child of
fork() nothing is waited for and what belongs to the parent's device is left alone.*/
    pub fn gsort_destroy(g: *mut gsort);
    /** The sentence that goes with the calling thread's last failed call, if that call was on this handle; otherwise "".

`g`: the handle, or NULL if the failed call had none (gsort_create(), gsort_workspace_bytes(), a NULL handle).

Returns text owned by the library, valid until the calling thread's next failing gsort call.*/
    pub fn gsort_error_message(g: *const gsort) -> *const ::core::ffi::c_char;
    /// Fills `info`, whose struct_size the caller set. No field past struct_size is written.
    pub fn gsort_info_get(g: *const gsort, info: *mut gsort_info) -> gsort_status;
    /** Chooses the stream on which later calls enqueue their work. Default: CUDA's legacy default stream (NULL).
Nothing waits: work on the earlier stream goes on, each stream's calls work in memory of their own, and what a call
on the new stream must not overtake (an array that a call on the earlier one still writes, say) is ordered by the
caller, as between any two streams. gsort_synchronize() waits for all of them. cudaStreamPerThread is another stream
in each thread.

`g`: the handle.

`cuda_stream`: a cudaStream_t (CUstream) of the handle's device, which must be open during the calls that use
it. It may be destroyed before another one is set and before the handle is.

Returns `GSORT_ERROR_NOT_SUPPORTED` on a CPU handle unless NULL; `GSORT_ERROR_INVALID_ARGUMENT` for a stream of another
device.*/
    pub fn gsort_set_stream(
        g: *mut gsort,
        cuda_stream: *mut ::core::ffi::c_void,
    ) -> gsort_status;
    /** Waits for all work that the handle has enqueued and reports its errors. With work on several streams it waits for the
device, which CUDA allows to no thread while any stream of the device is captured: that makes the capture invalid.*/
    pub fn gsort_synchronize(g: *mut gsort) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_u32(
        g: *mut gsort,
        keys: *mut u32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_i32(
        g: *mut gsort,
        keys: *mut i32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_u64(
        g: *mut gsort,
        keys: *mut u64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_i64(
        g: *mut gsort,
        keys: *mut i64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_f32(
        g: *mut gsort,
        keys: *mut f32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// Sorts `n` keys in place. See gsort_sort().
    pub fn gsort_sort_f64(
        g: *mut gsort,
        keys: *mut f64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /** Sorts keys of any type.

`g,t,n,flags`: the handle, the type of the keys, their number, and the flags named above.

`keys_in`: `n` keys, not changed unless it is keys_out.

`keys_out`: receives the `n` keys in order; may be keys_in.*/
    pub fn gsort_sort(
        g: *mut gsort,
        t: gsort_dtype,
        keys_in: *const ::core::ffi::c_void,
        keys_out: *mut ::core::ffi::c_void,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /** Sorts keys and moves a value of any size with each. Stable.

`g,t,n,flags`: as in gsort_sort().

`keys_in,keys_out`: as in gsort_sort().

`value_bytes`: size of one value, 1 to 65536. The values are moved as bytes. If it is a power of two up to 16,
device arrays of values must be aligned to min(value_bytes, 8).

`values_in`: `n` values, not changed unless it is values_out.

`values_out`: receives the values in the order of their keys; may be values_in.*/
    pub fn gsort_sort_pairs(
        g: *mut gsort,
        t: gsort_dtype,
        keys_in: *const ::core::ffi::c_void,
        keys_out: *mut ::core::ffi::c_void,
        value_bytes: u32,
        values_in: *const ::core::ffi::c_void,
        values_out: *mut ::core::ffi::c_void,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /** The stable order of the keys: keys[indices_out[0]], keys[indices_out[1]], ... is sorted.

`g,t,n,flags`: as in gsort_sort().

`keys`: `n` keys, not changed.

`index_t`: `GSORT_U32`, `GSORT_I32`, `GSORT_U64` or `GSORT_I64`, which must hold n - 1.

`indices_out`: receives `n` indices.*/
    pub fn gsort_argsort(
        g: *mut gsort,
        t: gsort_dtype,
        keys: *const ::core::ffi::c_void,
        n: u64,
        index_t: gsort_dtype,
        indices_out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** The place of every key in the stable order: ranks_out[i] is the number of keys that come before keys[i]. The inverse
permutation of gsort_argsort().

`g,t,n,flags`: as in gsort_sort().

`keys`: `n` keys, not changed.

`index_t`: `GSORT_U32`, `GSORT_I32`, `GSORT_U64` or `GSORT_I64`, which must hold n - 1.

`ranks_out`: receives `n` ranks.*/
    pub fn gsort_rank(
        g: *mut gsort,
        t: gsort_dtype,
        keys: *const ::core::ffi::c_void,
        n: u64,
        index_t: gsort_dtype,
        ranks_out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** Merges two arrays that are each in the order that `flags` names, as gsort_sort() with these flags leaves them.
If they are not, the output holds the same keys in an unspecified order.

`g,t,flags`: as in gsort_sort().

`a,a_n`: the first array, and how many keys it holds.

`b,b_n`: the second array, and how many keys it holds.

`out`: receives a_n + b_n keys; must overlap neither input.*/
    pub fn gsort_merge(
        g: *mut gsort,
        t: gsort_dtype,
        a: *const ::core::ffi::c_void,
        a_n: u64,
        b: *const ::core::ffi::c_void,
        b_n: u64,
        out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** Sorts every segment of an array on its own. Segment s holds the keys offsets[s] to offsets[s + 1] - 1.

`g,t,n,flags`: as in gsort_sort().

`keys_in`: `n` keys, not changed unless it is keys_out.

`offsets`: segments + 1 indices, ascending (equal ones make an empty segment), none above `n`; host or device
memory. With segments = 0 it may be NULL. Device offsets are checked on the device: the call waits for that check,
except inside a stream capture, where wrong offsets leave keys_out unwritten.

`segments`: how many segments there are.

`keys_out`: receives the keys; keys outside all segments are copied as they are. May be keys_in.*/
    pub fn gsort_sort_segments(
        g: *mut gsort,
        t: gsort_dtype,
        keys_in: *const ::core::ffi::c_void,
        keys_out: *mut ::core::ffi::c_void,
        n: u64,
        offsets: *const u64,
        segments: u64,
        flags: u32,
    ) -> gsort_status;
    /** The k best elements, best first: the first k of the stable descending order (ascending with `GSORT_SMALLEST`). Equal
elements go by the lowest index.

`g,t,flags`: the handle, the type of the elements, and the flags named above.

`in,n`: the elements, not changed, and their number.

`k`: at most `n`; 0 succeeds and writes nothing.

`values_out`: receives k elements, or NULL.

`index_t`: `GSORT_U32`, `GSORT_I32`, `GSORT_U64` or `GSORT_I64`, which must hold n - 1; not looked at if
indices_out is NULL.

`indices_out`: receives the k elements' indices, or NULL. One of the two outputs must be given.*/
    pub fn gsort_topk(
        g: *mut gsort,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        n: u64,
        k: u64,
        values_out: *mut ::core::ffi::c_void,
        index_t: gsort_dtype,
        indices_out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** gsort_topk() of every row of a matrix.

`g,t,flags`: as in gsort_topk().

`in`: rows x columns elements; row r begins at element r * row_stride.

`rows,columns`: the shape of the matrix.

`row_stride`: elements from one row to the next, at least `columns`.

`k`: at most `columns`.

`values_out`: receives rows x k elements without gaps, or NULL.

`index_t`: as in gsort_topk(); must hold columns - 1.

`indices_out`: receives rows x k column indices without gaps, or NULL. One of the two outputs must be given.*/
    pub fn gsort_topk_rows(
        g: *mut gsort,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        rows: u64,
        columns: u64,
        row_stride: u64,
        k: u64,
        values_out: *mut ::core::ffi::c_void,
        index_t: gsort_dtype,
        indices_out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** gsort_topk() of every segment of an array: rows of different lengths. Segment s holds the elements offsets[s] to
offsets[s + 1] - 1, and its results are the k entries from place s * k on. Where a segment has fewer than k elements,
the entries behind its last are filled: a value with 0 in every bit, an index with 1 in every bit (-1).

`g,t,flags`: as in gsort_topk().

`in,n`: the elements, not changed, and their number.

`offsets`: segments + 1 indices as in gsort_sort_segments(), likewise checked.

`segments`: how many segments there are.

`k`: entries of each segment's result; may be above its length, and above `n`.

`values_out`: receives segments x k elements, or NULL.

`index_t`: as in gsort_topk().

`indices_out`: receives segments x k indices, counted from the segment's first element, or NULL. One of the two
outputs must be given.*/
    pub fn gsort_topk_segments(
        g: *mut gsort,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        n: u64,
        offsets: *const u64,
        segments: u64,
        k: u64,
        values_out: *mut ::core::ffi::c_void,
        index_t: gsort_dtype,
        indices_out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** The sum of all elements. Flags: none (0).
Integers: modulo 2^64, written as uint64_t (unsigned types) or int64_t (signed types). Floats: the exact sum, rounded
once to a double (ties to even), whatever the order and the magnitude of the elements. If any element is NaN, or both
infinities are there, the result is the quiet NaN 0x7ff8000000000000; otherwise an infinity among them is the result.
An exact zero is +0, unless n > 0 and every element is -0. An exact sum past the range of double gives an infinity.

`g,t,flags`: the handle, the type of the elements, and 0.

`in,n`: the elements, not changed, and their number.

`out`: receives 8 bytes, aligned to 8; never NULL. For n = 0: 0.*/
    pub fn gsort_sum(
        g: *mut gsort,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        n: u64,
        out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** Minimum, maximum, their index, or the mean. Flags: `GSORT_NAN_LAST` (not for the mean).

`g,t,flags`: the handle, the type of the elements, and the flags.

`in,n`: the elements, not changed, and their number.

`op`: `GSORT_MIN`, `GSORT_MAX`, `GSORT_ARGMIN`, `GSORT_ARGMAX` or `GSORT_MEAN`.

`out`: never NULL. min and max: one element of type `t`; for n = 0 the element that comes last in the order.
argmin and argmax: a uint64_t; for n = 0 UINT64_MAX. mean: a double, NaN and infinities as in gsort_sum(); the exact
quotient rounded once; for n = 0 NaN.*/
    pub fn gsort_reduce(
        g: *mut gsort,
        op: u32,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        n: u64,
        out: *mut ::core::ffi::c_void,
        flags: u32,
    ) -> gsort_status;
    /** Running sums of the input's own type: inclusive, or exclusive with `GSORT_EXCLUSIVE` (the first is then 0).
Integers wrap. Floats are added as doubles in the fixed order that docs/scan-order.md states, each running sum is
rounded once to the type, and a NaN is written as the type's quiet NaN without sign or payload.

`g,t,flags`: the handle, the type of the elements, and the flags.

`in,n`: the elements, not changed unless `in` is `out`, and their number.

`out`: receives `n` elements; may be `in`.*/
    pub fn gsort_scan(
        g: *mut gsort,
        t: gsort_dtype,
        in_: *const ::core::ffi::c_void,
        out: *mut ::core::ffi::c_void,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        k: u64,
        values_out: *mut u32,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        k: u64,
        values_out: *mut i32,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        k: u64,
        values_out: *mut u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        k: u64,
        values_out: *mut i64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        k: u64,
        values_out: *mut f32,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_topk(): values_out or indices_out may be NULL.
    pub fn gsort_topk_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        k: u64,
        values_out: *mut f64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_u32(
        g: *mut gsort,
        keys: *const u32,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_i32(
        g: *mut gsort,
        keys: *const i32,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_u64(
        g: *mut gsort,
        keys: *const u64,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_i64(
        g: *mut gsort,
        keys: *const i64,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_f32(
        g: *mut gsort,
        keys: *const f32,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_argsort().
    pub fn gsort_argsort_f64(
        g: *mut gsort,
        keys: *const f64,
        n: u64,
        indices_out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut i64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut i64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats.
    pub fn gsort_sum_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MEAN`.
    pub fn gsort_mean_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut u32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut i32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut i64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut f32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MIN`.
    pub fn gsort_min_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut u32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut i32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut i64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut f32,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_MAX`.
    pub fn gsort_max_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut f64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMIN`.
    pub fn gsort_argmin_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_u32(
        g: *mut gsort,
        in_: *const u32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_i32(
        g: *mut gsort,
        in_: *const i32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_u64(
        g: *mut gsort,
        in_: *const u64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_i64(
        g: *mut gsort,
        in_: *const i64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_f32(
        g: *mut gsort,
        in_: *const f32,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_reduce() with `GSORT_ARGMAX`.
    pub fn gsort_argmax_f64(
        g: *mut gsort,
        in_: *const f64,
        n: u64,
        out: *mut u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_u32(
        g: *mut gsort,
        in_: *const u32,
        out: *mut u32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_i32(
        g: *mut gsort,
        in_: *const i32,
        out: *mut i32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_u64(
        g: *mut gsort,
        in_: *const u64,
        out: *mut u64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_i64(
        g: *mut gsort,
        in_: *const i64,
        out: *mut i64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_f32(
        g: *mut gsort,
        in_: *const f32,
        out: *mut f32,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /// gsort_scan().
    pub fn gsort_scan_f64(
        g: *mut gsort,
        in_: *const f64,
        out: *mut f64,
        n: u64,
        flags: u32,
    ) -> gsort_status;
    /** Allocates now what a later call of this shape with device arrays needs, so that the call can be captured into a
graph. For a sort for which there is not so much memory, it allocates the eighth of the input's bytes that is enough.
On a CPU handle it does nothing.

A captured call works in memory of its own, which no other call and no other graph uses: replays may run beside
direct calls and beside replays of other graphs. The first capture takes what was reserved; later ones, up to the
size that was reserved or that a direct call has taken, allocate again, which waits for nothing. The memory comes
back to the handle when the graph and all that was instantiated from it are destroyed, so graphs must not run after
the handle is destroyed. Two executables of one graph share its memory (and its arrays) and must not run at the same
time.

`g`: the handle.

`op`: GSORT_OP_*.

`t`: type of the elements.

`n`: elements, as said beside GSORT_OP_*. Arrays of more than 2^57 bytes are refused. What is reserved for n may
not do for fewer, which can be sorted in another way: reserve for each size that is captured.

`parameter`: what the operation needs to be known beside n: said beside GSORT_OP_*, otherwise 0.*/
    pub fn gsort_reserve(
        g: *mut gsort,
        op: u32,
        t: gsort_dtype,
        n: u64,
        parameter: u64,
    ) -> gsort_status;
    /** Device memory beyond its arrays that a call with device arrays needs. Pure arithmetic: needs no GPU and no handle. Of
a sort it is what the quickest way needs, not the eighth that some sorts can do with.

`op,t,n,parameter`: as in gsort_reserve().

`bytes`: receives the size; never NULL.*/
    pub fn gsort_workspace_bytes(
        op: u32,
        t: gsort_dtype,
        n: u64,
        parameter: u64,
        bytes: *mut u64,
    ) -> gsort_status;
    /** Lends the handle device memory to work in instead of its own; NULL and 0 take it back. The memory must be aligned to
256 and stay valid until the handle's work is done. All calls share it, captured ones too: their work, and replays of
their graphs, must not overlap. A call that needs more fails with `GSORT_ERROR_OUT_OF_MEMORY` and says how much,
unless it is a sort that can do with an eighth of its input's bytes (see Memory, above). Not for CPU handles.*/
    pub fn gsort_set_workspace(
        g: *mut gsort,
        device_memory: *mut ::core::ffi::c_void,
        bytes: u64,
    ) -> gsort_status;
    /// Sets the function that is called between the chunks of long work on host memory; NULL: none.
    pub fn gsort_set_progress(
        g: *mut gsort,
        fn_: gsort_progress_fn,
        user: *mut ::core::ffi::c_void,
    ) -> gsort_status;
    /** Asks the call that runs on the handle now, if any, to stop; it then returns `GSORT_ERROR_CANCELLED`. From any thread;
does not wait. In-place arrays are then untouched or hold a permutation of their input, separate outputs hold
unspecified elements. Work already enqueued on a device and the writing of finished results are not stopped.*/
    pub fn gsort_cancel(g: *mut gsort) -> gsort_status;
    /// Version of the loaded library, as `GSORT_VERSION` counts.
    pub fn gsort_version() -> u32;
    /// Version of the loaded library as "major.minor.patch". Static text.
    pub fn gsort_version_string() -> *const ::core::ffi::c_char;
    /// Name of a status, such as "GSORT_ERROR_CANCELLED"; "unknown status" for any other number. Static text.
    pub fn gsort_status_name(s: gsort_status) -> *const ::core::ffi::c_char;
}
