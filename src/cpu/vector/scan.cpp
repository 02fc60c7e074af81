// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/scan.h"

#include <cstddef>

#include "core/scan_order.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/scan.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/network-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
constexpr size_t kWide = HWY_MAX_BYTES / sizeof(double);  // chunks side by side
constexpr size_t kGroups = kScanRowChunks / kWide, kGroupItems = kScanChunkItems * kWide;
constexpr size_t kSquares = kScanChunkItems / kWide;  // of kWide elements of kWide chunks
static_assert(kScanChunkItems % kWide == 0 && kScanRowChunks % kWide == 0, "chunks fill whole vectors");

HWY_INLINE DoubleVec load_widened(const double *from) { return hn::LoadU(DoubleTag(), from); }
HWY_INLINE DoubleVec load_widened(const float *from) {
  const DoubleTag d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, DoubleTag>(), from));
}

// Rounded once; NaN becomes the one quiet NaN.
HWY_INLINE void store_rounded(DoubleVec x, double *to) {
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> bits;
  const auto nan = hn::BitCast(d, hn::Set(bits, uint64_t{0x7ff8} << 48));
  hn::StoreU(hn::IfThenElse(hn::IsNaN(x), nan, x), d, to);
}
HWY_INLINE void store_rounded(DoubleVec x, float *to) {
  const hn::Rebind<float, DoubleTag> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const auto rounded = hn::DemoteTo(d, x);
  const auto nan = hn::BitCast(d, hn::Set(bits, 0x7fc00000u));
  hn::StoreU(hn::IfThenElse(hn::IsNaN(rounded), nan, rounded), d, to);
}

// A square matrix of doubles, one vector a row, transposed.
HWY_INLINE void transpose_square(DoubleVec *v) {
  const DoubleTag d;
  const KeyTag<uint64_t> d_bits;
  KeyVec<uint64_t> bits[2 * kWide];
  for (size_t i = 0; i < kWide; ++i) bits[i] = hn::BitCast(d_bits, v[i]);
  Transpose<uint64_t, kWide>::run(bits);
  for (size_t i = 0; i < kWide; ++i) v[i] = hn::BitCast(d, bits[i]);
}

// The elements of kWide chunks from element `square` * kWide on; v[i] holds element i of each chunk.
template <class F>
HWY_INLINE void load_square(const F *chunks, size_t square, DoubleVec *v) {
  for (size_t c = 0; c < kWide; ++c) v[c] = load_widened(chunks + c * kScanChunkItems + square * kWide);
  transpose_square(v);
}

// Replaces each of kCount values by its scan by doubling distances. Before the first there are kCount values of -0.0,
// which change nothing.
template <size_t kCount>
HWY_INLINE void scan_by_doubling(double *t) {
  const DoubleTag d;
  for (size_t distance = 1; distance < kCount; distance *= 2)
    for (size_t i = kCount; i > 0; i -= kWide) {
      double *const at = t + (i - kWide);
      hn::StoreU(hn::Add(hn::LoadU(d, at - distance), hn::LoadU(d, at)), d, at);
    }
}

// The scan of the totals of a row's chunks, with room before it for what is missing.
struct ChunkScan {
  double values[2 * kScanRowChunks];
  double *of_chunks() { return values + kScanRowChunks; }
  HWY_INLINE ChunkScan() {
    const DoubleTag d;
    for (size_t i = 0; i < kScanRowChunks; i += kWide) hn::StoreU(hn::Set(d, -0.0), d, values + i);
  }
};

template <class F>
HWY_NOINLINE double row_total(const F *in) {
  const DoubleTag d;
  ChunkScan scan;
  for (size_t g = 0; g < kGroups; ++g) {
    auto sum = hn::Set(d, -0.0);
    for (size_t square = 0; square < kSquares; ++square) {
      DoubleVec v[kWide];
      load_square(in + g * kGroupItems, square, v);
      for (size_t i = 0; i < kWide; ++i) sum = hn::Add(sum, v[i]);
    }
    hn::StoreU(sum, d, scan.of_chunks() + g * kWide);
  }
  scan_by_doubling<kScanRowChunks>(scan.of_chunks());
  return scan.of_chunks()[kScanRowChunks - 1];
}

