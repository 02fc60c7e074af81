// SPDX-License-Identifier: MIT OR Apache-2.0
// Facts about element types, and the one switch from a run-time type or width to a compile-time one.
#ifndef GSORT_CORE_DTYPE_H_
#define GSORT_CORE_DTYPE_H_

#include <cstdint>

#include "core/error.h"
#include "gsort.h"

namespace gsort_internal {

enum class Kind : uint8_t { kUnsigned, kSigned, kFloat };

struct DTypeFacts {
  const char *name;  // as the header spells it
  uint32_t bytes;    // size and alignment of an element
  Kind kind;
  uint32_t mantissa_bits;  // explicit bits of the fraction; 0 for integers
};

constexpr bool is_dtype(gsort_dtype t) { return t >= GSORT_U8 && t <= GSORT_F64; }

// In the order of the types' numbers. Not within the function, which would build the table anew for every call.
inline constexpr DTypeFacts kDTypeFacts[] = {
    {"GSORT_U8", 1, Kind::kUnsigned, 0},  {"GSORT_I8", 1, Kind::kSigned, 0},    {"GSORT_U16", 2, Kind::kUnsigned, 0},
    {"GSORT_I16", 2, Kind::kSigned, 0},   {"GSORT_U32", 4, Kind::kUnsigned, 0}, {"GSORT_I32", 4, Kind::kSigned, 0},
    {"GSORT_U64", 8, Kind::kUnsigned, 0}, {"GSORT_I64", 8, Kind::kSigned, 0},   {"GSORT_F16", 2, Kind::kFloat, 10},
    {"GSORT_BF16", 2, Kind::kFloat, 7},   {"GSORT_F32", 4, Kind::kFloat, 23},   {"GSORT_F64", 8, Kind::kFloat, 52}};

// `t` must be a dtype (is_dtype).
constexpr DTypeFacts dtype_facts(gsort_dtype t) { return kDTypeFacts[t - 1]; }

constexpr bool is_float(gsort_dtype t) { return dtype_facts(t).kind == Kind::kFloat; }
constexpr uint32_t dtype_bytes(gsort_dtype t) { return dtype_facts(t).bytes; }
constexpr bool is_index_dtype(gsort_dtype t) { return t >= GSORT_U32 && t <= GSORT_I64; }

template <uint32_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<unsigned integer of `bytes` bytes>{}) and returns what it returns. bytes: 1, 2, 4 or 8.
template <class F>
decltype(auto) with_width(uint32_t bytes, F &&f) {
  switch (bytes) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    case 8:
      return f(TypeTag<uint64_t>{});
    default:
      throw Error(GSORT_ERROR_INTERNAL, "no unsigned integer of %u bytes", bytes);
  }
}

// As with_width, for an index type: the tag is uint32_t or uint64_t (an index fits its signed twin, which was checked).
template <class F>
decltype(auto) with_index(gsort_dtype index_t, F &&f) {
  return dtype_bytes(index_t) == 4 ? f(TypeTag<uint32_t>{}) : f(TypeTag<uint64_t>{});
}

}  // namespace gsort_internal

#endif  // GSORT_CORE_DTYPE_H_
