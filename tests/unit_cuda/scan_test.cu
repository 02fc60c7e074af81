// SPDX-License-Identifier: MIT OR Apache-2.0
// scan::launch(): integers modulo their width, floats bit for bit in the order of core/scan_order.h.
#include <array>

#include "core/half.h"
#include "core/scan_order.h"
#include "cuda/scan/launch.h"
#include "cuda/scan/plan.h"
#include "unit_cuda/launch_harness.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::scan;

double widened(gsort_dtype t, uint64_t bits) {
  if (t == GSORT_F64) return double_of_bits(bits);
  if (t == GSORT_F16) return Half::to_double(static_cast<uint16_t>(bits));
  if (t == GSORT_BF16) return BFloat16::to_double(static_cast<uint16_t>(bits));
  const uint32_t word = static_cast<uint32_t>(bits);
  float x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

uint64_t narrowed(gsort_dtype t, double x) {
  if (t == GSORT_F64) return x != x ? kDoubleQuietNan : bits_of_double(x);
  if (t == GSORT_F16) return Half::from_double(x);
  if (t == GSORT_BF16) return BFloat16::from_double(x);
  const float f = static_cast<float>(x);
  uint32_t word;
  std::memcpy(&word, &f, sizeof word);
  return x != x ? 0x7fc00000u : word;
}

void scan_by_doubling(double *values, uint32_t count) {
  for (uint32_t d = 1; d < count; d *= 2)
    for (uint32_t i = count; i-- > d;) values[i] = values[i - d] + values[i];
}

double before(const double *scanned, uint64_t i) { return i == 0 ? -0.0 : scanned[i - 1]; }

// Scans within one tile: running sums in chunks, chunk totals in rows, row totals in the tile.
struct TileScan {
  std::array<double, kScanTileItems> running;
  std::array<double, kScanTileRows * kScanRowChunks> chunks;
  std::array<double, kScanTileRows> rows;

  explicit TileScan(const double *in) {
    for (uint32_t c = 0; c < chunks.size(); c++) {
      double sum = -0.0;
      for (uint32_t i = c * kScanChunkItems; i < (c + 1) * kScanChunkItems; i++) running[i] = sum = sum + in[i];
      chunks[c] = sum;
    }
    for (uint32_t r = 0; r < kScanTileRows; r++) {
      scan_by_doubling(&chunks[r * kScanRowChunks], kScanRowChunks);
      rows[r] = chunks[(r + 1) * kScanRowChunks - 1];
    }
    scan_by_doubling(rows.data(), kScanTileRows);
  }

  double result(double tile_prefix, uint32_t i) const {
    const uint32_t chunk = i / kScanChunkItems, row = i / kScanRowItems;
    const double row_prefix = tile_prefix + before(rows.data(), row);
    const double chunk_prefix = row_prefix + before(&chunks[row * kScanRowChunks], chunk % kScanRowChunks);
    return chunk_prefix + running[i];
  }
};

std::vector<double> tile_prefixes(const std::vector<double> &totals) {
  std::vector<double> prefixes;
  double group_prefix = -0.0;
  for (uint64_t first = 0; first < totals.size(); first += kScanGroupTiles) {
    double runs[kScanGroupRuns];
    std::vector<double> in_run;
    for (uint32_t t = 0; t < kScanGroupTiles; t++) {
      if (t % kScanRunTiles == 0) runs[t / kScanRunTiles] = -0.0;
      in_run.push_back(runs[t / kScanRunTiles]);
      if (first + t < totals.size()) runs[t / kScanRunTiles] += totals[first + t];
    }
    scan_by_doubling(runs, kScanGroupRuns);
    for (uint32_t t = 0; t < kScanGroupTiles && first + t < totals.size(); t++)
      prefixes.push_back(group_prefix + (before(runs, t / kScanRunTiles) + in_run[t]));
    group_prefix = group_prefix + runs[kScanGroupRuns - 1];
  }
  return prefixes;
}

Bytes reference_floats(gsort_dtype t, const Bytes &in, bool exclusive) {
  const uint32_t width = dtype_bytes(t);
  const uint64_t n = in.size() / width, tiles = (n + kScanTileItems - 1) / kScanTileItems;
  std::vector<double> x(tiles * kScanTileItems, -0.0), totals;
  for (uint64_t i = 0; i < n; i++) x[i] = widened(t, bits_at(in, width, i));
  for (uint64_t tile = 0; tile < tiles; tile++) totals.push_back(TileScan(&x[tile * kScanTileItems]).rows.back());
  const std::vector<double> prefixes = tile_prefixes(totals);
  Bytes out(in.size());
  for (uint64_t tile = 0; tile < tiles; tile++) {
    const TileScan scan(&x[tile * kScanTileItems]);
    for (uint32_t i = 0; i < kScanTileItems && tile * kScanTileItems + i < n; i++) {
      const uint64_t place = tile * kScanTileItems + i + (exclusive ? 1 : 0);
      if (place < n) set_bits(&out, width, place, narrowed(t, scan.result(prefixes[tile], i)));
    }
  }
  return out;  // begins with +0 if exclusive
}

Bytes reference_integers(gsort_dtype t, const Bytes &in, bool exclusive) {
  const uint32_t width = dtype_bytes(t);
  Bytes out(in.size());
  uint64_t sum = 0;
  for (uint64_t i = 0; i < in.size() / width; i++) {
    const uint64_t next = sum + bits_at(in, width, i);
    set_bits(&out, width, i, exclusive ? sum : next);
    sum = next;
  }
  return out;
}

enum class Place { kSame, kSameSkew, kOtherSkew };

class ScanTest : public LaunchTest {
 protected:
  void check(gsort_dtype t, const Bytes &content, const Bytes &expected, uint64_t offset, Place place, bool exclusive) {
    const uint32_t width = dtype_bytes(t);
    const uint64_t n = content.size() / width;
    const DeviceArray in(content, offset * width);
    const DeviceArray other(content.size(), (place == Place::kSameSkew ? offset : (offset + 3) % 16) * width);
    const DeviceArray &out = place == Place::kSame ? in : other;
    Request r{};
    r.operation = Operation::kScan;
    r.order = {t, false, false};
    r.n = n;
    r.in = in.data();
    r.out = out.data();
    r.exclusive = exclusive;
    run(scan::make_plan(r, facts_).workspace_bytes, r, scan::launch);
    const Bytes got = out.read();
    if (place != Place::kSame) ASSERT_TRUE(content == in.read());
    if (got == expected) return;
    for (uint64_t i = 0; i < n; i++)
      ASSERT_EQ(bits_at(expected, width, i), bits_at(got, width, i))
          << dtype_facts(t).name << " n " << n << " i " << i << " offset " << offset << " place "
          << static_cast<int>(place) << " exclusive " << exclusive;
  }

  void check_all_ways(gsort_dtype t, const Bytes &content, uint64_t offset) {
    for (const bool exclusive : {false, true}) {
      const Bytes expected =
          is_float(t) ? reference_floats(t, content, exclusive) : reference_integers(t, content, exclusive);
      for (const Place place : {Place::kSame, Place::kSameSkew, Place::kOtherSkew}) {
        check(t, content, expected, offset, place, exclusive);
        if (HasFatalFailure()) return;
      }
    }
  }
};

constexpr gsort_dtype kTypes[] = {GSORT_U8,  GSORT_I16,  GSORT_U32, GSORT_I64,
                                  GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

// Kind 0: any bits of moderate exponents, so that sums round. 1: any bits at all. 2: -0 alone.
Bytes scan_content(gsort_dtype t, uint64_t n, uint32_t kind) {
  const uint32_t width = dtype_bytes(t);
  Bytes content = random_bytes(width, n, UINT64_MAX, n + kind);
  if (!is_float(t)) return content;
  const uint32_t mantissa = dtype_facts(t).mantissa_bits;
  const uint64_t fraction = (uint64_t{1} << mantissa) - 1, sign = uint64_t{1} << (width * 8 - 1);
  const uint64_t middle = ((sign - 1) >> mantissa) / 2;
  for (uint64_t i = 0; i < n && kind != 1; i++) {
    const uint64_t bits = bits_at(content, width, i), field = middle - 4 + bits % 9;
    set_bits(&content, width, i, kind == 2 ? sign : (bits & (fraction | sign)) | field << mantissa);
  }
  return content;
}

TEST_F(ScanTest, EdgesOfChunksRowsTilesRunsAndGroups) {
  std::vector<uint64_t> lengths = {1, 2, 15, 16, 17, 100, 511, 512, 513, 5000};
  for (const uint64_t tiles : {1, 2, 7, 8, 9, 255, 256, 257})
    for (const int d : {-1, 0, 1}) lengths.push_back(tiles * kScanTileItems + static_cast<uint64_t>(d));
  for (const gsort_dtype t : kTypes)
    for (const uint64_t n : lengths) {
      check_all_ways(t, scan_content(t, n, 0), n % 4);
      if (n <= FloatTuning::kClusterTilesMax * kScanTileItems) {
        facts_.compute_capability = 80;
        check_all_ways(t, scan_content(t, n, 0), n % 4);
        facts_ = device_facts();
      }
      if (n < 3 * kScanTileItems && is_float(t)) check_all_ways(t, scan_content(t, n, 1), 0);
      if (n < 3 * kScanTileItems && is_float(t)) check_all_ways(t, scan_content(t, n, 2), 0);
      if (HasFatalFailure()) return;
    }
}

// A cluster adds integers as doubles: sums as large as they come.
TEST_F(ScanTest, GreatestIntegersInACluster) {
  const uint64_t n = FloatTuning::kClusterTilesMax * kScanTileItems;
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8, GSORT_U16, GSORT_I16, GSORT_U32, GSORT_I32}) {
    const Bytes content(n * dtype_bytes(t), 0xff);
    check_all_ways(t, content, 0);
    if (HasFatalFailure()) return;
  }
}

