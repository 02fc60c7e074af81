// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests know about element types, and an array of elements whose type is known at run time only.
#ifndef GSORT_TESTS_SUPPORT_ELEMENT_H_
#define GSORT_TESTS_SUPPORT_ELEMENT_H_

#include <gsort.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gsort_test {

using Bytes = std::vector<uint8_t>;

struct ElementType {
  gsort_dtype id;
  const char *name;
  uint32_t bytes;
  bool is_signed;
  bool is_float;
  uint32_t fraction_bits;  // of a float: stored bits of the fraction
  uint32_t exponent_bits;  // of a float
  uint32_t bits() const { return bytes * 8; }
  uint64_t mask() const { return bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << bits()) - 1; }
  uint64_t sign_bit() const { return uint64_t{1} << (bits() - 1); }
};

inline constexpr ElementType kElementTypes[] = {
    {GSORT_U8, "u8", 1, false, false, 0, 0},   {GSORT_I8, "i8", 1, true, false, 0, 0},
    {GSORT_U16, "u16", 2, false, false, 0, 0}, {GSORT_I16, "i16", 2, true, false, 0, 0},
    {GSORT_U32, "u32", 4, false, false, 0, 0}, {GSORT_I32, "i32", 4, true, false, 0, 0},
    {GSORT_U64, "u64", 8, false, false, 0, 0}, {GSORT_I64, "i64", 8, true, false, 0, 0},
    {GSORT_F16, "f16", 2, true, true, 10, 5},  {GSORT_BF16, "bf16", 2, true, true, 7, 8},
    {GSORT_F32, "f32", 4, true, true, 23, 8},  {GSORT_F64, "f64", 8, true, true, 52, 11},
};

inline constexpr gsort_dtype kAllTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                            GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};
inline constexpr gsort_dtype kIndexTypes[] = {GSORT_U32, GSORT_I32, GSORT_U64, GSORT_I64};

inline const ElementType &element_type(gsort_dtype t) { return kElementTypes[t - 1]; }

// An element's bits as an unsigned number, whatever its type. Both machines of the project are little-endian.
inline uint64_t load_bits(const void *element, uint32_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);
  return bits;
}

class Array {
 public:
  Array() = default;
  Array(gsort_dtype t, uint64_t n) : type_(t), bytes_(n * element_type(t).bytes) {}
  Array(gsort_dtype t, Bytes bytes) : type_(t), bytes_(std::move(bytes)) {}

  gsort_dtype type() const { return type_; }
  uint32_t element_bytes() const { return element_type(type_).bytes; }
  uint64_t size() const { return bytes_.size() / element_bytes(); }
  uint64_t get(uint64_t i) const { return load_bits(bytes_.data() + i * element_bytes(), element_bytes()); }
  void set(uint64_t i, uint64_t bits) { std::memcpy(bytes_.data() + i * element_bytes(), &bits, element_bytes()); }
  const Bytes &bytes() const { return bytes_; }
  Bytes &bytes() { return bytes_; }

 private:
  gsort_dtype type_ = GSORT_U8;
  Bytes bytes_;
};

// An array from C++ values whose size is the element's.
template <typename T>
Array make_array(gsort_dtype t, const std::vector<T> &values) {
  Array array(t, values.size());
  if (!values.empty()) std::memcpy(array.bytes().data(), values.data(), values.size() * sizeof(T));
  return array;
}

// Indices as an array of the index type that a call was asked for.
inline Array make_indices(gsort_dtype index_t, const std::vector<uint64_t> &indices) {
  Array array(index_t, indices.size());
  for (uint64_t i = 0; i < indices.size(); i++) array.set(i, indices[i]);
  return array;
}

std::string describe_flags(uint32_t flags);

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_ELEMENT_H_
