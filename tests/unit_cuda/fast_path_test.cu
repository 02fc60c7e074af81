// SPDX-License-Identifier: MIT OR Apache-2.0
// The fast path before a sort: it sorts exactly or says that it did not, whatever the keys are, and loses no input.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/sort/fast_path/fast_path.h"
#include "cuda/sort/fast_path/plan.h"
#include "fast_path_fixture.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kChunked = 100003;  // more chunks than one block has warps, fewer than all have

TEST_F(FastPath, OrderedKeysOfEverySize) {
  const KeyOrder four = {GSORT_U32, false, false}, eight = {GSORT_U64, false, false};
  for (const uint64_t n :
       {1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 514, 1023, 1024, 1025, 4096, 30011, 1000003})
    for (const KeyOrder &order : {four, eight})
      for (const bool turned : {false, true})
        for (const bool in_place : {false, true}) {
          How how;
          how.order = order;
          how.in_place = in_place;
          how.in_offset = n % 4;
          how.out_offset = n % 3;
          SCOPED_TRACE(describe(how, n) + (turned ? " turned" : ""));
          const bool sorted = run(ordered_words(n, order, n, turned), how);
          // Fewer keys than the sample takes are all one to it, so that it looks for an ascending order.
          ASSERT_TRUE(sorted || (turned && n > 1 && n < sort::fast_path::kSamples));
          ASSERT_TRUE(run(Words(n, 0x1234567 + n), how)) << "constant";
        }
}

TEST_F(FastPath, OrderedKeysOfEveryOrder) {
  for (const KeyOrder &order : orders_of_four_and_eight())
    for (const bool turned : {false, true})
      for (const bool in_place : {false, true}) {
        How how;
        how.order = order;
        how.in_place = in_place;
        how.out_offset = 1;
        SCOPED_TRACE(describe(how, kChunked) + (turned ? " turned" : ""));
        ASSERT_TRUE(run(ordered_words(kChunked, order, 5, turned), how));
      }
}

// Two neighbours change places, at every kind of border between lanes, rows, groups and chunks.
TEST_F(FastPath, OneUnorderedPair) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F64}) {
    const KeyOrder order = {dtype, false, false};
    const uint64_t group =
        dtype == GSORT_U32 ? sort::fast_path::GroupShape<4>::kGroupItems : sort::fast_path::GroupShape<8>::kGroupItems;
    for (const uint64_t n : {kChunked, group * 40, uint64_t{1000}})
      for (const bool turned : {false, true}) {
        Words keys(n);
        for (uint64_t i = 0; i < n; ++i) keys[i] = (turned ? n - i : i) * 14001;  // more than 16 bits vary
        std::vector<uint64_t> places = {0, 1, 30, 31, 32, 63, group - 33, n - 2, n - 3, n / 2};
        for (uint64_t border = group; border < n; border += n / group / 5 * group + group)
          for (const uint64_t place : {border - 2, border - 1, border}) places.push_back(place);
        for (const uint64_t place : places) {
          if (place + 1 >= n) continue;
          std::swap(keys[place], keys[place + 1]);
          for (const bool in_place : {false, true}) {
            How how;
            how.order = order;
            how.in_place = in_place;
            ASSERT_FALSE(run(keys, how)) << describe(how, n) << " pair at " << place << (turned ? " turned" : "");
          }
          std::swap(keys[place], keys[place + 1]);
        }
      }
  }
}

// One key differs from all others, above or below them: only at one end is that in order. The places are not sampled.
TEST_F(FastPath, AlmostConstant) {
  for (const uint64_t place : {uint64_t{0}, uint64_t{1}, uint64_t{31}, kChunked / 2, kChunked - 2, kChunked - 1})
    for (const uint64_t other : {3, 9})
      for (const bool in_place : {false, true}) {
        Words keys(kChunked, 5);
        keys[place] = other;
        How how;
        how.in_place = in_place;
        ASSERT_EQ(run(keys, how), place == (other > 5 ? kChunked - 1 : 0)) << place << ' ' << other;
      }
}

