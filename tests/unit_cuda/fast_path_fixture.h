// SPDX-License-Identifier: MIT OR Apache-2.0
// The fast path by itself, of keys alone and with values: what a run of it must leave behind.
#ifndef GSORT_TESTS_UNIT_CUDA_FAST_PATH_FIXTURE_H_
#define GSORT_TESTS_UNIT_CUDA_FAST_PATH_FIXTURE_H_

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/fast_path/plan.h"
#include "cuda/sort/lsd/pass_action.cuh"
#include "fast_path_support.h"

namespace gsort_internal {
namespace {

using gsort_test::all_bits;
using gsort_test::Bytes;
using gsort_test::DeviceArray;
using gsort_test::masked_words;
using gsort_test::ordered_words;
using gsort_test::pack;
using gsort_test::quiet;
using gsort_test::random_mask;
using gsort_test::random_words;
using gsort_test::stable_order;
using gsort_test::taken;
using gsort_test::unpack;
using gsort_test::Words;

enum class Values { kNone, kTravel, kIndices };

struct How {
  KeyOrder order = {GSORT_U32, false, false};
  bool in_place = false, values_in_place = false, keys_wanted = true;
  Values values = Values::kNone;
  uint32_t value_bytes = 4;
  uint64_t in_offset = 0, out_offset = 0;          // elements
  uint32_t multiprocessors = 0, shared_bytes = 0;  // 0: the device's
};

class FastPath : public gsort_test::LaunchTest {
 protected:
  // Of the last run: passes behind were to move the values.
  bool left_values_ = false;

  // What passes read: every key's number in place of the key, and where each number's keys begin.
  template <class U>
  void check_numbers(const Words &keys, const How &how, const Words &numbers, const Words &bases,
                     const sort::lsd::PassAction (&actions)[2]) const {
    const std::vector<uint64_t> sources = stable_order(keys, how.order);
    const KeyCodec<U> codec = make_codec<U>(how.order);
    Words expected(keys.size()), first;
    for (uint64_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[sources[i]] != keys[sources[i - 1]]) first.push_back(i);
      expected[sources[i]] = codec.decode(static_cast<U>(first.size() - 1));
    }
    EXPECT_TRUE(numbers == expected);
    ASSERT_LE(first.size(), kDigitBins);
    for (uint64_t number = 0; number < kDigitBins; ++number)
      ASSERT_EQ(bases[number], number < first.size() ? first[number] : keys.size()) << number;
    const uint32_t target = how.values_in_place ? 2 : sort::lsd::kDirectArray;
    EXPECT_EQ(actions[0].kind, sort::lsd::PassKind::kSort);
    EXPECT_EQ(actions[0].source, 0u);
    EXPECT_EQ(actions[0].target, target);
    EXPECT_EQ(actions[0].key_source, 2u);
    EXPECT_EQ(actions[0].flags & sort::lsd::kStoresKeys, 0u);
    EXPECT_EQ(actions[1].kind, how.values_in_place ? sort::lsd::PassKind::kCopy : sort::lsd::PassKind::kSkip);
    EXPECT_EQ(actions[1].flags & sort::lsd::kStoresKeys, 0u);
  }

  // The arrays of a run.
  struct Memory {
    Memory(const Words &keys, const Words &values, const How &how, uint32_t bytes)
        : in(pack(keys, bytes), how.in_offset * bytes),
          out(keys.size() * bytes, how.out_offset * bytes),
          values_in(pack(values, how.value_bytes), 0),
          values_out(keys.size() * how.value_bytes, how.value_bytes),
          numbers(keys.size() * bytes, 0) {
      cudaMemset(actions.data(), 0, 2 * sizeof(sort::lsd::PassAction));
    }
    DeviceArray in, out, values_in, values_out;
    DeviceArray zeroed{kClearedBytes, 0};  // cleared by the kernel before, as in a sort
    DeviceArray bases{sort::fast_path::kBins * 4, 0};
    DeviceArray numbers, digit_bases{kDigitBins * 8, 0}, actions{2 * sizeof(sort::lsd::PassAction), 0};
  };
  static constexpr uint64_t kClearedBytes = sort::fast_path::kStateBytes + sort::fast_path::kBins * 4;

  template <class U>
  static sort::fast_path::Arrays<U> arguments(Memory &memory, uint64_t n, const How &how) {
    sort::fast_path::Arrays<U> arrays{};
    arrays.keys_in = static_cast<const U *>(memory.in.data());
    arrays.keys_out = static_cast<U *>(!how.keys_wanted ? nullptr
                                       : how.in_place   ? memory.in.data()
                                                        : memory.out.data());
    arrays.n = n;
    arrays.codec = make_codec<U>(how.order);
    arrays.value_bytes = how.value_bytes;
    if (how.values == Values::kTravel) arrays.values_in = memory.values_in.data();
    if (how.values != Values::kNone) {
      arrays.values_out = how.values_in_place ? memory.values_in.data() : memory.values_out.data();
      arrays.numbers = static_cast<U *>(memory.numbers.data());
      arrays.digit_bases = static_cast<uint64_t *>(memory.digit_bases.data());
      arrays.actions = static_cast<sort::lsd::PassAction *>(memory.actions.data());
    }
    arrays.state = memory.zeroed.data();
    arrays.counts = static_cast<uint32_t *>(memory.zeroed.data()) + sort::fast_path::kStateBytes / 4;
    arrays.bases = static_cast<uint32_t *>(memory.bases.data());
    arrays.after_clearing = true;
    return arrays;
  }

