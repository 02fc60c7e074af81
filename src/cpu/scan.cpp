// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums. Integers wrap, so any order will do; floats follow core/scan_order.h to the letter.
#include <cstdint>
#include <cstring>

#include "core/half.h"
#include "core/scan_order.h"
#include "cpu/operations.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kScanChunkOfIntegers = 1 << 16;

template <class T>
T scan_integer_chunk(const T *in, T *out, Range range, T before, bool exclusive) {
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
  const uint64_t chunks = divide_up(r.n, kScanChunkOfIntegers);
  const auto range_of = [&](uint64_t c) {
    return Range{c * kScanChunkOfIntegers, min_u64(r.n, (c + 1) * kScanChunkOfIntegers)};
  };
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

// How elements of the float types become doubles and running sums become elements.
struct F16Elements {
  using Bits = uint16_t;
  static double load(uint16_t bits) { return Half::to_double(bits); }
  static uint16_t store(double x) { return Half::from_double(x); }
};
struct BF16Elements {
  using Bits = uint16_t;
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
  static double load(uint64_t bits) { return double_of_bits(bits); }
  static uint64_t store(double x) { return x != x ? kDoubleQuietNan : bits_of_double(x); }
};

// Inclusive scan of `count` values, all steps of one distance at once.
inline void scan_in_steps(double *t, uint32_t count) {
  for (uint32_t d = 1; d < count; d *= 2)
    for (uint32_t i = count; i-- > d;) t[i] = t[i - d] + t[i];
}

constexpr uint32_t kTileChunks = kScanTileItems / kScanChunkItems;

// One tile's sums, from the inside out, as core/scan_order.h names them.
struct TileSums {
  double running[kScanTileItems];  // within chunks
  double chunk_scan[kTileChunks];  // within rows
  double row_scan[kScanTileRows];  // within the tile

  double total() const { return row_scan[kScanTileRows - 1]; }
};

// Runs several chunks side by side, because one chunk's additions wait for each other.
template <class E>
void sum_chunks(const typename E::Bits *in, uint32_t count, TileSums &tile) {
  constexpr uint32_t abreast = 8;
  for (uint32_t c = 0; c < kTileChunks; c += abreast) {
    double sums[abreast];
    for (double &sum : sums) sum = -0.0;  // the identity: the first element comes out as it is
    for (uint32_t i = 0; i < kScanChunkItems; ++i) {
      for (uint32_t j = 0; j < abreast; ++j) {
        const uint32_t at = (c + j) * kScanChunkItems + i;
        const double x = at < count ? E::load(in[at]) : -0.0;
        sums[j] = sums[j] + x;
        tile.running[at] = sums[j];
      }
    }
    for (uint32_t j = 0; j < abreast; ++j) tile.chunk_scan[c + j] = sums[j];
  }
}

template <class E>
void sum_tile(const typename E::Bits *in, uint32_t count, TileSums &tile) {
  sum_chunks<E>(in, count, tile);
  for (uint32_t row = 0; row < kScanTileRows; ++row) {
    double *const chunks = &tile.chunk_scan[row * kScanRowChunks];
    scan_in_steps(chunks, kScanRowChunks);
    tile.row_scan[row] = chunks[kScanRowChunks - 1];
  }
  scan_in_steps(tile.row_scan, kScanTileRows);
}

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
    const HostBuffer<double> prefixes(context_.memory, tiles_);
    const HostBuffer<Bits> lasts(context_.memory, tiles_);
    const HostBuffer<TileSums> sums(context_.memory, min_u64(tiles_, uint64_t{context_.threads()}));
    context_.begin(2 * n_);
    context_.for_each(tiles_, [&](uint64_t tile, uint32_t worker) {
      if (context_.stopped()) return;
      sum_tile<E>(in_ + tile * kScanTileItems, count_of(tile), sums[worker]);
      prefixes[tile] = sums[worker].total();
      context_.advance(kScanTileItems);
    });
    context_.throw_if_stopped();
    totals_to_prefixes(prefixes.data());
    // From here on results are written, perhaps over their input: there is no way back.
    context_.for_each_unbroken(tiles_, [&](uint64_t tile, uint32_t worker) {
      TileSums &tile_sums = sums[worker];
      sum_tile<E>(in_ + tile * kScanTileItems, count_of(tile), tile_sums);
      lasts[tile] = write_tile(tile, prefixes[tile], tile_sums);
    });
    if (!exclusive_) return;
    // The first result of a tile comes from the tile before, which may not have been read when the tile was written.
    for (uint64_t tile = 0; tile < tiles_; ++tile) out_[tile * kScanTileItems] = tile == 0 ? Bits{0} : lasts[tile - 1];
  }

 private:
  uint32_t count_of(uint64_t tile) const {
    return static_cast<uint32_t>(min_u64(kScanTileItems, n_ - tile * kScanTileItems));
  }

  // Replaces every tile's total by the tile's prefix, group after group.
  void totals_to_prefixes(double *tiles) const {
    double group_prefix = -0.0;
    for (uint64_t first = 0; first < tiles_; first += kScanGroupTiles) {
      double runs[kScanGroupRuns];
      const uint64_t count = min_u64(kScanGroupTiles, tiles_ - first);
      for (uint32_t run = 0; run < kScanGroupRuns; ++run) {
        double sum = -0.0;
        for (uint64_t t = run * kScanRunTiles; t < min_u64(count, (run + 1) * kScanRunTiles); ++t) {
          const double total = tiles[first + t];
          tiles[first + t] = sum;
          sum = sum + total;
        }
        runs[run] = sum;
      }
      scan_in_steps(runs, kScanGroupRuns);
      for (uint64_t t = 0; t < count; ++t) {
        const uint64_t run = t / kScanRunTiles;
        tiles[first + t] = group_prefix + ((run == 0 ? -0.0 : runs[run - 1]) + tiles[first + t]);
      }
      group_prefix = group_prefix + runs[kScanGroupRuns - 1];
    }
  }

  // Writes a tile's results, moved by one if exclusive, and returns the last.
  Bits write_tile(uint64_t tile, double tile_prefix, const TileSums &sums) const {
    const uint32_t count = count_of(tile), moved = exclusive_ ? 1 : 0;
    Bits *const out = out_ + tile * kScanTileItems;
    Bits last = 0;
    for (uint32_t c = 0; c * kScanChunkItems < count; ++c) {
      const uint32_t row = c / kScanRowChunks, begin = c * kScanChunkItems;
      const double row_prefix = tile_prefix + (row == 0 ? -0.0 : sums.row_scan[row - 1]);
      const double prefix = row_prefix + (c % kScanRowChunks == 0 ? -0.0 : sums.chunk_scan[c - 1]);
      const uint32_t end = begin + kScanChunkItems < count ? begin + kScanChunkItems : count;
      for (uint32_t i = begin; i < end; ++i) {
        last = E::store(prefix + sums.running[i]);
        if (i + moved < count) out[i + moved] = last;
      }
    }
    return last;
  }

  Context &context_;
  const Bits *in_;
  Bits *out_;
  uint64_t n_;
  bool exclusive_;
  uint64_t tiles_;
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
