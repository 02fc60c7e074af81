// SPDX-License-Identifier: MIT OR Apache-2.0
// The sorts of keys of 1 and 2 bytes in one block, thread by thread on the CPU.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "cuda/sort/small/count_sort.cuh"
#include "cuda/sort/small/digit_sort.cuh"
#include "cuda/sort/small/value_sort.cuh"

namespace gsort_internal::sort::small {
namespace {

constexpr const char *kKinds[] = {"uniform",    "one value",     "two values", "ascending", "descending", "low digit",
                                  "high digit", "across digits", "ands",       "greatest",  "specials"};

template <class U>
std::vector<U> make_keys(uint32_t n, const std::string &kind, std::mt19937_64 &random) {
  std::vector<U> keys(n);
  const uint64_t base = random(), other = random();
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t x = random();
    keys[i] = static_cast<U>(kind == "one value"       ? base
                             : kind == "two values"    ? (x % 7 == 0 ? base : other)
                             : kind == "ascending"     ? i * 7
                             : kind == "descending"    ? (n - i) * 5
                             : kind == "low digit"     ? (base & ~uint64_t{0xff}) | (x & 0xff)
                             : kind == "high digit"    ? (base & 0xff) | (x & 0xff00)
                             : kind == "across digits" ? (base & ~uint64_t{0x0ff0}) | (x & 0x0ff0)
                             : kind == "ands"          ? x & random() & random()
                             : kind == "greatest"      ? (x % 3 != 0 ? ~uint64_t{0} : x)
                             : kind == "specials"      ? (x & 0x8001) | (x & 2 ? 0x7c00 : 0x7f80)
                                                       : x);
  }
  return keys;
}

// The arrays begin `offset` keys behind an aligned address, and what is around the results is looked at, too.
template <class U>
class InBlock {
 public:
  InBlock(const std::vector<U> &keys, const KeyOrder &order, uint32_t offset)
      : n_(static_cast<uint32_t>(keys.size())),
        offset_(offset),
        keys_(keys),
        in_(keys.size() + offset + kZone, kPoison),
        out_(keys.size() + offset + kZone, kPoison) {
    std::copy(keys.begin(), keys.end(), in_.begin() + offset);
    params_.keys_in = in_.data() + offset, params_.n = n_, params_.codec = make_codec<U>(order);
    params_.keys_out = out_.data() + offset;
    places_.resize(n_);
    std::iota(places_.begin(), places_.end(), 0u);
    std::stable_sort(places_.begin(), places_.end(), [&](uint32_t a, uint32_t b) {
      return params_.codec.encode(keys[a]) < params_.codec.encode(keys[b]);
    });
  }

  void sort_in_place() {
    params_.keys_out = in_.data() + offset_;
    launch_digit_sort();
    check_keys(in_);
  }
  void sort() {
    launch_digit_sort();
    check_keys(out_);
  }
  void count(bool in_place) {
    if (in_place) params_.keys_out = in_.data() + offset_;
    if constexpr (sizeof(U) == 1) {
      emulation::launch(1, kCountSortThreads, 0, [&] {
        static CountSortStorage<kCountSortThreads> storage;
        count_sort(params_, storage);
      });
    } else if (n_ <= 1024) {
      launch_value_sort<ValueSortShape<256, 4>>();
    } else if (n_ <= 4096) {
      launch_value_sort<ValueSortShape<1024, 4>>();
    } else {
      launch_value_sort<ValueSortShape<1024, 8>>();
    }
    check_keys(in_place ? in_ : out_);
  }
  template <class Index>
  void find_places(bool ranks) {
    std::vector<Index> places(n_ + kZone, kPoison), want(n_ + kZone, kPoison);
    for (uint32_t i = 0; i < n_; ++i) want[ranks ? places_[i] : i] = ranks ? i : places_[i];
    params_.keys_out = nullptr, params_.wide = sizeof(Index) == 8;
    (ranks ? params_.ranks : params_.indices) = places.data();
    launch_digit_sort();
    EXPECT_TRUE(want == places);
  }
  void sort_pairs(uint32_t value_bytes, uint32_t unit_bytes) {
    std::vector<uint8_t> values(uint64_t{n_} * value_bytes), want((n_ + kZone) * value_bytes, 0xa5), out = want;
    std::mt19937 random(n_);
    for (uint8_t &byte : values) byte = static_cast<uint8_t>(random());
    for (uint32_t i = 0; i < n_; ++i)
      std::copy_n(values.begin() + places_[i] * value_bytes, value_bytes, want.begin() + i * value_bytes);
    params_.values_in = values.data(), params_.values_out = out.data();
    params_.value_bytes = value_bytes, params_.value_unit_bytes = unit_bytes;
    launch_digit_sort();
    check_keys(out_);
    EXPECT_TRUE(want == out) << "values";
  }

