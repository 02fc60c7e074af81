// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums. Integers wrap, so any order will do; floats follow core/scan_order.h to the letter.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/half.h"
#include "core/scan_order.h"
#include "cpu/engine/operations.h"
#include "cpu/scan/threads.h"
#include "cpu/vector/scan.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kScanChunkOfIntegers = 1 << 16;
constexpr uint64_t kScanChunkOfIntegersMin = 1 << 15;  // some ten microseconds of work

template <class T>
T scan_integer_chunk(const T *in, T *out, Range range, T before, bool exclusive) {
  if (const IntegerScanKernels<T> *const kernels = integer_scan_kernels(T{}))
    return kernels->scan(in + range.begin, out + range.begin, range.size(), before, exclusive);
  T sum = before;
  for (uint64_t i = range.begin; i < range.end; ++i) {
    const T next = static_cast<T>(sum + in[i]);
    out[i] = exclusive ? sum : next;
    sum = next;
  }
  return sum;
}

template <class T>
T sum_integer_chunk(const T *in, Range range) {
  T sum = 0;
  for (uint64_t i = range.begin; i < range.end; ++i) sum = static_cast<T>(sum + in[i]);
  return sum;
}

template <class T>
void scan_integers(Context &context, const Request &r) {
  const T *const in = static_cast<const T *>(r.in);
  T *const out = static_cast<T *>(r.out);
  const uint32_t threads = integer_scan_threads(r.n * sizeof(T), context.threads());
  context.limit_threads(threads, 1);
  const uint64_t chunks = context.parts_for(r.n, kScanChunkOfIntegersMin, kScanChunkOfIntegers);
  const auto range_of = [&](uint64_t c) { return part_of(r.n, c, chunks, kLineBytes); };
  if (chunks <= 1 || context.threads() == 1) {
    context.begin(r.n);
    T before = 0;
    for (uint64_t c = 0; c < chunks; ++c) {
      before = scan_integer_chunk(in, out, range_of(c), before, r.exclusive);
      if (in != out) context.control.checkpoint(range_of(c).end, r.n);  // a half-written scan is no permutation
    }
    return;
  }
  const HostBuffer<T> sums(context.memory, chunks);
  context.begin(2 * r.n);
  context.for_each(chunks, [&](uint64_t c, uint32_t) {
    sums[c] = sum_integer_chunk(in, range_of(c));
    context.advance(range_of(c).size());
  });
  context.throw_if_stopped();
  T before = 0;
  for (uint64_t c = 0; c < chunks; ++c) {
    const T sum = sums[c];
    sums[c] = before;
    before = static_cast<T>(before + sum);
  }
  context.for_each_unbroken(
      chunks, [&](uint64_t c, uint32_t) { scan_integer_chunk(in, out, range_of(c), sums[c], r.exclusive); });
}

// How elements of the float types become doubles and running sums become elements. Kernel: the type whose rows vector
// kernels read and write; others are widened and rounded here.
struct F16Elements {
  using Bits = uint16_t;
  using Kernel = void;
  static double load(uint16_t bits) { return Half::to_double(bits); }
  static uint16_t store(double x) { return Half::from_double(x); }
};
struct BF16Elements {
  using Bits = uint16_t;
  using Kernel = void;
  static double load(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &wide, sizeof x);
    return static_cast<double>(x);
  }
  static uint16_t store(double x) { return BFloat16::from_double(x); }
};
struct F32Elements {
  using Bits = uint32_t;
  using Kernel = float;
  static double load(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<double>(x);
  }
  static uint32_t store(double sum) {
    const float x = static_cast<float>(sum);
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7fc00000u : bits;
  }
};
struct F64Elements {
  using Bits = uint64_t;
  using Kernel = double;
  static double load(uint64_t bits) { return double_of_bits(bits); }
  static uint64_t store(double x) { return x != x ? kDoubleQuietNan : bits_of_double(x); }
};

// Inclusive scan of `count` values, all steps of one distance at once. Value i depends on none after it.
inline void scan_in_steps(double *t, uint32_t count) {
  for (uint32_t d = 1; d < count; d *= 2)
    for (uint32_t i = count; i-- > d;) t[i] = t[i - d] + t[i];
}

// What comes before value `count` of the scan of values of which `count` are known.
template <uint32_t kCount>
double scan_before(const double *values, uint32_t count) {
  if (count == 0) return -0.0;
  double scan[kCount];
  for (uint32_t i = 0; i < kCount; ++i) scan[i] = i < count ? values[i] : -0.0;
  scan_in_steps(scan, kCount);
  return scan[count - 1];
}

