// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums. Integers wrap, so any order will do; floats follow core/scan_order.h to the letter.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/scan_order.h"
#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/scan/threads.h"
#include "cpu/vector/scan.h"
#include "cpu/vector/small_rounding.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kScanChunkOfIntegers = 1 << 16;
constexpr uint64_t kScanBytesInMemory = 4 << 20;       // results take as much again
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

// A type's two steps, for what is the same for all; sums are in the lower bits.
struct IntegerChunks {
  uint64_t (*scan)(const void *in, void *out, Range range, uint64_t before, bool exclusive);
  uint64_t (*sum)(const void *in, Range range);
};
template <class T>
constexpr IntegerChunks kIntegerChunks = {
    [](const void *in, void *out, Range range, uint64_t before, bool exclusive) -> uint64_t {
      return scan_integer_chunk(static_cast<const T *>(in), static_cast<T *>(out), range, static_cast<T>(before),
                                exclusive);
    },
    [](const void *in, Range range) -> uint64_t { return sum_integer_chunk(static_cast<const T *>(in), range); }};

void scan_integers(Context &context, const Request &r, const IntegerChunks &of_type) {
  const uint32_t threads = integer_scan_threads(r.n * dtype_bytes(r.order.dtype), context.threads());
  context.limit_threads(threads, 1);
  const uint64_t chunks = context.parts_for(r.n, kScanChunkOfIntegersMin, kScanChunkOfIntegers);
  const auto range_of = [&](uint64_t c) { return part_of(r.n, c, chunks, kLineBytes); };
  if (chunks <= 1 || context.threads() == 1) {
    context.begin(r.n);
    uint64_t before = 0;
    for (uint64_t c = 0; c < chunks; ++c) {
      before = of_type.scan(r.in, r.out, range_of(c), before, r.exclusive);
      if (r.in != r.out) context.control.checkpoint(range_of(c).end, r.n);  // a half-written scan is no permutation
    }
    return;
  }
  const HostBuffer<uint64_t> sums(context.memory, chunks);
  context.begin(2 * r.n);
  context.for_each(chunks, [&](uint64_t c, uint32_t) {
    sums[c] = of_type.sum(r.in, range_of(c));
    context.advance(range_of(c).size());
  });
  context.throw_if_stopped();
  uint64_t before = 0;
  for (uint64_t c = 0; c < chunks; ++c) {
    const uint64_t sum = sums[c];
    sums[c] = before;
    before += sum;
  }
  context.for_each_unbroken(
      chunks, [&](uint64_t c, uint32_t) { of_type.scan(r.in, r.out, range_of(c), sums[c], r.exclusive); });
}

// How elements of the float types become doubles and running sums become elements. Kernel: the type whose rows vector
// kernels read and write, if it has such; 2-byte floats have a kernel of their own, and are widened and rounded here
// where there are no vectors.
template <class Small>
struct SmallElements {
  using Bits = uint16_t;
  using Kernel = void;
  static const SmallFloatScan *kernel() { return std::is_same<Small, Half>::value ? half_scan() : bfloat16_scan(); }
  static double load(uint16_t bits) { return SmallRounding<Small>::widen(bits); }
  static uint16_t store(double x) { return SmallRounding<Small>::round(x); }
};
using F16Elements = SmallElements<Half>;
using BF16Elements = SmallElements<BFloat16>;
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

// What comes before value `count` of the scan of values of which `count` are known. On its own, as what follows, for
// size.
template <uint32_t kCount>
__attribute__((noinline)) double scan_before(const double *values, uint32_t count) {
  if (count == 0) return -0.0;
  double scan[kCount];
  for (uint32_t i = 0; i < kCount; ++i) scan[i] = i < count ? values[i] : -0.0;
  scan_in_steps(scan, kCount);
  return scan[count - 1];
}

// The total of a tile of which `known` rows are there.
__attribute__((noinline)) double total_of(const double *rows, uint32_t known) {
  double scan[kScanTileRows];
  for (uint32_t row = 0; row < kScanTileRows; ++row) scan[row] = row < known ? rows[row] : -0.0;
  scan_in_steps(scan, kScanTileRows);
  return scan[kScanTileRows - 1];
}

