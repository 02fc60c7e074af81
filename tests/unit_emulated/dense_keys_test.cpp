// SPDX-License-Identifier: MIT OR Apache-2.0
// Dense keys, from the counts of bytes to the keys that come back, thread by thread on the CPU; passes are stable sorts
// of the standard library that do what the actions say.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "cuda/sort/lsd/dense_keys.cuh"

namespace gsort_internal::sort::lsd {
namespace {

using Words = std::vector<uint64_t>;

struct Case {
  KeyOrder order = {GSORT_U64, false, false};
  uint32_t passes_min = 1;
  bool keys_aliased = false, values_aliased = false, keys_wanted = true, values_as_sorted = false;
};

class DenseSort {
 public:
  DenseSort(const Words &keys, const Case &how)
      : how_(how), codec_(make_codec<uint64_t>(how.order)), n_(keys.size()), input_(keys), values_(keys.size()) {
    std::iota(values_.begin(), values_.end(), uint64_t{1000});
    arrays_[0] = input_, arrays_[1] = how.keys_aliased ? input_ : Words(n_, kPoison), arrays_[2] = Words(n_, kPoison);
    carried_[0] = values_, carried_[1] = how.values_aliased ? values_ : Words(n_, kPoison), carried_[2] = carried_[1];
    choose();
    if (chosen_) make();
  }

  bool chosen() const { return chosen_; }
  uint32_t digits() const { return codes_.digits; }
  // Of the caller's keys: as many bytes as vary.
  uint32_t passes_before() const { return passes_before_; }

  // The passes, and the keys back.
  void sort() {
    for (const PassAction &action : actions_) {
      if (action.kind == PassKind::kSkip) continue;
      ASSERT_TRUE(action.target == 1 || action.target == 2);
      ASSERT_NE(action.key_source, action.target);
      ASSERT_FALSE(action.flags & (kEncodes | kDecodes)) << "dense keys are no keys of the caller's";
      std::vector<uint64_t> order(n_);
      std::iota(order.begin(), order.end(), uint64_t{0});
      const uint32_t shift = static_cast<uint32_t>(&action - actions_) * kDigitBits;
      const Words &by = keys(action.key_source);
      if (action.kind == PassKind::kSort) {
        ASSERT_EQ(turn_++ % 2, action.sort_parity);
        check_bases(by, shift);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint64_t a, uint64_t b) { return digit_of(by[a], shift) < digit_of(by[b], shift); });
      }
      // A pass reads all of its input while others of its blocks write: source and target must be apart.
      const Words from = by, values = carried(action.source);
      ASSERT_NE(&carried(action.source), &carried(action.target));
      ASSERT_EQ(action.source == 0, (action.flags & kFirst) != 0);
      for (uint64_t i = 0; i < n_; ++i) {
        if (action.flags & kStoresKeys) keys(action.target)[i] = from[order[i]];
        carried(action.target)[i] = values[order[i]];
      }
      ended_in_ = action.target, ended_last_ = (action.flags & kLast) != 0;
    }
    if (!how_.keys_wanted) return;
    RestoreParams<uint64_t> params{keys(1).data(), n_, codec_, &codes_, &sorted_};
    emulation::launch(3, kRestoreThreads, 0, [&] { restore_keys(params, restore_table_); });
  }

