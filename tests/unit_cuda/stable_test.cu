// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable MSD sort: pairs and indices in the stable order whatever the data, the method's own verdict, and every
// path of its finish.
#include <cmath>
#include <functional>

#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/job.h"
#include "cuda/sort/msd/stable.h"
#include "cuda/sort/msd/stable_state.cuh"
#include "sort_support.h"

namespace gsort_internal {
namespace {

using KeyOf = std::function<uint64_t(uint64_t)>;

struct How {
  Operation operation = Operation::kSortPairs;
  uint32_t value_bytes = 4;  // of an index for argsort and rank
  bool keys_in_place = false;
  bool values_in_place = false;
  uint64_t offset = 0;
};

class Stable : public SortFixture {
 protected:
  void SetUp() override {
    SortFixture::SetUp();
    if (IsSkipped()) return;
    if (facts_.shared_bytes_block_max < sort::msd::kStableSharedBytesMin)
      GTEST_SKIP() << "a chip with less shared memory";
    options_.algorithm = sort::Algorithm::kStable;
  }

  // Runs a request and returns whether the method took it.
  bool launch(const Request &request) {
    const DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
    const sort::Plan plan = sort::make_plan(request, facts_, options_);
    EXPECT_EQ(plan.algorithm, sort::Algorithm::kStable);
    sort::launch(context(), request, workspace.data(), options_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    sort::msd::StableState state = {};
    state.go = 2;
    EXPECT_EQ(
        cudaMemcpy(&state, workspace.as<uint8_t>() + plan.slices.msd_tables, sizeof(state), cudaMemcpyDeviceToHost),
        cudaSuccess);
    workspace.check_zones();
    EXPECT_LE(state.go, 1u);
    state_ = state;
    return state.go == 1;
  }
  bool taken_by(sort::msd::StableWay way) const { return state_.go == 1 && state_.way == way; }
  // Where a device has the map, it has the splitters, too.
  bool has_map() const { return facts_.shared_bytes_block_max >= sort::msd::kStableMapSharedBytesMin; }

  sort::msd::StableState state_ = {};  // behind what was sorted last

  bool check(const KeyOrder &order, uint64_t n, const KeyOf &key, const How &how) {
    const uint32_t key_bytes = dtype_bytes(order.dtype), value_bytes = how.value_bytes;
    const bool pairs = how.operation == Operation::kSortPairs;
    Bytes keys(n * key_bytes), values = make_values(pairs ? n : 0, value_bytes);
    std::vector<std::pair<std::pair<int, uint64_t>, uint64_t>> sorted(n);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t bits = key(i);
      std::memcpy(keys.data() + i * key_bytes, &bits, key_bytes);
      sorted[i] = {place_of(bits_at(keys, key_bytes, i), order), i};
    }
    std::sort(sorted.begin(), sorted.end());  // with the index, hence stable

    const DeviceArray keys_in(keys, how.offset * key_bytes), keys_out(keys.size(), 0);
    const DeviceArray values_in(values, how.offset * std::min(value_bytes, 8u));
    const DeviceArray values_out(n * value_bytes, value_bytes);
    Request request{how.operation, order};
    request.n = n;
    request.in = keys_in.data();
    const DeviceArray &keys_end = how.keys_in_place ? keys_in : keys_out;
    const DeviceArray &values_end = how.values_in_place ? values_in : values_out;
    request.out = pairs ? keys_end.data() : values_out.data();
    request.values_in = pairs ? values_in.data() : nullptr;
    request.values_out = pairs ? values_end.data() : nullptr;
    request.value_bytes = pairs ? value_bytes : 0;
    request.index_t = pairs ? gsort_dtype{} : value_bytes == 8 ? GSORT_U64 : GSORT_U32;
    const bool taken = launch(request);

    Bytes expected_keys(keys.size()), expected_values(n * value_bytes);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t source = sorted[i].second;
      std::memcpy(expected_keys.data() + i * key_bytes, keys.data() + source * key_bytes, key_bytes);
      unsigned char *const to = expected_values.data() + (how.operation == Operation::kRank ? source : i) * value_bytes;
      const uint64_t index = how.operation == Operation::kRank ? i : source;
      std::memcpy(to, pairs ? values.data() + source * value_bytes : reinterpret_cast<const unsigned char *>(&index),
                  value_bytes);
    }
    if (pairs) EXPECT_TRUE(keys_end.read() == expected_keys) << "keys";
    EXPECT_TRUE(values_end.read() == expected_values) << "values";
    if (!how.keys_in_place) EXPECT_TRUE(keys_in.read() == keys) << "the keys changed";
    if (!how.values_in_place) EXPECT_TRUE(values_in.read() == values) << "the values changed";
    return taken;
  }
};

constexpr uint64_t kSome = (uint64_t{1} << 17) + 12345;
constexpr uint64_t kMany = 3000017;  // a full cell is no crowd in the sample

TEST_F(Stable, EveryWidthAndPlace) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
    const KeyOrder order{dtype, false, false};
    uint64_t offset = 0;
    for (const uint32_t value_bytes : {4u, 8u, 12u, 3u})
      for (const bool keys_in_place : {false, true})
        for (const bool values_in_place : {false, true}) {
          SCOPED_TRACE(testing::Message() << dtype << ' ' << value_bytes << keys_in_place << values_in_place);
          const How how{Operation::kSortPairs, value_bytes, keys_in_place, values_in_place, ++offset % 5};
          EXPECT_TRUE(check(order, kSome + offset, mixed, how));
        }
    for (const Operation operation : {Operation::kArgsort, Operation::kRank})
      for (const uint32_t index_bytes : {4u, 8u}) {
        SCOPED_TRACE(testing::Message() << dtype << ' ' << static_cast<int>(operation) << ' ' << index_bytes);
        EXPECT_TRUE(check(order, kSome + offset, mixed, {operation, index_bytes, false, false, ++offset % 5}));
      }
  }
}