// The kernels of rows of doubles where there are no vectors.
double plain_scan_row(const double *in, double *out, double prefix) {
  double running[kScanRowItems], chunks[kScanRowChunks];
  for (uint32_t c = 0; c < kScanRowChunks; ++c) {
    double sum = -0.0;  // the identity: the first element comes out as it is
    for (uint32_t i = 0; i < kScanChunkItems; ++i) {
      sum = sum + in[c * kScanChunkItems + i];
      running[c * kScanChunkItems + i] = sum;
    }
    chunks[c] = sum;
  }
  scan_in_steps(chunks, kScanRowChunks);
  for (uint32_t c = 0; c < kScanRowChunks; ++c) {
    const double before = prefix + (c == 0 ? -0.0 : chunks[c - 1]);
    for (uint32_t i = 0; i < kScanChunkItems; ++i)
      out[c * kScanChunkItems + i] = before + running[c * kScanChunkItems + i];
  }
  return chunks[kScanRowChunks - 1];
}
double plain_row_total(const double *in) {
  double unused[kScanRowItems];
  return plain_scan_row(in, unused, -0.0);
}
constexpr ScanKernels<double> kPlainScan = {plain_row_total, plain_scan_row};

// Rows of elements, the last of which may be short: absent elements are -0.0.
template <class E>
class Rows {
 public:
  using Bits = typename E::Bits;

  double total(const Bits *in, uint32_t count) const {
    if constexpr (kHasKernel)
      if (kernels_ != nullptr && count == kScanRowItems)
        return kernels_->row_total(reinterpret_cast<const Kernel *>(in));
    double widened[kScanRowItems];
    widen(in, count, widened);
    return doubles_->row_total(widened);
  }

  double scan(const Bits *in, Bits *out, uint32_t count, double prefix) const {
    if constexpr (kHasKernel)
      if (kernels_ != nullptr && count == kScanRowItems)
        return kernels_->scan_row(reinterpret_cast<const Kernel *>(in), reinterpret_cast<Kernel *>(out), prefix);
    double results[kScanRowItems];
    widen(in, count, results);
    const double sum = doubles_->scan_row(results, results, prefix);
    for (uint32_t i = 0; i < count; ++i) out[i] = E::store(results[i]);
    return sum;
  }

 private:
  static constexpr bool kHasKernel = !std::is_void<typename E::Kernel>::value;
  using Kernel = std::conditional_t<kHasKernel, typename E::Kernel, double>;

  static void widen(const Bits *in, uint32_t count, double *to) {
    for (uint32_t i = 0; i < kScanRowItems; ++i) to[i] = i < count ? E::load(in[i]) : -0.0;
  }

  const ScanKernels<Kernel> *kernels_ = scan_kernels(Kernel{});
  const ScanKernels<double> *doubles_ = scan_kernels(double{}) != nullptr ? scan_kernels(double{}) : &kPlainScan;
};

// The prefixes of tiles, one after the other.
class TilePrefixes {
 public:
  double next() const { return group_prefix_ + (before_run_ + in_run_); }

  // Takes the total of the tile whose prefix was next().
  void add(double total) {
    in_run_ = in_run_ + total;
    if (++tile_ % kScanRunTiles != 0) return;
    runs_[tile_ / kScanRunTiles - 1] = in_run_;
    in_run_ = -0.0;
    before_run_ = scan_before<kScanGroupRuns>(runs_, tile_ / kScanRunTiles);
    if (tile_ < kScanGroupTiles) return;
    group_prefix_ = group_prefix_ + before_run_;
    before_run_ = -0.0;
    tile_ = 0;
  }

 private:
  double runs_[kScanGroupRuns];  // totals of the group's runs so far
  double group_prefix_ = -0.0, before_run_ = -0.0, in_run_ = -0.0;
  uint32_t tile_ = 0;  // of the group
};

template <class E>
class FloatScan {
 public:
  using Bits = typename E::Bits;
  FloatScan(Context &context, const Request &r)
      : context_(context),
        in_(static_cast<const Bits *>(r.in)),
        out_(static_cast<Bits *>(r.out)),
        n_(r.n),
        exclusive_(r.exclusive),
        tiles_(divide_up(r.n, kScanTileItems)) {}

