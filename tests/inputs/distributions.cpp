// SPDX-License-Identifier: MIT OR Apache-2.0
#include "inputs/distributions.h"

#include <algorithm>

namespace gsort_test {
namespace {

struct Shape {
  const ElementType &type;
  uint64_t n;
  uint64_t seed;
};

// From a place in the ascending order of all the type's elements (NaNs included) to the element's bits.
uint64_t from_order(const ElementType &type, uint64_t place) {
  place &= type.mask();
  if (!type.is_signed) return place;
  if (!type.is_float) return place ^ type.sign_bit();
  return (place & type.sign_bit()) != 0 ? place ^ type.sign_bit() : ~place & type.mask();
}

// Spreads 0 .. n - 1 over the middle of the order, so that floats stay finite.
uint64_t spread(const ElementType &type, uint64_t i, uint64_t n) {
  const uint64_t low = type.mask() / 8;
  const uint64_t room = type.mask() / 4 * 3;
  const uint64_t step = std::max<uint64_t>(room / std::max<uint64_t>(n, 1), 1);
  return from_order(type, low + (n > room ? i % room : i * step));
}

uint64_t small_element(const ElementType &type, Random *random) {
  if (!type.is_float) return random->below(100);
  // An exponent just below 1 and random fraction bits; a tenth of the elements far smaller.
  const uint64_t one = (uint64_t{1} << (type.exponent_bits - 1)) - 1;
  const uint64_t fraction = random->next() & ((uint64_t{1} << type.fraction_bits) - 1);
  const uint64_t below = random->below(10) == 0 ? 1 + random->below(one) : 1;
  return (one - below) << type.fraction_bits | fraction;
}

uint64_t infinity(const ElementType &type) { return ((uint64_t{1} << type.exponent_bits) - 1) << type.fraction_bits; }

uint64_t random_sign(const ElementType &type, Random *random) { return random->below(2) * type.sign_bit(); }

uint64_t random_nan(const ElementType &type, Random *random) {
  const uint64_t quiet = uint64_t{1} << (type.fraction_bits - 1);
  const uint64_t payloads[] = {1, 2, quiet, quiet | 1, 2 * quiet - 1, quiet - 1};
  return infinity(type) | payloads[random->below(6)] | random_sign(type, random);
}

uint64_t float_element(Distribution distribution, const ElementType &type, Random *random) {
  const uint64_t fraction = random->next() & ((uint64_t{1} << type.fraction_bits) - 1);
  const uint64_t sign = random_sign(type, random);
  switch (distribution) {
    case Distribution::kInfinities:
      return random->below(1000) == 0 ? random->next() : infinity(type) | sign;
    case Distribution::kNans:
      return random->below(3) == 0 ? random->next() : random_nan(type, random);
    case Distribution::kSignedZeros:
      return random->below(50) == 0 ? sign | random->below(3) : sign;
    case Distribution::kSubnormals:
      return sign | fraction;
    default:
      break;
  }
  const uint64_t finite_exponents = (uint64_t{1} << type.exponent_bits) - 1;
  return sign | random->below(finite_exponents) << type.fraction_bits | fraction;
}

uint64_t zipf_element(const ElementType &type, Random *random) {
  // 1 / u of a uniform u is close enough to Zipf's law with exponent 1: a few values, most of the elements.
  const uint64_t u = (random->next() >> 40) + 1;
  return spread(type, (uint64_t{1} << 24) / u, 1u << 24);
}

uint64_t anded_element(int times, Random *random) {
  uint64_t bits = random->next();
  for (int i = 0; i < times; i++) bits &= random->next();
  return bits;
}

uint64_t pattern_element(Distribution distribution, const Shape &shape, uint64_t i) {
  const uint64_t n = shape.n;
  switch (distribution) {
    case Distribution::kReverse:
      return spread(shape.type, n - 1 - i, n);
    case Distribution::kOrganPipe:
      return spread(shape.type, std::min(i, n - 1 - i), n);
    case Distribution::kSawtooth:
      return spread(shape.type, i % 37, 37);
    case Distribution::kStaggered:
      return spread(shape.type, (i * 11 + i / 64) % n, n);
    default:
      return spread(shape.type, i, n);
  }
}

uint64_t random_element(Distribution distribution, const Shape &shape, Random *random) {
  const ElementType &type = shape.type;
  const bool rare = random->below(10) == 0;
  switch (distribution) {
    case Distribution::kUniform:
      return random->next();
    case Distribution::kSmallRange:
      return small_element(type, random);
    case Distribution::kZipf:
      return zipf_element(type, random);
    case Distribution::kAnd1:
      return anded_element(1, random);
    case Distribution::kAnd3:
      return anded_element(3, random);
    case Distribution::kAnd9:
      return anded_element(9, random);
    case Distribution::kOneDigit: {
      const uint64_t digit = shape.seed % type.bytes * 8;
      return (0x2a2a2a2a2a2a2a2au & ~(uint64_t{0xff} << digit)) | random->below(256) << digit;
    }
    case Distribution::kMaxKey:
      return rare ? random->next() : from_order(type, type.mask());
    case Distribution::kMinKey:
      return rare ? random->next() : from_order(type, 0);
    default:
      return float_element(distribution, type, random);
  }
}

bool is_pattern(Distribution distribution) {
  return distribution >= Distribution::kSorted && distribution <= Distribution::kNearlySorted;
}

void swap_elements(Array *array, uint64_t i, uint64_t j) {
  const uint64_t bits = array->get(i);
  array->set(i, array->get(j));
  array->set(j, bits);
}

// Every second element is the one before it with the other sign, then all are mixed.
void cancel_pairs(Array *array, Random *random) {
  const uint64_t sign = element_type(array->type()).sign_bit();
  for (uint64_t i = 1; i < array->size(); i += 2) {
    if (random->below(8) != 0) array->set(i, array->get(i - 1) ^ sign);
  }
  for (uint64_t i = array->size(); i > 1; i--) swap_elements(array, i - 1, random->below(i));
}

}  // namespace

uint64_t Random::next() {
  // The mixing steps of splitmix64.
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

const char *distribution_name(Distribution distribution) {
  static const char *const kNames[] = {"uniform",    "small range",   "all equal",  "two values", "sorted",
                                       "reverse",    "organ pipe",    "sawtooth",   "staggered",  "nearly sorted",
                                       "zipf",       "AND 1",         "AND 3",      "AND 9",      "one digit",
                                       "max key",    "min key",       "infinities", "NaNs",       "signed zeros",
                                       "subnormals", "wide exponents"};
  return kNames[static_cast<int>(distribution)];
}

bool applies(Distribution distribution, gsort_dtype t) {
  return element_type(t).is_float || distribution < Distribution::kInfinities;
}

Array generate(Distribution distribution, gsort_dtype t, uint64_t n, uint64_t seed) {
  const Shape shape = {element_type(t), n, seed};
  Random random(seed * 1000003 + n * 101 + static_cast<uint64_t>(distribution));
  const uint64_t values[] = {random.next(), random.next()};
  Array array(t, n);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t bits = 0;
    if (distribution == Distribution::kAllEqual) {
      bits = values[0];
    } else if (distribution == Distribution::kTwoValues) {
      bits = values[random.below(2)];
    } else if (is_pattern(distribution)) {
      bits = pattern_element(distribution, shape, i);
    } else {
      bits = random_element(distribution, shape, &random);
    }
    array.set(i, bits);
  }
  if (distribution == Distribution::kNearlySorted) {
    for (uint64_t i = 0; i < n / 100 + 1 && n > 0; i++) swap_elements(&array, random.below(n), random.below(n));
  }
  if (distribution == Distribution::kWideExponents) cancel_pairs(&array, &random);
  return array;
}

Bytes generate_values(uint64_t n, uint32_t value_bytes, uint64_t seed) {
  Random random(seed);
  Bytes values(n * value_bytes);
  for (uint64_t i = 0; i < n; i++) {
    uint8_t *value = values.data() + i * value_bytes;
    for (uint32_t b = 0; b < value_bytes; b++) value[b] = static_cast<uint8_t>(random.next());
    // The index in front tells equal keys' values apart, so that an unstable sort is seen.
    std::memcpy(value, &i, std::min<size_t>(value_bytes, 8));
  }
  return values;
}

std::vector<uint64_t> generate_offsets(uint64_t n, uint64_t segments, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> offsets(segments + 1);
  for (uint64_t &offset : offsets) offset = random.below(n + 1);
  // Repeats make empty segments.
  for (uint64_t i = 1; i < offsets.size(); i++) {
    if (random.below(4) == 0) offsets[i] = offsets[i - 1];
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

}  // namespace gsort_test
