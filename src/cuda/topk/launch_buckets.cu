// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/sort/small/width.cuh"
#include "cuda/topk/buckets.cuh"
#include "cuda/topk/long_buckets.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

template <class U>
void launch_buckets(const LaunchContext &context, const Problem<U> &problem, const BucketsPlan &plan,
                    unsigned char *workspace) {
  BucketsParams<U> params{};
  params.k = static_cast<uint32_t>(problem.k);
  params.rank = plan.rank;
  params.grid.arrays.keys_in = problem.in;
  params.grid.arrays.n = static_cast<uint32_t>(problem.columns);
  params.grid.arrays.codec = problem.codec;
  params.grid.arrays.keys_out = problem.output.values;
  params.grid.arrays.indices = problem.output.indices;
  params.grid.arrays.wide = problem.output.index_bytes == 8;
  params.grid.staged = workspace;
  params.grid.starts = reinterpret_cast<uint32_t *>(workspace + plan.starts);
  params.grid.share = plan.share;
  params.grid.samples = plan.samples;
  params.grid.sampled = params.grid.arrays.n;
  params.grid.seed = small::sample_seed();
  Grid grid = {plan.blocks, small::kGridThreads, 0};
  grid.together = Together::kGrid;
  if (plan.is_long) {
    static_assert(sizeof(LongBucketsStorage<U>) <= kLongBucketsSharedBytes, "the plan counts with this size");
    grid.shared_bytes = sizeof(LongBucketsStorage<U>);
    const LongBucketsParams<U> long_params = {params, bit_count(plan.samples) - 1, plan.rough_rank, plan.room};
    return launch_kernel(context, "top-k by buckets of tiles", grid, topk_long_buckets_kernel<U>, long_params);
  }
  using Storage = small::GridStorage<BucketsShape<U>>;
  static_assert(sizeof(Storage) <= BucketsShape<U>::kSharedBytes, "the plan counts with this size");
  grid.shared_bytes = sizeof(Storage);
  launch_kernel(context, "top-k by buckets", grid, topk_buckets_kernel<U>, params);
}

template void launch_buckets(const LaunchContext &, const Problem<uint32_t> &, const BucketsPlan &, unsigned char *);
template void launch_buckets(const LaunchContext &, const Problem<uint64_t> &, const BucketsPlan &, unsigned char *);

}  // namespace gsort_internal::topk
