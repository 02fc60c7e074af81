// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cuda_runtime.h>

#include "cuda/engine/launcher.h"
#include "cuda/sort/fast_path/count.cuh"
#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/fast_path/order.cuh"

namespace gsort_internal::sort::fast_path {
namespace {

constexpr uint32_t kClearThreads = 512;
constexpr uint32_t kClearVectors = 4;  // of 16 bytes a thread

__global__ void __launch_bounds__(kClearThreads) clear_kernel(uint4 *memory, uint64_t vectors) {
  allow_next_kernel();
  const uint64_t begin = uint64_t{blockIdx.x} * kClearThreads * kClearVectors + threadIdx.x;
#pragma unroll
  for (uint32_t i = 0; i < kClearVectors; ++i)
    if (begin + i * kClearThreads < vectors) memory[begin + i * kClearThreads] = make_uint4(0, 0, 0, 0);
}

// Blocks that the device starts after others have finished the check sample what may be half written; see where
// they leave. Work of another kind than the first block's they must not begin at all. All threads.
__device__ __forceinline__ bool claim_pattern(State *state, Pattern kind) {
  int agreed = 0;
  if (threadIdx.x == 0) {
    const auto own = static_cast<uint32_t>(kind);
    const uint32_t before = atomicCAS(&state->claim.word, 0u, own);
    agreed = before == 0 || before == own;
  }
  return __syncthreads_or(agreed) != 0;
}

// What was written before the kernel that clears the state, which the device ran alone.
template <class U>
__device__ __forceinline__ bool is_sorted_before(const Params<U> &params) {
  return params.work.sorted != nullptr && *params.work.sorted != 0;
}
template <class U>
__device__ __forceinline__ void tell_sorted_before(const Params<U> &params) {
  if (blockIdx.x == 0 && threadIdx.x == 0 && is_sorted_before(params)) params.state->done = 1;
}

template <bool kWithValues, class U>
__device__ __forceinline__ void sort_values(const Params<U> &params, Storage<U> &storage, uint32_t *counters) {
  const ValuesNumbering<U> numbering = {value_table<U>(counters), storage.values, storage.multiplier};
  sort_numbered<kWithValues>(params, storage, numbering, counters);
}

// Called, not inlined: beside it the loads of ordered keys would wait for each other.
template <class U>
__device__ __noinline__ void sort_values_alone(const Params<U> params, Storage<U> &storage) {
  extern __shared__ __align__(16) uint32_t counters[];  // the kernel's
  __builtin_assume(__isShared(&storage));
  sort_values<false>(params, storage, counters);
}

// Dynamic shared memory: 2^counter_bits counters, or none.
template <bool kWithValues, class U>
__global__ void __launch_bounds__(kThreads, 1) fast_path_kernel(const __grid_constant__ Params<U> params) {
  extern __shared__ __align__(16) uint32_t counters[];
  __shared__ Storage<U> storage;
  allow_next_kernel();
  const Pattern kind = is_sorted_before(params) ? Pattern::kNone : find_pattern<kWithValues>(params, storage, counters);
  wait_for_kernel_before();  // it clears the state; also where there is nothing to do, for others wait for this one
                             // only
  if (kind == Pattern::kNone) return tell_sorted_before(params);
  if (!claim_pattern(params.state, kind)) return;
  if (kind == Pattern::kAscending || kind == Pattern::kDescending) {
    sort_ordered<kWithValues>(params, storage, kind == Pattern::kDescending);
  } else if constexpr (kWithValues) {
    sort_values<true>(params, storage, counters);
  } else if (kind == Pattern::kFewBits) {
    sort_numbered<false>(params, storage, BitsNumbering<U>{storage.few}, counters);
  } else {
    sort_values_alone(params, storage);
  }
}

}  // namespace

void launch_clear(const LaunchContext &context, void *memory, uint64_t bytes) {
  const uint64_t vectors = bytes / 16, per_block = kClearThreads * kClearVectors;
  const auto blocks = static_cast<uint32_t>((vectors + per_block - 1) / per_block);
  launch_kernel(context, "clear_kernel", {blocks, kClearThreads}, clear_kernel, static_cast<uint4 *>(memory), vectors);
}

template <class U>
const uint32_t *launch(const LaunchContext &context, const Plan &plan, const Arrays<U> &arrays) {
  const bool keys_alone = arrays.values_out == nullptr;
  Params<U> params{};
  params.work = arrays;
  params.plan = plan;
  params.state = static_cast<State *>(arrays.state);
  params.reversible = keys_alone || (arrays.keys_out != arrays.keys_in && arrays.values_out != arrays.values_in);
  const uint32_t counters_bytes = params.plan.counter_bits == 0 ? 0 : 4u << params.plan.counter_bits;
  // The kernel reads its sample while the one before still clears the workspace.
  Grid grid = {context.device->multiprocessors, kThreads, counters_bytes};
  grid.dependent = arrays.after_clearing;
  launch_kernel(context, "fast_path_kernel", grid, keys_alone ? fast_path_kernel<false, U> : fast_path_kernel<true, U>,
                params);
  return &params.state->done;
}

template const uint32_t *launch<uint32_t>(const LaunchContext &, const Plan &, const Arrays<uint32_t> &);
template const uint32_t *launch<uint64_t>(const LaunchContext &, const Plan &, const Arrays<uint64_t> &);

}  // namespace gsort_internal::sort::fast_path
