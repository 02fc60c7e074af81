// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/notice.h"

#include <atomic>
#include <cstring>

#include "cuda/engine/check.h"

namespace gsort_internal {

// Looks for some hundred microseconds, so that the stream's other kernels are not waited for; behind long work of
// others it waits as the device's flags say.
void Notice::wait(cudaStream_t stream) const {
  constexpr uint32_t kLooksMax = 1 << 17, kLooksEach = 1 << 10;
  for (uint32_t looks = 1; word(0) != turn; ++looks) {
    if (looks % kLooksEach != 0) continue;
    const cudaError_t state = looks < kLooksMax ? cudaStreamQuery(stream) : cudaStreamSynchronize(stream);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();
      continue;
    }
    cuda_check(state, "waiting for the check of offsets");
    break;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

void NoticeBoard::close() noexcept {
  if (notice_.words != nullptr && cudaHostUnregister(notice_.words) != cudaSuccess) (void)cudaGetLastError();
  abandon();
}

void NoticeBoard::abandon() noexcept { notice_ = {}; }

// What was refused once is not asked for again.
void NoticeBoard::make(int device) {
  int same_address = 0;
  cuda_check(cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, device),
             "cudaDeviceGetAttribute");
  made_ = true;
  if (same_address == 0) return;
  try {
    memory_ = HostBuffer<char>(host_memory_, 2 * kPageBytes);
  } catch (const Error &) {
    return;
  }
  const auto begin = reinterpret_cast<uintptr_t>(memory_.data());
  void *const page = reinterpret_cast<void *>((begin + kPageBytes - 1) / kPageBytes * kPageBytes);
  std::memset(page, 0, kPageBytes);
  if (cudaHostRegister(page, kPageBytes, cudaHostRegisterPortable) == cudaSuccess)
    notice_.words = static_cast<uint64_t *>(page);
  else
    (void)cudaGetLastError();
}

const Notice *NoticeBoard::next(int device) {
  if (!made_) make(device);
  if (notice_.words == nullptr) return nullptr;
  ++notice_.turn;
  return &notice_;
}

}  // namespace gsort_internal