TEST_F(FastPath, ValuesGoAlong) {
  const uint64_t n = 30011;
  for (const KeyOrder &order :
       {KeyOrder{GSORT_U32, false, false}, KeyOrder{GSORT_F32, true, true}, KeyOrder{GSORT_I64, false, false}})
    for (const Values values : {Values::kTravel, Values::kIndices})
      for (const uint32_t value_bytes : {4u, 8u})
        for (const bool turned : {false, true})
          for (const uint32_t form : {0u, 1u, 2u, 3u, 4u}) {
            How how;
            how.order = order;
            how.values = values;
            how.value_bytes = value_bytes;
            how.in_place = form == 1 || form == 3;
            how.values_in_place = values == Values::kTravel && (form == 2 || form == 3);
            how.keys_wanted = form != 4;
            how.in_offset = form;
            Words keys(n);  // all differ
            for (uint64_t i = 0; i < n; ++i) keys[i] = i * 5 + 1000;
            keys = taken(keys, stable_order(keys, order));
            if (turned) std::reverse(keys.begin(), keys.end());
            const bool aliased = how.in_place || how.values_in_place;
            SCOPED_TRACE(describe(how, n) + " form " + std::to_string(form) + (turned ? " turned" : ""));
            ASSERT_EQ(run(keys, how), !(turned && aliased));
            // Equal neighbours keep their order. Runs within rows of 32, over their borders, over rows and at both
            // ends.
            keys[0] = keys[1], keys[777] = keys[778], keys[n - 1] = keys[n - 2];
            for (uint64_t at = 63, length = 2; at + length < n - 2; at += 2 * length + 450, length = length % 41 + 3)
              std::fill_n(keys.begin() + static_cast<int64_t>(at), length, keys[at]);
            ASSERT_EQ(run(keys, how), !(turned && aliased));
            ASSERT_FALSE(left_values_);
            ASSERT_TRUE(run(Words(n, 77), how)) << "constant";
            std::swap(keys[n - 3], keys[n - 2]);
            ASSERT_FALSE(run(keys, how));
          }
}

// Many equal keys among descending ones, at a place where no two of the sample are among them: up to kEqualMax keep
// their order whatever group of rows they begin in, three times as many end the attempt.
TEST_F(FastPath, ManyEqualKeysTurnedRound) {
  const uint64_t n = 4000003, most = sort::fast_path::kEqualMax;
  for (const KeyOrder &order : {KeyOrder{GSORT_U32, false, false}, KeyOrder{GSORT_F64, false, false}})
    for (const uint64_t length : {most - 1, most, 3 * most}) {
      Words keys(n);
      for (uint64_t i = 0; i < n; ++i) keys[i] = i + 1000;
      keys = taken(keys, stable_order(keys, order));
      std::reverse(keys.begin(), keys.end());
      ASSERT_GE(put_equal_runs(keys, length, 64), 50u);
      How how;
      how.order = order;
      how.values = length % 2 == 0 ? Values::kIndices : Values::kTravel;
      ASSERT_EQ(run(keys, how), length <= most) << length;
      ASSERT_FALSE(left_values_);
    }
}

