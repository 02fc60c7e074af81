// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/scan/plan.h"

#include <cstdio>

#include "core/dtype.h"

namespace gsort_internal::scan {
namespace {

using ull = unsigned long long;

uint32_t skew_of(const Request &request) { return static_cast<uint32_t>(reinterpret_cast<uint64_t>(request.in) % 16); }

void lay_out_floats(Plan &plan) {
  const FloatPlan &floats = plan.floats;
  plan.tickets = 0;
  plan.tile_totals = 2;  // runs are read in pairs of words aligned to 16 bytes
  // Slots of tile totals: whole runs.
  plan.group_prefixes = plan.tile_totals + (floats.tiles + kScanRunTiles - 1) / kScanRunTiles * kScanRunTiles;
  plan.tile_ends = plan.inclusive_words = plan.group_prefixes + floats.groups + 1;
  plan.words = plan.tile_ends + floats.tiles * kTileEndWords;
}

void lay_out_integers(Plan &plan) {
  plan.tickets = 0;
  plan.tile_totals = 1;
  plan.words = plan.inclusive_words = plan.tile_totals + plan.integers.planes * plan.integers.tiles;
}

}  // namespace

Plan make_plan(const Request &request, const DeviceFacts &device) {
  const uint32_t bytes = dtype_bytes(request.order.dtype);
  Plan plan{};
  // The blocks of a cluster ask no one for what comes before a piece.
  DeviceFacts planned_for = device;
  if (request.scan_carry != nullptr) planned_for.clusters_fit = false;
  plan.floats = plan_floats(bytes, request.n, planned_for);
  if (is_float(request.order.dtype)) {
    plan.path = Path::kFloats;
    lay_out_floats(plan);
    plan.workspace_bytes = plan.words * sizeof(uint64_t);
    return plan;
  }
  // The array's address is not known before the run; the greatest skew takes the most tiles.
  plan.integers = plan_integers(bytes, request.n, 15, device.multiprocessors);
  lay_out_integers(plan);
  plan.workspace_bytes = plan.words * sizeof(uint64_t);
  plan.integers = plan_integers(bytes, request.n, skew_of(request), device.multiprocessors);
  lay_out_integers(plan);
  const bool few = scans_few_integers(request.n, plan.integers, device.clusters());
  plan.path = few ? Path::kFewIntegers : Path::kIntegers;
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  const char *const type = dtype_facts(request.order.dtype).name;
  if (plan.path == Path::kIntegers)
    std::snprintf(text, text_bytes, "scan: %llu x %s in %llu tiles of %u bytes, %u blocks", static_cast<ull>(request.n),
                  type, static_cast<ull>(plan.integers.tiles), IntegerTuning::kTileBytes, plan.integers.blocks);
  else
    std::snprintf(text, text_bytes, "scan: %llu x %s in %llu tiles of %u, %s of %u blocks", static_cast<ull>(request.n),
                  type, static_cast<ull>(plan.floats.tiles), kScanTileItems, algorithm_name(plan.floats.way),
                  plan.floats.blocks);
}

}  // namespace gsort_internal::scan