 private:
  static constexpr uint32_t kZone = 40;
  static constexpr U kPoison = static_cast<U>(0xa5a5);

  template <class Shape>
  void launch_value_sort() {
    emulation::launch(1, Shape::kThreads, sizeof(ValueSortStorage<Shape>), [&] {
      value_sort(params_, *reinterpret_cast<ValueSortStorage<Shape> *>(emulation::dynamic_shared.data()));
    });
  }
  void launch_digit_sort() {
    if (n_ <= 1024)
      launch_digit_sort_shape<TileShape<256, 4>>();
    else if (n_ <= 4096)
      launch_digit_sort_shape<TileShape<1024, 4>>();
    else
      launch_digit_sort_shape<TileShape<1024, 8>>();
  }
  template <class Shape>
  void launch_digit_sort_shape() {
    emulation::launch(1, Shape::kThreads, sizeof(DigitSortStorage<Shape>), [&] {
      digit_sort(params_, *reinterpret_cast<DigitSortStorage<Shape> *>(emulation::dynamic_shared.data()));
    });
  }
  void check_keys(const std::vector<U> &array) const {
    std::vector<U> want(array.size(), kPoison);
    for (uint32_t i = 0; i < n_; ++i) want[offset_ + i] = keys_[places_[i]];
    EXPECT_TRUE(want == array) << "keys";
  }

  const uint32_t n_, offset_;
  const std::vector<U> keys_;
  std::vector<U> in_, out_;
  std::vector<uint32_t> places_;
  Params<U> params_ = {};
};

// Long inputs, which take long, are of a third of the kinds each.
bool is_left_out(uint32_t n, uint32_t turn) { return n > 1100 && turn % 3 != 0; }

std::vector<uint32_t> lengths(uint32_t most) {
  std::vector<uint32_t> all = {1, 2, 31, 32, 33, 65, 127, 128, 129, 1000};
  for (uint32_t edge = 1024; edge <= most; edge += edge < 8192 ? 1024 : 8192)
    all.insert(all.end(), {edge - 33, edge - 1, edge, edge + 1, edge + 32, edge + 500});
  while (all.back() > most) all.pop_back();
  return all;
}

template <class U>
void try_digit_sort(const std::vector<gsort_dtype> &types) {
  std::mt19937_64 random(sizeof(U));
  uint32_t turn = 0;
  for (const uint32_t n : lengths(kNarrowItemsMax)) {
    for (const char *kind : kKinds) {
      if (is_left_out(n, ++turn)) continue;
      SCOPED_TRACE(std::string(kind) + " n " + std::to_string(n));
      const KeyOrder order{types[turn % types.size()], turn % 4 == 0, turn % 5 < 2};
      const auto run = [&] { return InBlock<U>(make_keys<U>(n, kind, random), order, turn % 5); };
      constexpr uint32_t kValues[][2] = {{4, 4}, {8, 8}, {1, 1}, {12, 4}, {16, 8}, {6, 2}, {8, 1}};
      switch (turn / 3 % 6) {
        case 0:
          run().sort();
          break;
        case 1:
          run().sort_in_place();
          break;
        case 2:
          run().template find_places<uint32_t>(turn % 4 == 0);
          break;
        case 3:
          run().template find_places<uint64_t>(turn % 4 == 1);
          break;
        default:
          run().sort_pairs(kValues[turn / 7 % 7][0], kValues[turn / 7 % 7][1]);
          break;
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(SmallSortEmulated, DigitSortOfBytes) { try_digit_sort<uint8_t>({GSORT_U8, GSORT_I8}); }
TEST(SmallSortEmulated, DigitSortOfHalves) { try_digit_sort<uint16_t>({GSORT_U16, GSORT_I16, GSORT_F16, GSORT_BF16}); }

template <class U>
void try_counting(const std::vector<gsort_dtype> &types, uint32_t most) {
  std::mt19937_64 random(3);
  uint32_t turn = 0;
  for (const uint32_t n : lengths(most)) {
    for (const char *kind : kKinds) {
      if (is_left_out(n, ++turn)) continue;
      SCOPED_TRACE(std::string(kind) + " n " + std::to_string(n));
      const KeyOrder order{types[turn % types.size()], turn % 4 == 0, turn % 5 < 2};
      InBlock<U>(make_keys<U>(n, kind, random), order, turn % 5).count(turn % 7 == 0);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(SmallSortEmulated, CountSort) { try_counting<uint8_t>({GSORT_U8, GSORT_I8}, kCountSortItemsMax); }
TEST(SmallSortEmulated, ValueSort) {
  try_counting<uint16_t>({GSORT_U16, GSORT_I16, GSORT_F16, GSORT_BF16}, kNarrowItemsMax);
}

}  // namespace
}  // namespace gsort_internal::sort::small