// Keys of few values are counted, and filled in where they are wanted; their values are left to passes by number.
TEST_F(FastPath, ValuesOfFewKeysAreLeftToPasses) {
  uint64_t seed = 90;
  for (const KeyOrder &order : orders_of_four_and_eight())
    for (const uint64_t count : {2u, 3u, 40u, 255u, 256u, 257u})
      for (const uint32_t form : {0u, 1u, 2u, 3u, 4u}) {
        const uint32_t bytes = dtype_bytes(order.dtype);
        const Words choice = random_words(count, bytes, ++seed);
        Words keys = random_words(kChunked, 8, ++seed);
        for (uint64_t &key : keys) key = choice[key % count];
        How how;
        how.order = order;
        how.values = form == 4 || seed % 3 == 0 ? Values::kIndices : Values::kTravel;
        how.value_bytes = seed % 2 == 0 ? 4 : 8;
        how.in_place = form == 1 || form == 3;
        how.values_in_place = how.values == Values::kTravel && form >= 2;
        how.keys_wanted = form != 4;
        how.out_offset = seed % 4;
        SCOPED_TRACE(describe(how, kChunked) + " form " + std::to_string(form) + " values " + std::to_string(count));
        ASSERT_EQ(run(keys, how), count <= 256 && bits_max(how) == 16);
        ASSERT_EQ(left_values_, count <= 256 && bits_max(how) == 16);
        keys[keys[5] % kChunked] ^= 0x40;
        ASSERT_FALSE(run(keys, how));
        ASSERT_FALSE(left_values_);
      }
}

TEST_F(FastPath, FewBitsAnywhere) {
  uint64_t seed = 0;
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I32, GSORT_U64})
    for (const uint32_t bits : {1u, 2u, 3u, 5u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 15u, 16u})
      for (const uint32_t kind : {0u, 1u, 2u, 3u, 4u}) {
        How how;
        how.order = {dtype, seed % 2 == 1, false};
        how.in_place = seed % 3 == 1;
        how.in_offset = seed % 4;
        how.out_offset = seed % 5;
        const uint32_t bytes = dtype_bytes(dtype);
        const uint64_t ones = (uint64_t{1} << bits) - 1;
        const uint64_t masks[] = {ones, ones << (bytes * 8 - bits), ones << 7, random_mask(bits, bytes, seed),
                                  random_mask(bits, bytes, seed + 1000)};
        const uint64_t n = kind == 4 ? 30000 + seed : kChunked;
        SCOPED_TRACE(describe(how, n) + " bits " + std::to_string(bits) + " kind " + std::to_string(kind));
        const Words keys = masked_words(n, bytes, masks[kind], ++seed);
        ASSERT_EQ(run(keys, how), bits <= bits_max(how));
      }
}

TEST_F(FastPath, SeventeenBitsAreTooMany) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64})
    for (const bool in_place : {false, true}) {
      How how;
      how.order = {dtype, false, false};
      how.in_place = in_place;
      ASSERT_FALSE(run(masked_words(kChunked, dtype_bytes(dtype), random_mask(17, dtype_bytes(dtype), 3), 3), how));
      ASSERT_FALSE(run(random_words(kChunked, dtype_bytes(dtype), 4), how));
    }
}

// A key that is not what the sample says, at every kind of place; most are not sampled.
TEST_F(FastPath, ForeignBit) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64})
    for (const uint32_t bits : {4u, 16u})
      for (const uint64_t place :
           {uint64_t{0}, uint64_t{1}, uint64_t{511}, uint64_t{512}, kChunked / 2, kChunked - 33, kChunked - 1}) {
        const uint32_t bytes = dtype_bytes(dtype);
        const uint64_t mask = random_mask(bits, bytes, place + bits);
        Words keys = masked_words(kChunked, bytes, mask, place);
        keys[place] ^= ~mask & (mask + 1);  // the lowest bit that does not vary
        How how;
        how.order = {dtype, false, false};
        how.in_place = place % 2 == 0;
        const bool sorted = run(keys, how);
        // With 4 bits the sample may hold the key and its bit; 16 leave no room for it.
        if (bits == 16) ASSERT_FALSE(sorted) << place;
      }
}