  void check() {
    Words order(n_);
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](uint64_t a, uint64_t b) { return codec_.encode(input_[a]) < codec_.encode(input_[b]); });
    EXPECT_EQ(1u, ended_in_);
    EXPECT_EQ(!how_.values_as_sorted, ended_last_);
    for (uint64_t i = 0; i < n_; ++i) {
      if (how_.keys_wanted) ASSERT_EQ(input_[order[i]], keys(1)[i]) << i;
      ASSERT_EQ(values_[order[i]], carried(1)[i]) << i;
    }
    if (!how_.keys_aliased) ASSERT_EQ(input_, arrays_[0]) << "the input changed";
    if (!how_.values_aliased) ASSERT_EQ(values_, carried_[0]) << "the input changed";
  }

 private:
  static constexpr uint64_t kPoison = 0xa5a5a5a5a5a5a5a5;

  Words &keys(uint32_t array) { return arrays_[how_.keys_aliased && array == 0 ? 1 : array]; }
  Words &carried(uint32_t array) { return carried_[how_.values_aliased && array == 0 ? 1 : array]; }

  // What the histogram kernel does behind its counts.
  void choose() {
    uint32_t varying = 0;
    for (const uint64_t key : input_)
      for (uint32_t byte = 0; byte < 8; ++byte) ++counts_[byte * kDigitBins + digit_of(codec_.encode(key), 8 * byte)];
    for (uint32_t byte = 0; byte < 8; ++byte)
      for (uint32_t bin = 0; bin < kDigitBins; ++bin)
        if (counts_[byte * kDigitBins + bin] != 0 && counts_[byte * kDigitBins + bin] != n_) varying |= 1u << byte;
    passes_before_ = static_cast<uint32_t>(__builtin_popcount(varying));
    blocks_done_ = 7;
    std::memset(&codes_, 0xa5, sizeof codes_);
    emulation::launch(1, kHistogramThreads, 0, [&] {
      const bool chosen = turns_to_dense<8>(choice(), varying, counts_, &blocks_done_);
      if (threadIdx.x == 0) chosen_ = chosen;
    });
    EXPECT_EQ(chosen_, codes_.active != 0);
    if (!chosen_) return;
    for (const unsigned long long count : counts_) EXPECT_EQ(0u, count);
    EXPECT_EQ(0u, blocks_done_);
  }

  void make() {
    using Storage = DenseStorage<4>;
    DenseParams<uint64_t> params{};
    for (uint32_t array = 0; array < 3; ++array) params.keys[array] = keys(array).data();
    params.histogram.keys = keys(0).data();
    params.histogram.n = n_;
    params.histogram.codec = codec_;
    params.histogram.counts = counts_;
    params.histogram.blocks_done = &blocks_done_;
    params.histogram.bases = bases_;
    params.histogram.actions = actions_;
    params.histogram.keys_wanted = how_.keys_wanted;
    params.histogram.values_as_sorted = how_.values_as_sorted;
    params.histogram.sorted = &sorted_;
    params.histogram.dense = choice();
    emulation::launch(2, kDenseThreads, sizeof(Storage),
                      [&] { dense_keys(params, *reinterpret_cast<Storage *>(emulation::dynamic_shared.data())); });
    check_dense();
  }

  // Dense keys are of the order of the keys, equal where these are, and below the bits that they are said to have.
  void check_dense() {
    const Words &dense = keys(codes_.source);
    Words order(n_);
    std::iota(order.begin(), order.end(), uint64_t{0});
    const auto encoded = [&](uint64_t i) { return codec_.encode(input_[i]); };
    std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) { return encoded(a) < encoded(b); });
    for (uint64_t i = 0; i < n_; ++i) {
      ASSERT_EQ(0u, codes_.digits < 8 ? dense[i] >> (8 * codes_.digits) : 0u);
      if (i == 0) continue;
      if (encoded(order[i - 1]) == encoded(order[i])) {
        ASSERT_EQ(dense[order[i - 1]], dense[order[i]]);
      } else {
        ASSERT_LT(dense[order[i - 1]], dense[order[i]]);
      }
    }
  }

  void check_bases(const Words &by, uint32_t shift) {
    const uint64_t *const bases = bases_ + shift / kDigitBits * 2 * kDigitBins;
    std::vector<uint64_t> counts(kDigitBins, 0);
    for (const uint64_t key : by) ++counts[digit_of(key, shift)];
    uint64_t base = 0;
    for (uint32_t digit = 0; digit < kDigitBins; base += counts[digit++]) ASSERT_EQ(base, bases[digit]) << digit;
  }

  DenseChoice choice() { return {&codes_, how_.passes_min, how_.values_aliased}; }
  static uint32_t digit_of(uint64_t key, uint32_t shift) { return static_cast<uint32_t>(key >> shift) & 255; }

  Case how_;
  KeyCodec<uint64_t> codec_;
  uint64_t n_;
  Words input_, values_;
  Words arrays_[3], carried_[3];
  unsigned long long counts_[8 * kDigitBins] = {};
  uint64_t bases_[8 * 2 * kDigitBins] = {};
  uint32_t blocks_done_ = 0, sorted_ = 0, passes_before_ = 0, turn_ = 0, ended_in_ = 0;
  bool chosen_ = false, ended_last_ = false;
  PassAction actions_[8] = {};
  DenseCodes codes_;
  uint8_t restore_table_[kDenseBytes][kDigitBins];
};