  // Whether it sorted.
  template <class U>
  bool launch_fast_path(const sort::fast_path::Arrays<U> &arrays, const How &how) const {
    DeviceFacts facts = facts_;
    if (how.multiprocessors != 0) facts.multiprocessors = how.multiprocessors;
    if (how.shared_bytes != 0) facts.shared_bytes_block_max = std::min(how.shared_bytes, facts.shared_bytes_block_max);
    const sort::fast_path::Plan plan = sort::fast_path::make_plan(arrays.n, sizeof(U), how.values == Values::kNone,
                                                                  facts.multiprocessors, facts.shared_bytes_block_max);
    sort::fast_path::launch_clear({nullptr, &facts, &quiet()}, arrays.state, kClearedBytes);
    const uint32_t *const done = sort::fast_path::launch<U>({nullptr, &facts, &quiet()}, plan, arrays);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    uint32_t sorted = 0;
    EXPECT_EQ(cudaMemcpy(&sorted, done, sizeof sorted, cudaMemcpyDeviceToHost), cudaSuccess);
    return sorted != 0;
  }

  // Runs the fast path, checks what must hold and returns whether it sorted.
  template <class U>
  bool run_width(const Words &keys, const How &how) {
    constexpr uint32_t bytes = sizeof(U);
    Words values(keys.size());
    for (uint64_t i = 0; i < values.size(); ++i) values[i] = (i * 0x9e3779b97f4a7c15u) & all_bits(how.value_bytes);
    Memory memory(keys, values, how, bytes);
    const bool sorted = launch_fast_path(arguments<U>(memory, keys.size(), how), how);

    memory.zeroed.read();
    memory.bases.read();
    const std::vector<uint64_t> sources = stable_order(keys, how.order);
    const Words in_after = unpack(memory.in.read(), bytes), out_after = unpack(memory.out.read(), bytes);
    const Words values_after = unpack(memory.values_in.read(), how.value_bytes);
    const Words values_out_after = unpack(memory.values_out.read(), how.value_bytes);
    sort::lsd::PassAction acts[2];
    std::memcpy(acts, memory.actions.read().data(), sizeof acts);
    left_values_ = acts[0].kind != sort::lsd::PassKind::kSkip;
    if (left_values_) {
      EXPECT_TRUE(sorted);
      check_numbers<U>(keys, how, unpack(memory.numbers.read(), bytes), unpack(memory.digit_bases.read(), 8), acts);
    }
    const bool values_moved = sorted && !left_values_, moved_in_place = how.in_place && how.keys_wanted && sorted;
    EXPECT_TRUE(in_after == (moved_in_place ? taken(keys, sources) : keys)) << "the input";
    if (sorted && !how.in_place && how.keys_wanted) EXPECT_TRUE(out_after == taken(keys, sources)) << "keys";
    if (how.values_in_place) {
      EXPECT_TRUE(values_after == (values_moved ? taken(values, sources) : values)) << "values in place";
    } else {
      EXPECT_TRUE(values_after == values) << "the input values";
      if (values_moved && how.values == Values::kTravel) EXPECT_TRUE(values_out_after == taken(values, sources));
      if (values_moved && how.values == Values::kIndices) EXPECT_TRUE(values_out_after == sources) << "indices";
    }
    return sorted;
  }

  // How many bits the chip has counters for.
  uint32_t bits_max(const How &how) const {
    const uint32_t own = facts_.shared_bytes_block_max;
    const uint32_t shared_bytes = how.shared_bytes == 0 ? own : std::min(how.shared_bytes, own);
    return shared_bytes < 48u << 10 ? 13 : shared_bytes < 80u << 10 ? 14 : shared_bytes < 144u << 10 ? 15 : 16;
  }

  bool run(const Words &keys, const How &how) {
    return dtype_bytes(how.order.dtype) == 4 ? run_width<uint32_t>(keys, how) : run_width<uint64_t>(keys, how);
  }
};

std::vector<KeyOrder> orders_of_four_and_eight() {
  std::vector<KeyOrder> orders;
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_I64, GSORT_F64})
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true})
        if (!nan_last || is_float(dtype)) orders.push_back({dtype, descending, nan_last});
  return orders;
}

std::string describe(const How &how, uint64_t n) {
  return std::string(dtype_facts(how.order.dtype).name) + (how.order.descending ? " descending" : "") +
         (how.order.nan_last ? " nan_last" : "") + " n=" + std::to_string(n) +
         (how.in_place ? " in place"
                       : " from " + std::to_string(how.in_offset) + " to " + std::to_string(how.out_offset)) +
         " values " + std::to_string(static_cast<int>(how.values));
}

uint64_t sample_place(uint64_t i, uint64_t n) {
  const uint64_t part = n / sort::fast_path::kSamples;
  return i * part + ((static_cast<uint32_t>(i) * 0x9e3779b9u + 0x7f4a7c15u) * part >> 32);
}

// Makes runs of `length` equal keys, where no two of the sample are in one, up to `shift` keys behind a sampled key.
// Returns how many.
uint32_t put_equal_runs(Words &keys, uint64_t length, uint64_t shift) {
  uint32_t runs = 0;
  for (uint64_t i = 1; i + 1 < sort::fast_path::kSamples; i += 3) {
    const uint64_t at = sample_place(i, keys.size()) + 1 + i % shift;
    if (sample_place(i + 1, keys.size()) <= at + length) continue;
    std::fill_n(keys.begin() + static_cast<int64_t>(at), length, keys[at]);
    ++runs;
  }
  return runs;
}

}  // namespace
}  // namespace gsort_internal

#endif  // GSORT_TESTS_UNIT_CUDA_FAST_PATH_FIXTURE_H_