// The kernels of rows of doubles where there are no vectors.
double plain_scan_row(const double *in, double *out, double prefix, bool) {
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
  return plain_scan_row(in, unused, -0.0, false);
}
void plain_scan_last_row(const double *in, double *out, uint32_t count, double prefix) {
  double row[kScanRowItems];
  for (uint32_t i = 0; i < kScanRowItems; ++i) row[i] = i < count ? in[i] : -0.0;
  plain_scan_row(row, row, prefix, false);
  std::memcpy(out, row, count * sizeof *out);
}
constexpr ScanKernels<double> kPlainScan = {plain_row_total, plain_scan_row, plain_scan_last_row};

// Rows of elements, the last of which may be short: absent elements are -0.0.
template <class E>
class Rows {
 public:
  using Bits = typename E::Bits;
  explicit Rows(bool in_memory) : in_memory_(in_memory) {}

  double total(const Bits *in, uint32_t count) const {
    if constexpr (kHasKernel) {
      if (kernels_ != nullptr && count == kScanRowItems)
        return kernels_->row_total(reinterpret_cast<const Kernel *>(in));
    } else if (const SmallFloatScan *const kernel = E::kernel()) {
      return kernel->scan_row(in, nullptr, count, -0.0);
    }
    double widened[kScanRowItems];
    widen(in, count, widened);
    for (uint32_t i = count; i < kScanRowItems; ++i) widened[i] = -0.0;
    return doubles_->row_total(widened);
  }

  double scan(const Bits *in, Bits *out, double prefix) const {
    if constexpr (kHasKernel) {
      if (kernels_ != nullptr)
        return kernels_->scan_row(reinterpret_cast<const Kernel *>(in), reinterpret_cast<Kernel *>(out), prefix,
                                  in_memory_);
    } else if (const SmallFloatScan *const kernel = E::kernel()) {
      return kernel->scan_row(in, out, kScanRowItems, prefix);
    }
    double results[kScanRowItems];
    widen(in, kScanRowItems, results);
    const double sum = doubles_->scan_row(results, results, prefix, false);
    narrow(results, kScanRowItems, out);
    return sum;
  }

  // Of the array's last row.
  void scan_last(const Bits *in, Bits *out, uint32_t count, double prefix) const {
    if constexpr (kHasKernel) {
      if (kernels_ != nullptr)
        return kernels_->scan_last_row(reinterpret_cast<const Kernel *>(in), reinterpret_cast<Kernel *>(out), count,
                                       prefix);
    } else if (const SmallFloatScan *const kernel = E::kernel()) {
      kernel->scan_row(in, out, count, prefix);
      return;
    }
    double results[kScanRowItems];
    widen(in, count, results);
    doubles_->scan_last_row(results, results, count, prefix);
    narrow(results, count, out);
  }

 private:
  static constexpr bool kHasKernel = !std::is_void<typename E::Kernel>::value;
  using Kernel = std::conditional_t<kHasKernel, typename E::Kernel, double>;

  static void widen(const Bits *in, uint32_t count, double *to) {
    for (uint32_t i = 0; i < count; ++i) to[i] = E::load(in[i]);
  }
  static void narrow(const double *from, uint32_t count, Bits *out) {
    for (uint32_t i = 0; i < count; ++i) out[i] = E::store(from[i]);
  }

  bool in_memory_;
  const ScanKernels<Kernel> *kernels_ = scan_kernels(Kernel{});
  const ScanKernels<double> *doubles_ = scan_kernels(double{}) != nullptr ? scan_kernels(double{}) : &kPlainScan;
};

// What is done of an array's tiles, the last of which may be short, whatever its type.
class Tiles {
 public:
  virtual double total(uint64_t tile) const = 0;
  // Writes a tile's results and returns its total, unless it is short. An exclusive scan moves them by one: the first
  // result is `last`, which becomes the last.
  virtual double scan(uint64_t tile, double prefix, uint64_t &last) const = 0;
  virtual void put_first(uint64_t tile, uint64_t result) const = 0;

 protected:
  ~Tiles() = default;
};

template <class E>
class TilesOf final : public Tiles {
 public:
  using Bits = typename E::Bits;
  TilesOf(const void *in, void *out, uint64_t n, bool exclusive)
      : in_(static_cast<const Bits *>(in)),
        out_(static_cast<Bits *>(out)),
        n_(n),
        exclusive_(exclusive),
        rows_(n * sizeof(Bits) >= kScanBytesInMemory) {}

  double total(uint64_t tile) const override {
    const Bits *const in = in_ + tile * kScanTileItems;
    const uint32_t count = count_of(tile);
    double rows[kScanTileRows];
    uint32_t row = 0;
    for (uint32_t begin = 0; begin < count; begin += kScanRowItems)
      rows[row++] = rows_.total(in + begin, min_u32(kScanRowItems, count - begin));
    return total_of(rows, row);
  }

