// SPDX-License-Identifier: MIT OR Apache-2.0
// The size query of every operation, in every build, with CUDA or without. A call asks it, too, before it is planned
// for its device: a size holds for all devices, for a call may be planned again for less of one while it is launched,
// and memory that was reserved or lent must do on each. That takes 5 to 100 ns, of top-k up to 310 (a Xeon at 2.8 GHz,
// 2026-11-22), which a plan handed from here to the launch would not save.
#include "core/error.h"
#include "core/slices.h"
#include "cuda/engine/device_facts.h"
#include "cuda/merge/plan.h"
#include "cuda/scan/plan.h"
#include "cuda/segments/plan.h"
#include "cuda/sort/plan.h"
#include "cuda/sum/plan.h"
#include "cuda/topk/plan.h"
#include "cuda/topk/ragged_plan.h"
#include "engine.h"

namespace gsort_internal {
namespace {

uint64_t planned_bytes(const Request &shape) {
  switch (shape.operation) {
    case Operation::kSort:
    case Operation::kSortPairs:
    case Operation::kArgsort:
    case Operation::kRank:
      return sort::workspace_bytes(shape);
    case Operation::kSortSegments:
      return segments::make_plan(shape, kLeastDevice).workspace_bytes;
    case Operation::kMerge:
      return merge::make_plan(shape, kLeastDevice).workspace_bytes;
    case Operation::kTopk:
    case Operation::kTopkRows:
      return topk::workspace_bytes(shape);
    case Operation::kTopkSegments:
      return topk::make_ragged_plan(shape, kLeastDevice).workspace_bytes;
    case Operation::kSum:
    case Operation::kReduce:
      return sum::make_plan(shape, kLeastDevice).workspace_bytes;
    case Operation::kScan:
      return scan::make_plan(shape, kLeastDevice).workspace_bytes;
  }
  throw Error(GSORT_ERROR_INTERNAL, "operation %u is unknown", static_cast<uint32_t>(shape.operation));
}

}  // namespace

bool has_no_elements(const Request &shape) {
  if (shape.operation == Operation::kTopkSegments) return shape.k == 0;  // no element at all leaves entries to fill
  const bool topk = shape.operation == Operation::kTopk || shape.operation == Operation::kTopkRows;
  return (topk && shape.k == 0) || (shape.n == 0 && shape.b_n == 0);
}

uint64_t cuda_workspace_bytes(const Request &shape) {
  if (has_no_elements(shape)) return 0;
  const bool checks_offsets =
      shape.operation == Operation::kSortSegments || shape.operation == Operation::kTopkSegments;
  const uint64_t verdict = checks_offsets ? kSliceAlignment : 0;
  return verdict + planned_bytes(shape);
}

}  // namespace gsort_internal