TEST_F(Stable, EveryOrder) {
  for (const KeyOrder &order : all_orders()) {
    if (dtype_bytes(order.dtype) < 4) continue;
    SCOPED_TRACE(describe(order, kSome, Pattern::kUniform));
    // All bit patterns, NaNs of floats too.
    EXPECT_TRUE(check(order, kSome, mixed, {}));
    EXPECT_TRUE(check(order, kSome, mixed, {Operation::kArgsort, 8, false, false, 1}));
  }
}

// Equal keys among others that are spread: one in 256 belongs to a group of equal ones.
TEST_F(Stable, EqualKeysKeepTheirOrder) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64})
    for (const uint64_t group : {2, 8, 9, 30, 64})
      for (const uint32_t value_bytes : {4u, 8u}) {
        const auto key = [&](uint64_t i) {
          return i % 256 == 0 ? mixed(i / 256 * 7919 % (kSome / 256) / group) : mixed(i + kSome);
        };
        SCOPED_TRACE(testing::Message() << dtype << ' ' << group << ' ' << value_bytes);
        EXPECT_TRUE(check({dtype, group == 9, false}, kSome, key, {Operation::kSortPairs, value_bytes}));
        EXPECT_TRUE(check({dtype, group == 8, false}, kSome, key, {Operation::kArgsort, value_bytes}));
      }
}

// Distinct keys that share a digit of the finish, and keys of few values, around the limits of the finish's ways.
TEST_F(Stable, CrowdedDigits) {
  for (const uint64_t group : {2, 8, 9, 48, 49, 200})
    for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
      SCOPED_TRACE(testing::Message() << dtype << ' ' << group);
      // The digit's lowest bit: 12 + 13 bits from the top.
      const uint32_t shift = dtype == GSORT_U32 ? 7 : 39;
      const auto top = [&](uint64_t x) { return dtype == GSORT_U32 ? x & 0xffffffffu : x; };
      const auto near = [&](uint64_t i) {
        return top(mixed(i * 7919 % kSome / group)) >> shift << shift | (mixed(~i) & ((uint64_t{1} << shift) - 1));
      };
      EXPECT_TRUE(check({dtype, false, false}, kSome, near, {Operation::kSortPairs, 4}) || group > 9);
      check({dtype, false, false}, kSome, near, {Operation::kSortPairs, 8});
      const auto equal = [&](uint64_t i) { return mixed(i * 7919 % kSome / group); };
      check({dtype, false, false}, kSome, equal, {Operation::kSortPairs, 4});
      check({dtype, true, false}, kSome, equal, {Operation::kArgsort, 4});
    }
}