// Each byte has so many values, spread over all; the lowest first.
Words keys_of(uint64_t n, const std::vector<uint32_t> &values) {
  std::mt19937_64 random(n + values[0]);
  std::vector<std::vector<uint64_t>> of(8);
  for (uint32_t byte = 0; byte < 8; ++byte) {
    std::vector<uint64_t> all(256);
    std::iota(all.begin(), all.end(), uint64_t{0});
    std::shuffle(all.begin(), all.end(), random);
    of[byte].assign(all.begin(), all.begin() + values[byte]);
  }
  Words keys(n, 0);
  for (uint64_t i = 0; i < n; ++i)
    for (uint32_t byte = 0; byte < 8; ++byte) {
      // The first keys have all values.
      const uint64_t at = i < values[byte] ? i : random() % values[byte];
      keys[i] |= of[byte][at] << (8 * byte);
    }
  return keys;
}

struct Dense {
  std::vector<uint32_t> values;
  uint32_t digits;
};
const Dense kDense[] = {
    {{26, 26, 26, 26, 26, 26, 26, 26}, 5},
    {{10, 10, 10, 10, 10, 10, 10, 10}, 4},
    {{4, 4, 4, 4, 4, 4, 4, 4}, 2},
    {{2, 2, 2, 2, 2, 2, 2, 2}, 1},
    {{64, 1, 64, 1, 64, 1, 64, 1}, 3},
    {{256, 256, 256, 256, 256, 256, 16, 16}, 7},
    {{256, 256, 3, 5, 7, 100, 24, 60}, 6},
    {{1, 1, 1, 1, 1, 1, 5, 7}, 1},
    {{128, 128, 128, 128, 128, 128, 128, 128}, 7},
    {{3, 1, 1, 1, 1, 1, 1, 200}, 2},
    {{17, 256, 33, 2, 129, 65, 9, 5}, 6},
};

TEST(DenseKeys, SortAsTheKeysDo) {
  for (const Dense &dense : kDense)
    for (const uint64_t n : {300u, 5001u, 20000u}) {
      const Words keys = keys_of(n, dense.values);
      for (uint32_t how = 0; how < 32; ++how) {
        if (how >= 4 && n != 300) continue;
        Case of;
        of.order.descending = how % 2 != 0;
        of.keys_aliased = how / 2 % 2 != 0;
        of.values_aliased = how / 4 % 2 != 0;
        of.keys_wanted = how / 8 % 2 == 0;
        of.values_as_sorted = how / 16 % 2 != 0;
        SCOPED_TRACE(std::to_string(n) + " keys, " + std::to_string(dense.digits) + " digits, " + std::to_string(how));
        DenseSort sort(keys, of);
        ASSERT_EQ(dense.digits < sort.passes_before(), sort.chosen());
        if (!sort.chosen()) continue;
        EXPECT_EQ(dense.digits, sort.digits());
        sort.sort();
        if (testing::Test::HasFatalFailure()) return;
        sort.check();
        if (testing::Test::HasFatalFailure()) return;
      }
    }
}

TEST(DenseKeys, NumbersOfEverySign) {
  Words keys;
  std::mt19937_64 random(5);
  for (uint64_t i = 0; i < 4000; ++i) {
    const double number = (static_cast<double>(random() % 16384) - 8192) / 4;
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    keys.push_back(i % 100 == 0 ? random() % 2 << 63 | uint64_t{0x7ff8} << 48 : bits);
  }
  for (const bool descending : {false, true})
    for (const bool nan_last : {false, true}) {
      Case how;
      how.order = {GSORT_F64, descending, nan_last};
      DenseSort sort(keys, how);
      ASSERT_TRUE(sort.chosen());
      sort.sort();
      if (testing::Test::HasFatalFailure()) return;
      sort.check();
    }
}

// One pass less where one is asked for, two where two are.
TEST(DenseKeys, SaveAsManyPassesAsAreAskedFor) {
  const Words seven = keys_of(3000, {128, 128, 128, 128, 128, 128, 128, 128});
  const Words six = keys_of(3000, {64, 64, 64, 64, 64, 64, 64, 64});
  Case how;
  EXPECT_TRUE(DenseSort(seven, how).chosen());
  EXPECT_TRUE(DenseSort(six, how).chosen());
  how.passes_min = 2;
  EXPECT_FALSE(DenseSort(seven, how).chosen());
  EXPECT_TRUE(DenseSort(six, how).chosen());
  how.passes_min = 3;
  EXPECT_FALSE(DenseSort(six, how).chosen());
}

}  // namespace
}  // namespace gsort_internal::sort::lsd
