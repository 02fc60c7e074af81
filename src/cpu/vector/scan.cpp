// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/scan.h"

#include <cstddef>

#include "core/scan_order.h"
#include "cpu/vector/small_rounding.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/scan.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/network-inl.h"
#include "cpu/vector/widen-inl.h"
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

// The one NaN of results.
template <class F>
constexpr uint64_t kQuietNan = sizeof(F) == 8 ? uint64_t{0x7ff8} << 48 : 0x7fc00000u;

// Rounded once; NaN becomes the one quiet NaN.
template <class D, class V, class F>
HWY_INLINE void store_result(D d, V x, F *to) {
  const hn::RebindToUnsigned<D> bits;
  const auto nan = hn::BitCast(d, hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(kQuietNan<F>)));
  hn::StoreU(hn::IfThenElse(hn::IsNaN(x), nan, x), d, to);
}
HWY_INLINE void store_rounded(DoubleVec x, double *to) { store_result(DoubleTag(), x, to); }
HWY_INLINE void store_rounded(DoubleVec x, float *to) {
  const hn::Rebind<float, DoubleTag> d;
  store_result(d, hn::DemoteTo(d, x), to);
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
  for (size_t c = 0; c < kWide; ++c) v[c] = load_widened(DoubleTag(), chunks + c * kScanChunkItems + square * kWide);
  transpose_square(v);
}