TEST_F(FastPath, FewValuesOfManyBits) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64})
    for (const uint64_t count : {2, 3, 5, 16, 17, 18, 40}) {
      const uint32_t bytes = dtype_bytes(dtype);
      const Words choice = random_words(count, bytes, count);
      Words keys = random_words(kChunked, bytes, count + 1);
      for (uint64_t &key : keys) key = choice[key % count];
      How how;
      how.order = {dtype, count % 2 == 1, false};
      how.in_place = count % 3 == 0;
      SCOPED_TRACE(describe(how, kChunked) + " values " + std::to_string(count));
      // So many random words have as many dimensions, less one for the first; more are few values.
      ASSERT_EQ(run(keys, how), count <= 17 || bits_max(how) == 16);
      // A key with the right leading bits and one wrong bit below.
      if (count > 5) continue;
      keys[kChunked / 3] ^= 1;
      ASSERT_FALSE(run(keys, how));
    }
}

// Values anywhere, all about as frequent or in the way of zipf's law, where the least frequent are met by the sample
// twice at least, or not.
TEST_F(FastPath, FewValues) {
  uint64_t seed = 70;
  for (const KeyOrder &order : orders_of_four_and_eight())
    for (const uint64_t count : {18u, 100u, 256u, 400u, 512u, 513u, 5000u})
      for (const bool zipf : {false, true}) {
        const uint32_t bytes = dtype_bytes(order.dtype);
        const Words values = random_words(count, bytes, ++seed), draws = random_words(kChunked, 8, ++seed);
        Words keys(kChunked);
        for (uint64_t i = 0; i < kChunked; ++i) {
          const uint64_t draw = draws[i] >> 11;
          keys[i] = values[zipf ? count * 1000 / (1000 + draw % (count * 1000)) % count : draw % count];
        }
        How how;
        how.order = order;
        how.in_place = seed % 4 < 2;
        how.in_offset = seed % 3, how.out_offset = seed % 5;
        SCOPED_TRACE(describe(how, kChunked) + (zipf ? " zipf " : " values ") + std::to_string(count));
        const bool sorted = run(keys, how);
        if (!zipf && (count <= 256 || count > 1000)) ASSERT_EQ(sorted, count <= 256 && bits_max(how) == 16);
        // One key of no such value, anywhere: sampled or not, the sort is left to others.
        keys[draws[0] % kChunked] ^= 0x40;
        ASSERT_FALSE(run(keys, how));
      }
}

// Floats of few bits may be combinations of many once NaNs have moved behind: sorted or left alone, never wrong.
TEST_F(FastPath, FewBitsOfEveryOrder) {
  uint64_t seed = 0;
  for (const KeyOrder &order : orders_of_four_and_eight())
    for (const uint32_t bits : {1u, 6u, 16u}) {
      const uint32_t bytes = dtype_bytes(order.dtype);
      How how;
      how.order = order;
      how.in_place = seed % 2 == 0;
      const uint64_t mask = random_mask(bits, bytes, ++seed);
      SCOPED_TRACE(describe(how, kChunked) + " bits " + std::to_string(bits));
      const bool sorted = run(masked_words(kChunked, bytes, mask & ~(all_bits(bytes) / 2 + 1), seed), how);
      if (!order.nan_last) ASSERT_EQ(sorted, bits <= bits_max(how));
      run(masked_words(kChunked, bytes, mask | (all_bits(bytes) / 2 + 1), seed), how);
    }
}

// 16 bits of which one key, or two neighbours, have most keys: counters of 16 bits overflow, one by one and both.
TEST_F(FastPath, HalvesOfCountersOverflow) {
  const uint64_t n = 1000003;
  for (const uint64_t hot : {0, 1, 2, 3})
    for (const uint32_t multiprocessors : {1u, 2u, 0u}) {
      Words keys = masked_words(n, 4, 0xffff, hot);
      for (uint64_t i = 0; i < n; ++i)
        if (i % 16 != 0) keys[i] = (keys[i] & ~uint64_t{0xffff}) | (hot == 3 ? 0x1234 + i / 7 % 2 : 0x1233 + hot);
      How how;
      how.multiprocessors = multiprocessors;
      how.in_place = hot % 2 == 1;
      ASSERT_EQ(run(keys, how), bits_max(how) == 16) << hot << ' ' << multiprocessors;
    }
}