// A cell of exactly as many pairs as fit, among others that are even; one more turns the keys away, to splitters if
// they have 8 bytes.
TEST_F(Stable, FullestCell) {
  const sort::msd::StablePlan plan = sort::msd::plan_stable(kMany);
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64})
    for (const uint64_t cell_items : {plan.cell_items_max - 1, plan.cell_items_max, plan.cell_items_max + 1}) {
      const uint32_t shift = dtype_bytes(dtype) * 8 - plan.cell_bits;
      const uint64_t cell = 77, all = dtype == GSORT_U32 ? 0xffffffffu : ~uint64_t{0};
      std::vector<uint64_t> keys(kMany);
      uint64_t there = 0;
      for (uint64_t i = 0; i < kMany; ++i) there += (keys[i] = mixed(i) & all) >> shift == cell;
      for (uint64_t i = 0; there < cell_items; i += 97)
        if (keys[i % kMany] >> shift != cell) {
          keys[i % kMany] = cell << shift | (mixed(i + kMany) & ((uint64_t{1} << shift) - 1));
          ++there;
        }
      const bool taken = check({dtype, false, false}, kMany, [&](uint64_t i) { return keys[i]; }, {});
      const bool fits = cell_items <= plan.cell_items_max;
      EXPECT_EQ(taken, fits || (dtype == GSORT_U64 && has_map()));
      EXPECT_EQ(taken_by(sort::msd::StableWay::kEven), fits);
    }
}

TEST_F(Stable, RangesAnywhereInTheWord) {
  for (const uint32_t bits : {12, 13, 20, 25, 31, 40, 63})
    for (const uint32_t low : {0, 1}) {
      SCOPED_TRACE(testing::Message() << bits << ' ' << low);
      const auto key = [&](uint64_t i) { return 1ull << 63 ^ (mixed(i) >> (64 - bits) << (low != 0 ? 63 - bits : 0)); };
      check({GSORT_U64, false, false}, kSome, key, {Operation::kSortPairs, 8});
      check({GSORT_U32, false, false}, kSome, [&](uint64_t i) { return key(i) >> 32 ^ key(i); }, {});
    }
}

// 12 varying bits are the cells' own; nothing is left for the finish but places.
TEST_F(Stable, NoBitsBelowTheCell) {
  const auto key = [](uint64_t i) { return i * 1237 % 4096; };
  check({GSORT_U32, false, false}, kSome, key, {});
  check({GSORT_U64, true, false}, kSome, key, {Operation::kArgsort, 4});
}

TEST_F(Stable, LumpyDataFallsBackAndIsRight) {
  const std::vector<KeyOf> data = {[](uint64_t) { return 42; }, [](uint64_t i) { return i % 2; },
                                   [](uint64_t i) { return mixed(i) % 1000; },
                                   [](uint64_t i) { return mixed(i) & mixed(i + kSome) & mixed(i + 2 * kSome); },
                                   // A single key with another prefix.
                                   [](uint64_t i) { return i == 31337 ? ~uint64_t{0} : (mixed(i) & 0x7fffffff) >> 1; }};
  for (uint64_t which = 0; which < data.size(); ++which)
    for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
      SCOPED_TRACE(which);
      // Bits of all 8 bytes differ.
      const bool split = which == 3 && dtype == GSORT_U64 && has_map();
      EXPECT_EQ(split, check({dtype, false, false}, kSome, data[which], {Operation::kSortPairs, 4, true, true, 1}));
      EXPECT_EQ(split, check({dtype, true, false}, kSome, data[which], {Operation::kSortPairs, 8, false, false, 1}));
      EXPECT_EQ(split, check({dtype, false, false}, kSome, data[which], {Operation::kArgsort, 8}));
    }
}

