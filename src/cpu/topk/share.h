// SPDX-License-Identifier: MIT OR Apache-2.0
// What the CPU's threads do of a selection, where others do the rest of it.
#ifndef GSORT_CPU_TOPK_SHARE_H_
#define GSORT_CPU_TOPK_SHARE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/host_memory.h"
#include "core/request.h"

namespace gsort_internal {

// The first k in the request's order of a part of request.in.
class TopkShare {
 public:
  virtual ~TopkShare() = default;
  // Looks at the elements from begin to end - 1, all of which lie before those that the worker has looked at. Each
  // worker is one thread.
  virtual void offer(uint64_t begin, uint64_t end, uint32_t worker) noexcept = 0;
  // Writes the result of the request: the first k of what was offered and of the elements with these indices, none of
  // which was. Once.
  virtual void select(const std::vector<uint64_t> &others) = 0;
};
// Takes all the memory that offer() needs; throws Error.
std::unique_ptr<TopkShare> make_topk_share(HostMemory &memory, const Request &request, uint32_t workers);

}  // namespace gsort_internal

#endif  // GSORT_CPU_TOPK_SHARE_H_