// Counters of chips with less shared memory, one block alone, and more blocks than the device runs at a time: the last
// blocks begin when the keys may be half written.
TEST_F(FastPath, OtherChips) {
  for (const uint32_t shared_bytes : {40u << 10, 64u << 10, 99u << 10, 0u})
    for (const uint32_t multiprocessors : {1u, 2u, 3u, 1000u, 5000u})
      for (const bool in_place : {false, true}) {
        How how;
        how.in_place = in_place;
        how.shared_bytes = shared_bytes;
        how.multiprocessors = multiprocessors;
        SCOPED_TRACE(describe(how, kChunked) + " shared " + std::to_string(shared_bytes) + " blocks " +
                     std::to_string(multiprocessors));
        // 40 KB hold 2^13 counters of 16 bits, 99 KB 2^15.
        const uint32_t most = bits_max(how);
        ASSERT_EQ(run(masked_words(kChunked, 4, 0x55555555, 1), how), most == 16);
        ASSERT_EQ(run(masked_words(kChunked, 4, 0x55155555, 1), how), most >= 15);
        ASSERT_TRUE(run(masked_words(kChunked, 4, 0xfff80, 2), how));
        ASSERT_TRUE(run(ordered_words(kChunked, how.order, 3, true), how));
        ASSERT_TRUE(run(ordered_words(kChunked, how.order, 4, false), how));
      }
}

// Four streams at a time, each with more blocks than are left for it: kernels that wait for each other's room come to
// an end, and to the same result.
TEST_F(FastPath, ManyAtATime) {
  constexpr uint32_t kStreams = 4, kRepeats = 100;
  const uint64_t n = 1000003;
  const Words inputs[] = {masked_words(n, 4, random_mask(16, 4, 1), 1),
                          ordered_words(n, {GSORT_U32, false, false}, 2, true)};
  const sort::fast_path::Plan plan =
      sort::fast_path::make_plan(n, 4, true, facts_.multiprocessors, facts_.shared_bytes_block_max);
  for (const Words &keys : inputs) {
    const Bytes packed = pack(keys, 4);
    Words expected = keys;
    std::sort(expected.begin(), expected.end());
    const DeviceArray in(packed, 0);
    std::vector<cudaStream_t> streams(kStreams);
    std::vector<std::unique_ptr<DeviceArray>> outputs, memories;
    for (cudaStream_t &stream : streams) {
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      outputs.push_back(std::make_unique<DeviceArray>(n * 4, 4));
      memories.push_back(std::make_unique<DeviceArray>(sort::fast_path::kStateBytes + sort::fast_path::kBins * 8, 0));
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (uint32_t repeat = 0; repeat < kRepeats; ++repeat)
      for (uint32_t i = 0; i < kStreams; ++i) {
        auto *const memory = static_cast<unsigned char *>(memories[i]->data());
        auto *const array = static_cast<uint32_t *>(outputs[i]->data());
        sort::fast_path::Arrays<uint32_t> arrays{};
        arrays.keys_in = array;
        arrays.keys_out = array;
        arrays.n = n;
        arrays.state = memory;
        arrays.counts = reinterpret_cast<uint32_t *>(memory + sort::fast_path::kStateBytes);
        arrays.bases = arrays.counts + sort::fast_path::kBins;
        cudaMemcpyAsync(array, in.data(), n * 4, cudaMemcpyDeviceToDevice, streams[i]);
        cudaMemsetAsync(memory, 0, sort::fast_path::kStateBytes + sort::fast_path::kBins * 4, streams[i]);
        sort::fast_path::launch<uint32_t>(context(streams[i]), plan, arrays);
        if (repeat % 10 != 9) continue;
        ASSERT_EQ(cudaStreamSynchronize(streams[i]), cudaSuccess);
        ASSERT_TRUE(unpack(outputs[i]->read(), 4) == expected) << repeat;
      }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
}

}  // namespace
}  // namespace gsort_internal
