// SPDX-License-Identifier: MIT OR Apache-2.0
// A block's sort by merges, thread by thread on the CPU, and the order of keys in registers.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <random>

#include "cuda/primitive/key_rows.cuh"
#include "cuda/primitive/merge_sort.cuh"

namespace gsort_internal {
namespace {

template <class U, uint32_t kRows>
void check_merge_sort(std::vector<U> keys, uint32_t warps, const char *what) {
  const uint32_t count = static_cast<uint32_t>(keys.size()), runs = (count + kRunKeys<kRows> - 1) / kRunKeys<kRows>;
  std::vector<U> sorted(count, U{0x55}), shared(merge_room<U>(warps * kRunKeys<kRows>), U{0xaa});
  emulation::launch(1, warps * 32, 0, [&] {
    const uint32_t warp = threadIdx.x / 32;
    U own[kRows];
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t i = (warp * kRows + row) * 32 + lane_id();
      own[row] = i < count ? keys[i] : static_cast<U>(~U{0});
    }
    merge_sort<kRows>({warp, 1, warps}, shared.data(), runs, own);
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t i = (warp * kRows + row) * 32 + lane_id();
      if (i < count) sorted[i] = own[row];
    }
  });
  std::sort(keys.begin(), keys.end());
  for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(keys[i], sorted[i]) << what << ", key " << i << " of " << count;
}

template <class U, uint32_t kRows>
void check_data(uint32_t warps) {
  std::mt19937_64 random(warps);
  const uint32_t run = kRunKeys<kRows>, room = warps * run;
  for (const uint32_t count : {1u, 2u, run - 1, run, run + 1, room / 2 + 3, room - run, room - 1, room}) {
    if (count == 0 || count > room) continue;
    std::vector<U> keys(count);
    for (U &key : keys) key = static_cast<U>(random());
    check_merge_sort<U, kRows>(keys, warps, "any");
    for (U &key : keys) key = static_cast<U>(random() % 3 - 1);
    check_merge_sort<U, kRows>(keys, warps, "three values");
    for (uint32_t i = 0; i < count; ++i) keys[i] = static_cast<U>(i);
    check_merge_sort<U, kRows>(keys, warps, "in order");
    for (uint32_t i = 0; i < count; ++i) keys[i] = static_cast<U>(count - i);
    check_merge_sort<U, kRows>(keys, warps, "in the reverse order");
    for (uint32_t i = 0; i < count; ++i) keys[i] = static_cast<U>(i % run);
    check_merge_sort<U, kRows>(keys, warps, "runs alike");
    for (U &key : keys) key = static_cast<U>(~U{0});
    check_merge_sort<U, kRows>(keys, warps, "the greatest key alone");
  }
}

TEST(EmulatedMergeSort, AnyKeysOfAnyCount) {
  check_data<uint32_t, 32>(1);
  check_data<uint32_t, 32>(3);
  check_data<uint32_t, 16>(1);
  check_data<uint32_t, 16>(4);
  check_data<uint32_t, 16>(5);
  check_data<uint32_t, 8>(13);
  check_data<uint32_t, 4>(32);
  check_data<uint64_t, 16>(3);
  check_data<uint64_t, 8>(3);
  check_data<uint64_t, 4>(7);
}

// As the codec has it, NaNs, zeros and infinities among the keys.
template <class U>
void check_rows(gsort_dtype dtype) {
  std::mt19937_64 random(dtype);
  constexpr uint32_t kRows = 4, kBits = sizeof(U) * 8;
  const U infinity = static_cast<U>(sizeof(U) == 8 ? 0x7ff0000000000000 : 0x7f800000);
  for (const bool descending : {false, true})
    for (const bool nan_last : {false, true}) {
      const KeyCodec<U> codec = make_codec<U>({dtype, descending, nan_last && dtype_facts(dtype).kind == Kind::kFloat});
      for (uint32_t i = 0; i < 20000; ++i) {
        U keys[kRows], rows[kRows];
        for (U &key : keys) {
          key = static_cast<U>(random());
          if (random() % 3 == 0) key = static_cast<U>(key | infinity);
          if (random() % 5 == 0) key = static_cast<U>(infinity | (random() % 2 << (kBits - 1)) | random() % 2);
          if (random() % 5 == 0) key = static_cast<U>(random() % 2 << (kBits - 1) | random() % 2);
        }
        std::copy(keys, keys + kRows, rows);
        encode_rows(codec, rows);
        for (uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(codec.encode(keys[row]), rows[row]) << keys[row];
        decode_rows(codec, rows);
        for (uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(keys[row], rows[row]);
      }
    }
}

TEST(EmulatedMergeSort, RowsAreOrderedAsTheCodecSays) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I32, GSORT_F32}) check_rows<uint32_t>(dtype);
  for (const gsort_dtype dtype : {GSORT_U64, GSORT_I64, GSORT_F64}) check_rows<uint64_t>(dtype);
}

}  // namespace
}  // namespace gsort_internal
