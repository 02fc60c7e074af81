// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/shared_bytes.h"

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <utility>

#include "cuda/engine/check.h"

namespace gsort_internal {
namespace {

struct Allowed {
  std::mutex mutex;
  std::map<std::pair<int, const void *>, uint32_t> bytes;  // by device and kernel
};

// Never destroyed: handles may be used while the process ends.
Allowed &allowed() {
  static Allowed &all = *new Allowed;
  return all;
}

}  // namespace

void raise_shared_bytes(const void *kernel, uint32_t bytes) {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  Allowed &all = allowed();
  const std::lock_guard<std::mutex> lock(all.mutex);
  uint32_t &most = all.bytes[{device, kernel}];
  if (bytes <= most) return;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "cudaFuncSetAttribute(shared memory)");
  most = bytes;
}

void forget_shared_bytes(int device) {
  Allowed &all = allowed();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.bytes.erase(all.bytes.lower_bound({device, nullptr}), all.bytes.lower_bound({device + 1, nullptr}));
}

}  // namespace gsort_internal