// Replaces each of `count` values, whole vectors of them, by its scan by doubling distances. Before the first there are
// as many values of -0.0, which change nothing.
HWY_INLINE void scan_by_doubling(double *t, size_t count) {
  const DoubleTag d;
  for (size_t distance = 1; distance < count; distance *= 2)
    for (size_t i = count; i > 0; i -= kWide) {
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
  scan_by_doubling(scan.of_chunks(), kScanRowChunks);
  return scan.of_chunks()[kScanRowChunks - 1];
}

// Adds up a group of kWide chunks, side by side: their first sums go to `running`, then their second ones, and so on.
// Returns their totals.
template <class F>
HWY_INLINE DoubleVec add_group(const F *in, double *running) {
  const DoubleTag d;
  auto sum = hn::Set(d, -0.0);
  for (size_t square = 0; square < kSquares; ++square) {
    DoubleVec v[kWide];
    load_square(in, square, v);
    for (size_t i = 0; i < kWide; ++i) {
      sum = hn::Add(sum, v[i]);
      hn::Store(sum, d, running + (square * kWide + i) * kWide);
    }
  }
  return sum;
}

// Writes a group's results; before[i] comes before its chunk i.
template <class F>
HWY_INLINE void write_group(const double *running, DoubleVec before, F *out) {
  const DoubleTag d;
  for (size_t square = 0; square < kSquares; ++square) {
    DoubleVec v[kWide];
    for (size_t i = 0; i < kWide; ++i) v[i] = hn::Add(before, hn::Load(d, running + (square * kWide + i) * kWide));
    transpose_square(v);
    for (size_t c = 0; c < kWide; ++c) store_rounded(v[c], out + c * kScanChunkItems + square * kWide);
  }
}

// A row of doubles is a page, at whose end processors no longer look ahead, and its reads and writes come by turns.
template <class F>
HWY_INLINE void prefetch_group(const F *in, const F *out) {
  constexpr size_t kLineItems = 64 / sizeof(F);
  for (size_t i = 0; i < kGroupItems; i += kLineItems) {
    __builtin_prefetch(in + i);
    __builtin_prefetch(out + i, 1);
  }
}

template <class F>
HWY_NOINLINE double scan_row(const F *in, F *out, double prefix, bool in_memory) {
  const DoubleTag d;
  HWY_ALIGN double running[kScanRowItems];
  ChunkScan scan;
  for (size_t g = 0; g < kGroups; ++g) {
    if (in_memory) prefetch_group(in + kScanRowItems + g * kGroupItems, out + kScanRowItems + g * kGroupItems);
    hn::StoreU(add_group(in + g * kGroupItems, running + g * kGroupItems), d, scan.of_chunks() + g * kWide);
  }
  scan_by_doubling(scan.of_chunks(), kScanRowChunks);
  for (size_t g = 0; g < kGroups; ++g) {
    const auto before = hn::Add(hn::Set(d, prefix), hn::LoadU(d, scan.of_chunks() + g * kWide - 1));
    write_group(running + g * kGroupItems, before, out + g * kGroupItems);
  }
  return scan.of_chunks()[kScanRowChunks - 1];
}

// The results of `count` elements, up to a chunk, whose running sums are `running`.
template <class F>
HWY_INLINE void write_chunk(const double *running, double before, uint32_t count, F *out) {
  const DoubleTag d;
  const hn::CappedTag<double, 1> d_one;
  const hn::Rebind<F, decltype(d_one)> d_result;
  uint32_t i = 0;
  for (; i + kWide <= count; i += kWide) store_rounded(hn::Add(hn::Set(d, before), hn::Load(d, running + i)), out + i);
  for (; i < count; ++i) store_result(d_result, hn::Set(d_result, static_cast<F>(before + running[i])), out + i);
}

// Groups of chunks side by side as far as there are whole ones, and the chunks behind them one by one.
template <class F>
HWY_NOINLINE void scan_last_row(const F *in, F *out, uint32_t count, double prefix) {
  const DoubleTag d;
  HWY_ALIGN double running[kScanRowItems];
  ChunkScan scan;
  const uint32_t groups = count / kGroupItems, begin_of_rest = groups * kGroupItems;
  for (uint32_t g = 0; g < groups; ++g)
    hn::StoreU(add_group(in + g * kGroupItems, running + g * kGroupItems), d, scan.of_chunks() + g * kWide);
  uint32_t chunks = groups * kWide;
  hn::StoreU(hn::Set(d, -0.0), d, scan.of_chunks() + chunks);  // fewer are left than a vector has lanes
  for (uint32_t begin = begin_of_rest; begin < count; begin += kScanChunkItems, ++chunks) {
    const uint32_t end = count - begin < kScanChunkItems ? count : begin + kScanChunkItems;
    double sum = -0.0;
    for (uint32_t i = begin; i < end; ++i) running[i] = sum = sum + static_cast<double>(in[i]);
    scan.of_chunks()[chunks] = sum;
  }
  if (chunks > 1) scan_by_doubling(scan.of_chunks(), (chunks + kWide - 1) / kWide * kWide);
  for (uint32_t g = 0; g < groups; ++g) {
    const auto before = hn::Add(hn::Set(d, prefix), hn::LoadU(d, scan.of_chunks() + g * kWide - 1));
    write_group(running + g * kGroupItems, before, out + g * kGroupItems);
  }
  const double *before = scan.of_chunks() + groups * kWide - 1;
  for (uint32_t begin = begin_of_rest; begin < count; begin += kScanChunkItems, ++before) {
    const uint32_t items = count - begin < kScanChunkItems ? count - begin : kScanChunkItems;
    write_chunk(running + begin, prefix + *before, items, out + begin);
  }
}

using BitsTag = hn::RebindToUnsigned<DoubleTag>;
using BitsVec = hn::Vec<BitsTag>;
HWY_INLINE BitsVec constant(uint64_t value) { return hn::Set(BitsTag(), value); }
HWY_INLINE BitsVec double_bits(DoubleVec x) { return hn::BitCast(BitsTag(), x); }
HWY_INLINE DoubleVec doubles_of(BitsVec bits) { return hn::BitCast(DoubleTag(), bits); }

// The first 16 bits of the lanes of `a`, the second ones of `b`, the third of `c`, the last of `e`.
HWY_INLINE BitsVec columns(BitsVec a, BitsVec b, BitsVec c, BitsVec e) {
  const hn::Repartition<uint16_t, BitsTag> d;
  const hn::Repartition<uint32_t, BitsTag> d_halves;
  const auto lower = hn::OddEven(hn::BitCast(d, b), hn::BitCast(d, a)),
             upper = hn::OddEven(hn::BitCast(d, e), hn::BitCast(d, c));
  return hn::BitCast(BitsTag(), hn::OddEven(hn::BitCast(d_halves, upper), hn::BitCast(d_halves, lower)));
}

// The steps and numbers of a type of 2-byte floats, so that the kernel is there once.
struct SmallType {
  // Adds up a group as add_group(), and writes the totals of its chunks.
  void (*add)(const uint16_t *in, double *running, double *totals);
  // Those of SmallRounding.
  int shift;
  uint64_t least_normal, bound, to_units;
  uint16_t excess, quiet_nan;
};
template <class F>
HWY_NOINLINE void add_small_group(const uint16_t *in, double *running, double *totals) {
  hn::StoreU(add_group(reinterpret_cast<const F *>(in), running), DoubleTag(), totals);
}
template <class F, class Small, class To = SmallRounding<Small>>
constexpr SmallType kSmallType = {add_small_group<F>, To::kShift,  To::kLeastNormal, To::kBound,
                                  To::kToUnits,       To::kExcess, Small::kQuietNan};

// SmallRounding in lanes, but that NaNs become something else.
class LaneRounding {
 public:
  HWY_INLINE explicit LaneRounding(const SmallType &type)
      : bound_(doubles_of(constant(type.bound))),
        least_normal_(doubles_of(constant(type.least_normal))),
        to_units_(constant(type.to_units)),
        excess_(hn::Set(SmallTag(), type.excess)),
        shift_(type.shift) {}

  // Of the doubles of four vectors in the same lane, side by side.
  HWY_INLINE BitsVec four(DoubleVec a, DoubleVec b, DoubleVec c, DoubleVec e) const {
    const BitsTag d;
    const auto magnitudes = columns(magnitude(a), hn::ShiftLeft<16>(magnitude(b)), hn::ShiftLeft<32>(magnitude(c)),
                                    hn::ShiftLeft<48>(magnitude(e)));
    const auto signs = columns(hn::ShiftRight<48>(double_bits(a)), hn::ShiftRight<32>(double_bits(b)),
                               hn::ShiftRight<16>(double_bits(c)), double_bits(e));
    const auto moved = hn::BitCast(d, hn::Sub(hn::BitCast(SmallTag(), magnitudes), excess_));
    return hn::Or(moved, hn::And(signs, constant(0x8000800080008000u)));
  }

 private:
  using SmallTag = hn::Repartition<uint16_t, BitsTag>;

  // The result's magnitude plus the excess, in the first 16 bits of lanes.
  HWY_INLINE BitsVec magnitude(DoubleVec x) const {
    const DoubleVec bounded = hn::Min(hn::Abs(x), bound_);
    const DoubleVec binade = hn::Max(doubles_of(hn::And(double_bits(bounded), constant(kDoubleInf))), least_normal_);
    const DoubleVec units = hn::Add(bounded, doubles_of(hn::Add(double_bits(binade), to_units_)));
    return hn::Add(hn::ShiftRightSame(double_bits(binade), shift_), hn::Sub(double_bits(units), double_bits(binade)));
  }

  DoubleVec bound_, least_normal_;
  BitsVec to_units_;
  hn::Vec<SmallTag> excess_;
  int shift_;
};

// Writes blocks of 16 bytes to every second chunk.
template <class D>
HWY_INLINE void store_to_chunks(D d, hn::Vec<D> blocks, uint16_t *to) {
  if constexpr (hn::MaxLanes(d) == 2) {
    hn::StoreU(hn::BitCast(hn::Repartition<uint16_t, D>(), blocks), hn::Repartition<uint16_t, D>(), to);
  } else {
    const hn::Half<D> half;
    store_to_chunks(half, hn::LowerHalf(half, blocks), to);
    store_to_chunks(half, hn::UpperHalf(half, blocks), to + hn::MaxLanes(half) * kScanChunkItems);
  }
}

// A row's running sums of chunks by groups, and what comes before them.
struct SmallRow {
  const SmallType &type;
  const double *running;
  const double *chunks;  // their scan; there is a value before it
  double prefix;
};

// As write_group() for groups from `first` to `end` - 1: what stands in a lane is of one chunk, so that nothing is
// transposed.
HWY_NOINLINE void write_small_groups(const SmallRow &row, size_t first, size_t end, uint16_t *out) {
  const DoubleTag d;
  const BitsTag d_bits;
  const LaneRounding rounding(row.type);
  for (size_t g = first; g < end; ++g) {
    const auto before = hn::Add(hn::Set(d, row.prefix), hn::LoadU(d, row.chunks + g * kWide - 1));
    for (size_t i = 0; i < kScanChunkItems; i += 8) {
      const double *const from = row.running + g * kGroupItems + i * kWide;
      const auto sum = [=](size_t k) HWY_ATTR { return hn::Add(before, hn::Load(d, from + k * kWide)); };
      const BitsVec a = rounding.four(sum(0), sum(1), sum(2), sum(3)),
                    b = rounding.four(sum(4), sum(5), sum(6), sum(7));
      uint16_t *const to = out + (g - first) * kGroupItems + i;
      store_to_chunks(d_bits, hn::InterleaveLower(d_bits, a, b), to);
      store_to_chunks(d_bits, hn::InterleaveUpper(d_bits, a, b), to + kScanChunkItems);
    }
  }
}

// Writes the one NaN of results where those of the groups are NaNs.
HWY_NOINLINE void write_small_nans(const SmallRow &row, size_t first, size_t end, uint16_t *out) {
  for (size_t i = first * kGroupItems; i < end * kGroupItems; ++i) {
    const size_t chunk = i / kScanChunkItems,
                 at = chunk / kWide * kGroupItems + i % kScanChunkItems * kWide + chunk % kWide;
    const double result = (row.prefix + row.chunks[static_cast<std::ptrdiff_t>(chunk) - 1]) + row.running[at];
    if (result != result) out[i - first * kGroupItems] = row.type.quiet_nan;
  }
}

// A row that is no whole groups is filled up with -0.0.
HWY_NOINLINE double scan_small_row_of(const SmallType &type, const uint16_t *in, uint16_t *out, uint32_t count,
                                      double prefix) {
  HWY_ALIGN double running[kScanRowItems];
  HWY_ALIGN uint16_t last[kGroupItems];
  ChunkScan scan;
  const size_t whole = count / kGroupItems, rest = count % kGroupItems, groups = whole + (rest != 0 ? 1 : 0);
  if (rest != 0) {
    for (uint16_t &x : last) x = 0x8000;
    __builtin_memcpy(last, in + whole * kGroupItems, rest * sizeof *last);
  }
  double *const chunks = scan.of_chunks();
  for (size_t g = 0; g < groups; ++g)
    type.add(g < whole ? in + g * kGroupItems : last, running + g * kGroupItems, chunks + g * kWide);
  scan_by_doubling(chunks, groups * kWide);
  const double total = chunks[groups * kWide - 1];
  if (out == nullptr) return total;
  const SmallRow row = {type, running, chunks, prefix};
  write_small_groups(row, 0, whole, out);
  if (rest != 0) write_small_groups(row, whole, groups, last);
  // A NaN stays one in all sums that it is a part of, and so do infinities of both signs: the last result tells.
  const double last_result = (prefix + chunks[groups * kWide - 2]) + running[groups * kGroupItems - 1];
  if (HWY_UNLIKELY(last_result != last_result)) {
    write_small_nans(row, 0, whole, out);
    write_small_nans(row, whole, groups, last);
  }
  if (rest != 0) __builtin_memcpy(out + whole * kGroupItems, last, rest * sizeof *last);
  return total;
}
template <class F, class Small>
double scan_small_row(const uint16_t *in, uint16_t *out, uint32_t count, double prefix) {
  return scan_small_row_of(kSmallType<F, Small>, in, out, count, prefix);
}

// Blocks of 16 bytes side by side: each is added up in itself, and the totals of those before are added to it. More
// than two would wait for as many totals.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
constexpr size_t kScanBytes = 32;
#else
constexpr size_t kScanBytes = 16;
#endif

// For each block its last element, in all lanes.
template <class D, class V>
HWY_INLINE V last_of_blocks(D d, V v) {
  constexpr uint8_t size = sizeof(hn::TFromD<D>);
  const hn::Repartition<uint8_t, D> bytes;
  const auto of_element = hn::And(hn::Iota(bytes, 0), hn::Set(bytes, static_cast<uint8_t>(size - 1)));
  const auto places = hn::Add(of_element, hn::Set(bytes, static_cast<uint8_t>(16 - size)));
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, v), places));
}