  void run() {
    context_.limit_threads(n_, kScanItemsOfThread);
    if (context_.threads() == 1) return run_alone();
    const HostBuffer<double> prefixes(context_.memory, tiles_);
    const HostBuffer<Bits> lasts(context_.memory, tiles_);
    context_.begin(2 * n_);
    context_.for_each(tiles_, [&](uint64_t tile, uint32_t) {
      if (context_.stopped()) return;
      prefixes[tile] = tile_total(tile);
      context_.advance(kScanTileItems);
    });
    context_.throw_if_stopped();
    TilePrefixes next;
    for (uint64_t tile = 0; tile < tiles_; ++tile) {
      const double total = prefixes[tile];
      prefixes[tile] = next.next();
      next.add(total);
    }
    // From here on results are written, perhaps over their input: there is no way back.
    context_.for_each_unbroken(tiles_, [&](uint64_t tile, uint32_t) { scan_tile(tile, prefixes[tile], lasts[tile]); });
    if (!exclusive_) return;
    // The first result of a tile comes from the tile before, which may not have been read when the tile was written.
    for (uint64_t tile = 0; tile < tiles_; ++tile) out_[tile * kScanTileItems] = tile == 0 ? Bits{0} : lasts[tile - 1];
  }

 private:
  static constexpr uint64_t kScanItemsOfThread = 1 << 14;
  static constexpr uint64_t kTilesBetweenChecks = 64;

  // One read: a tile's prefix needs only the tiles before.
  void run_alone() {
    context_.begin(n_);
    TilePrefixes prefixes;
    Bits last = 0;
    for (uint64_t tile = 0; tile < tiles_; ++tile) {
      prefixes.add(scan_tile(tile, prefixes.next(), last));
      // A half-written scan over its own input is no way back.
      if (in_ != out_ && tile % kTilesBetweenChecks == 0)
        context_.control.checkpoint(min_u64(n_, (tile + 1) * kScanTileItems), n_);
    }
  }

  uint32_t count_of(uint64_t tile) const {
    return static_cast<uint32_t>(min_u64(kScanTileItems, n_ - tile * kScanTileItems));
  }

  double tile_total(uint64_t tile) const {
    const Bits *const in = in_ + tile * kScanTileItems;
    const uint32_t count = count_of(tile);
    double rows[kScanTileRows];
    uint32_t row = 0;
    for (uint32_t begin = 0; begin < count; begin += kScanRowItems)
      rows[row++] = rows_.total(in + begin, min_u32(kScanRowItems, count - begin));
    return total_of(rows, row);
  }

  static double total_of(const double *rows, uint32_t known) {
    double scan[kScanTileRows];
    for (uint32_t row = 0; row < kScanTileRows; ++row) scan[row] = row < known ? rows[row] : -0.0;
    scan_in_steps(scan, kScanTileRows);
    return scan[kScanTileRows - 1];
  }

  // Writes a tile's results and returns its total. An exclusive scan moves them by one: the first result is `last`,
  // which becomes the last.
  double scan_tile(uint64_t tile, double prefix, Bits &last) const {
    const Bits *const in = in_ + tile * kScanTileItems;
    Bits *const out = out_ + tile * kScanTileItems;
    const uint32_t count = count_of(tile);
    double rows[kScanTileRows];
    uint32_t row = 0;
    for (uint32_t begin = 0; begin < count; begin += kScanRowItems, ++row) {
      const uint32_t row_count = min_u32(kScanRowItems, count - begin);
      const double row_prefix = prefix + scan_before<kScanTileRows>(rows, row);
      if (!exclusive_) {
        rows[row] = rows_.scan(in + begin, out + begin, row_count, row_prefix);
        continue;
      }
      Bits results[kScanRowItems];
      rows[row] = rows_.scan(in + begin, results, row_count, row_prefix);
      out[begin] = last;
      std::memcpy(out + begin + 1, results, (row_count - 1) * sizeof(Bits));
      last = results[row_count - 1];
    }
    return total_of(rows, row);
  }

  static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

  Context &context_;
  const Bits *in_;
  Bits *out_;
  uint64_t n_;
  bool exclusive_;
  uint64_t tiles_;
  Rows<E> rows_;
};

}  // namespace

void cpu_scan(Context &context, const Request &request) {
  switch (request.order.dtype) {
    case GSORT_F16:
      return FloatScan<F16Elements>(context, request).run();
    case GSORT_BF16:
      return FloatScan<BF16Elements>(context, request).run();
    case GSORT_F32:
      return FloatScan<F32Elements>(context, request).run();
    case GSORT_F64:
      return FloatScan<F64Elements>(context, request).run();
    default:
      return with_width(dtype_bytes(request.order.dtype),
                        [&](auto tag) { scan_integers<typename decltype(tag)::type>(context, request); });
  }
}

}  // namespace gsort_internal
