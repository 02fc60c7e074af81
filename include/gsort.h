/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * @file gsort.h
 * @brief Sort, select and sum arrays at the speed of the memory they lie in.
 *
 * gsort runs kernels of its own on an NVIDIA GPU and threads on a machine without one. The result of every call is
 * defined by mathematics, not by the machine: the same bits from either backend, in every run, at any thread count.
 *
 * ### Order
 * Integers order by value. Floats order by IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, and
 * NaN payloads are kept. Two keys are equal only if all their bits are. #GSORT_DESCENDING reverses the order.
 * #GSORT_NAN_LAST puts every NaN, whatever its sign, after everything else in either direction; among themselves NaNs
 * then ascend by their bits read as an unsigned integer, in either direction. Sorts of pairs, argsorts and ranks are
 * stable in either direction: equal keys stay in the order of the input.
 *
 * ### Memory
 * Every array is owned by the caller and is never kept after the work that a call started has ended. Each pointer may
 * be host memory (pageable or pinned), managed memory or memory of the handle's device; the library tells them apart,
 * each argument on its own. A CPU handle takes host and managed memory only. An array must be aligned to its element
 * size. An output may be the same array as the input of the same role (in == out, whole arrays); any other overlap of
 * an output with an input or another output is refused. Host arrays that the device, or the handle's limit of device
 * memory, cannot hold at once are worked in pieces, with the same result; pairs and scans in place, argsorts and ranks
 * may then need host scratch memory as large as their arrays, other sorts a small part of it.
 *
 * A sort of device arrays takes device memory of about the size of its input beside it (gsort_workspace_bytes()).
 * Where a handle's limit, the caller's workspace or the device has less, sorts of keys from 16 MiB on, and of keys of 4
 * or 8 bytes with values of 4, 8 or 16, aligned to their size, from 128 MiB on, do with an eighth of the input's bytes
 * and more time, with the same result: on compute capability 8.0 and more, keys of 2 bytes where blocks can have 129
 * KiB of shared memory. (Keys of 1 byte need little anyway.) gsort_options.device_memory_limit_bytes = an eighth of
 * the input's bytes asks for it. Other calls fail with #GSORT_ERROR_OUT_OF_MEMORY.
 *
 * ### Asynchronous work
 * On a CUDA handle whose arguments all lie in device or managed memory a call is enqueued on the handle's stream and
 * returns; the work ends in stream order, and gsort_synchronize() waits for it. If any argument lies in host memory
 * the call waits for its result. A CPU handle always waits. A handle that chose its backend itself may do a short call
 * on pageable memory before work on the default stream has ended, where nothing but a host function on that stream
 * could change such memory meanwhile.
 *
 * A process or a stream may have a part of the device alone (a MIG instance, MPS limits, a green context). Where
 * kernels whose blocks wait for each other do not fit there, a call takes others that need less, and fails with
 * #GSORT_ERROR_NOT_SUPPORTED if none fits.
 *
 * ### Threads
 * A handle may be used from any thread; calls on one handle take turns. Different handles are independent. Threads of
 * the library block all signals but those that a thread causes itself (such as SIGSEGV and SIGBUS), whose handlers run
 * on them. A deferred pthread_cancel() of a thread inside a call takes effect after the call; cancellation of the kind
 * PTHREAD_CANCEL_ASYNCHRONOUS is not supported there. With gsort_options.threads = 0 a call works on as many threads as
 * the process's affinity and its control groups (the CPU quota of a container) allowed when its handle was made.
 *
 * All handles share the library's threads, which start when a call wants them, sleep between calls and end with the
 * last handle that used them. Calls that run at the same time on several handles share as many threads in all as there
 * are processors, or as the largest gsort_options.threads of these handles if that is more. Every caller works on its
 * own call, even if that makes more. Handles that are first used by threads with another affinity share other threads.
 *
 * ### Functions of the caller's
 * An exception that leaves one of them ends inside the library: out of a progress or log function it cancels the call
 * (#GSORT_ERROR_CANCELLED), out of an allocate function it means that there is no memory
 * (#GSORT_ERROR_OUT_OF_MEMORY), out of a deallocate function it is dropped. This holds for C++ programs whose
 * exceptions are those of GCC's runtime; where that is linked into the program (-static-libstdc++), which hides it,
 * std::uncaught_exceptions() counts the exception as on its way from then on. They must not be left in any other way:
 * not by longjmp() or siglongjmp(), not by pthread_exit(), and not by an exception of another unwinder.
 *
 * ### Errors
 * Every call checks its arguments first: an invalid one is answered with a status and a sentence
 * (gsort_error_message()) that names the argument, its value and the remedy, and nothing is written. After any failure
 * the inputs that the call does not own are intact and the handle can be used again, #GSORT_ERROR_DEVICE_LOST and
 * #GSORT_ERROR_FORKED excepted. Counts are 64-bit; n = 0 succeeds, with NULL arrays too.
 */
#ifndef GSORT_H
#define GSORT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GSORT_API
#elif defined(__GNUC__)
#define GSORT_API __attribute__((visibility("default")))
#else
#define GSORT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Version of this header
 * gsort_version() tells the version of the library that was loaded. The ABI of 1.x only grows.
 * @{ */
/** Changes when a program must be compiled anew. */
#define GSORT_VERSION_MAJOR 1
/** Grows when something is added. */
#define GSORT_VERSION_MINOR 0
/** Grows when something is fixed. */
#define GSORT_VERSION_PATCH 0
/** major * 10000 + minor * 100 + patch. */
#define GSORT_VERSION (GSORT_VERSION_MAJOR * 10000 + GSORT_VERSION_MINOR * 100 + GSORT_VERSION_PATCH)
/** @} */

/** @name Statuses
 * @{ */
/** Result of a call: #GSORT_OK or one of the errors below. */
typedef int32_t gsort_status;
#define GSORT_OK 0                     /**< Success. */
#define GSORT_ERROR_INVALID_ARGUMENT 1 /**< An argument is wrong; nothing was written. */
#define GSORT_ERROR_OUT_OF_MEMORY 2    /**< Host or device memory, or a limit set by the caller, ran out. */
#define GSORT_ERROR_NO_DEVICE 3        /**< CUDA was asked for and no usable device is there. */
#define GSORT_ERROR_DEVICE_LOST 4      /**< The device failed for good; every later call on it says so at once. */
#define GSORT_ERROR_CANCELLED 5        /**< gsort_cancel() or a progress function stopped the call. */
#define GSORT_ERROR_FORKED 6           /**< The handle was made before a fork() and is used in the child. */
#define GSORT_ERROR_NOT_SUPPORTED 7    /**< This handle's backend or state cannot do what was asked. */
#define GSORT_ERROR_INTERNAL 8         /**< A fault of the library's own: please report it. */
/** @} */

/** @name Element types
 * @{ */
/** Type of an array's elements. */
typedef uint32_t gsort_dtype;
#define GSORT_U8 1u    /**< uint8_t */
#define GSORT_I8 2u    /**< int8_t */
#define GSORT_U16 3u   /**< uint16_t */
#define GSORT_I16 4u   /**< int16_t */
#define GSORT_U32 5u   /**< uint32_t */
#define GSORT_I32 6u   /**< int32_t */
#define GSORT_U64 7u   /**< uint64_t */
#define GSORT_I64 8u   /**< int64_t */
#define GSORT_F16 9u   /**< IEEE 754 binary16, held in 2 bytes */
#define GSORT_BF16 10u /**< bfloat16 (the upper half of a binary32), held in 2 bytes */
#define GSORT_F32 11u  /**< IEEE 754 binary32 (float) */
#define GSORT_F64 12u  /**< IEEE 754 binary64 (double) */
/** @} */

/** @name Flags
 * A call takes only the flags that its description names; any other bit is an invalid argument.
 * @{ */
#define GSORT_DESCENDING 0x1u /**< Sorts, argsort, rank, merge, segments: from the greatest to the least. */
#define GSORT_NAN_LAST 0x2u   /**< Every call that orders: NaNs after everything else. No effect on integers. */
#define GSORT_SMALLEST 0x4u   /**< Top-k: the k least, ascending, instead of the k greatest, descending. */
#define GSORT_EXCLUSIVE 0x8u  /**< Scan: element i is the sum of the elements before i. */
/** @} */

/** @name Reductions
 * @{ */
#define GSORT_MIN 1u    /**< The first element of the ascending order. */
#define GSORT_MAX 2u    /**< The first element of the descending order. */
#define GSORT_ARGMIN 3u /**< Index of the minimum, the lowest of equals. */
#define GSORT_ARGMAX 4u /**< Index of the maximum, the lowest of equals. */
#define GSORT_MEAN 5u   /**< The exact sum divided by n, rounded once to double. */
/** @} */

/** @name Backends
 * @{ */
/**
 * The GPU if there is a usable one, the CPU otherwise; the environment variable GSORT_BACKEND=cpu|cuda decides. On the
 * GPU a call whose arrays all lie on the host may run on the CPU's threads where that is expected to end first.
 */
#define GSORT_BACKEND_AUTO 0u
#define GSORT_BACKEND_CPU 1u  /**< Threads on the CPU. */
#define GSORT_BACKEND_CUDA 2u /**< An NVIDIA GPU. */
/** @} */

/** @name Operations
 * Names for gsort_reserve() and gsort_workspace_bytes(), with what their argument `parameter` is; otherwise it is 0.
 * @{ */
#define GSORT_OP_SORT 1u           /**< gsort_sort() and the typed sorts */
#define GSORT_OP_SORT_PAIRS 2u     /**< gsort_sort_pairs(); parameter: value_bytes */
#define GSORT_OP_ARGSORT 3u        /**< gsort_argsort(); parameter: the bytes of an index, 4 or 8 */
#define GSORT_OP_RANK 4u           /**< gsort_rank(); parameter: the bytes of a rank, 4 or 8 */
#define GSORT_OP_MERGE 5u          /**< gsort_merge(); n is a_n + b_n */
#define GSORT_OP_SORT_SEGMENTS 6u  /**< gsort_sort_segments(); parameter: the number of segments */
#define GSORT_OP_TOPK 7u           /**< gsort_topk(); parameter: k */
#define GSORT_OP_TOPK_ROWS 8u      /**< gsort_topk_rows(); n is rows * columns, parameter: k */
#define GSORT_OP_SUM 9u            /**< gsort_sum() */
#define GSORT_OP_REDUCE 10u        /**< gsort_reduce() */
#define GSORT_OP_SCAN 11u          /**< gsort_scan() */
#define GSORT_OP_TOPK_SEGMENTS 12u /**< gsort_topk_segments(); parameter: k */
/** @} */

/** A sorter bound to one backend and, on CUDA, to one device and one stream. Opaque. */
typedef struct gsort gsort;

/**
 * Called during long work with the work done so far and the whole, in bytes or elements, whichever the call counts.
 * Runs on the calling thread; must not call gsort on the same handle, gsort_cancel() excepted.
 * @return 0 to go on, anything else to cancel.
 */
typedef int32_t (*gsort_progress_fn)(void *user, uint64_t done, uint64_t total);

/**
 * Receives one line of text (no newline) about a decision of the library: the plan of a call, a fallback and its
 * reason. The text is valid during the call only. Must not call gsort on the same handle.
 */
typedef void (*gsort_log_fn)(void *user, const char *message);

/**
 * Returns memory of at least `bytes` bytes aligned to `alignment` (a power of two), or NULL. Any thread may call it. Of
 * device memory every stream may make use as soon as the function has returned; it is also called while a stream of the
 * handle is captured.
 */
typedef void *(*gsort_allocate_fn)(void *user, uint64_t bytes, uint64_t alignment);

/** Gives back what the matching allocate function returned. Any thread may call it. */
typedef void (*gsort_deallocate_fn)(void *user, void *memory, uint64_t bytes);

/** How to create a handle: begin with #GSORT_OPTIONS_INIT, or with zeros and the struct_size, and set what you want. */
typedef struct gsort_options {
  uint32_t struct_size;                /**< sizeof(gsort_options). */
  uint32_t backend;                    /**< GSORT_BACKEND_*. */
  int32_t device;                      /**< CUDA device ordinal, 0 if not set; -1: the calling thread's current one. */
  uint32_t threads;                    /**< CPU threads of a call, the caller's included; 0: one a processor allowed. */
  uint64_t device_memory_limit_bytes;  /**< Most device memory the handle may hold; 0: no limit. */
  uint64_t host_memory_limit_bytes;    /**< Most host scratch memory the handle may hold; 0: no limit. */
  gsort_allocate_fn host_allocate;     /**< Host scratch memory; NULL: the library's own. Set both or none. */
  gsort_deallocate_fn host_deallocate; /**< Gives back host scratch memory. */
  gsort_allocate_fn device_allocate;   /**< Device memory; NULL: cudaMalloc. Set both or none. */
  gsort_deallocate_fn device_deallocate; /**< Gives back device memory. */
  void *allocator_user;                  /**< First argument of the four functions above. */
  gsort_log_fn log;                      /**< NULL: no log. */
  void *log_user;                        /**< First argument of log. */
} gsort_options;

/** The defaults, the same as NULL: AUTO, CUDA's first device, all threads. gsort_options o = GSORT_OPTIONS_INIT; */
#define GSORT_OPTIONS_INIT \
  {(uint32_t)sizeof(gsort_options), GSORT_BACKEND_AUTO, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/** What a handle is. Set struct_size to sizeof(gsort_info) before gsort_info_get(). */
typedef struct gsort_info {
  uint32_t struct_size;              /**< sizeof(gsort_info). */
  uint32_t backend;                  /**< #GSORT_BACKEND_CPU or #GSORT_BACKEND_CUDA. */
  int32_t device;                    /**< CUDA device ordinal, -1 on the CPU. */
  uint32_t threads;                  /**< Threads that CPU work uses, the caller's included. */
  uint32_t compute_capability;       /**< major * 10 + minor, 0 on the CPU. */
  uint32_t driver_version;           /**< CUDA version of the driver, as CUDA counts (13000 is 13.0), 0 if none. */
  uint64_t device_memory_bytes;      /**< Memory of the device, 0 on the CPU. */
  uint64_t device_memory_free_bytes; /**< Free now, 0 on the CPU. */
  uint64_t device_held_bytes;        /**< Device memory that the handle holds now. */
  uint64_t host_held_bytes;          /**< Host scratch memory that the handle holds now: up to 256 MiB stay for the
                                          next call, none with a limit or functions of the caller's. */
  char device_name[128];             /**< Name of the device or of the processor, NUL-terminated. */
  char reason[256];                  /**< Why this backend was chosen, NUL-terminated. */
} gsort_info;

/** @name Handles
 * @{ */
/**
 * Makes a handle. AUTO succeeds on the CPU where no GPU can be used, and gsort_info says why.
 * @param options how; NULL for the defaults, as #GSORT_OPTIONS_INIT has them. Not kept.
 * @param out receives the handle, or NULL on failure. Must not be NULL.
 * @return #GSORT_OK, #GSORT_ERROR_INVALID_ARGUMENT, #GSORT_ERROR_OUT_OF_MEMORY, or #GSORT_ERROR_NO_DEVICE. On failure
 * gsort_error_message(NULL) tells the calling thread more.
 */
GSORT_API gsort_status gsort_create(const gsort_options *options, gsort **out);

/**
 * Waits for the handle's work and frees it. NULL is fine. No other thread may use the handle during or after the call.
 * Where a stream of the device may be captured meanwhile, wait by gsort_synchronize() before: what is left to wait for
 * on a stream of the caller's, which may be destroyed by then, makes captures invalid, as said there. In a child of
 * fork() nothing is waited for and what belongs to the parent's device is left alone.
 */
GSORT_API void gsort_destroy(gsort *g);

/**
 * The sentence that goes with the calling thread's last failed call, if that call was on this handle; otherwise "".
 * @param g the handle, or NULL if the failed call had none (gsort_create(), gsort_workspace_bytes(), a NULL handle).
 * @return text owned by the library, valid until the calling thread's next failing gsort call.
 */
GSORT_API const char *gsort_error_message(const gsort *g);

/** Fills `info`, whose struct_size the caller set. No field past struct_size is written. */
GSORT_API gsort_status gsort_info_get(const gsort *g, gsort_info *info);

/**
 * Chooses the stream on which later calls enqueue their work. Default: CUDA's legacy default stream (NULL).
 * Nothing waits: work on the earlier stream goes on, each stream's calls work in memory of their own, and what a call
 * on the new stream must not overtake (an array that a call on the earlier one still writes, say) is ordered by the
 * caller, as between any two streams. gsort_synchronize() waits for all of them. cudaStreamPerThread is another stream
 * in each thread.
 * @param g the handle.
 * @param cuda_stream a cudaStream_t (CUstream) of the handle's device, which must be open during the calls that use
 * it. It may be destroyed before another one is set and before the handle is.
 * @return #GSORT_ERROR_NOT_SUPPORTED on a CPU handle unless NULL; #GSORT_ERROR_INVALID_ARGUMENT for a stream of another
 * device.
 */
GSORT_API gsort_status gsort_set_stream(gsort *g, void *cuda_stream);

/**
 * Waits for all work that the handle has enqueued and reports its errors. With work on several streams it waits for the
 * device, which CUDA allows to no thread while any stream of the device is captured: that makes the capture invalid.
 */
GSORT_API gsort_status gsort_synchronize(gsort *g);
/** @} */

/** @name Sorting
 * Flags: #GSORT_DESCENDING, #GSORT_NAN_LAST.
 * @{ */
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_u32(gsort *g, uint32_t *keys, uint64_t n, uint32_t flags);
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_i32(gsort *g, int32_t *keys, uint64_t n, uint32_t flags);
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_u64(gsort *g, uint64_t *keys, uint64_t n, uint32_t flags);
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_i64(gsort *g, int64_t *keys, uint64_t n, uint32_t flags);
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_f32(gsort *g, float *keys, uint64_t n, uint32_t flags);
/** Sorts `n` keys in place. See gsort_sort(). */
GSORT_API gsort_status gsort_sort_f64(gsort *g, double *keys, uint64_t n, uint32_t flags);

/**
 * Sorts keys of any type.
 * @param g,t,n,flags the handle, the type of the keys, their number, and the flags named above.
 * @param keys_in `n` keys, not changed unless it is keys_out.
 * @param keys_out receives the `n` keys in order; may be keys_in.
 */
GSORT_API gsort_status gsort_sort(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n,
                                  uint32_t flags);

/**
 * Sorts keys and moves a value of any size with each. Stable.
 * @param g,t,n,flags as in gsort_sort().
 * @param keys_in,keys_out as in gsort_sort().
 * @param value_bytes size of one value, 1 to 65536. The values are moved as bytes. If it is a power of two up to 16,
 * device arrays of values must be aligned to min(value_bytes, 8).
 * @param values_in `n` values, not changed unless it is values_out.
 * @param values_out receives the values in the order of their keys; may be values_in.
 */
GSORT_API gsort_status gsort_sort_pairs(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out,
                                        uint32_t value_bytes, const void *values_in, void *values_out, uint64_t n,
                                        uint32_t flags);

/**
 * The stable order of the keys: keys[indices_out[0]], keys[indices_out[1]], ... is sorted.
 * @param g,t,n,flags as in gsort_sort().
 * @param keys `n` keys, not changed.
 * @param index_t #GSORT_U32, #GSORT_I32, #GSORT_U64 or #GSORT_I64, which must hold n - 1.
 * @param indices_out receives `n` indices.
 */
GSORT_API gsort_status gsort_argsort(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t,
                                     void *indices_out, uint32_t flags);

/**
 * The place of every key in the stable order: ranks_out[i] is the number of keys that come before keys[i]. The inverse
 * permutation of gsort_argsort().
 * @param g,t,n,flags as in gsort_sort().
 * @param keys `n` keys, not changed.
 * @param index_t #GSORT_U32, #GSORT_I32, #GSORT_U64 or #GSORT_I64, which must hold n - 1.
 * @param ranks_out receives `n` ranks.
 */
GSORT_API gsort_status gsort_rank(gsort *g, gsort_dtype t, const void *keys, uint64_t n, gsort_dtype index_t,
                                  void *ranks_out, uint32_t flags);

/**
 * Merges two arrays that are each in the order that `flags` names, as gsort_sort() with these flags leaves them.
 * If they are not, the output holds the same keys in an unspecified order.
 * @param g,t,flags as in gsort_sort().
 * @param a,a_n the first array, and how many keys it holds.
 * @param b,b_n the second array, and how many keys it holds.
 * @param out receives a_n + b_n keys; must overlap neither input.
 */
GSORT_API gsort_status gsort_merge(gsort *g, gsort_dtype t, const void *a, uint64_t a_n, const void *b, uint64_t b_n,
                                   void *out, uint32_t flags);

/**
 * Sorts every segment of an array on its own. Segment s holds the keys offsets[s] to offsets[s + 1] - 1.
 * @param g,t,n,flags as in gsort_sort().
 * @param keys_in `n` keys, not changed unless it is keys_out.
 * @param offsets segments + 1 indices, ascending (equal ones make an empty segment), none above `n`; host or device
 * memory. With segments = 0 it may be NULL. Device offsets are checked on the device: the call waits for that check,
 * except inside a stream capture, where wrong offsets leave keys_out unwritten.
 * @param segments how many segments there are.
 * @param keys_out receives the keys; keys outside all segments are copied as they are. May be keys_in.
 */
GSORT_API gsort_status gsort_sort_segments(gsort *g, gsort_dtype t, const void *keys_in, void *keys_out, uint64_t n,
                                           const uint64_t *offsets, uint64_t segments, uint32_t flags);
/** @} */

/** @name Selection
 * Flags: #GSORT_SMALLEST, #GSORT_NAN_LAST.
 * @{ */
/**
 * The k best elements, best first: the first k of the stable descending order (ascending with #GSORT_SMALLEST). Equal
 * elements go by the lowest index.
 * @param g,t,flags the handle, the type of the elements, and the flags named above.
 * @param in,n the elements, not changed, and their number.
 * @param k at most `n`; 0 succeeds and writes nothing.
 * @param values_out receives k elements, or NULL.
 * @param index_t #GSORT_U32, #GSORT_I32, #GSORT_U64 or #GSORT_I64, which must hold n - 1; not looked at if
 * indices_out is NULL.
 * @param indices_out receives the k elements' indices, or NULL. One of the two outputs must be given.
 */
GSORT_API gsort_status gsort_topk(gsort *g, gsort_dtype t, const void *in, uint64_t n, uint64_t k, void *values_out,
                                  gsort_dtype index_t, void *indices_out, uint32_t flags);

/**
 * gsort_topk() of every row of a matrix.
 * @param g,t,flags as in gsort_topk().
 * @param in rows x columns elements; row r begins at element r * row_stride.
 * @param rows,columns the shape of the matrix.
 * @param row_stride elements from one row to the next, at least `columns`.
 * @param k at most `columns`.
 * @param values_out receives rows x k elements without gaps, or NULL.
 * @param index_t as in gsort_topk(); must hold columns - 1.
 * @param indices_out receives rows x k column indices without gaps, or NULL. One of the two outputs must be given.
 */
GSORT_API gsort_status gsort_topk_rows(gsort *g, gsort_dtype t, const void *in, uint64_t rows, uint64_t columns,
                                       uint64_t row_stride, uint64_t k, void *values_out, gsort_dtype index_t,
                                       void *indices_out, uint32_t flags);

/**
 * gsort_topk() of every segment of an array: rows of different lengths. Segment s holds the elements offsets[s] to
 * offsets[s + 1] - 1, and its results are the k entries from place s * k on. Where a segment has fewer than k elements,
 * the entries behind its last are filled: a value with 0 in every bit, an index with 1 in every bit (-1).
 * @param g,t,flags as in gsort_topk().
 * @param in,n the elements, not changed, and their number.
 * @param offsets segments + 1 indices as in gsort_sort_segments(), likewise checked.
 * @param segments how many segments there are.
 * @param k entries of each segment's result; may be above its length, and above `n`.
 * @param values_out receives segments x k elements, or NULL.
 * @param index_t as in gsort_topk().
 * @param indices_out receives segments x k indices, counted from the segment's first element, or NULL. One of the two
 * outputs must be given.
 */
GSORT_API gsort_status gsort_topk_segments(gsort *g, gsort_dtype t, const void *in, uint64_t n, const uint64_t *offsets,
                                           uint64_t segments, uint64_t k, void *values_out, gsort_dtype index_t,
                                           void *indices_out, uint32_t flags);
/** @} */

/** @name Sums
 * @{ */
/**
 * The sum of all elements. Flags: none (0).
 * Integers: modulo 2^64, written as uint64_t (unsigned types) or int64_t (signed types). Floats: the exact sum, rounded
 * once to a double (ties to even), whatever the order and the magnitude of the elements. If any element is NaN, or both
 * infinities are there, the result is the quiet NaN 0x7ff8000000000000; otherwise an infinity among them is the result.
 * An exact zero is +0, unless n > 0 and every element is -0. An exact sum past the range of double gives an infinity.
 * @param g,t,flags the handle, the type of the elements, and 0.
 * @param in,n the elements, not changed, and their number.
 * @param out receives 8 bytes, aligned to 8; never NULL. For n = 0: 0.
 */
GSORT_API gsort_status gsort_sum(gsort *g, gsort_dtype t, const void *in, uint64_t n, void *out, uint32_t flags);

/**
 * Minimum, maximum, their index, or the mean. Flags: #GSORT_NAN_LAST (not for the mean).
 * @param g,t,flags the handle, the type of the elements, and the flags.
 * @param in,n the elements, not changed, and their number.
 * @param op #GSORT_MIN, #GSORT_MAX, #GSORT_ARGMIN, #GSORT_ARGMAX or #GSORT_MEAN.
 * @param out never NULL. min and max: one element of type `t`; for n = 0 the element that comes last in the order.
 * argmin and argmax: a uint64_t; for n = 0 UINT64_MAX. mean: a double, NaN and infinities as in gsort_sum(); the exact
 * quotient rounded once; for n = 0 NaN.
 */
GSORT_API gsort_status gsort_reduce(gsort *g, uint32_t op, gsort_dtype t, const void *in, uint64_t n, void *out,
                                    uint32_t flags);

/**
 * Running sums of the input's own type: inclusive, or exclusive with #GSORT_EXCLUSIVE (the first is then 0).
 * Integers wrap. Floats are added as doubles in the fixed order that docs/scan-order.md states, each running sum is
 * rounded once to the type, and a NaN is written as the type's quiet NaN without sign or payload.
 * @param g,t,flags the handle, the type of the elements, and the flags.
 * @param in,n the elements, not changed unless `in` is `out`, and their number.
 * @param out receives `n` elements; may be `in`.
 */
GSORT_API gsort_status gsort_scan(gsort *g, gsort_dtype t, const void *in, void *out, uint64_t n, uint32_t flags);
/** @} */

/** @name Typed calls
 * The calls above for the types that C has, so that the compiler checks the arrays: a sum of floats, for one, is a
 * double, and indices are uint64_t. Everything else is as there.
 * @{ */
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t k, uint32_t *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t k, int32_t *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t k, uint64_t *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t k, int64_t *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_f32(gsort *g, const float *in, uint64_t n, uint64_t k, float *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_topk(): values_out or indices_out may be NULL. */
GSORT_API gsort_status gsort_topk_f64(gsort *g, const double *in, uint64_t n, uint64_t k, double *values_out,
                                      uint64_t *indices_out, uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_u32(gsort *g, const uint32_t *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_i32(gsort *g, const int32_t *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_u64(gsort *g, const uint64_t *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_i64(gsort *g, const int64_t *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_f32(gsort *g, const float *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_argsort(). */
GSORT_API gsort_status gsort_argsort_f64(gsort *g, const double *keys, uint64_t n, uint64_t *indices_out,
                                         uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_i32(gsort *g, const int32_t *in, uint64_t n, int64_t *out, uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_f32(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags);
/** gsort_sum(): one uint64_t of unsigned types, one int64_t of signed ones, one double of floats. */
GSORT_API gsort_status gsort_sum_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_u32(gsort *g, const uint32_t *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_i32(gsort *g, const int32_t *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_u64(gsort *g, const uint64_t *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_i64(gsort *g, const int64_t *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_f32(gsort *g, const float *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MEAN. */
GSORT_API gsort_status gsort_mean_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_u32(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_i32(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_f32(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MIN. */
GSORT_API gsort_status gsort_min_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_u32(gsort *g, const uint32_t *in, uint64_t n, uint32_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_i32(gsort *g, const int32_t *in, uint64_t n, int32_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_i64(gsort *g, const int64_t *in, uint64_t n, int64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_f32(gsort *g, const float *in, uint64_t n, float *out, uint32_t flags);
/** gsort_reduce() with #GSORT_MAX. */
GSORT_API gsort_status gsort_max_f64(gsort *g, const double *in, uint64_t n, double *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_f32(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMIN. */
GSORT_API gsort_status gsort_argmin_f64(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_u32(gsort *g, const uint32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_i32(gsort *g, const int32_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_u64(gsort *g, const uint64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_i64(gsort *g, const int64_t *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_f32(gsort *g, const float *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_reduce() with #GSORT_ARGMAX. */
GSORT_API gsort_status gsort_argmax_f64(gsort *g, const double *in, uint64_t n, uint64_t *out, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_u32(gsort *g, const uint32_t *in, uint32_t *out, uint64_t n, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_i32(gsort *g, const int32_t *in, int32_t *out, uint64_t n, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_u64(gsort *g, const uint64_t *in, uint64_t *out, uint64_t n, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_i64(gsort *g, const int64_t *in, int64_t *out, uint64_t n, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_f32(gsort *g, const float *in, float *out, uint64_t n, uint32_t flags);
/** gsort_scan(). */
GSORT_API gsort_status gsort_scan_f64(gsort *g, const double *in, double *out, uint64_t n, uint32_t flags);
/** @} */

/** @name Memory
 * @{ */
/**
 * Allocates now what a later call of this shape with device arrays needs, so that the call can be captured into a
 * graph. For a sort for which there is not so much memory, it allocates the eighth of the input's bytes that is enough.
 * On a CPU handle it does nothing.
 *
 * A captured call works in memory of its own, which no other call and no other graph uses: replays may run beside
 * direct calls and beside replays of other graphs. The first capture takes what was reserved; later ones, up to the
 * size that was reserved or that a direct call has taken, allocate again, which waits for nothing. The memory comes
 * back to the handle when the graph and all that was instantiated from it are destroyed, so graphs must not run after
 * the handle is destroyed. Two executables of one graph share its memory (and its arrays) and must not run at the same
 * time.
 * @param g the handle.
 * @param op GSORT_OP_*.
 * @param t type of the elements.
 * @param n elements, as said beside GSORT_OP_*. Arrays of more than 2^57 bytes are refused. What is reserved for n may
 * not do for fewer, which can be sorted in another way: reserve for each size that is captured.
 * @param parameter what the operation needs to be known beside n: said beside GSORT_OP_*, otherwise 0.
 */
GSORT_API gsort_status gsort_reserve(gsort *g, uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter);

/**
 * Device memory beyond its arrays that a call with device arrays needs. Pure arithmetic: needs no GPU and no handle. Of
 * a sort it is what the quickest way needs, not the eighth that some sorts can do with.
 * @param op,t,n,parameter as in gsort_reserve().
 * @param bytes receives the size; never NULL.
 */
GSORT_API gsort_status gsort_workspace_bytes(uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter,
                                             uint64_t *bytes);

/**
 * Lends the handle device memory to work in instead of its own; NULL and 0 take it back. The memory must be aligned to
 * 256 and stay valid until the handle's work is done. All calls share it, captured ones too: their work, and replays of
 * their graphs, must not overlap. A call that needs more fails with #GSORT_ERROR_OUT_OF_MEMORY and says how much,
 * unless it is a sort that can do with an eighth of its input's bytes (see Memory, above). Not for CPU handles.
 */
GSORT_API gsort_status gsort_set_workspace(gsort *g, void *device_memory, uint64_t bytes);
/** @} */

/** @name Long work
 * @{ */
/** Sets the function that is called between the chunks of long work on host memory; NULL: none. */
GSORT_API gsort_status gsort_set_progress(gsort *g, gsort_progress_fn fn, void *user);

/**
 * Asks the call that runs on the handle now, if any, to stop; it then returns #GSORT_ERROR_CANCELLED. From any thread;
 * does not wait. In-place arrays are then untouched or hold a permutation of their input, separate outputs hold
 * unspecified elements. Work already enqueued on a device and the writing of finished results are not stopped.
 */
GSORT_API gsort_status gsort_cancel(gsort *g);
/** @} */

/** @name Versions and names
 * @{ */
/** Version of the loaded library, as #GSORT_VERSION counts. */
GSORT_API uint32_t gsort_version(void);
/** Version of the loaded library as "major.minor.patch". Static text. */
GSORT_API const char *gsort_version_string(void);
/** Name of a status, such as "GSORT_ERROR_CANCELLED"; "unknown status" for any other number. Static text. */
GSORT_API const char *gsort_status_name(gsort_status s);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* GSORT_H */
