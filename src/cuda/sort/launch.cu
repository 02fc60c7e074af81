// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts, sorts of pairs, argsorts and ranks: the choice of the algorithm, the arrays it works on, and the values that
// do not travel with their keys.
#include <algorithm>
#include <cstdint>

#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/sort/gather.cuh"
#include "cuda/sort/inverse.cuh"
#include "cuda/sort/job.h"
#include "cuda/sort/launch.h"

namespace gsort_internal::sort {
namespace {

// Values of more bytes are moved by a kernel of their own, not by the blocks that sort.
constexpr uint32_t kSmallValueBytesMax = 16;

// The largest access, of no more than `most` bytes, that divides a value and fits the arrays' alignment.
uint32_t value_unit_bytes(const Request &request, uint32_t most) {
  const uint64_t bits = request.value_bytes | reinterpret_cast<uint64_t>(request.values_in) |
                        reinterpret_cast<uint64_t>(request.values_out);
  uint32_t unit = most;
  while (bits % unit != 0) unit /= 2;
  return unit;
}

// Pairs whose values are the keys' indices, which nobody has written down: top-k sorts so.
bool makes_values(const Request &request) {
  return request.operation == Operation::kSortPairs && request.values_in == nullptr;
}

FinalValues final_values_of(const Request &request, Carry carry) {
  if (request.operation == Operation::kSort || request.operation == Operation::kSortPairs) return FinalValues::kStore;
  const bool wide = dtype_bytes(request.index_t) == 8;
  if (request.operation == Operation::kRank) return wide ? FinalValues::kRank8 : FinalValues::kRank4;
  return wide && carry == Carry::kIndex4 ? FinalValues::kWiden : FinalValues::kStore;
}

// Sorts keys with or without the values that travel.
void name_arrays(Job &job) {
  const Request &request = *job.request;
  job.keys_wanted = request.operation == Operation::kSort || request.operation == Operation::kSortPairs;
  job.keys_in = request.in;
  job.keys_x = job.keys_wanted ? request.out : job.slice<void>(job.plan.slices.keys_x);
  job.keys_y = job.slice<void>(job.plan.slices.keys_y);
  job.values_in = request.values_in;
  job.values_are_indices = carries_index(job.plan.carry) || makes_values(request);
  job.values_y = job.slice<void>(job.plan.slices.values_y);
  job.values_x = job.keys_wanted ? request.values_out : request.out;
  if (job.plan.gathers_values || job.plan.widens_values || job.plan.inverts_order)
    job.values_x = job.slice<void>(job.plan.slices.values_x);
  job.direct_out = job.plan.inverts_order ? request.out : job.values_x;
  if (job.plan.widens_values) job.values_in = job.slice<void>(job.plan.slices.values_wide);
  // One pass stores ranks near each other: those of neighbours.
  job.direct_values = final_values_of(request, job.plan.carry);
  job.final_values = job.plan.inverts_order ? FinalValues::kStore : job.direct_values;
}

// Sorts on chip know each key's source and need no travelling values.
void name_small_outputs(Job &job) {
  const Request &request = *job.request;
  job.small_wide = request.index_t != 0 && dtype_bytes(request.index_t) == 8;
  if (request.operation == Operation::kArgsort) job.small_indices = request.out;
  if (request.operation == Operation::kRank) job.small_ranks = request.out;
  if (request.operation != Operation::kSortPairs) return;
  job.small_wide = false;
  job.value_unit_bytes = value_unit_bytes(request, 8);
  if (makes_values(request)) {
    job.small_wide = request.value_bytes == 8;
    job.small_indices = request.values_out;
  } else if (request.values_in != request.values_out && request.value_bytes <= kSmallValueBytesMax) {
    job.small_values_in = request.values_in;
    job.small_values_out = request.values_out;
  } else {
    job.small_indices = job.slice<void>(job.plan.slices.small_indices);
  }
}

template <class Unit>
void launch_gather_unit(const LaunchContext &context, const GatherParams &params, bool wide_indices) {
  const uint64_t per_block = 4 * kGatherThreads / params.lanes;
  const uint64_t blocks_max = uint64_t{context.device->multiprocessors} * 64;
  const auto blocks = static_cast<uint32_t>(std::min((params.n + per_block - 1) / per_block, blocks_max));
  const Grid grid = {blocks, kGatherThreads};
  if (wide_indices) {
    launch_kernel(context, "gather_kernel", grid, gather_kernel<Unit, uint64_t>, params);
  } else {
    launch_kernel(context, "gather_kernel", grid, gather_kernel<Unit, uint32_t>, params);
  }
}

// values_out[i] = values_in[indices[i]]; by way of the workspace where the two are one array.
void launch_gather(const LaunchContext &context, const Job &job, const void *indices, bool wide_indices) {
  const Request &request = *job.request;
  const bool in_place = request.values_in == request.values_out;
  const uint32_t unit = value_unit_bytes(request, 16);
  GatherParams params{};
  params.values_in = request.values_in;
  params.values_out = in_place ? job.slice<void>(job.plan.slices.gathered) : request.values_out;
  params.indices = indices;
  params.n = request.n;
  params.units = request.value_bytes / unit;
  params.lanes = 1;
  while (params.lanes < 32 && params.lanes < params.units) params.lanes *= 2;
  if (unit == 16) launch_gather_unit<uint4>(context, params, wide_indices);
  if (unit == 8) launch_gather_unit<uint64_t>(context, params, wide_indices);
  if (unit == 4) launch_gather_unit<uint32_t>(context, params, wide_indices);
  if (unit == 2) launch_gather_unit<uint16_t>(context, params, wide_indices);
  if (unit == 1) launch_gather_unit<uint8_t>(context, params, wide_indices);
  if (in_place)
    cuda_check(cudaMemcpyAsync(request.values_out, params.values_out, request.n * request.value_bytes,
                               cudaMemcpyDeviceToDevice, context.stream),
               "cudaMemcpyAsync(values)");
}

template <class From, class To>
void launch_convert(const LaunchContext &context, const void *from, void *to, uint64_t n) {
  const uint64_t blocks_max = uint64_t{context.device->multiprocessors} * 32;
  const Grid grid = {static_cast<uint32_t>(std::min((n - 1) / kGatherThreads + 1, blocks_max)), kGatherThreads};
  launch_kernel(context, "convert_kernel", grid, convert_kernel<From, To>, static_cast<const From *>(from),
                static_cast<To *>(to), n);
}

void launch_widen(const LaunchContext &context, const Job &job) {
  const Request &request = *job.request;
  void *const wide = job.slice<void>(job.plan.slices.values_wide);
  if (request.value_bytes == 1) return launch_convert<uint8_t, uint32_t>(context, request.values_in, wide, request.n);
  launch_convert<uint16_t, uint32_t>(context, request.values_in, wide, request.n);
}

void launch_narrow(const LaunchContext &context, const Job &job) {
  const Request &request = *job.request;
  if (request.value_bytes == 1)
    return launch_convert<uint32_t, uint8_t>(context, job.values_x, request.values_out, request.n);
  launch_convert<uint32_t, uint16_t>(context, job.values_x, request.values_out, request.n);
}

// The order becomes the ranks.
template <class Rank>
void launch_inverse(const LaunchContext &context, const Job &job, const uint32_t *fast_path) {
  const Request &request = *job.request;
  InverseParams params{};
  params.order = static_cast<const uint32_t *>(job.values_x);
  params.n = request.n;
  params.records = job.slice<InverseRecord>(job.plan.slices.inverse_records);
  params.cursors = job.slice<uint32_t>(job.plan.slices.inverse_cursors);
  params.ranks = request.out;
  params.window_bits = inverse_window_bits(request.n);
  params.fast_path = fast_path;
  cuda_check(cudaMemsetAsync(params.cursors, 0, kInverseCursorBytes, context.stream), "cudaMemsetAsync(cursors)");
  const Grid grid = {static_cast<uint32_t>((request.n - 1) / kInverseTileItems + 1), kInverseThreads};
  launch_kernel(context, "part_order_kernel", grid, part_order_kernel<Rank>, params);
  launch_kernel(context, "store_ranks_kernel", grid, store_ranks_kernel<Rank>, params);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace, const Options &options,
            const uint32_t *done) {
  Job job{};
  job.request = &request;
  job.plan = make_plan(request, *context.device, options);
  job.done = done;
  job.workspace = workspace;
  name_arrays(job);
  name_small_outputs(job);
  log_plan(context, request, job.plan);
  if (job.plan.widens_values) launch_widen(context, job);
  const uint32_t *fast_path = nullptr;
  with_width(job.plan.key_bytes,
             [&](auto tag) { fast_path = launch_width<typename decltype(tag)::type>(context, job); });
  if (job.plan.inverts_order && dtype_bytes(request.index_t) == 8) launch_inverse<uint64_t>(context, job, fast_path);
  if (job.plan.inverts_order && dtype_bytes(request.index_t) == 4) launch_inverse<uint32_t>(context, job, fast_path);
  if (job.plan.widens_values) return launch_narrow(context, job);

  const bool on_chip = is_on_chip(job.plan.algorithm);
  if (request.operation != Operation::kSortPairs || makes_values(request)) return;
  if (on_chip && job.small_indices != nullptr) launch_gather(context, job, job.small_indices, false);
  if (!on_chip && job.plan.gathers_values) launch_gather(context, job, job.values_x, carry_bytes(job.plan.carry) == 8);
}

}  // namespace gsort_internal::sort
