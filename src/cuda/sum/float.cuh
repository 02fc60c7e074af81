// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact accumulation of floats in registers at the speed of reading.
//
// A thread holds one to three doubles, the levels. Level k starts at 1.5 * 2^(e_k + 52), whose last bit is worth 2^e_k,
// and stays in that binade, so adding x to it rounds x to a multiple of 2^e_k, exactly and with an exact remainder that
// goes to level k + 1, whose last bit is worth 2^(e_k - 43). The last level adds exactly if x is a multiple of its last
// bit. So every x of a window of exponents is added exactly, by 3 * levels - 2 additions and no branch. A level is
// emptied into a 64-bit integer every 2^8 additions, before it could leave its binade. Elements outside the window
// (found by one comparison of exponents) go to shared memory: 8-bit exponents to the thread's own bins of 32 exponents
// each, 11-bit exponents, for which that would be too many, to the warp's counters. A thread that meets many of them
// moves its window there.
#ifndef GSORT_CUDA_SUM_FLOAT_CUH_
#define GSORT_CUDA_SUM_FLOAT_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/warp.cuh"
#include "cuda/sum/bins.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/plan.h"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

// Element types: `word` puts sign and exponent at the top of 32 bits.
struct F32 {
  using Bits = uint32_t;
  static constexpr int32_t kMantissaBits = 23, kBias = 127, kLevels = 2, kMarginAbove = 24;
  static constexpr uint32_t kFieldBits = 8;
  __device__ static __forceinline__ uint32_t word(Bits b) { return b; }
  __device__ static __forceinline__ double value(Bits b) { return __uint_as_float(b); }
};

struct Bf16 {
  using Bits = uint16_t;
  static constexpr int32_t kMantissaBits = 7, kBias = 127, kLevels = 1, kMarginAbove = 9;
  static constexpr uint32_t kFieldBits = 8;
  __device__ static __forceinline__ uint32_t word(Bits b) { return static_cast<uint32_t>(b) << 16; }
  __device__ static __forceinline__ double value(Bits b) { return __uint_as_float(word(b)); }
};

struct F64 {
  using Bits = uint64_t;
  static constexpr int32_t kMantissaBits = 52, kBias = 1023, kLevels = 3, kMarginAbove = 24;
  static constexpr uint32_t kFieldBits = 11;
  __device__ static __forceinline__ uint32_t word(Bits b) { return static_cast<uint32_t>(b >> 32); }
  __device__ static __forceinline__ double value(Bits b) { return __longlong_as_double(static_cast<long long>(b)); }
};

constexpr int32_t kChunkBits = 8;   // additions to a level between two emptyings: 2^8
constexpr int32_t kLevelBits = 43;  // 51 - kChunkBits: 2^8 values below 2^(e + 43) stay below 2^(e + 51)

// 2^6 chunks of less than 2^51 units each, over 32 lanes, stay below 2^62.
constexpr uint32_t kChunksMax = 64;

// Counter additions of a warp in one chunk: each element once, and three levels when a thread moves its window, which
// it does after this many elements outside and once more at the end.
constexpr uint32_t kMissesMax = 8;
static_assert(32u * ((1u << kChunkBits) + ((1u << kChunkBits) / kMissesMax + 2) * 3) < Counters::kPendingMax,
              "the counters overflow within a chunk");

struct NoBins {};

template <class Element>
class FloatSum {
 public:
  using Bits = typename Element::Bits;
  static constexpr uint32_t kLimbs = kSumLimbs;
  static constexpr uint32_t kElements = kTileWords * 4 / sizeof(Bits);
  static constexpr bool kBinned = Element::kFieldBits == 8;
  static_assert(sizeof(Bits) != 2 || (kBinned && Element::kLevels == 1), "2-byte elements are taken as bfloat16");
  using Bins = std::conditional_t<kBinned, FloatBins, NoBins>;
  struct Shared {
    Counters counters[Tuning::kThreads / 32];
    Bins bins;
  };

