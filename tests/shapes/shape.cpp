// SPDX-License-Identifier: MIT OR Apache-2.0
#include "shapes/shape.h"

#include <algorithm>
#include <sstream>

namespace gsort_test {
namespace {

// Of values: large ones would take all the time of the many small shapes.
constexpr uint64_t kValueBytesInAll = uint64_t{1} << 26;
constexpr uint64_t kValueBytesAnElement = 64;
constexpr uint32_t kValueSizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 64, 65, 100, 1000, 65536};
// Where plans change: a power of two, sometimes one more or less.
uint64_t near_power(Random &random, uint64_t most) {
  uint64_t power = 1;
  for (uint64_t steps = random.below(26); steps > 0; steps--) power *= 2;
  const uint64_t near = power - 1 + random.below(3);
  return std::min(near, most);
}

// 0 to `most`: as many from each power of two as from the next.
uint64_t log_uniform(Random &random, uint64_t most) {
  if (most == 0) return 0;
  uint32_t bits = 0;
  while (bits < 63 && most >> bits != 0) bits++;
  const uint64_t chosen = random.below(bits + 1);
  if (chosen == 0) return 0;
  const uint64_t low = uint64_t{1} << (chosen - 1);
  return std::min(most, low + random.below(low));
}

uint64_t count(Random &random, uint64_t most) {
  return random.below(5) == 0 ? near_power(random, most) : log_uniform(random, most);
}

// Most shapes are small, so that many are seen; few are as large as allowed. A shape of up to 4,096 elements takes a
// fifth of a millisecond with its reference, one of up to 10^7 two thousand times as long.
uint64_t most_elements(Random &random, uint64_t limit) {
  const uint64_t sort = random.below(1000);
  const uint64_t most = sort < 840 ? 1 << 12 : sort < 970 ? 1 << 17 : sort < 996 ? 1 << 21 : limit;
  return std::min(most, limit);
}

uint64_t draw_k(Random &random, uint64_t most) {
  switch (random.below(6)) {
    case 0:
      return most - std::min<uint64_t>(most, random.below(3));
    case 1:
      return random.below(most + 1);
    case 2:
      return near_power(random, most);
    default:
      return log_uniform(random, most);
  }
}

// Lengths that add up to `whole`: equal, random, or a few that hold nearly everything.
Indices cut(Random &random, uint64_t whole, uint64_t parts) {
  Indices ends(parts);
  const uint64_t style = random.below(3);
  for (uint64_t i = 0; i < parts; i++) {
    if (style == 0) ends[i] = whole / parts * (i + 1);
    if (style == 1) ends[i] = random.below(whole + 1);
    if (style == 2) ends[i] = whole - log_uniform(random, whole);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

Indices draw_offsets(Random &random, uint64_t n) {
  const uint64_t segments = count(random, 2 * n + 2);
  if (segments == 0) return {};
  const bool gaps = random.below(3) == 0;
  const uint64_t first = gaps ? log_uniform(random, n / 8) : 0;
  const uint64_t last = gaps ? n - log_uniform(random, n / 8) : n;
  if (first > last) return {0, n};
  Indices offsets = {first};
  for (const uint64_t end : cut(random, last - first, segments)) offsets.push_back(first + end);
  return offsets;
}

uint32_t draw_flags(Random &random, uint32_t operation) {
  const uint32_t nan_last = random.below(3) == 0 ? GSORT_NAN_LAST : 0;
  switch (operation) {
    case GSORT_OP_SUM:
      return 0;
    case GSORT_OP_SCAN:
      return random.below(2) == 0 ? GSORT_EXCLUSIVE : 0;
    case GSORT_OP_REDUCE:
      return nan_last;
    case GSORT_OP_TOPK:
    case GSORT_OP_TOPK_ROWS:
    case GSORT_OP_TOPK_SEGMENTS:
      return nan_last | (random.below(2) == 0 ? GSORT_SMALLEST : 0);
    default:
      return nan_last | (random.below(2) == 0 ? GSORT_DESCENDING : 0);
  }
}

void draw_matrix(Random &random, uint64_t most, Shape *shape) {
  Matrix &m = shape->matrix;
  m.rows = count(random, most);
  m.columns = count(random, most / std::max<uint64_t>(m.rows, 1));
  if (random.below(2) == 0) {  // few long rows as often as many short ones
    m.columns = count(random, most);
    m.rows = count(random, most / std::max<uint64_t>(m.columns, 1));
  }
  const uint64_t room = most / std::max<uint64_t>(m.rows, 1);
  m.row_stride = m.columns + (random.below(2) == 0 || room <= m.columns ? 0 : count(random, room - m.columns));
  shape->k = draw_k(random, m.columns);
  shape->n = m.rows == 0 ? 0 : (m.rows - 1) * m.row_stride + m.columns;
}

void draw_sizes(Random &random, uint64_t most, Shape *shape) {
  shape->n = count(random, most);
  switch (shape->operation) {
    case GSORT_OP_SORT_PAIRS:
      shape->value_bytes = kValueSizes[random.below(std::size(kValueSizes))];
      shape->n = std::min(shape->n, std::min(kValueBytesInAll, kValueBytesAnElement * most) / shape->value_bytes);
      break;
    case GSORT_OP_MERGE:
      shape->b_n = count(random, most);
      break;
    case GSORT_OP_SORT_SEGMENTS:
      shape->offsets = draw_offsets(random, shape->n);
      break;
    case GSORT_OP_TOPK:
      shape->k = draw_k(random, shape->n);
      break;
    case GSORT_OP_TOPK_ROWS:
      draw_matrix(random, most, shape);
      break;
    case GSORT_OP_TOPK_SEGMENTS: {
      shape->offsets = draw_offsets(random, shape->n);
      const uint64_t segments = shape->offsets.empty() ? 1 : shape->offsets.size() - 1;
      shape->k = draw_k(random, std::max<uint64_t>(1, (4 * shape->n + 64) / segments));
      break;
    }
    default:
      break;
  }
}

// Everything but the operation and its sizes.
void draw_rest(Random &random, uint64_t seed, const ShapeLimits &limits, Shape *shape) {
  shape->type = kAllTypes[random.below(std::size(kAllTypes))];
  do {
    shape->distribution = kAllDistributions[random.below(std::size(kAllDistributions))];
  } while (!applies(shape->distribution, shape->type));
  shape->seed = seed;
  shape->flags = draw_flags(random, shape->operation);
  shape->reduce_op = GSORT_MIN + static_cast<uint32_t>(random.below(GSORT_MEAN));
  if (shape->operation == GSORT_OP_REDUCE && shape->reduce_op == GSORT_MEAN) shape->flags = 0;
  shape->index_t = kIndexTypes[random.below(std::size(kIndexTypes))];
  shape->wanted = static_cast<Wanted>(random.below(3));
  shape->offset_elements = random.below(2) == 0 ? 0 : static_cast<uint32_t>(random.below(70));
  shape->in_place = random.below(2) == 0;
  if (!limits.device_places) return;
  constexpr Place kPlaces[] = {Place::kDevice, Place::kDevice, Place::kDevice,
                               Place::kHost,   Place::kPinned, Place::kManaged};
  shape->place = kPlaces[random.below(std::size(kPlaces))];
  shape->place_out = random.below(3) == 0 ? kPlaces[random.below(std::size(kPlaces))] : shape->place;
}

constexpr const char *kOperationNames[] = {"",       "sort",          "sort_pairs",   "argsort",   "rank",
                                           "merge",  "sort_segments", "topk",         "topk_rows", "sum",
                                           "reduce", "scan",          "topk_segments"};

}  // namespace

Shape draw_shape(uint64_t seed, const ShapeLimits &limits) {
  Random random(seed);
  for (int i = 0; i < 4; i++) random.next();
  Shape shape;
  shape.operation = GSORT_OP_SORT + static_cast<uint32_t>(random.below(GSORT_OP_TOPK_SEGMENTS));
  draw_sizes(random, most_elements(random, limits.elements), &shape);
  draw_rest(random, seed, limits, &shape);
  return shape;
}

Shape draw_shape_of(uint32_t operation, uint64_t n, uint64_t seed, const ShapeLimits &limits) {
  Random random(seed);
  for (int i = 0; i < 4; i++) random.next();
  Shape shape;
  shape.operation = operation;
  draw_sizes(random, n, &shape);
  shape.n = n;
  shape.value_bytes = operation == GSORT_OP_SORT_PAIRS ? kValueSizes[random.below(16)] : 0;
  if (operation == GSORT_OP_MERGE) {
    shape.b_n = random.below(n + 1);
    shape.n = n - shape.b_n;
  }
  if (operation == GSORT_OP_TOPK) shape.k = draw_k(random, n);
  if (operation == GSORT_OP_SORT_SEGMENTS || operation == GSORT_OP_TOPK_SEGMENTS)
    shape.offsets = draw_offsets(random, n);
  if (operation == GSORT_OP_TOPK_SEGMENTS)
    shape.k = draw_k(random, 4 * n / std::max<uint64_t>(1, shape.offsets.size()) + 4);
  if (operation == GSORT_OP_TOPK_ROWS) {
    shape.matrix = {1 + random.below(3), n, n + random.below(3)};
    shape.k = draw_k(random, n);
    shape.n = (shape.matrix.rows - 1) * shape.matrix.row_stride + n;
  }
  draw_rest(random, seed, limits, &shape);
  return shape;
}

std::string Shape::describe() const {
  std::ostringstream text;
  text << kOperationNames[operation] << " " << element_type(type).name << " " << distribution_name(distribution)
       << " n = " << n;
  if (operation == GSORT_OP_MERGE) text << " + " << b_n;
  if (operation == GSORT_OP_TOPK_ROWS)
    text << ", rows = " << matrix.rows << ", columns = " << matrix.columns << ", row_stride = " << matrix.row_stride;
  if (!offsets.empty()) {
    uint64_t longest = 0;
    for (size_t i = 1; i < offsets.size(); i++) longest = std::max(longest, offsets[i] - offsets[i - 1]);
    text << ", segments = " << offsets.size() - 1 << " of up to " << longest;
  }
  if (operation == GSORT_OP_TOPK || operation == GSORT_OP_TOPK_ROWS || operation == GSORT_OP_TOPK_SEGMENTS)
    text << ", k = " << k << (wanted == Wanted::kValues ? ", values" : wanted == Wanted::kIndices ? ", indices" : "");
  if (operation == GSORT_OP_SORT_PAIRS) text << ", value_bytes = " << value_bytes;
  if (operation == GSORT_OP_REDUCE) text << ", op = " << reduce_op;
  text << "," << describe_flags(flags) << ", " << place_name(place) << " to " << place_name(place_out)
       << (in_place ? " in place" : "") << " at " << offset_elements << ", seed " << seed;
  return text.str();
}

}  // namespace gsort_test