template <class F>
uint64_t bits_of(F value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

double unit(uint64_t i) { return static_cast<double>(mixed(i) >> 11) * 0x1p-53; }
double normal(uint64_t i) {
  return std::sqrt(-2 * std::log(1 - unit(2 * i))) * std::cos(6.283185307179586 * unit(2 * i + 1));
}

struct Smooth {
  const char *name;
  double (*value)(uint64_t i);
};
const Smooth kSmooth[] = {
    {"unit", unit},
    {"normal", normal},
    {"normal far from 0", [](uint64_t i) { return 1e6 + normal(i); }},
    {"log-normal", [](uint64_t i) { return std::exp(5 * normal(i)); }},
    {"log-uniform", [](uint64_t i) { return std::exp2(60 * unit(i) - 30) * (i % 2 == 0 ? 1 : -1); }},
    {"Cauchy", [](uint64_t i) { return normal(i) / normal(i + (uint64_t{1} << 40)); }}};

// Doubles crowd. Floats of 4 bytes are left to passes.
TEST_F(Stable, SmoothDoublesAreCutByTheMap) {
  for (const Smooth &smooth : kSmooth)
    for (const bool descending : {false, true}) {
      SCOPED_TRACE(testing::Message() << smooth.name << ' ' << descending);
      const auto key = [&](uint64_t i) { return bits_of(smooth.value(i)); };
      for (const How &how :
           {How{Operation::kSortPairs, 4, false, true, 1}, How{Operation::kSortPairs, 8, true, false, 3},
            How{Operation::kArgsort, 8, false, false, 1}, How{Operation::kRank, 4}}) {
        EXPECT_EQ(has_map(), check({GSORT_F64, descending, descending}, kMany, key, how));
        EXPECT_EQ(has_map(), taken_by(sort::msd::StableWay::kMapped));
      }
      const auto narrow = [&](uint64_t i) { return bits_of(static_cast<float>(smooth.value(i))); };
      EXPECT_FALSE(check({GSORT_F32, descending, false}, kMany, narrow, {}));
    }
}

TEST_F(Stable, SmallMaps) {
  const auto key = [](uint64_t i) { return bits_of(normal(i)); };
  for (const uint64_t n : {sort::msd::kStableItemsForcedMin, kSome})
    for (const uint32_t value_bytes : {4u, 8u})
      EXPECT_EQ(has_map(), check({GSORT_F64, false, false}, n, key, {Operation::kSortPairs, value_bytes}));
}

// Lumps of every kind, which neither equal cells nor the map serve.
struct Lumps {
  const char *name;
  KeyOf key;
};
const Lumps kLumps[] = {
    {"300 values", [](uint64_t i) { return mixed(mixed(i) % 300); }},
    {"2^16 values", [](uint64_t i) { return mixed(mixed(i) % 65536); }},
    {"values in turn", [](uint64_t i) { return (i & 0xffff) * 0x1000100010001; }},
    {"a few values often", [](uint64_t i) { return mixed(static_cast<uint64_t>(std::exp2(20 * unit(i)))); }},
    {"9 of 10 are 0", [](uint64_t i) { return mixed(i) % 10 != 0 ? 0 : mixed(~i); }},
    {"9 of 10 are the greatest", [](uint64_t i) { return mixed(i) % 10 != 0 ? ~uint64_t{0} : mixed(~i); }},
    {"both ends and between", [](uint64_t i) { return mixed(i) % 3 == 0 ? mixed(~i) : 0 - mixed(i) % 2; }},
    {"ANDs", [](uint64_t i) { return mixed(i) & mixed(~i); }},
    {"clusters", [](uint64_t i) { return mixed(mixed(i) % 1000) + (mixed(~i) & 0xfffff); }},
    // Cells over two of them are wider than words hold, and keys differ in the lowest bits alone.
    {"narrow clusters", [](uint64_t i) { return mixed(mixed(i) % 100) + mixed(~i) % 700; }},
    {"letters",
     [](uint64_t i) {
       uint64_t word = 0;
       for (uint32_t place = 0; place < 8; ++place) {
         const double drawn = 26 * unit(8 * i + place);
         word = word << 8 | (97 + static_cast<uint64_t>(drawn * drawn / 26));
       }
       return word;
     }},
};

// Whole numbers and doubles, the latter of both signs.
TEST_F(Stable, LumpyKeysAreCutBySplitters) {
  uint64_t n = kMany;
  for (const Lumps &lumps : kLumps)
    for (const gsort_dtype dtype : {GSORT_U64, GSORT_I64, GSORT_F64}) {
      SCOPED_TRACE(testing::Message() << lumps.name << ' ' << dtype);
      for (const How &how :
           {How{Operation::kSortPairs, 4, false, true, 1}, How{Operation::kSortPairs, 8, true, true, 3},
            How{Operation::kSortPairs, 12, false, false, 2}, How{Operation::kArgsort, 8, false, false, 1},
            How{Operation::kRank, 4}}) {
        EXPECT_EQ(has_map(), check({dtype, n % 2 != 0, n % 3 == 0}, n, lumps.key, how));
        EXPECT_EQ(has_map(), taken_by(sort::msd::StableWay::kSplitters));
        n = n > kMany + 8 ? kMany - 1000003 : n + 3;
      }
    }
}

// A value that comes so often among keys that are spread: cells of one value, that a block finishes, that take more,
// and that are written piece by piece.
TEST_F(Stable, RunsBetweenSplitters) {
  for (const uint64_t equal : {100, 3000, 4608, 9215, 9216, 9217, 14000, 18432, 18433, 40000, 1000000})
    for (const uint32_t value_bytes : {4u, 8u}) {
      SCOPED_TRACE(testing::Message() << equal << ' ' << value_bytes);
      // Other values come a hundred times, so that all goes to the splitters.
      const auto key = [&](uint64_t i) {
        return mixed(i * 0x9e3779b97f4a7c15) % kMany < equal ? mixed(77) : mixed(mixed(i) % (kMany / 100));
      };
      EXPECT_EQ(has_map(), check({GSORT_U64, false, false}, kMany, key, {Operation::kSortPairs, value_bytes}));
      EXPECT_EQ(has_map(), taken_by(sort::msd::StableWay::kSplitters));
    }
}

// What both samples miss: a cell with nearly all keys, of which no two in a thousand are equal. Behind the first pass
// the keys are left to the LSD sort, which starts from the input and with the look-back words as they were.
TEST_F(Stable, KeysThatSamplesMissAreRight) {
  if (!has_map()) GTEST_SKIP() << "a chip without splitters";
  const sort::msd::StablePlan plan = sort::msd::plan_stable_on(kMany, 8, 8, facts_.shared_bytes_block_max);
  const uint64_t dense = ~uint64_t{0} << 40;
  std::vector<uint64_t> keys(kMany), sampled;
  for (uint64_t i = 0; i < kMany; ++i) keys[i] = dense + mixed(i) % 30000;
  const auto part = static_cast<uint32_t>(kMany / plan.split_sample);
  const auto place = [](uint32_t i, uint32_t each) {  // as split_place()
    uint32_t hash = (i ^ i >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return uint64_t{i} * each + (uint64_t{hash ^ hash >> 16} * each >> 32);
  };
  for (uint32_t i = 0; i < plan.split_sample; ++i) {
    keys[place(i, part)] = mixed(i) >> 1;
    sampled.push_back(mixed(i) >> 1);
  }
  std::sort(sampled.begin(), sampled.end());
  const uint32_t share = plan.split_share;
  const uint64_t last_bin = sampled[(plan.split_sample - 1) / share * share];
  std::vector<uint64_t> there;
  for (uint64_t i = 0; i < kMany; ++i)
    if (keys[i] >= last_bin) there.push_back(i);
  const auto each = static_cast<uint32_t>(there.size() / sort::msd::kStableSplitSampleMax);
  for (uint32_t i = 0; i < sort::msd::kStableSplitSampleMax; ++i)
    keys[there[place(i, each)]] = dense + (uint64_t{1} << 32) + (mixed(i) >> 26);
  for (const How &how : {How{Operation::kSortPairs, 4, true, true}, How{Operation::kArgsort, 4}}) {
    EXPECT_FALSE(check({GSORT_U64, false, false}, kMany, [&](uint64_t i) { return keys[i]; }, how));
    EXPECT_EQ(1u, state_.dirty);
  }
}

// Few pairs with 4-byte keys have small cells; so many do not.
TEST_F(Stable, CellsOfTheUsualSize) {
  const uint64_t n = 48000017;
  ASSERT_FALSE(sort::msd::has_small_cells(sort::msd::plan_stable_on(n, 4, 4, facts_.shared_bytes_block_max)));
  EXPECT_TRUE(check({GSORT_U32, false, false}, n, mixed, {Operation::kSortPairs, 4}));
  EXPECT_TRUE(check({GSORT_I32, true, false}, n, mixed, {Operation::kArgsort, 8}));
}

// Small enough for compute-sanitizer's racecheck: see scripts/gpu-check.
TEST_F(Stable, RacecheckEveryWay) {
  const uint64_t n = sort::msd::kStableItemsForcedMin + 77;
  const auto doubles = [](uint64_t i) { return bits_of(normal(i)); };
  EXPECT_EQ(has_map(), check({GSORT_F64, false, true}, n, doubles, {Operation::kSortPairs, 8}));
  EXPECT_EQ(has_map(), check({GSORT_F64, true, false}, n, doubles, {Operation::kArgsort, 4}));
  EXPECT_TRUE(check({GSORT_U32, false, false}, n, mixed, {Operation::kSortPairs, 4}));
  for (const Lumps &lumps : {kLumps[0], kLumps[4], kLumps[9]}) {
    EXPECT_EQ(has_map(), check({GSORT_I64, false, false}, n, lumps.key, {Operation::kSortPairs, 8, true, true}));
    EXPECT_EQ(has_map(), taken_by(sort::msd::StableWay::kSplitters));
  }
  EXPECT_EQ(has_map(), check({GSORT_U64, true, false}, n, kLumps[10].key, {Operation::kArgsort, 4}));
}

// NaNs of both signs, infinities, zeros and denormals among normal floats: rare keys that the sample may have missed.
TEST_F(Stable, RareKeysBesideTheMapAreRight) {
  const double rare[] = {0.0, -0.0, 1e-42, -1e-42, HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")};
  for (const uint64_t every : {uint64_t{1009}, kMany / 9})
    for (const bool nan_last : {false, true}) {
      const auto value = [&](uint64_t i) { return i % every == 7 ? rare[i / every % 8] : normal(i); };
      SCOPED_TRACE(testing::Message() << every << nan_last);
      check({GSORT_F32, nan_last, nan_last}, kMany, [&](uint64_t i) { return bits_of(static_cast<float>(value(i))); },
            {Operation::kArgsort, 4});
      check({GSORT_F64, false, nan_last}, kMany, [&](uint64_t i) { return bits_of(value(i)); }, {});
    }
}

// Uneven integers of every range, up to a few bits, at either end of the word.
TEST_F(Stable, UnevenRangesAnywhereInTheWord) {
  for (const uint32_t bits : {14, 20, 24, 28, 32, 33, 47, 63})
    for (const bool high : {false, true}) {
      SCOPED_TRACE(testing::Message() << bits << high);
      // Denser towards 0.
      const auto key = [&](uint64_t i) {
        const auto value = static_cast<uint64_t>(std::ldexp(unit(i) * unit(i + kMany), static_cast<int>(bits)));
        return high ? ~(value << (64 - bits)) : value | uint64_t{5} << 63 >> 1;
      };
      check({GSORT_U64, false, false}, kMany, key, {Operation::kSortPairs, 8});
      check({GSORT_U32, high, false}, kMany, [&](uint64_t i) { return key(i) >> 32 ^ key(i) << 7; }, {});
    }
}

// Equal keys in smooth data, up to more than a cell of the map holds.
TEST_F(Stable, EqualKeysInTheMap) {
  for (const uint64_t equal : {2, 9, 49, 500, 4000, 9000, 9300, 20000})
    for (const bool wide : {false, true}) {
      const uint64_t step = kMany / equal;
      const auto value = [&](uint64_t i) { return i % step == 0 ? 0.75 : normal(i); };
      SCOPED_TRACE(testing::Message() << equal << wide);
      check({wide ? GSORT_F64 : GSORT_F32, false, false}, kMany,
            [&](uint64_t i) { return wide ? bits_of(value(i)) : bits_of(static_cast<float>(value(i))); },
            {Operation::kSortPairs, wide ? 8u : 4u});
    }
}

// Few values that come again and again in one order, which a sample at regular distances would never meet twice: cells
// of equal keys would all be sorted by networks.
TEST_F(Stable, ValuesInTurnAreLeftToPasses) {
  const auto key = [](uint64_t i) { return (i & 0xffff) * 0x10001; };
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64})
    EXPECT_FALSE(check({dtype, false, false}, uint64_t{1} << 22, key, {}));
}

// As many pairs of each of a million keys as would have every cell sorted by a network, were there more of them.
TEST_F(Stable, KeysThatManyPairsShareAreLeftToPasses) {
  const auto key = [](uint64_t i) { return mixed(mixed(i) % (1 << 20)); };
  EXPECT_FALSE(check({GSORT_U32, false, false}, (uint64_t{1} << 25) + 1, key, {}));
}

TEST_F(Stable, SortedAndReversed) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
    const uint32_t up = dtype == GSORT_U32 ? 0 : 32;
    const auto sorted = [&](uint64_t i) { return ((i << 32) / kSome) << up; };
    EXPECT_TRUE(check({dtype, false, false}, kSome, sorted, {}));
    EXPECT_TRUE(check({dtype, true, false}, kSome, sorted, {Operation::kSortPairs, 8}));
  }
}

