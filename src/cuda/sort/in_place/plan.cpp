// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sort/in_place/plan.h"

#include <algorithm>
#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"
#include "cuda/sort/in_place/regions.h"
#include "cuda/sort/plan.h"

namespace gsort_internal::sort::in_place {
namespace {

using ull = unsigned long long;

// Of those that count keys of 2 bytes any will do.
constexpr DeviceFacts kCountingDevice = {90, 132, 227 * 1024};

uint64_t square_root(uint64_t square) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= square) root += bit;
  return root;
}

// A thirty-second of the keys: more would not fit, sorted, into the scratch memory of short arrays.
uint64_t samples_for(uint64_t n) {
  uint64_t samples = kSamplesMax;
  while (samples > n / 32) samples /= 2;
  return samples;
}

uint64_t sort_bytes(const Request &shape, uint64_t n) {
  Request part{};
  part.operation = Operation::kSort;
  part.order = shape.order;
  part.n = n;
  return workspace_bytes(part);
}

// The slices of one step, all of which begin behind the state.
struct Arena {
  uint64_t begin;
  SliceCounter counter;
  uint64_t take(uint64_t bytes) { return begin + counter.take(bytes); }
  uint64_t end() const { return begin + counter.bytes(); }
};

// The most that the sort of a window needs; not always that of the longest, where another way begins between them.
uint64_t window_bytes(const Request &shape, const Plan &plan) {
  uint64_t most = 0;
  for (uint32_t bucket = 0; bucket < plan.buckets; ++bucket) {
    const Window window = window_of(plan, bucket);
    most = std::max(most, sort_bytes(shape, window.end - window.begin));
  }
  return most;
}

// Lays out what plan.buckets and plan.stripes_max ask for, and returns the bytes.
uint64_t lay_out(const Request &shape, Plan &plan) {
  Slices &slices = plan.slices;
  SliceCounter first;
  slices.state = first.take(kStateBytes);
  Arena sample = {first.bytes(), {}}, partition = sample, windows = sample;
  slices.sample = sample.take(plan.samples * plan.key_bytes);
  slices.sample_workspace = sample.take(sort_bytes(shape, plan.samples));
  const uint64_t slots = plan.n / brick_keys(plan.key_bytes);
  // Of a stripe less than a brick of every bucket is left over, and with what the slots at borders held comes back.
  plan.left_keys = (uint64_t{plan.stripes_max} + plan.buckets) * brick_keys(plan.key_bytes);
  slices.labels = partition.take(slots);
  slices.holes = partition.take(4 * (uint64_t{plan.stripes_max} + 1) * (plan.buckets + 1));
  slices.list = partition.take(4 * slots);
  slices.cycles = partition.take(kCyclesMax * sizeof(Cycle));
  slices.left = partition.take(plan.buckets * plan.left_keys * plan.key_bytes);
  slices.window_workspace = windows.take(window_bytes(shape, plan));
  return std::max({sample.end(), partition.end(), windows.end()});
}

// As many stripes as there is room for what is left of them, up to what the largest devices can use.
uint32_t stripes_for(const Request &shape, Plan plan, uint64_t most_bytes) {
  constexpr uint32_t kStripesMost = 1024, kStripesLeast = 8;
  for (uint32_t stripes = kStripesMost; stripes >= kStripesLeast; stripes -= stripes / 8) {
    plan.stripes_max = stripes;
    if (lay_out(shape, plan) <= most_bytes) return stripes;
  }
  return 0;
}

// The sort of keys of 2 bytes on a device that holds their counters.
sort::Plan counting_plan(const Request &shape) {
  sort::Options options;
  options.algorithm = Algorithm::kCountFill;
  return sort::make_plan(shape, kCountingDevice, options);
}

Plan make_counting_plan(const Request &shape, Plan plan, uint64_t most_bytes) {
  plan.workspace_bytes = counting_plan(shape).workspace_bytes;
  plan.applies = plan.counts = plan.workspace_bytes <= most_bytes;
  return plan;
}

// What an eighth of the bytes leaves beside what the engine adds to a workspace.
uint64_t most_bytes_of(const Request &shape, uint32_t key_bytes) {
  return shape.n * key_bytes / 8 / kSliceAlignment * kSliceAlignment - kEngineBytes;
}

}  // namespace

Plan make_plan(const Request &shape) {
  Plan plan{};
  plan.key_bytes = dtype_bytes(shape.order.dtype);
  plan.n = shape.n;
  if (shape.operation != Operation::kSort || plan.key_bytes < 2 || shape.n < kBytesMin / plan.key_bytes) return plan;
  const uint64_t most_bytes = most_bytes_of(shape, plan.key_bytes);
  if (plan.key_bytes == 2) return make_counting_plan(shape, plan, most_bytes);
  plan.samples = samples_for(shape.n);
  // A border's place among the keys deviates by half a root of the samples, of `samples`, at most.
  plan.slack = kDeviations * (shape.n / (2 * square_root(plan.samples)) + 1);
  for (plan.buckets = kBucketsMin; plan.buckets <= kBucketsMax; ++plan.buckets) {
    if (shape.n / plan.buckets < 4 * plan.slack) break;
    plan.stripes_max = stripes_for(shape, plan, most_bytes);
    if (plan.stripes_max == 0) continue;
    plan.workspace_bytes = lay_out(shape, plan);
    plan.applies = true;
    return plan;
  }
  return {};
}

bool fits(const Plan &plan, const DeviceFacts &device) {
  if (plan.counts) return fast_path::kCountFillSharedBytes + 1024 <= device.shared_bytes_block_max;
  return plan.applies && classify_shared_bytes(plan.key_bytes, plan.buckets) + kClassifyStaticBytes + 1024 <=
                             device.shared_bytes_block_max;
}

void describe(const Request &, const Plan &plan, char *text, size_t text_bytes) {
  if (plan.counts) {
    std::snprintf(text, text_bytes,
                  "sort on the GPU: %llu keys of %u bytes in place, with %llu bytes of scratch memory, by counting",
                  static_cast<ull>(plan.n), plan.key_bytes, static_cast<ull>(plan.workspace_bytes));
    return;
  }
  const Window second = window_of(plan, 1);
  std::snprintf(text, text_bytes,
                "sort on the GPU: %llu keys of %u bytes in place, with %llu bytes of scratch memory: partition into %u "
                "buckets by a sample of %llu, then sorts of up to %llu keys",
                static_cast<ull>(plan.n), plan.key_bytes, static_cast<ull>(plan.workspace_bytes), plan.buckets,
                static_cast<ull>(plan.samples), static_cast<ull>(second.end - second.begin));
}

}  // namespace gsort_internal::sort::in_place
