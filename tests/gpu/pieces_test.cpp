// SPDX-License-Identifier: MIT OR Apache-2.0
// Host arrays that a device may not hold at once: the same bits as the CPU's, of every operation, type and kind of
// input; progress and cancellation on the way.
#include <algorithm>
#include <chrono>
#include <vector>

#include "gpu/fixture.h"
#include "inputs/samples.h"

namespace gsort_test {
namespace {

class cuda_Pieces : public GpuTest {};

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

Handle handle_within(uint64_t bytes, uint32_t backend = GSORT_BACKEND_CUDA) {
  gsort_options o = default_options(backend);
  o.device_memory_limit_bytes = bytes;
  return Handle(o);
}

// Two megabytes: counts of 2-byte keys and selections need more than one to work in.
constexpr uint64_t kLimit = 2 * kMegabyte;

constexpr gsort_dtype kTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                  GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

// Calls f(input, flags of sorts, whether in place, a number) for every type and distribution, or for one of `every` of
// them, in each round others; the rest takes turns.
template <class F>
void for_all_inputs(uint64_t bytes, uint32_t every, F &&f) {
  uint32_t turn = 0, number = 0;
  for (const gsort_dtype t : kTypes)
    for (const Distribution distribution : kAllDistributions) {
      if (!applies(distribution, t) || number++ % every >= rounds()) continue;
      const Array input = generate(distribution, t, bytes / element_type(t).bytes + turn % 3, turn + 1);
      const uint32_t flags = kSortFlags[turn % kSortFlags.size()] & (element_type(t).is_float ? ~0u : GSORT_DESCENDING);
      SCOPED_TRACE(std::string(element_type(t).name) + ", " + distribution_name(distribution) + describe_flags(flags));
      f(input, flags, turn % 2 == 1, turn);
      if (testing::Test::HasFatalFailure()) return;
      ++turn;
    }
}

Place place_of(uint32_t turn) { return turn % 3 == 0 ? Place::kPinned : Place::kHost; }

TEST_F(cuda_Pieces, Sorts) {
  const Handle handle = handle_within(kLimit);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  for_all_inputs(2 * kMegabyte, 1, [&](const Array &in, uint32_t flags, bool in_place, uint32_t turn) {
    const Where where = {handle.get(), place_of(turn), place_of(turn), turn % 4, in_place};
    ASSERT_TRUE(same_elements(run_sort({cpu}, in, flags), run_sort(where, in, flags)));
  });
}

TEST_F(cuda_Pieces, PairsArgsortsAndRanks) {
  const Handle handle = handle_within(kLimit);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  constexpr uint32_t kValueBytes[] = {4, 8, 1, 16, 3, 100};
  for_all_inputs(kMegabyte, 5, [&](const Array &in, uint32_t flags, bool in_place, uint32_t turn) {
    const Where where = {handle.get(), place_of(turn), place_of(turn), 0, in_place};
    const uint32_t value_bytes = kValueBytes[turn % 6];
    const Pairs pairs = {in, generate_values(in.size(), value_bytes, turn)};
    const Pairs want = run_sort_pairs({cpu}, pairs, value_bytes, flags),
                got = run_sort_pairs(where, pairs, value_bytes, flags);
    ASSERT_TRUE(same_elements(want.keys, got.keys));
    ASSERT_TRUE(same_bytes(want.values, got.values));
    const gsort_dtype index_t = turn % 2 == 0 ? GSORT_U32 : GSORT_I64;
    const Where apart = {handle.get(), place_of(turn)};
    ASSERT_TRUE(same_elements(run_argsort({cpu}, in, index_t, flags), run_argsort(apart, in, index_t, flags)));
    ASSERT_TRUE(same_elements(run_rank({cpu}, in, index_t, flags), run_rank(apart, in, index_t, flags)));
  });
}

TEST_F(cuda_Pieces, MergesAndSegments) {
  const Handle handle = handle_within(kLimit);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  for_all_inputs(2 * kMegabyte, 5, [&](const Array &in, uint32_t flags, bool in_place, uint32_t turn) {
    const uint64_t cut = turn % 4 == 0 ? 0 : in.size() / (turn % 4);
    const Array a = run_sort({cpu}, slice(in, 0, cut), flags), b = run_sort({cpu}, slice(in, cut, in.size()), flags);
    const Where apart = {handle.get(), place_of(turn)};
    ASSERT_TRUE(same_elements(run_merge({cpu}, a, b, flags), run_merge(apart, a, b, flags)));
    const Indices offsets = generate_offsets(in.size(), turn % 3 == 0 ? 7 : 500, turn);
    const Where where = {handle.get(), place_of(turn), place_of(turn), 0, in_place};
    ASSERT_TRUE(
        same_elements(run_sort_segments({cpu}, in, offsets, flags), run_sort_segments(where, in, offsets, flags)));
  });
}

TEST_F(cuda_Pieces, Selections) {
  const Handle handle = handle_within(kLimit);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  const auto same = [](const Selection &want, const Selection &got) {
    const auto result = same_elements(want.values, got.values);
    return result ? same_elements(want.indices, got.indices) : result;
  };
  for_all_inputs(2 * kMegabyte, 5, [&](const Array &in, uint32_t flags, bool, uint32_t turn) {
    const Where where = {handle.get(), place_of(turn)};
    TopkArguments arguments{};
    arguments.flags = (flags & GSORT_NAN_LAST) | (turn % 2 == 0 ? GSORT_SMALLEST : 0);
    arguments.index_t = turn % 3 == 0 ? GSORT_U64 : GSORT_U32;
    arguments.wanted = turn % 5 == 0 ? Wanted::kIndices : turn % 5 == 1 ? Wanted::kValues : Wanted::kBoth;
    for (const uint64_t k : {uint64_t{1}, uint64_t{100}, in.size() / 3, in.size()}) {
      arguments.k = k;
      ASSERT_TRUE(same(run_topk({cpu}, in, arguments), run_topk(where, in, arguments))) << "k = " << k;
    }
    const uint64_t columns = turn % 3 == 0 ? in.size() / 2 : 100 + turn, stride = columns + turn % 2;
    const Matrix matrix = {in.size() / stride, columns, stride};
    arguments.k = 10;
    ASSERT_TRUE(same(run_topk_rows({cpu}, in, matrix, arguments), run_topk_rows(where, in, matrix, arguments)));
    const Indices offsets = generate_offsets(in.size(), turn % 3 == 0 ? 7 : 500, turn);
    ASSERT_TRUE(
        same(run_topk_segments({cpu}, in, offsets, arguments), run_topk_segments(where, in, offsets, arguments)));
  });
}

TEST_F(cuda_Pieces, SumsReductionsAndScans) {
  const Handle handle = handle_within(kLimit / 4), roomy = handle_within(kMegabyte * 80);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  for_all_inputs(2 * kMegabyte, 5, [&](const Array &in, uint32_t flags, bool in_place, uint32_t turn) {
    const Where where = {handle.get(), place_of(turn)};
    ASSERT_EQ(run_sum({cpu}, in), run_sum(where, in));
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
      const uint32_t op_flags = op == GSORT_MEAN ? 0 : flags & GSORT_NAN_LAST;
      ASSERT_EQ(run_reduce({cpu}, op, in, op_flags), run_reduce(where, op, in, op_flags)) << "op " << op;
    }
    if (element_type(in.type()).is_float) return;
    const Where scan_where = {handle.get(), place_of(turn), place_of(turn), 0, in_place};
    for (const uint32_t scan_flags : {0u, GSORT_EXCLUSIVE})
      ASSERT_TRUE(same_elements(run_scan({cpu}, in, scan_flags), run_scan(scan_where, in, scan_flags)));
  });
}

// Pieces of whole groups of 2^21 elements, the last of which ends within a group, a tile, or at a group's end.
TEST_F(cuda_Pieces, ScansOfFloats) {
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  const uint64_t group = uint64_t{1} << 21;
  uint64_t seed = 1;
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64}) {
    const Handle handle = handle_within(group * element_type(t).bytes * 7 / 2);
    for (const uint64_t n : {2 * group, group + 1, 2 * group + 5000, 2 * group + 8192, 3 * group + 70001}) {
      constexpr Distribution kDistributions[] = {Distribution::kSmallRange, Distribution::kWideExponents,
                                                 Distribution::kNans, Distribution::kSignedZeros};
      for (uint64_t r = 0; r < rounds() && r < 4; ++r) {
        const Distribution distribution = kDistributions[(seed + r) % 4];
        const Array in = generate(distribution, t, n, seed++);
        const Where where = {handle.get(), place_of(seed % 5 == 0 ? 0 : 1), place_of(seed % 4 == 0 ? 0 : 1), 0,
                             seed % 2 == 0};
        const uint32_t flags = seed % 3 == 0 ? GSORT_EXCLUSIVE : 0;
        SCOPED_TRACE(std::string(element_type(t).name) + ", " + distribution_name(distribution) + " of " +
                     std::to_string(n) + describe_flags(flags));
        ASSERT_TRUE(same_elements(run_scan({cpu}, in, flags), run_scan(where, in, flags)));
      }
    }
  }
  const Handle little = handle_within(kLimit);
  Array in = generate(Distribution::kSmallRange, GSORT_F32, 2 * group, 1);
  const Array before = in;
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY,
            gsort_scan(little.get(), GSORT_F32, in.bytes().data(), in.bytes().data(), in.size(), 0));
  EXPECT_TRUE(same_elements(before, in));
}