  double scan(uint64_t tile, double prefix, uint64_t &last) const override {
    const Bits *const in = in_ + tile * kScanTileItems;
    Bits *const out = out_ + tile * kScanTileItems;
    const uint32_t count = count_of(tile);
    double rows[kScanTileRows];
    uint32_t row = 0;
    for (uint32_t begin = 0; begin < count; begin += kScanRowItems, ++row) {
      const uint32_t row_count = min_u32(kScanRowItems, count - begin);
      const double row_prefix = prefix + scan_before<kScanTileRows>(rows, row);
      if (!exclusive_) {
        rows[row] = scan_row(in + begin, out + begin, row_count, row_prefix);
        continue;
      }
      Bits results[kScanRowItems];
      rows[row] = scan_row(in + begin, results, row_count, row_prefix);
      out[begin] = static_cast<Bits>(last);
      std::memcpy(out + begin + 1, results, (row_count - 1) * sizeof(Bits));
      last = results[row_count - 1];
    }
    return count < kScanTileItems ? -0.0 : total_of(rows, row);
  }

  void put_first(uint64_t tile, uint64_t result) const override {
    out_[tile * kScanTileItems] = static_cast<Bits>(result);
  }

 private:
  uint32_t count_of(uint64_t tile) const {
    return static_cast<uint32_t>(min_u64(kScanTileItems, n_ - tile * kScanTileItems));
  }
  double scan_row(const Bits *in, Bits *out, uint32_t count, double prefix) const {
    if (count == kScanRowItems) return rows_.scan(in, out, prefix);
    rows_.scan_last(in, out, count, prefix);
    return -0.0;  // nothing comes after it
  }

  static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

  const Bits *in_;
  Bits *out_;
  uint64_t n_;
  bool exclusive_;
  Rows<E> rows_;
};

// The prefixes of tiles, one after the other.
class TilePrefixes {
 public:
  double next() const { return group_prefix_ + (before_run_ + in_run_); }