  __device__ __forceinline__ explicit FloatSum(Shared &shared)
      : counters_(shared.counters[threadIdx.x / 32]), bins_(shared.bins) {
    for (uint32_t i = threadIdx.x & 31; i < Counters::kDigits; i += 32) counters_.digit[i] = 0;
    __syncwarp();
    set_window(Element::kBias);
  }

  // The whole warp together, before the first tile: puts the window around the greatest exponent of these elements.
  __device__ __forceinline__ void look_at_first(const uint32_t (&words)[kTileWords]) {
    uint32_t field = 0;
#pragma unroll
    for (uint32_t i = 0; i < kElements; i += 2) {
      const uint32_t f = field_of(at(words, i));
      if (f != kFieldMax) field = max(field, f);
    }
    for (uint32_t d = 16; d > 0; d /= 2) field = max(field, __shfl_xor_sync(0xffffffffu, field, d));
    if (field != 0) set_window(static_cast<int32_t>(field));
  }

  // Elements of one tile; the whole warp together.
  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kTileWords]) {
    if (is_in_window(words)) {
      flags_ |= kSumNotMinus0;
#pragma unroll
      for (uint32_t i = 0; i < kElements; ++i) {
        // Every other one in each way, so that conversions and moves of bits share the work.
        if (sizeof(Bits) == 2 && i % 2 == 1)
          level_[0] = __fma_rn(scaled_down(words[i / 2]), kScale, level_[0]);
        else
          add_level(Element::value(at(words, i)));
      }
    } else {
      add_tile_carefully(words);
    }
    pending_ += kElements;
    if (pending_ == 1u << kChunkBits) end_chunk();
  }

  // An element outside all tiles. At most a few a thread.
  __device__ __forceinline__ void add_single(Bits x) {
    const double value = Element::value(x);
    flags_ |= sum_flags(bits_of_double(value));
    if (field_of(x) != kFieldMax) counters_.add_finite(value);
  }

  // The block's sum: limb `limb` of it. Every thread calls finish() first; a barrier stands between.
  __device__ __forceinline__ void finish() {
    empty_levels();
    flush_warp();
    if constexpr (kBinned) flush_bins();
  }
  __device__ static __forceinline__ int64_t block_limb(const Shared &shared, uint32_t limb) {
    int64_t sum = 0;
    for (const Counters &c : shared.counters)
      sum += c.digit[2 * limb] + static_cast<int64_t>(c.digit[2 * limb + 1]) * 65536;
    return sum;
  }
  __device__ __forceinline__ uint32_t flags() const { return flags_; }

 private:
  static constexpr uint32_t kFieldMax = (1u << Element::kFieldBits) - 1;
  static constexpr uint32_t kFieldShift = 32 - Element::kFieldBits;
  // A value of exponent E has its last bit at E - mantissa and is below 2^(E + 1): this many exponents fit.
  static constexpr int32_t kSpan = Element::kLevels * kLevelBits - Element::kMantissaBits;
  static constexpr uint32_t kWidth = static_cast<uint32_t>(kSpan) << kFieldShift;
  // The last level's unit is 2^(position - 1074); this is the position for a window that began at exponent field 0.
  static constexpr int32_t kPositionBase = 1074 - Element::kBias - Element::kMantissaBits;
  // The first level's binade, unit exponent + 52, must be one that double has, and the last unit at least 2^-1074.
  static constexpr int32_t kLowFieldMax = Element::kFieldBits == 11
                                              ? 1023 - 52 - kLevelBits * (Element::kLevels - 1) + 1074 - kPositionBase
                                              : static_cast<int32_t>(kFieldMax) - kSpan;

  // All elements are covered by the quick way.
  __device__ __forceinline__ bool is_in_window(const uint32_t (&words)[kTileWords]) const {
    bool in_window = true;
    if constexpr (sizeof(Bits) == 2) {
      uint32_t most = 0, least = 0xffffffffu;
#pragma unroll
      for (const uint32_t word : words) {
        const uint32_t magnitudes = word & 0x7fff7fffu;
        most = __vmaxu2(most, magnitudes);
        least = __vminu2(least, magnitudes);
      }
      const uint32_t low = low_ >> 17, end = low + (kWidth >> 17);  // as the magnitude of an element
      in_window = min(least & 0xffff, least >> 16) >= low && max(most & 0xffff, most >> 16) < end;
    } else {
#pragma unroll
      for (uint32_t i = 0; i < kElements; ++i) in_window &= (Element::word(at(words, i)) << 1) - low_ < kWidth;
    }
    return in_window;
  }

  // A word's upper bfloat16 becomes a double by moving bits, which leaves it 2^896 times too small: the exponent's bias
  // is another. Multiplied by that within the addition it comes in exactly, as by a conversion, of which the multi-
  // processor does a quarter as many.
  static constexpr double kScale = 0x1p896;
  __device__ static __forceinline__ double scaled_down(uint32_t word) {
    return __hiloint2double((static_cast<int32_t>(word) >> 3) & static_cast<int32_t>(0x8fffe000u), 0);
  }

  __device__ __forceinline__ void set_window(int32_t field) {
    int32_t low = field + Element::kMarginAbove - (kSpan - 1);
    low = min(max(low, 1), kLowFieldMax);
    position_ = static_cast<uint32_t>(low + kPositionBase);
    low_ = static_cast<uint32_t>(low) << kFieldShift;
#pragma unroll
    for (int32_t k = 0; k < Element::kLevels; ++k) {
      level_[k] = start_of(k);
      units_[k] = 0;
    }
  }

  // 1.5 * 2^(unit + 52). The unit of level k is kLevelBits above that of level k + 1.
  __device__ __forceinline__ double start_of(int32_t k) const {
    const uint32_t unit = position_ + static_cast<uint32_t>((Element::kLevels - 1 - k) * kLevelBits);
    return __hiloint2double(static_cast<int>(((unit - 1074 + 52 + 1023) << 20) | (1u << 19)), 0);
  }

  __device__ __forceinline__ void add_level(double x) {
#pragma unroll
    for (int32_t k = 0; k + 1 < Element::kLevels; ++k) {
      const double sum = __dadd_rn(level_[k], x);
      x = __dsub_rn(x, __dsub_rn(sum, level_[k]));
      level_[k] = sum;
    }
    level_[Element::kLevels - 1] = __dadd_rn(level_[Element::kLevels - 1], x);
  }

  // The same with zeros, subnormals and elements outside the window.
  __device__ __forceinline__ void add_tile_carefully(const uint32_t (&words)[kTileWords]) {
    // In place if that is little code; the 32 copies for 2-byte elements would cost the quick way its registers.
    constexpr bool kInline = kBinned && kElements <= 16;
    uint32_t outside = 0;
#pragma unroll
    for (uint32_t i = 0; i < kElements; ++i) {
      const Bits x = at(words, i);
      const uint32_t magnitude = Element::word(x) << 1;
      const bool zero = static_cast<Bits>(x << 1) == 0;
      // A window that begins at field 1 covers the subnormals, whose spacing is that of field 1.
      const bool subnormal_covered = magnitude >> kFieldShift == 0 && low_ == 1u << kFieldShift;
      const bool covered = magnitude - low_ < kWidth || zero || subnormal_covered;
      if (!zero || x == 0) flags_ |= kSumNotMinus0;
      if (covered) {
        add_level(Element::value(x));
      } else if constexpr (kInline) {
        add_to_bins(x);
      } else {
        outside |= 1u << i;
      }
    }
    while (outside != 0) {
      const uint32_t i = static_cast<uint32_t>(__ffs(static_cast<int>(outside))) - 1;
      outside &= outside - 1;
      if constexpr (kBinned)
        add_to_bins(element_selected<Bits>(words, i));
      else
        add_outsider(element_selected<Bits>(words, i));
    }
  }

  __device__ static __forceinline__ Bits at(const uint32_t (&words)[kTileWords], uint32_t i) {
    return element_at<Bits>(words, i);
  }
  __device__ static __forceinline__ uint32_t field_of(Bits x) { return (Element::word(x) << 1) >> kFieldShift; }

  __device__ __forceinline__ void add_to_bins(Bits x) {
    const uint32_t field = field_of(x);
    if (field == kFieldMax) {
      flags_ |= sum_flags(bits_of_double(Element::value(x)));
      return;
    }
    if (missed_field_ == 0) bins_.clear();
    bins_.add(Element::word(x));
    missed_field_ = max(field, 1u);  // not 0, which says that the bins are not in use
    ++misses_;
  }

  __device__ __forceinline__ void add_outsider(Bits x) {
    add_single(x);
    counted_ = true;
    missed_field_ = field_of(x);
    if (missed_field_ == kFieldMax || ++misses_ < kMissesMax) return;
    empty_levels();
    move_window();
  }

  // The levels are empty.
  __device__ __forceinline__ void move_window() {
    misses_ = 0;
    counted_ = true;
    flush_thread();
    set_window(static_cast<int32_t>(missed_field_));
  }

  // Moves what the levels hold to integers: within one binade the difference of two doubles' bits counts units.
  __device__ __forceinline__ void empty_levels() {
#pragma unroll
    for (int32_t k = 0; k < Element::kLevels; ++k) {
      units_[k] += __double_as_longlong(level_[k]) - __double_as_longlong(start_of(k));
      level_[k] = start_of(k);
    }
  }

  __device__ __forceinline__ void add_units(int32_t k, int64_t units) {
    const uint64_t magnitude = units < 0 ? 0 - static_cast<uint64_t>(units) : static_cast<uint64_t>(units);
    counters_.add(magnitude, position_ + static_cast<uint32_t>((Element::kLevels - 1 - k) * kLevelBits), units < 0);
  }

  __device__ __forceinline__ void flush_thread() {
#pragma unroll
    for (int32_t k = 0; k < Element::kLevels; ++k) {
      add_units(k, units_[k]);
      units_[k] = 0;
    }
  }

  // The whole warp together. As long as no lane has moved its window, lane 0 adds for all.
  __device__ __forceinline__ void flush_warp() {
    if (!__all_sync(0xffffffffu, position_ == __shfl_sync(0xffffffffu, position_, 0))) return flush_thread();
#pragma unroll
    for (int32_t k = 0; k < Element::kLevels; ++k) {
      const int64_t sum = warp_sum(units_[k]);
      if ((threadIdx.x & 31) == 0) add_units(k, sum);
      units_[k] = 0;
    }
  }

  __device__ __forceinline__ void flush_bins() {
    if (!__any_sync(0xffffffffu, missed_field_ != 0)) return;
    if (missed_field_ == 0) bins_.clear();
    bins_.carry();
#pragma unroll 1
    for (uint32_t i = 0; i < FloatBins::kBins; ++i) {
      const int64_t sum = warp_sum(bins_.bin[i][threadIdx.x]);
      const uint64_t magnitude = sum < 0 ? 0 - static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
      if ((threadIdx.x & 31) == 0) counters_.add(magnitude, FloatBins::kPositionOfUnit + 32 * i, sum < 0);
    }
  }

  __device__ __forceinline__ void end_chunk() {
    pending_ = 0;
    empty_levels();
    if constexpr (kBinned) {
      if (misses_ != 0) bins_.carry();
      if (misses_ > 1u << (kChunkBits - 1)) move_window();
      misses_ = 0;
    }
    if (++chunks_ == kChunksMax) {
      chunks_ = 0;
      counted_ = true;
      flush_warp();
    }
    if (__any_sync(0xffffffffu, counted_)) counters_.normalise(threadIdx.x & 31);
    counted_ = false;
  }

  Counters &counters_;
  Bins &bins_;
  double level_[Element::kLevels];
  int64_t units_[Element::kLevels];
  uint32_t position_;  // of the last level's unit above 2^-1074
  uint32_t low_;       // first exponent field of the quick way, at the top of the word
  uint32_t flags_ = 0, pending_ = 0, chunks_ = 0;
  uint32_t misses_ = 0, missed_field_ = 0;  // elements outside the window, and the last one's exponent field
  bool counted_ = false;                    // the counters were added to since their last normalise()
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_FLOAT_CUH_