// AUTO runs on the CPU what cannot be done in so little memory.
TEST_F(cuda_Pieces, AutoFindsAWay) {
  const Handle handle = handle_within(100000, GSORT_BACKEND_AUTO);
  const Array input = generate(Distribution::kUniform, GSORT_F32, 60000, 1);
  for (const NamedOperation &operation : all_operations()) {
    SCOPED_TRACE(operation.name);
    const Arrays arrays(Place::kHost, input);
    ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
    ASSERT_TRUE(expected(operation, input) == operation.result(arrays));
  }
}

TEST_F(cuda_Pieces, HostScratchPastItsLimitIsRefused) {
  gsort_options o = default_options(GSORT_BACKEND_CUDA);
  o.device_memory_limit_bytes = kLimit;
  o.host_memory_limit_bytes = kMegabyte;
  const Handle handle(o);
  Array keys = generate(Distribution::kUniform, GSORT_U32, 2000000, 1), values = keys;
  const Array before = keys;
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY,
            gsort_sort_pairs(handle.get(), GSORT_U32, keys.bytes().data(), keys.bytes().data(), 4,
                             values.bytes().data(), values.bytes().data(), keys.size(), 0));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(handle.get())).find("host_memory_limit_bytes"));
  EXPECT_TRUE(same_elements(before, keys));
  EXPECT_TRUE(same_elements(before, values));
  // Keys alone need a sixteenth of their bytes.
  ASSERT_TRUE(succeeded(
      handle.get(), gsort_sort_u32(handle.get(), reinterpret_cast<uint32_t *>(keys.bytes().data()), keys.size(), 0)));
  EXPECT_TRUE(same_elements(run_sort({shared_handle(GSORT_BACKEND_CPU)}, before, 0), keys));
}