// Many tiles a block: the pipeline, on one multiprocessor and on all.
TEST_F(ScanTest, Pipeline) {
  for (const uint32_t multiprocessors : {1u, facts_.multiprocessors}) {
    facts_.multiprocessors = multiprocessors;
    const uint64_t tiles = 6 * multiprocessors + 520;
    for (const gsort_dtype t : kTypes) {
      if (is_float(t))
        ASSERT_EQ(t == GSORT_F64 ? Algorithm::kStaged : Algorithm::kPipeline,
                  plan_floats(dtype_bytes(t), tiles * kScanTileItems, facts_).way);
      check_all_ways(t, scan_content(t, tiles * kScanTileItems - 5, 0), 0);
      if (multiprocessors == 1) check_all_ways(t, scan_content(t, tiles * kScanTileItems + 5, 0), 1);
      if (HasFatalFailure()) return;
    }
  }
}

// Exactly as many tiles as the pipeline takes at least, and one fewer, with a group's border and without.
TEST_F(ScanTest, LeastTilesOfThePipeline) {
  facts_.compute_capability = 80;  // no clusters
  for (const uint32_t multiprocessors : {1u, 43u}) {
    facts_.multiprocessors = multiprocessors;
    for (const gsort_dtype t : {GSORT_F16, GSORT_F32})
      for (const uint64_t less : {0, 1}) {
        const uint64_t tiles = uint64_t{3} * FloatTuning::kPipelineBlocks * multiprocessors - less;
        const FloatPlan plan = plan_floats(dtype_bytes(t), tiles * kScanTileItems, facts_);
        ASSERT_EQ(less == 0 ? Algorithm::kPipeline : Algorithm::kStaged, plan.way);
        check_all_ways(t, scan_content(t, tiles * kScanTileItems, 0), 0);
        if (HasFatalFailure()) return;
      }
  }
}

