// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reference/float_scan.h"

#include <algorithm>
#include <cmath>

#include "reference/sums.h"

namespace gsort_test {
namespace {

using Doubles = std::vector<double>;

constexpr size_t kChunk = 16;
constexpr size_t kRow = 32 * kChunk;
constexpr size_t kTile = 16 * kRow;
constexpr size_t kRunTiles = 8;
constexpr size_t kGroup = 32 * kRunTiles * kTile;

// Inclusive, by doubling distances: at each distance every value takes in the one that far to its left, all at once.
void scan_by_doubling(Doubles *values) {
  for (size_t distance = 1; distance < values->size(); distance *= 2) {
    const Doubles before = *values;
    for (size_t i = distance; i < before.size(); i++) (*values)[i] = before[i - distance] + before[i];
  }
}

// values[0] + values[1] + ... from the left; -0 for none.
double sum_from_left(const double *values, size_t count) {
  double sum = -0.0;
  for (size_t i = 0; i < count; i++) sum += values[i];
  return sum;
}

double before_or_nothing(const Doubles &scanned, size_t i) { return i == 0 ? -0.0 : scanned[i - 1]; }

Doubles scanned_chunks(const double *row) {
  Doubles totals;
  for (size_t c = 0; c < kRow / kChunk; c++) totals.push_back(sum_from_left(row + c * kChunk, kChunk));
  scan_by_doubling(&totals);
  return totals;
}

Doubles scanned_rows(const double *tile) {
  Doubles totals;
  for (size_t r = 0; r < kTile / kRow; r++) totals.push_back(scanned_chunks(tile + r * kRow).back());
  scan_by_doubling(&totals);
  return totals;
}

void scan_tile(const double *in, double tile_prefix, double *out) {
  const Doubles rows = scanned_rows(in);
  for (size_t r = 0; r < rows.size(); r++) {
    const double row_prefix = tile_prefix + before_or_nothing(rows, r);
    const Doubles chunks = scanned_chunks(in + r * kRow);
    for (size_t c = 0; c < chunks.size(); c++) {
      const double chunk_prefix = row_prefix + before_or_nothing(chunks, c);
      const size_t first = r * kRow + c * kChunk;
      double running = -0.0;
      for (size_t i = first; i < first + kChunk; i++) {
        running += in[i];
        out[i] = chunk_prefix + running;
      }
    }
  }
}

// Scans one group, of which `tiles` tiles are there, and returns the sum that goes into the next group's prefix. The
// tiles that are not there hold nothing but -0, so -0 is their total.
double scan_group(const double *in, size_t tiles, double group_prefix, double *out) {
  Doubles tile_totals(kGroup / kTile, -0.0);
  for (size_t t = 0; t < tiles; t++) tile_totals[t] = scanned_rows(in + t * kTile).back();
  Doubles runs;
  for (size_t t = 0; t < tile_totals.size(); t += kRunTiles) {
    runs.push_back(sum_from_left(&tile_totals[t], kRunTiles));
  }
  scan_by_doubling(&runs);
  for (size_t t = 0; t < tiles; t++) {
    const size_t run = t / kRunTiles;
    const double inside_run = sum_from_left(&tile_totals[run * kRunTiles], t % kRunTiles);
    const double tile_prefix = group_prefix + (before_or_nothing(runs, run) + inside_run);
    scan_tile(in + t * kTile, tile_prefix, out + t * kTile);
  }
  return runs.back();
}

}  // namespace

uint64_t round_to_type(gsort_dtype t, double value) {
  const ElementType &type = element_type(t);
  const uint64_t infinity = ((uint64_t{1} << type.exponent_bits) - 1) << type.fraction_bits;
  if (std::isnan(value)) return infinity | uint64_t{1} << (type.fraction_bits - 1);
  const uint64_t sign = std::signbit(value) ? type.sign_bit() : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  // The distance between neighbours of the type near the value, never below that of its subnormals.
  const int bias = (1 << (type.exponent_bits - 1)) - 1;
  const int fraction = static_cast<int>(type.fraction_bits);
  const int exponent = std::max(magnitude == 0 ? 1 - bias : std::ilogb(magnitude), 1 - bias);
  const double steps = std::ldexp(magnitude, fraction - exponent);
  double whole = std::floor(steps);
  const double rest = steps - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) == 1.0)) whole += 1;
  // Steps count on across binades: bits of the float are (exponent field << fraction) + steps inside the binade.
  const auto field = static_cast<uint64_t>(exponent + bias - 1) << type.fraction_bits;
  return sign | std::min(infinity, field + static_cast<uint64_t>(whole));
}

Array reference_float_scan(const Array &in, uint32_t flags) {
  const uint64_t n = in.size();
  const size_t padded = (n + kTile - 1) / kTile * kTile;
  // Elements that are not there count as -0.
  Doubles values(padded, -0.0);
  for (uint64_t i = 0; i < n; i++) values[i] = float_value(in.type(), in.get(i));
  Doubles sums(padded);
  double prefix = -0.0;
  for (size_t begin = 0; begin < padded; begin += kGroup) {
    const size_t tiles = std::min(kGroup, padded - begin) / kTile;
    prefix = prefix + scan_group(values.data() + begin, tiles, prefix, sums.data() + begin);
  }
  Array out(in.type(), n);
  const bool exclusive = (flags & GSORT_EXCLUSIVE) != 0;
  for (uint64_t i = 0; i < n; i++) {
    if (exclusive) {
      out.set(i, i == 0 ? 0 : round_to_type(in.type(), sums[i - 1]));
    } else {
      out.set(i, round_to_type(in.type(), sums[i]));
    }
  }
  return out;
}

}  // namespace gsort_test