template <class T, bool kExclusive>
T scan_each(const T *in, T *out, uint64_t n, T before) {
  const hn::CappedTag<T, kScanBytes / sizeof(T)> d;
  constexpr size_t kItems = kScanBytes / sizeof(T);
  auto carry = hn::Set(d, before);
  uint64_t i = 0;
  for (; i + kItems <= n; i += kItems) {
    const auto x = hn::LoadU(d, in + i);
    auto sums = hn::Add(x, hn::ShiftLeftLanes<1>(d, x));
    if constexpr (sizeof(T) <= 4) sums = hn::Add(sums, hn::ShiftLeftLanes<2>(d, sums));
    if constexpr (sizeof(T) <= 2) sums = hn::Add(sums, hn::ShiftLeftLanes<4>(d, sums));
    if constexpr (sizeof(T) == 1) sums = hn::Add(sums, hn::ShiftLeftLanes<8>(d, sums));
    auto totals = last_of_blocks(d, sums);
    sums = hn::Add(sums, carry);
    if constexpr (kScanBytes == 32) {
      sums = hn::Add(sums, hn::ConcatLowerLower(d, totals, hn::Zero(d)));
      totals = hn::Add(totals, hn::ConcatLowerUpper(d, totals, totals));
    }
    hn::StoreU(kExclusive ? hn::Sub(sums, x) : sums, d, out + i);
    carry = hn::Add(carry, totals);  // the one step that waits for the vector before
  }
  T sum = hn::GetLane(carry);
  for (; i < n; ++i) {
    const T x = in[i], next = static_cast<T>(sum + x);
    out[i] = kExclusive ? sum : next;
    sum = next;
  }
  return sum;
}