  // Takes the total of the tile whose prefix was next().
  __attribute__((noinline)) void add(double total) {
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

class FloatScan {
 public:
  FloatScan(Context &context, const Request &r, const Tiles &tiles)
      : context_(context),
        n_(r.n),
        exclusive_(r.exclusive),
        in_place_(r.in == r.out),
        count_(divide_up(r.n, kScanTileItems)),
        tiles_(tiles) {}

  void run() {
    context_.limit_threads(n_, kScanItemsOfThread);
    if (context_.threads() == 1) return run_alone();
    const HostBuffer<double> prefixes(context_.memory, count_);
    const HostBuffer<uint64_t> lasts(context_.memory, count_);
    context_.begin(2 * n_);
    context_.for_each(count_, [&](uint64_t tile, uint32_t) {
      if (context_.stopped()) return;
      prefixes[tile] = tiles_.total(tile);
      context_.advance(kScanTileItems);
    });
    context_.throw_if_stopped();
    TilePrefixes next;
    for (uint64_t tile = 0; tile < count_; ++tile) {
      const double total = prefixes[tile];
      prefixes[tile] = next.next();
      next.add(total);
    }
    // From here on results are written, perhaps over their input: there is no way back.
    context_.for_each_unbroken(count_,
                               [&](uint64_t tile, uint32_t) { tiles_.scan(tile, prefixes[tile], lasts[tile]); });
    if (!exclusive_) return;
    // The first result of a tile comes from the tile before, which may not have been read when the tile was written.
    for (uint64_t tile = 0; tile < count_; ++tile) tiles_.put_first(tile, tile == 0 ? 0 : lasts[tile - 1]);
  }

 private:
  static constexpr uint64_t kScanItemsOfThread = 1 << 14;
  static constexpr uint64_t kTilesBetweenChecks = 64;

  // One read: a tile's prefix needs only the tiles before.
  void run_alone() {
    context_.begin(n_);
    TilePrefixes prefixes;
    uint64_t last = 0;
    for (uint64_t tile = 0; tile < count_; ++tile) {
      prefixes.add(tiles_.scan(tile, prefixes.next(), last));
      // A half-written scan over its own input is no way back.
      if (!in_place_ && tile % kTilesBetweenChecks == 0)
        context_.control.checkpoint(min_u64(n_, (tile + 1) * kScanTileItems), n_);
    }
  }

  Context &context_;
  uint64_t n_;
  bool exclusive_, in_place_;
  uint64_t count_;  // of tiles
  const Tiles &tiles_;
};

template <class E>
void scan_floats(Context &context, const Request &r) {
  FloatScan(context, r, TilesOf<E>(r.in, r.out, r.n, r.exclusive)).run();
}

// As long as rows of fewer chunks cost vectors more than they save.
constexpr uint32_t kScanFewChunks = 4, kScanFewSmallChunks = 2;

// As many are widened and rounded one by one in some microseconds, where there are no vectors.
constexpr uint64_t kScanFewSmallFloats = 1 << 10;

// Element by element, which waits for no vector to be put together.
template <class E>
void scan_few_chunks(const typename E::Bits *in, typename E::Bits *out, uint32_t n, bool exclusive) {
  typename E::Bits last = 0;
  const auto write = [&](uint32_t i, double sum) {
    const typename E::Bits result = E::store(sum);
    out[i] = exclusive ? last : result;
    last = result;
  };
  const auto end_of = [n](uint32_t begin) { return n - begin < kScanChunkItems ? n : begin + kScanChunkItems; };
  double running[kScanFewChunks * kScanChunkItems], chunks[kScanFewChunks] = {-0.0};
  for (uint32_t i = 0, end = end_of(0); i < end; ++i) write(i, chunks[0] = chunks[0] + E::load(in[i]));
  uint32_t count = 1;
  for (uint32_t i = kScanChunkItems; i < n; ++count) {
    double sum = -0.0;
    for (const uint32_t end = end_of(i); i < end; ++i) running[i] = sum = sum + E::load(in[i]);
    chunks[count] = sum;
  }
  scan_in_steps(chunks, count);
  for (uint32_t i = kScanChunkItems, c = 0; i < n; ++c)
    for (const uint32_t end = end_of(i); i < end; ++i) write(i, chunks[c] + running[i]);
}

// Up to a tile.
template <class E>
__attribute__((noinline)) void scan_first_tile(const typename E::Bits *in, typename E::Bits *out, uint32_t n,
                                               bool exclusive) {
  uint64_t last = 0;
  TilesOf<E>(in, out, n, exclusive).scan(0, -0.0, last);
}

template <class E>
void scan_few_floats(const void *in_array, void *out_array, uint64_t items, bool exclusive) {
  const auto *const in = static_cast<const typename E::Bits *>(in_array);
  auto *const out = static_cast<typename E::Bits *>(out_array);
  const uint32_t n = static_cast<uint32_t>(items);
  const FloatEnvironment float_environment;
  constexpr uint32_t few = std::is_void<typename E::Kernel>::value ? kScanFewSmallChunks : kScanFewChunks;
  if (n <= few * kScanChunkItems) return scan_few_chunks<E>(in, out, n, exclusive);
  scan_first_tile<E>(in, out, n, exclusive);
}

}  // namespace

bool scan_few(gsort_dtype t, bool exclusive, const void *in, void *out, uint64_t n) noexcept {
  if (n > kScanTileItems) return false;
  if (n > kScanFewSmallFloats && dtype_bytes(t) == 2 && is_float(t) && half_scan() == nullptr) return false;
  switch (t) {
    case GSORT_F16:
      scan_few_floats<F16Elements>(in, out, n, exclusive);
      return true;
    case GSORT_BF16:
      scan_few_floats<BF16Elements>(in, out, n, exclusive);
      return true;
    case GSORT_F32:
      scan_few_floats<F32Elements>(in, out, n, exclusive);
      return true;
    case GSORT_F64:
      scan_few_floats<F64Elements>(in, out, n, exclusive);
      return true;
    default:
      with_width(dtype_bytes(t), [&](auto tag) {
        using T = typename decltype(tag)::type;
        scan_integer_chunk(static_cast<const T *>(in), static_cast<T *>(out), {0, n}, T{0}, exclusive);
      });
      return true;
  }
}

void cpu_scan(Context &context, const Request &request) {
  switch (request.order.dtype) {
    case GSORT_F16:
      return scan_floats<F16Elements>(context, request);
    case GSORT_BF16:
      return scan_floats<BF16Elements>(context, request);
    case GSORT_F32:
      return scan_floats<F32Elements>(context, request);
    case GSORT_F64:
      return scan_floats<F64Elements>(context, request);
    default:
      return with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
        scan_integers(context, request, kIntegerChunks<typename decltype(tag)::type>);
      });
  }
}

}  // namespace gsort_internal
