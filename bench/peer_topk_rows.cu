// SPDX-License-Identifier: MIT OR Apache-2.0
#include "peer_detail.h"

#if __has_include(<cub/device/device_batched_topk.cuh>)
#include <cub/device/device_batched_topk.cuh>
#include <cuda/iterator>
#define GSORT_BENCH_BATCHED_TOPK 1
#else
#define GSORT_BENCH_BATCHED_TOPK 0
#endif

namespace gsort_bench {

#if GSORT_BENCH_BATCHED_TOPK
namespace {

// Turns a row's number into a pointer to its first element.
template <typename T>
struct RowPointer {
  T *base;
  int64_t stride;
  __host__ __device__ T *operator()(int64_t row) const { return base + row * stride; }
};

template <typename T>
auto row_pointers(T *base, uint64_t stride) {
  return cuda::make_transform_iterator(cuda::counting_iterator<int64_t>(0),
                                       RowPointer<T>{base, static_cast<int64_t>(stride)});
}

struct ColumnNumbers {
  __host__ __device__ cuda::counting_iterator<uint32_t> operator()(int64_t) const {
    return cuda::counting_iterator<uint32_t>(0);
  }
};

template <int64_t ColumnsMax>
cudaError_t batched_topk(PeerScratch &scratch, const PeerRows &rows, cudaStream_t s) {
  const auto requirements =
      cuda::execution::require(cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
                               cuda::execution::output_ordering::unsorted);
  const auto environment = cuda::std::execution::env{cuda::stream_ref{s}, requirements};
  const auto columns = cuda::make_transform_iterator(cuda::counting_iterator<int64_t>(0), ColumnNumbers{});
  return cub::DeviceBatchedTopK::MaxPairs(
      scratch.memory, scratch.bytes, row_pointers(static_cast<const float *>(rows.in), rows.columns),
      row_pointers(static_cast<float *>(rows.values_out), rows.k), columns, row_pointers(rows.indices_out, rows.k),
      cuda::args::immediate{static_cast<int64_t>(rows.columns), cuda::args::bounds<int64_t{1}, ColumnsMax>()},
      cuda::args::immediate{static_cast<int64_t>(rows.k), cuda::args::bounds<int64_t{1}, ColumnsMax>()},
      static_cast<int64_t>(rows.rows), environment);
}

}  // namespace
#endif

cudaError_t cub_topk_rows_f32(PeerScratch &scratch, const PeerRows &rows, cudaStream_t s) {
#if GSORT_BENCH_BATCHED_TOPK
  if (rows.columns <= 1024) return batched_topk<1024>(scratch, rows, s);
#endif
  (void)scratch, (void)rows, (void)s;
  return cudaErrorNotSupported;
}

}  // namespace gsort_bench