struct Watched {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now(), cancelled_at{};
  double longest_ms = 0, cancel_after = 2;
  bool fell = false;
  uint64_t done = 0;
  static int32_t watch(void *user, uint64_t done, uint64_t total) {
    Watched &w = *static_cast<Watched *>(user);
    const auto now = Clock::now();
    w.longest_ms = std::max(w.longest_ms, std::chrono::duration<double, std::milli>(now - w.last).count());
    w.last = now;
    w.fell |= done < w.done || done > total;
    w.done = done;
    if (static_cast<double>(done) < w.cancel_after * static_cast<double>(total)) return 0;
    if (w.cancelled_at == Clock::time_point{}) w.cancelled_at = now;
    return 1;
  }
};

// What no lost or doubled key leaves as it is.
uint64_t fingerprint(const std::vector<uint32_t> &keys) {
  uint64_t sum = 0;
  for (const uint32_t key : keys) sum += key * (key | uint64_t{1} << 40);
  return sum;
}

// At least ten times a second; a cancel is heard within 50 ms, wherever it comes; what is sorted in place is then a
// permutation of its input.
TEST_F(cuda_Pieces, ProgressAndCancellation) {
  std::vector<uint32_t> input(uint64_t{1} << 26);
  Random random(1);
  for (uint32_t &key : input) key = static_cast<uint32_t>(random.next());
  const uint64_t want = fingerprint(input);
  std::vector<uint32_t> keys(input.size());
  for (const uint64_t limit : {uint64_t{0}, 64 * kMegabyte}) {
    const Handle handle = handle_within(limit);
    for (const double at : {2.0, 0.1, 0.3, 0.6, 0.9}) {
      SCOPED_TRACE("limit " + std::to_string(limit) + ", cancelled at " + std::to_string(at));
      keys = input;
      Watched watched;
      watched.cancel_after = at;
      ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), Watched::watch, &watched)));
      watched.last = Watched::Clock::now();
      const gsort_status status = gsort_sort_u32(handle.get(), keys.data(), keys.size(), 0);
      const auto heard = Watched::Clock::now() - watched.cancelled_at;
      EXPECT_FALSE(watched.fell);
      // The first call also makes threads, streams and the ring, and takes memory.
      EXPECT_LT(watched.longest_ms, at == 2.0 ? 1000 : 100);
      EXPECT_EQ(want, fingerprint(keys));
      if (status == GSORT_OK) {
        EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
        continue;
      }
      EXPECT_EQ(GSORT_ERROR_CANCELLED, status);
      EXPECT_LT(std::chrono::duration<double>(heard).count(), 0.05);
      std::printf("a cancel at %.1f of the work was heard after %.1f ms, limit %llu\n", at,
                  std::chrono::duration<double, std::milli>(heard).count(), static_cast<unsigned long long>(limit));
    }
  }
}

}  // namespace
}  // namespace gsort_test