template <class F>
HWY_NOINLINE double scan_row(const F *in, F *out, double prefix) {
  const DoubleTag d;
  HWY_ALIGN double running[kScanRowItems];  // kWide chunks' first sums, their second ones, and so on
  ChunkScan scan;
  for (size_t g = 0; g < kGroups; ++g) {
    auto sum = hn::Set(d, -0.0);
    for (size_t square = 0; square < kSquares; ++square) {
      DoubleVec v[kWide];
      load_square(in + g * kGroupItems, square, v);
      for (size_t i = 0; i < kWide; ++i) {
        sum = hn::Add(sum, v[i]);
        hn::Store(sum, d, running + g * kGroupItems + (square * kWide + i) * kWide);
      }
    }
    hn::StoreU(sum, d, scan.of_chunks() + g * kWide);
  }
  scan_by_doubling<kScanRowChunks>(scan.of_chunks());
  for (size_t g = 0; g < kGroups; ++g) {
    const auto before = hn::Add(hn::Set(d, prefix), hn::LoadU(d, scan.of_chunks() + g * kWide - 1));
    for (size_t square = 0; square < kSquares; ++square) {
      DoubleVec v[kWide];
      for (size_t i = 0; i < kWide; ++i)
        v[i] = hn::Add(before, hn::Load(d, running + g * kGroupItems + (square * kWide + i) * kWide));
      transpose_square(v);
      for (size_t c = 0; c < kWide; ++c)
        store_rounded(v[c], out + g * kGroupItems + c * kScanChunkItems + square * kWide);
    }
  }
  return scan.of_chunks()[kScanRowChunks - 1];
}

// Sums within vectors of 16 bytes, wider ones being of no use: each vector waits for the last lane of the one before.
template <class T, bool kExclusive>
T scan_each(const T *in, T *out, uint64_t n, T before) {
  const hn::Full128<T> d;
  constexpr size_t kItems = 16 / sizeof(T);
  auto carry = hn::Set(d, before);
  uint64_t i = 0;
  for (; i + kItems <= n; i += kItems) {
    const auto x = hn::LoadU(d, in + i);
    auto sums = hn::Add(x, hn::ShiftLeftLanes<1>(d, x));
    if constexpr (kItems == 4) sums = hn::Add(sums, hn::ShiftLeftLanes<2>(d, sums));
    sums = hn::Add(sums, carry);
    hn::StoreU(kExclusive ? hn::Sub(sums, x) : sums, d, out + i);
    carry = hn::Broadcast<kItems - 1>(sums);
  }
  T sum = hn::GetLane(carry);
  for (; i < n; ++i) {
    const T x = in[i];
    out[i] = static_cast<T>(kExclusive ? sum : sum + x);
    sum = static_cast<T>(sum + x);
  }
  return sum;
}

template <class T>
T scan_integers(const T *in, T *out, uint64_t n, T before, bool exclusive) {
  return exclusive ? scan_each<T, true>(in, out, n, before) : scan_each<T, false>(in, out, n, before);
}

}  // namespace

extern const IntegerScanKernels<uint32_t> kScan32;
const IntegerScanKernels<uint32_t> kScan32 = {scan_integers<uint32_t>};

extern const ScanKernels<float> kScanFloats;
extern const ScanKernels<double> kScanDoubles;
const ScanKernels<float> kScanFloats = {row_total<float>, scan_row<float>};
const ScanKernels<double> kScanDoubles = {row_total<double>, scan_row<double>};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(IntegerScanKernels<uint32_t>, integer_scan_kernels, uint32_t, kScan32)
GSORT_DEFINE_KERNELS_OF(ScanKernels<float>, scan_kernels, float, kScanFloats)
GSORT_DEFINE_KERNELS_OF(ScanKernels<double>, scan_kernels, double, kScanDoubles)
}  // namespace gsort_internal
#endif
