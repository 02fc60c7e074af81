// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of top-k share: inputs with ties and other hard values, a reference on the host, and a case that says
// how one call is made and checked.
#ifndef GSORT_TESTS_UNIT_CUDA_TOPK_SUPPORT_H_
#define GSORT_TESTS_UNIT_CUDA_TOPK_SUPPORT_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/key_bits.h"
#include "cuda/topk/launch.h"
#include "launch_harness.h"

namespace gsort_test {

using gsort_internal::dtype_bytes;
using gsort_internal::dtype_facts;
using gsort_internal::DTypeFacts;
using gsort_internal::Error;
using gsort_internal::KeyCodec;
using gsort_internal::Kind;
using gsort_internal::make_codec;
using gsort_internal::Operation;
using gsort_internal::Request;
using gsort_internal::with_width;
namespace topk = gsort_internal::topk;

// The suite of all tests of top-k on the device.
class Topk : public DeviceTest {};

constexpr gsort_dtype kAllTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                     GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

enum class Values {
  kUniform,
  kConstant,
  kSorted,
  kReverse,
  kTwo,
  kInfinities,
  kNans,
  kNarrow,
  kZipf,
  kAllOnes,
  kZeros,
  kEnds
};
constexpr Values kAllValues[] = {Values::kUniform, Values::kConstant,   Values::kSorted, Values::kReverse,
                                 Values::kTwo,     Values::kInfinities, Values::kNans,   Values::kNarrow,
                                 Values::kZipf,    Values::kAllOnes,    Values::kZeros,  Values::kEnds};

// Bits of the type's +infinity, or something large for integers.
inline uint64_t infinity_bits(gsort_dtype t) {
  const DTypeFacts f = dtype_facts(t);
  const uint64_t magnitude = (uint64_t{1} << (f.bytes * 8 - 1)) - 1;
  return f.kind == Kind::kFloat ? magnitude - ((uint64_t{1} << f.mantissa_bits) - 1) : magnitude;
}

// The bits of a value, from a random number; the type's own are the low ones.
template <class U>
uint64_t make_value(Values kind, gsort_dtype t, uint64_t r) {
  const uint64_t top = uint64_t{1} << (sizeof(U) * 8 - 1), infinity = infinity_bits(t);
  switch (kind) {
    case Values::kUniform:
    case Values::kSorted:
    case Values::kReverse:
      return r;
    case Values::kConstant:
      return infinity / 2;
    case Values::kTwo:
      return (r >> 40) % 3 == 0 ? infinity / 2 : infinity / 2 + 1;
    case Values::kInfinities:
      return (r >> 32) % 1000 == 0 ? r : infinity | ((r >> 50) % 2 == 0 ? 0 : top);
    case Values::kNans:
      return (r >> 40) % 4 == 0 ? r : (infinity + 1 + r % 4) | (r & top);
    case Values::kNarrow:
      return infinity / 2 + r % 251;
    case Values::kZipf:
      return infinity / 2 + (uint64_t{1} << 20) / (1 + r % (1 << 20));
    case Values::kAllOnes:
      return ~uint64_t{0};
    case Values::kZeros:
      return 0;
    case Values::kEnds: {
      // Most of them close to the greatest and the least number there is: the last bins reach past it.
      const uint64_t near = (r >> 8) % ((r >> 40) % 3 == 0 ? 70000 : 300);
      return ((r & 6) == 0 ? near : ~near) ^ (t == GSORT_U8 || t == GSORT_U32 ? 0 : top);
    }
  }
  return 0;
}

template <class U>
std::vector<U> make_values(Values kind, gsort_dtype t, uint64_t n, uint64_t seed) {
  std::vector<U> v(n);
  for (U &value : v) value = static_cast<U>(make_value<U>(kind, t, next_random(seed)));
  const KeyCodec<U> ascending = make_codec<U>({t, false, false});
  const auto less = [&](U a, U b) { return ascending.encode(a) < ascending.encode(b); };
  if (kind == Values::kSorted) std::sort(v.begin(), v.end(), less);
  if (kind == Values::kReverse) std::sort(v.rbegin(), v.rend(), less);
  return v;
}

struct Case {
  gsort_dtype t = GSORT_F32;
  Values values = Values::kUniform;
  uint64_t rows = 1, columns = 1000, row_padding = 0, k = 10;
  bool greatest = true, nan_last = false;
  bool want_values = true, want_indices = true;
  gsort_dtype index_t = GSORT_U32;
  uint64_t offset = 0;  // elements by which the arrays miss their alignment
  uint64_t run = 1;     // so many neighbours are equal
  topk::Options force;
  uint64_t seed = 1;
};

inline std::string describe(const Case &c) {
  return "dtype " + std::to_string(c.t) + " values " + std::to_string(static_cast<int>(c.values)) + " rows " +
         std::to_string(c.rows) + " columns " + std::to_string(c.columns) + " padding " +
         std::to_string(c.row_padding) + " k " + std::to_string(c.k) + (c.greatest ? " greatest" : " smallest") +
         (c.nan_last ? " nan_last" : "") + (c.want_values ? " values" : "") + (c.want_indices ? " indices" : "") +
         " index_t " + std::to_string(c.index_t) + " offset " + std::to_string(c.offset) + " run " +
         std::to_string(c.run) + " force " + std::to_string(c.force.best) + std::to_string(c.force.sorted_lanes) +
         std::to_string(c.force.bound_lanes) + std::to_string(c.force.bound_rows) + std::to_string(c.force.parts) +
         std::to_string(c.force.warp) + std::to_string(c.force.team) + std::to_string(c.force.sort) +
         std::to_string(c.force.select) + std::to_string(c.force.buckets) + " streams " +
         std::to_string(c.force.stream_threads) + std::to_string(c.force.no_sample) + " rank " +
         std::to_string(c.force.sample_rank) + (c.force.random_sample ? " random" : "") + " counted " +
         std::to_string(c.force.count_items);
}

// The first k of a row by (encoded key, index).
template <class U>
std::vector<uint64_t> reference(const U *row, uint64_t n, uint64_t k, const KeyCodec<U> &codec) {
  std::vector<uint64_t> order(n);
  std::iota(order.begin(), order.end(), uint64_t{0});
  const auto before = [&](uint64_t a, uint64_t b) {
    const U x = codec.encode(row[a]), y = codec.encode(row[b]);
    return x != y ? x < y : a < b;
  };
  if (k < n) std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), before);
  order.resize(k);
  std::sort(order.begin(), order.end(), before);
  return order;
}