// Integers have tiles of their own, of 16-byte vectors wherever the array begins.
TEST_F(ScanTest, EdgesOfIntegerTiles) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_I64}) {
    const uint64_t tile_items = IntegerTuning::kTileBytes / dtype_bytes(t);
    for (const uint32_t multiprocessors : {1u, facts_.multiprocessors}) {
      facts_.multiprocessors = multiprocessors;
      for (const uint64_t tiles : {1, 2, 3, 7, 300})
        for (const int d : {-16, -1, 0, 1}) {
          const uint64_t n = tiles * tile_items + static_cast<uint64_t>(d);
          for (const uint64_t offset : {uint64_t{0}, 1 + n % 15}) {
            check_all_ways(t, scan_content(t, n, 0), offset);
            if (HasFatalFailure()) return;
          }
        }
    }
    facts_ = device_facts();
  }
}

// Devices whose shared memory holds no tile of 8-byte elements read global memory twice.
TEST_F(ScanTest, WithoutStaging) {
  facts_.shared_bytes_block_max = 64 * 1024;
  for (const uint64_t n : {uint64_t{1}, uint64_t{1000}, uint64_t{kScanTileItems}, uint64_t{kScanTileItems * 300 + 5}}) {
    check_all_ways(GSORT_F64, scan_content(GSORT_F64, n, 0), 1);
    if (HasFatalFailure()) return;
  }
}

struct Repeated {
  gsort_dtype t;
  bool exclusive;
};

class ScanRepeatTest : public ScanTest, public testing::WithParamInterface<Repeated> {};

TEST_P(ScanRepeatTest, GivesTheSameBits) {
  const gsort_dtype t = GetParam().t;
  const uint64_t n = kScanTileItems * 2000 + 5;
  const Bytes content = scan_content(t, n, 0);
  const Bytes expected = is_float(t) ? reference_floats(t, content, GetParam().exclusive)
                                     : reference_integers(t, content, GetParam().exclusive);
  const DeviceArray in(content, 0), out(content.size(), 0);
  Request r{};
  r.operation = Operation::kScan;
  r.order = {t, false, false};
  r.n = n;
  r.in = in.data();
  r.out = out.data();
  r.exclusive = GetParam().exclusive;
  DeviceArray workspace(scan::make_plan(r, facts_).workspace_bytes, 0);
  for (int repeat = 0; repeat < 500; repeat++) {
    scan::launch(context(), r, workspace.data());
    if (repeat % 25 == 0) ASSERT_TRUE(expected == out.read()) << "repeat " << repeat;
  }
}
INSTANTIATE_TEST_SUITE_P(Types, ScanRepeatTest,
                         testing::Values(Repeated{GSORT_F32, false}, Repeated{GSORT_F32, true},
                                         Repeated{GSORT_F64, true}, Repeated{GSORT_U8, false},
                                         Repeated{GSORT_U32, true}, Repeated{GSORT_U64, false}));

}  // namespace
}  // namespace gsort_test