template <class T>
T scan_integers(const T *in, T *out, uint64_t n, T before, bool exclusive) {
  return exclusive ? scan_each<T, true>(in, out, n, before) : scan_each<T, false>(in, out, n, before);
}

}  // namespace

extern const IntegerScanKernels<uint8_t> kScan8;
extern const IntegerScanKernels<uint16_t> kScan16;
extern const IntegerScanKernels<uint32_t> kScan32;
extern const IntegerScanKernels<uint64_t> kScan64;
const IntegerScanKernels<uint8_t> kScan8 = {scan_integers<uint8_t>};
const IntegerScanKernels<uint16_t> kScan16 = {scan_integers<uint16_t>};
const IntegerScanKernels<uint32_t> kScan32 = {scan_integers<uint32_t>};
const IntegerScanKernels<uint64_t> kScan64 = {scan_integers<uint64_t>};

extern const ScanKernels<float> kScanFloats;
extern const ScanKernels<double> kScanDoubles;
const ScanKernels<float> kScanFloats = {row_total<float>, scan_row<float>, scan_last_row<float>};
const ScanKernels<double> kScanDoubles = {row_total<double>, scan_row<double>, scan_last_row<double>};

extern const SmallFloatScan kScanHalves;
extern const SmallFloatScan kScanBFloat16s;
const SmallFloatScan kScanHalves = {scan_small_row<hwy::float16_t, Half>};
const SmallFloatScan kScanBFloat16s = {scan_small_row<hwy::bfloat16_t, BFloat16>};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(IntegerScanKernels<uint8_t>, integer_scan_kernels, uint8_t, kScan8)
GSORT_DEFINE_KERNELS_OF(IntegerScanKernels<uint16_t>, integer_scan_kernels, uint16_t, kScan16)
GSORT_DEFINE_KERNELS_OF(IntegerScanKernels<uint32_t>, integer_scan_kernels, uint32_t, kScan32)
GSORT_DEFINE_KERNELS_OF(IntegerScanKernels<uint64_t>, integer_scan_kernels, uint64_t, kScan64)
GSORT_DEFINE_KERNELS_OF(ScanKernels<float>, scan_kernels, float, kScanFloats)
GSORT_DEFINE_KERNELS_OF(ScanKernels<double>, scan_kernels, double, kScanDoubles)
GSORT_DEFINE_KERNELS_OF(SmallFloatScan, half_scan, , kScanHalves)
GSORT_DEFINE_KERNELS_OF(SmallFloatScan, bfloat16_scan, , kScanBFloat16s)
}  // namespace gsort_internal
#endif
