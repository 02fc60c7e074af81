// SPDX-License-Identifier: MIT OR Apache-2.0
// A GPU as what works on pieces of host arrays: kernels on the handle's stream, while copies go both ways on streams of
// their own.
#ifndef GSORT_CUDA_ENGINE_PIECE_DEVICE_H_
#define GSORT_CUDA_ENGINE_PIECE_DEVICE_H_

#include <cuda_runtime.h>

#include <functional>

#include "cuda/engine/staging.h"
#include "host_memory/piece_device.h"
#include "host_memory/pinned_ring.h"

namespace gsort_internal {

// Streams made when they are first needed, on which nothing waits for the legacy default stream: for copies of
// registered arrays, and for those of the ring, which would wait for them on the same stream.
class CopyStreams {
 public:
  CopyStreams() = default;
  CopyStreams(const CopyStreams &) = delete;
  CopyStreams &operator=(const CopyStreams &) = delete;

  void open();
  void close() noexcept;  // the device must be current
  void abandon() noexcept { in_ = out_ = ring_in_ = ring_out_ = nullptr; }
  cudaStream_t in() const { return in_; }
  cudaStream_t out() const { return out_; }
  cudaStream_t ring_in() const { return ring_in_; }
  cudaStream_t ring_out() const { return ring_out_; }

 private:
  cudaStream_t in_ = nullptr, out_ = nullptr, ring_in_ = nullptr, ring_out_ = nullptr;
};

// What the engine does for it.
struct PieceServices {
  std::function<uint64_t()> budget_bytes;
  std::function<char *(uint64_t bytes)> take;  // NULL: there is not enough
  std::function<void(const Request &request, void *workspace)> launch;
};

class CudaPieceDevice final : public PieceDevice {
 public:
  // `staging` knows which arrays are registered. `stream` is the handle's. The ring uses no more threads than so many.
  CudaPieceDevice(PieceServices services, const Staging &staging, PinnedRing &ring, const CopyStreams &streams,
                  cudaStream_t stream, uint32_t ring_threads = UINT32_MAX)
      : services_(std::move(services)),
        staging_(staging),
        ring_(ring),
        streams_(streams),
        stream_(stream),
        ring_threads_(ring_threads) {}

  uint64_t budget_bytes() override { return services_.budget_bytes(); }
  char *take(uint64_t bytes) override { return services_.take(bytes); }
  uint64_t workspace_bytes(const Request &shape) override;
  uint64_t pieces_wanted() const override;
  ArrivingSizes arriving_sizes() const override;
  void step(const std::vector<PieceCopy> &in, const PieceWork *work, const std::vector<PieceCopy> &out,
            PieceProgress &progress) override;

 private:
  // Copies of one direction: of registered arrays, and the others.
  struct Copies {
    std::vector<PieceCopy> registered, pageable;
  };

  bool is_pageable() const;
  void begin(const PieceWork &work);
  void raise_indices(const PieceWork &work);
  Copies tell_apart(const std::vector<PieceCopy> &copies) const;
  void enqueue(const std::vector<PieceCopy> &in, const std::vector<PieceCopy> &out, const PieceWork *work);
  void run(const Copies &in, const Copies &out, const PieceWork *work, PieceProgress &progress);
  void tell(const PieceWork &work);
  void wait();

  const PieceServices services_;
  const Staging &staging_;
  PinnedRing &ring_;
  const CopyStreams &streams_;
  const cudaStream_t stream_;
  const uint32_t ring_threads_;
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_PIECE_DEVICE_H_
