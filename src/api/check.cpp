// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/check.h"

#include <cstdio>
#include <iterator>

#include "core/dtype.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

uintptr_t address(const void *array) { return reinterpret_cast<uintptr_t>(array); }

// Flags, at least one, as one writes them: "GSORT_SMALLEST | bit 30".
class FlagNames {
 public:
  explicit FlagNames(uint32_t flags) {
    for (uint32_t bit = 0; bit < 32; ++bit)
      if ((flags >> bit & 1) != 0) add(bit);
  }
  const char *text() const { return text_; }

 private:
  void add(uint32_t bit) {
    constexpr const char *kNames[] = {"GSORT_DESCENDING", "GSORT_NAN_LAST", "GSORT_SMALLEST", "GSORT_EXCLUSIVE"};
    static_assert(GSORT_DESCENDING == 1u && GSORT_NAN_LAST == 2u && GSORT_SMALLEST == 4u && GSORT_EXCLUSIVE == 8u);
    const char *const between = length_ == 0 ? "" : " | ";
    char *const end = text_ + length_;
    const size_t room = sizeof text_ - length_;
    const int added = bit < std::size(kNames) ? std::snprintf(end, room, "%s%s", between, kNames[bit])
                                              : std::snprintf(end, room, "%sbit %u", between, bit);
    length_ += static_cast<size_t>(added);
  }

  char text_[384] = "";  // all 32 have room
  size_t length_ = 0;
};

}  // namespace

void refuse_dtype(gsort_dtype t) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "t = %u is not an element type; use GSORT_U8 (1) to GSORT_F64 (12)", t);
}

void refuse_flags(uint32_t refused, uint32_t allowed) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "flags has %s, which this call does not take; it takes %s",
              FlagNames(refused).text(), allowed == 0 ? "no flags: pass 0" : FlagNames(allowed).text());
}

void check_index_dtype(gsort_dtype index_t, uint64_t max_index) {
  if (!is_index_dtype(index_t))
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "index_t = %u is not an index type; use GSORT_U32, GSORT_I32, GSORT_U64 or GSORT_I64", index_t);
  const uint32_t bits = dtype_bytes(index_t) * 8 - (dtype_facts(index_t).kind == Kind::kSigned ? 1 : 0);
  if (bits < 64 && (max_index >> bits) != 0)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "index_t = %s cannot hold the index %llu; use GSORT_U64",
                dtype_facts(index_t).name, static_cast<ull>(max_index));
}

void refuse_product(uint64_t a, uint64_t b, const char *what) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s: %llu x %llu is past 2^64; pass a smaller count", what,
              static_cast<ull>(a), static_cast<ull>(b));
}

void refuse_null(const char *name, uint64_t count) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s is NULL; pass an array of %llu elements", name,
              static_cast<ull>(count));
}

void refuse_alignment(const char *name, const void *array, uint32_t alignment) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s = %p is not aligned to %u bytes, the size of its element", name, array,
              alignment);
}

void refuse_end(const char *name, const void *array, uint64_t bytes) {
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s = %p with %llu bytes is past the end of memory; pass a smaller count",
              name, array, static_cast<ull>(bytes));
}

void check_overlap(const ArrayUse &out, const ArrayUse &other, bool may_be_same) {
  if (out.bytes == 0 || other.bytes == 0) return;
  if (may_be_same && out.array == other.array && out.bytes == other.bytes) return;
  const bool apart = address(out.array) + (out.bytes - 1) < address(other.array) ||
                     address(other.array) + (other.bytes - 1) < address(out.array);
  if (apart) return;
  throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s = %p (%llu bytes) overlaps %s = %p (%llu bytes); %s", out.name,
              out.array, static_cast<ull>(out.bytes), other.name, other.array, static_cast<ull>(other.bytes),
              may_be_same ? "pass the same whole array or separate ones" : "pass separate arrays");
}

void check_offsets(const uint64_t *offsets, uint64_t segments, uint64_t n) {
  for (uint64_t s = 0; s < segments; ++s)
    if (offsets[s] > offsets[s + 1])
      throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                  "offsets[%llu] = %llu is above offsets[%llu] = %llu; offsets must ascend", static_cast<ull>(s),
                  static_cast<ull>(offsets[s]), static_cast<ull>(s + 1), static_cast<ull>(offsets[s + 1]));
  if (offsets[segments] > n)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "offsets[%llu] = %llu is above n = %llu", static_cast<ull>(segments),
                static_cast<ull>(offsets[segments]), static_cast<ull>(n));
}

}  // namespace gsort_internal
