// SPDX-License-Identifier: MIT OR Apache-2.0
// Host arrays of a call: copies of them on the device, and the way back of results.
#ifndef GSORT_CUDA_ENGINE_STAGING_H_
#define GSORT_CUDA_ENGINE_STAGING_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "core/request.h"
#include "cuda/engine/device.h"
#include "host_memory/pinned_ring.h"

namespace gsort_internal {

// Replaces the host pointers of a request by device ones. First collect(), then room for bytes() on the device, then
// bind(), copy_in(), the work, copy_out().
class Staging {
 public:
  // Finds the request's host arrays. Arrays that may be the same (in == out) share one copy. Throws
  // Error(INVALID_ARGUMENT) for memory of another device and for device values that kernels cannot load.
  void collect(const Request &request, MemoryKinds &kinds, int device);

  bool any() const { return count_ != 0; }
  uint64_t bytes() const { return bytes_; }

  // Puts the copies at `memory` and returns the request with device pointers only.
  Request bind(const Request &request, void *memory) const;

  // Both say between chunks how far they are, and a cancel may end the call; but a result that is half written over an
  // input is finished.
  void copy_in(cudaStream_t stream, PieceProgress &progress, PinnedRing &ring, char *memory) const;
  void copy_out(cudaStream_t stream, PieceProgress &progress, PinnedRing &ring, char *memory) const;

  // The parts of a copy, any of which may have no bytes: of an array's memory that is registered with CUDA, and before
  // and behind it. All that lies in no array is pageable.
  struct Apart {
    PieceCopy registered, pageable[2];
  };
  Apart tell_apart(const PieceCopy &copy) const;

  // All arrays lie in host memory.
  bool all() const { return all_; }
  // What would travel each way.
  uint64_t bytes_in() const;
  uint64_t bytes_out() const;
  // Of these, in arrays that are registered with CUDA.
  uint64_t registered_in() const;
  uint64_t registered_out() const;

 private:
  struct Copy {
    const void *from_host;  // NULL: an output alone
    void *to_host;          // NULL: an input alone
    uint64_t bytes;
    uint64_t offset;
    ByteRange from_registered, to_registered;
  };
  static constexpr int kNone = -1;
  static constexpr int kMost = 6;

  int add(const void *from_host, void *to_host, uint64_t bytes, const ByteRange &registered);
  int add_if_host(const char *name, const void *from, void *to, uint64_t bytes);
  // An input and an output of the same size; one copy serves both where both are on the host.
  void add_in_out(const char *in_name, const void *in, int &in_copy, const char *out_name, void *out, int &out_copy,
                  uint64_t bytes);
  MemoryKind kind(const char *name, const void *array) { return kinds_->of(name, array, device_); }

  MemoryKinds *kinds_ = nullptr;
  int device_ = 0;

  Copy copies_[kMost];
  int count_ = 0;
  bool all_ = true;
  uint64_t bytes_ = 0;
  int in_ = kNone, out_ = kNone, values_in_ = kNone, values_out_ = kNone, b_ = kNone, offsets_ = kNone,
      indices_ = kNone;
};

// Enqueues a copy between the host and the device. The driver refuses one of host memory that is registered in part;
// of such the halves are tried.
cudaError_t enqueue_copy(char *to, const char *from, uint64_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

// Copies by the driver itself, which says between chunks how far it is.
void copy_by_driver(cudaStream_t stream, const std::vector<PieceCopy> &copies, cudaMemcpyKind kind,
                    PieceProgress &progress);

// Bytes of a request's arrays.
struct RequestBytes {
  uint64_t in, out, indices;
};
RequestBytes request_bytes(const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_STAGING_H_