// Sizes and checks on the device: keys ascend, equal ones by index, and every index is there once.
template <class U>
__global__ void make_pairs_kernel(U *keys, uint32_t *values, uint32_t n, uint32_t seed) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    keys[i] = static_cast<U>(mixed(uint64_t{i % 64 == 0 ? i / 128 * 128 : i} + seed));
    values[i] = i;
  }
}

template <class U>
__global__ void check_pairs_kernel(const U *keys_in, const U *keys, const uint32_t *values, uint32_t n, uint32_t *seen,
                                   unsigned long long *wrong) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    bool right = values[i] < n && keys[i] == keys_in[min(values[i], n - 1)];
    if (i > 0) right = right && (keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
    if (right) right = (atomicOr(&seen[values[i] / 32], 1u << values[i] % 32) >> values[i] % 32 & 1u) == 0;
    if (!right) atomicAdd(wrong, 1ull);
  }
}

template <class U>
class LargePairs {
 public:
  explicit LargePairs(uint32_t n) : n_(n) {
    ok_ = cudaMalloc(&keys_, sizeof(U) * n) == cudaSuccess && cudaMalloc(&keys_out_, sizeof(U) * n) == cudaSuccess &&
          cudaMalloc(&values_, 4ull * n) == cudaSuccess && cudaMalloc(&values_out_, 4ull * n) == cudaSuccess &&
          cudaMalloc(&seen_, n / 8 + 64) == cudaSuccess && cudaMallocManaged(&wrong_, 8) == cudaSuccess;
  }
  ~LargePairs() {
    for (void *memory : {static_cast<void *>(keys_), static_cast<void *>(keys_out_), static_cast<void *>(values_),
                         static_cast<void *>(values_out_), static_cast<void *>(seen_), static_cast<void *>(wrong_)})
      cudaFree(memory);
    (void)cudaGetLastError();
  }
  LargePairs(const LargePairs &) = delete;
  LargePairs &operator=(const LargePairs &) = delete;
  bool ok() const { return ok_; }
  Request request(uint32_t seed) {
    make_pairs_kernel<U><<<1024, 256>>>(keys_, values_, n_, seed);
    EXPECT_EQ(cudaMemset(keys_out_, kPoison, sizeof(U) * n_), cudaSuccess);
    EXPECT_EQ(cudaMemset(values_out_, kPoison, 4ull * n_), cudaSuccess);
    Request request{Operation::kSortPairs, {sizeof(U) == 8 ? GSORT_U64 : GSORT_U32, false, false}};
    request.n = n_;
    request.in = keys_;
    request.out = keys_out_;
    request.values_in = values_;
    request.values_out = values_out_;
    request.value_bytes = 4;
    return request;
  }
  uint64_t wrong() {
    *wrong_ = 0;
    EXPECT_EQ(cudaMemset(seen_, 0, n_ / 8 + 64), cudaSuccess);
    check_pairs_kernel<U><<<1024, 256>>>(keys_, keys_out_, values_out_, n_, seen_, wrong_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return *wrong_;
  }

 private:
  uint32_t n_;
  bool ok_ = false;
  U *keys_ = nullptr, *keys_out_ = nullptr;
  uint32_t *values_ = nullptr, *values_out_ = nullptr, *seen_ = nullptr;
  unsigned long long *wrong_ = nullptr;
};

TEST_F(Stable, SizesAroundEveryPlan) {
  std::vector<uint64_t> sizes = {sort::msd::kStableItemsForcedMin, sort::msd::kStableItemsForcedMin + 1,
                                 sort::msd::kStableItemsMax};
  for (uint32_t bits = sort::msd::kStableCellBitsMin; bits < sort::msd::kStableCellBitsMax; ++bits)
    for (const uint64_t more : {0, 1})
      sizes.push_back((uint64_t{sort::msd::stable_cell_items_mean(bits)} << bits) + more);
  for (const uint64_t n : sizes) {
    SCOPED_TRACE(n);
    const auto run = [&](auto key) {
      LargePairs<decltype(key)> pairs(static_cast<uint32_t>(n));
      if (!pairs.ok()) GTEST_SKIP() << "too little memory";
      EXPECT_TRUE(launch(pairs.request(static_cast<uint32_t>(n))));
      EXPECT_EQ(pairs.wrong(), 0u);
    };
    run(uint32_t{0});
    run(uint64_t{0});
  }
}

TEST_F(Stable, SameEveryTime) {
  LargePairs<uint32_t> pairs(3000001);
  ASSERT_TRUE(pairs.ok());
  for (uint32_t repeat = 0; repeat < 30; ++repeat) {
    EXPECT_TRUE(launch(pairs.request(repeat * 1000003)));
    ASSERT_EQ(pairs.wrong(), 0u) << repeat;
  }
}

// Where another method has done the job, nothing is written, and the sorts behind are told so.
TEST_F(Stable, StandsAsideWhereTheJobIsDone) {
  const uint64_t n = kSome;
  LargePairs<uint32_t> pairs(static_cast<uint32_t>(n));
  ASSERT_TRUE(pairs.ok());
  for (const uint32_t is_done : {0u, 1u}) {
    const Request request = pairs.request(7);
    sort::Job job{};
    job.request = &request;
    job.plan = sort::make_plan(request, facts_, options_);
    const DeviceArray workspace(job.plan.workspace_bytes, 0), done(std::vector<uint32_t>{is_done}, 0);
    job.workspace = workspace.data();
    job.keys_wanted = true;
    job.keys_in = request.in;
    job.keys_x = request.out;
    job.keys_y = job.slice<void>(job.plan.slices.keys_y);
    job.values_in = request.values_in;
    job.values_x = request.values_out;
    job.values_y = job.slice<void>(job.plan.slices.values_y);
    sort::fast_path::launch_clear(
        context(), workspace.data(),
        job.plan.tries_fast_path ? job.plan.slices.fast_path_zero_bytes : job.plan.slices.zero_bytes);
    const uint32_t *const word = sort::msd::launch_stable<uint32_t>(context(), job, done.as<uint32_t>());
    ASSERT_NE(word, nullptr);
    uint32_t sorted = 0;
    ASSERT_EQ(cudaMemcpy(&sorted, word, sizeof(sorted), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(sorted, 1u);
    Bytes values(n * 4);
    ASSERT_EQ(cudaMemcpy(values.data(), request.values_out, values.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(all_poison(values), is_done == 1);
    if (is_done == 0) EXPECT_EQ(pairs.wrong(), 0u);
    workspace.check_zones();
  }
}

TEST_F(Stable, PlanChoosesIt) {
  options_ = {};
  Request request{Operation::kSortPairs, {GSORT_U64, false, false}};
  request.value_bytes = 8;
  const auto chosen = [&](uint64_t n) {
    request.n = n;
    return sort::make_plan(request, facts_).algorithm;
  };
  EXPECT_NE(chosen(sort::msd::stable_items_min(8, 8) - 1), sort::Algorithm::kStable);
  EXPECT_EQ(chosen(sort::msd::stable_items_min(8, 8)), sort::Algorithm::kStable);
  EXPECT_EQ(chosen(sort::msd::kStableItemsMax), sort::Algorithm::kStable);
  EXPECT_EQ(chosen(sort::msd::kStableItemsMax + 1), sort::Algorithm::kLsd);
  request.order.dtype = GSORT_F32;
  EXPECT_EQ(chosen(sort::msd::stable_items_min(4, 4) - 1), sort::Algorithm::kLsd);
  EXPECT_EQ(chosen(sort::msd::stable_items_min(4, 4)), sort::Algorithm::kStable);
  request.order.dtype = GSORT_U16;
  EXPECT_EQ(chosen(sort::msd::stable_items_min(4, 4)), sort::Algorithm::kLsd);
}

}  // namespace
}  // namespace gsort_internal