template <class U>
void check_result(const Case &c, const std::vector<U> &data, const std::vector<U> &values, const Bytes &indices) {
  const KeyCodec<U> codec = make_codec<U>({c.t, c.greatest, c.nan_last});
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  for (uint64_t r = 0; r < c.rows; ++r) {
    const U *row = data.data() + r * (c.columns + c.row_padding);
    const std::vector<uint64_t> wanted = reference(row, c.columns, c.k, codec);
    for (uint64_t i = 0; i < c.k; ++i) {
      const uint64_t index = bits_at(indices, index_bytes, r * c.k + i);
      if (c.want_values) {
        ASSERT_EQ(values[r * c.k + i], row[wanted[i]]) << "row " << r << " place " << i;
      }
      if (c.want_indices) {
        ASSERT_EQ(index, wanted[i]) << "row " << r << " place " << i;
      }
    }
  }
}

template <class U>
void run_case_as(const Case &c) {
  SCOPED_TRACE(describe(c));
  const uint64_t items = c.rows * (c.columns + c.row_padding), results = c.rows * c.k;
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  std::vector<U> data = make_values<U>(c.values, c.t, items, c.seed);
  for (uint64_t i = 0; i < items; ++i) data[i] = data[i - i % c.run];
  const uint64_t head = c.offset * sizeof(U);
  const DeviceArray in(data, head), values(results * sizeof(U), head);
  const DeviceArray indices(results * index_bytes, c.offset * index_bytes);

  Request request{};
  request.operation = c.rows == 1 && c.row_padding == 0 ? Operation::kTopk : Operation::kTopkRows;
  request.order = {c.t, c.greatest, c.nan_last};
  request.n = c.rows * c.columns;
  request.rows = c.rows, request.columns = c.columns, request.row_stride = c.columns + c.row_padding;
  request.k = c.k;
  request.in = in.data();
  request.out = c.want_values ? values.data() : nullptr;
  request.indices_out = c.want_indices ? indices.data() : nullptr;
  request.index_t = c.index_t;
  const DeviceArray workspace(topk::make_plan(request, device_facts(), c.force).workspace_bytes, 0);
  try {
    topk::launch({nullptr, &device_facts(), &quiet()}, request, workspace.data(), c.force);
  } catch (const Error &e) {
    FAIL() << e.text();
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);

  const std::vector<U> values_after = values.read_as<U>();
  const Bytes indices_after = indices.read();
  ASSERT_TRUE(in.read_as<U>() == data) << "input changed";
  if (!c.want_values) ASSERT_TRUE(all_poison(values_after)) << "values written";
  if (!c.want_indices) ASSERT_TRUE(all_poison(indices_after)) << "indices written";
  workspace.check_zones();
  check_result<U>(c, data, values_after, indices_after);
}

inline void run_case(const Case &c) {
  with_width(dtype_bytes(c.t), [&](auto tag) { run_case_as<typename decltype(tag)::type>(c); });
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_TOPK_SUPPORT_H_
