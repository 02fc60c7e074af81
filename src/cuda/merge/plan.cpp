// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/merge/plan.h"

#include <cstdio>

#include "core/dtype.h"

namespace gsort_internal::merge {

Plan make_plan(const Request &request, const DeviceFacts &) {
  Plan plan{};
  plan.tiles = tiles_of(dtype_bytes(request.order.dtype), request.n + request.b_n);
  plan.unsorted = 0;
  plan.splits = 1;
  plan.workspace_bytes = (plan.tiles + 2) * sizeof(uint64_t);
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  std::snprintf(text, text_bytes, "merge: %llu + %llu x %s in %llu tiles of %u",
                static_cast<unsigned long long>(request.n), static_cast<unsigned long long>(request.b_n),
                dtype_facts(request.order.dtype).name, static_cast<unsigned long long>(plan.tiles),
                tile_keys(dtype_bytes(request.order.dtype)));
}

}  // namespace gsort_internal::merge
