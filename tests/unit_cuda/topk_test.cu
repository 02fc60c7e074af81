// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k on the device against a reference on the host: every key width and order, every way a call can take, inputs
// with ties, misled samples, misaligned arrays, guard zones.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/key_bits.h"
#include "cuda/launch.h"
#include "cuda/launch_topk.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kGuardBytes = 256;
constexpr unsigned char kPoison = 0xa5;

class Device {
 public:
  Device() {
    int count = 0;
    found_ = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    if (!found_) return;
    cudaDeviceProp p{};
    cudaGetDeviceProperties(&p, 0);
    facts = {static_cast<uint32_t>(p.major * 10 + p.minor), static_cast<uint32_t>(p.multiProcessorCount),
             static_cast<uint32_t>(p.sharedMemPerBlockOptin), static_cast<uint32_t>(p.l2CacheSize)};
  }
  bool found() const { return found_; }
  DeviceFacts facts{};

 private:
  bool found_ = false;
};

Device &device() {
  static Device d;
  return d;
}

// Says nothing.
const Control &quiet() {
  static const Control control;
  return control;
}

// Device memory with guard zones that must keep their bytes.
class Guarded {
 public:
  explicit Guarded(uint64_t bytes) : bytes_(bytes) {
    if (cudaMalloc(&base_, bytes + 2 * kGuardBytes) != cudaSuccess) ADD_FAILURE() << "cudaMalloc of " << bytes;
    cudaMemset(base_, kPoison, bytes + 2 * kGuardBytes);
  }
  ~Guarded() { cudaFree(base_); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  unsigned char *data() const { return base_ + kGuardBytes; }
  bool intact(uint64_t head, uint64_t used) const {
    std::vector<unsigned char> all(bytes_ + 2 * kGuardBytes);
    cudaMemcpy(all.data(), base_, all.size(), cudaMemcpyDeviceToHost);
    for (uint64_t i = 0; i < kGuardBytes + head; ++i)
      if (all[i] != kPoison) return false;
    for (uint64_t i = kGuardBytes + head + used; i < all.size(); ++i)
      if (all[i] != kPoison) return false;
    return true;
  }

 private:
  unsigned char *base_ = nullptr;
  uint64_t bytes_;
};

uint64_t next_random(uint64_t &state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

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
uint64_t infinity_bits(gsort_dtype t) {
  const DTypeFacts f = dtype_facts(t);
  const uint64_t magnitude = (uint64_t{1} << (f.bytes * 8 - 1)) - 1;
  return f.kind == Kind::kFloat ? magnitude - ((uint64_t{1} << f.mantissa_bits) - 1) : magnitude;
}

template <class U>
std::vector<U> make_values(Values kind, gsort_dtype t, uint64_t n, uint64_t seed) {
  std::vector<U> v(n);
  const uint64_t top = uint64_t{1} << (sizeof(U) * 8 - 1), infinity = infinity_bits(t);
  const KeyCodec<U> ascending = make_codec<U>({t, false, false});
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t r = next_random(seed);
    switch (kind) {
      case Values::kUniform:
        v[i] = static_cast<U>(r);
        break;
      case Values::kConstant:
        v[i] = static_cast<U>(infinity / 2);
        break;
      case Values::kSorted:
      case Values::kReverse:
        v[i] = static_cast<U>(r);
        break;
      case Values::kTwo:
        v[i] = static_cast<U>((r >> 40) % 3 == 0 ? infinity / 2 : infinity / 2 + 1);
        break;
      case Values::kInfinities:
        v[i] = static_cast<U>((r >> 32) % 1000 == 0 ? r : infinity | ((r >> 50) % 2 == 0 ? 0 : top));
        break;
      case Values::kNans:
        v[i] = static_cast<U>((r >> 40) % 4 == 0 ? r : (infinity + 1 + r % 4) | (r & top));
        break;
      case Values::kNarrow:
        v[i] = static_cast<U>(infinity / 2 + r % 251);
        break;
      case Values::kZipf:
        v[i] = static_cast<U>(infinity / 2 + (uint64_t{1} << 20) / (1 + r % (1 << 20)));
        break;
      case Values::kAllOnes:
        v[i] = static_cast<U>(~uint64_t{0});
        break;
      case Values::kZeros:
        v[i] = 0;
        break;
      case Values::kEnds: {
        // Most of them close to the greatest and the least number there is: the last bins reach past it.
        const U near = static_cast<U>((r >> 8) % ((r >> 40) % 3 == 0 ? 70000 : 300));
        v[i] = static_cast<U>(((r & 6) == 0 ? near : ~near) ^ (t == GSORT_U8 || t == GSORT_U32 ? 0 : top));
        break;
      }
    }
  }
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
  TopkForce force{};
  uint64_t seed = 1;
};

std::string describe(const Case &c) {
  return "dtype " + std::to_string(c.t) + " values " + std::to_string(static_cast<int>(c.values)) + " rows " +
         std::to_string(c.rows) + " columns " + std::to_string(c.columns) + " padding " +
         std::to_string(c.row_padding) + " k " + std::to_string(c.k) + (c.greatest ? " greatest" : " smallest") +
         (c.nan_last ? " nan_last" : "") + (c.want_values ? " values" : "") + (c.want_indices ? " indices" : "") +
         " index_t " + std::to_string(c.index_t) + " offset " + std::to_string(c.offset) + " force " +
         std::to_string(c.force.warp) + std::to_string(c.force.team) + std::to_string(c.force.sort) +
         std::to_string(c.force.no_sample) + " rank " + std::to_string(c.force.sample_rank) +
         (c.force.random_sample ? " random" : "") + " counted " + std::to_string(c.force.count_items);
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
void check_result(const Case &c, const std::vector<U> &data, const std::vector<U> &values,
                  const std::vector<unsigned char> &indices) {
  const KeyCodec<U> codec = make_codec<U>({c.t, c.greatest, c.nan_last});
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  for (uint64_t r = 0; r < c.rows; ++r) {
    const U *row = data.data() + r * (c.columns + c.row_padding);
    const std::vector<uint64_t> wanted = reference(row, c.columns, c.k, codec);
    for (uint64_t i = 0; i < c.k; ++i) {
      uint64_t index = 0;
      std::memcpy(&index, indices.data() + (r * c.k + i) * index_bytes, index_bytes);
      if (c.want_values) {
        ASSERT_EQ(values[r * c.k + i], row[wanted[i]]) << describe(c) << " row " << r << " place " << i;
      }
      if (c.want_indices) {
        ASSERT_EQ(index, wanted[i]) << describe(c) << " row " << r << " place " << i;
      }
    }
  }
}

template <class U>
void run_case_as(const Case &c) {
  const uint64_t items = c.rows * (c.columns + c.row_padding), results = c.rows * c.k;
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  const std::vector<U> data = make_values<U>(c.values, c.t, items, c.seed);
  const uint64_t head = c.offset * sizeof(U), index_head = c.offset * index_bytes;
  Guarded in(items * sizeof(U) + head), values(results * sizeof(U) + head), indices(results * index_bytes + index_head);
  cudaMemcpy(in.data() + head, data.data(), items * sizeof(U), cudaMemcpyHostToDevice);

  Request request{};
  request.operation = c.rows == 1 && c.row_padding == 0 ? Operation::kTopk : Operation::kTopkRows;
  request.order = {c.t, c.greatest, c.nan_last};
  request.n = c.rows * c.columns;
  request.rows = c.rows, request.columns = c.columns, request.row_stride = c.columns + c.row_padding;
  request.k = c.k;
  request.in = in.data() + head;
  request.out = c.want_values ? values.data() + head : nullptr;
  request.indices_out = c.want_indices ? indices.data() + index_head : nullptr;
  request.index_t = c.index_t;
  const uint64_t workspace_bytes = topk_workspace_bytes_forced(request, c.force);
  Guarded workspace(workspace_bytes);
  const LaunchContext context{nullptr, &device().facts, &quiet()};
  try {
    launch_topk_forced(context, request, workspace.data(), c.force);
  } catch (const Error &e) {
    FAIL() << e.text() << " in " << describe(c);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << describe(c);

  std::vector<U> values_out(results), data_after(items);
  std::vector<unsigned char> indices_out(results * index_bytes);
  cudaMemcpy(values_out.data(), values.data() + head, results * sizeof(U), cudaMemcpyDeviceToHost);
  cudaMemcpy(indices_out.data(), indices.data() + index_head, indices_out.size(), cudaMemcpyDeviceToHost);
  cudaMemcpy(data_after.data(), in.data() + head, items * sizeof(U), cudaMemcpyDeviceToHost);
  ASSERT_EQ(std::memcmp(data_after.data(), data.data(), items * sizeof(U)), 0) << "input changed: " << describe(c);
  ASSERT_TRUE(values.intact(head, c.want_values ? results * sizeof(U) : 0)) << describe(c);
  ASSERT_TRUE(indices.intact(index_head, c.want_indices ? results * index_bytes : 0)) << describe(c);
  ASSERT_TRUE(workspace.intact(0, workspace_bytes)) << describe(c);
  check_result<U>(c, data, values_out, indices_out);
}

void run_case(const Case &c) {
  with_width(dtype_bytes(c.t), [&](auto tag) { run_case_as<typename decltype(tag)::type>(c); });
}

class Topk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device().found()) GTEST_SKIP() << "no GPU";
  }
};

constexpr gsort_dtype kAllTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                     GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

TEST_F(Topk, EveryTypeOrderAndValues) {
  uint64_t seed = 100;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (int order = 0; order < 4; ++order) {
        Case c;
        c.t = t, c.values = values, c.greatest = order & 1, c.nan_last = order & 2, c.seed = ++seed;
        c.columns = 3000 + seed % 7, c.k = 1 + seed % 300, c.offset = seed % 5;
        run_case(c);
        c.columns = 40000 + seed % 50;
        run_case(c);
        c.force.team = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, SmallSizesAllK) {
  for (uint64_t n = 1; n <= 70; ++n)
    for (uint64_t k = 1; k <= n; ++k) {
      Case c;
      c.t = (n + k) % 2 == 0 ? GSORT_F32 : GSORT_U8, c.columns = n, c.k = k, c.seed = n * 100 + k;
      c.offset = n % 4, c.force.team = k % 3 == 0;
      run_case(c);
      if (HasFatalFailure()) return;
    }
}

// Around the sizes of tiles, buffers and blocks, and k around powers of two up to n.
TEST_F(Topk, BoundarySizes) {
  uint64_t seed = 7000;
  for (uint64_t n :
       {255, 256, 257, 1023, 1024, 1025, 2047, 2049, 8191, 8192, 8193, 16383, 16384, 16385, 32769, 65536, 65537})
    for (uint64_t k : {1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 10000}) {
      if (k > n) continue;
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8}) {
        Case c;
        c.t = t, c.columns = n, c.k = k, c.seed = ++seed, c.offset = seed % 4;
        c.values = kAllValues[seed % std::size(kAllValues)];
        c.index_t = seed % 2 == 0 ? GSORT_U64 : GSORT_I32;
        run_case(c);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(Topk, AllOfTheElements) {
  for (gsort_dtype t : kAllTypes)
    for (uint64_t n : {1, 2, 100, 5000, 70000}) {
      Case c;
      c.t = t, c.columns = n, c.k = n, c.values = Values::kTwo, c.nan_last = true;
      run_case(c);
      c.k = n - n / 3;
      if (c.k > 0) run_case(c);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, EitherOutputAlone) {
  for (uint64_t n : {500, 9000, 100000, 600000})
    for (int outputs = 0; outputs < 3; ++outputs)
      for (bool sort : {false, true}) {
        Case c;
        c.columns = n, c.k = n / 3, c.want_values = outputs != 0, c.want_indices = outputs != 1, c.force.sort = sort;
        c.index_t = outputs == 2 ? GSORT_I64 : GSORT_U32;
        run_case(c);
        c.k = n - 1;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, LongRows) {
  uint64_t seed = 900;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_I16, GSORT_U8})
      for (uint64_t k : {1, 10, 256, 5000, 65536}) {
        Case c;
        c.t = t, c.values = values, c.columns = (1 << 19) + 12345 + seed % 3, c.k = k, c.seed = ++seed;
        c.greatest = seed % 2, c.nan_last = seed % 3 == 0, c.offset = seed % 4;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Inputs made against the sample are as good as a sample that lies: its rank is forced far too low or too high, or it
// is left out.
TEST_F(Topk, MisledSample) {
  uint64_t seed = 300;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_BF16, GSORT_I8})
      for (uint64_t k : {3, 1000, 6000})
        for (int lie = 0; lie < 5; ++lie)
          for (bool team : {false, true}) {
            Case c;
            c.t = t, c.values = values, c.columns = 200000 + seed % 9, c.k = k, c.seed = ++seed;
            c.offset = seed % 4, c.greatest = seed % 2;
            if (!team) c.columns = 30000;
            c.force.team = team;
            c.force.random_sample = lie >= 3;
            if (lie % 3 == 0) c.force.sample_rank = 1;
            if (lie % 3 == 1) c.force.sample_rank = 1 << 20;
            if (lie == 2) c.force.no_sample = true;
            run_case(c);
            if (HasFatalFailure()) return;
          }
}

// Rows of a few megabytes are their own sample: sizes around those at which blocks, groups and tiles change.
TEST_F(Topk, WholeRowAsSample) {
  uint64_t seed = 1300;
  for (uint64_t n : {16383, 16384, 16385, 16400, 20481, 32768, 65535, 65552, 70001, 131072, 262147, 540673, 1048576,
                     1048579, 2097152, 2097153})
    for (Values values : {Values::kUniform, Values::kSorted, Values::kReverse, Values::kConstant, Values::kInfinities})
      for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_I16, GSORT_U8}) {
        Case c;
        c.t = t, c.values = values, c.columns = n, c.seed = ++seed, c.force.team = true;
        c.greatest = seed % 2, c.offset = seed % 5, c.k = seed % 5 == 0 ? 2048 : seed % 3 == 0 ? 256 : 1 + seed % 1000;
        run_case(c);
        c.force.no_cluster = true;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

// Candidates are thinned out before they are counted where they are many; here where they are more than so few.
TEST_F(Topk, ThinnedOut) {
  uint64_t seed = 1500;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_BF16, GSORT_U8})
      for (uint64_t k : {1, 20, 256, 700, 2048})
        for (uint32_t count_items : {1, 300, 2500}) {
          Case c;
          c.t = t, c.values = values, c.columns = 100000 + seed % 5000, c.k = k, c.seed = ++seed;
          c.offset = seed % 4, c.greatest = seed % 2, c.force.team = true, c.force.random_sample = seed % 3 == 0;
          c.force.count_items = count_items;
          run_case(c);
          if (HasFatalFailure()) return;
        }
}

// A warp a row: lengths around those of a warp's steps, k around those of its sorts.
TEST_F(Topk, RowsByWarps) {
  uint64_t seed = 1900;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t columns : {1, 2, 31, 32, 33, 100, 128, 129, 255, 257, 500, 992, 1023, 1024})
        for (uint64_t k : {1, 2, 31, 32, 33, 128, 129, 255, 256}) {
          if (k > columns || ++seed % 8 != 0) continue;
          Case c;
          c.t = t, c.values = values, c.rows = 1 + seed % 6, c.columns = columns, c.k = k, c.seed = ++seed;
          c.row_padding = seed % 3, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
          c.index_t = seed % 7 == 0 ? GSORT_I64 : GSORT_U32, c.force.warp = true;
          c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
          run_case(c);
          if (HasFatalFailure()) return;
        }
  for (uint64_t k : {1, 10, 200}) {  // by itself
    Case c;
    c.rows = 3001, c.columns = 300, c.k = k, c.values = Values::kTwo;
    run_case(c);
  }
}

// Rows in turn: what one row leaves in the workspace must not show in the next.
TEST_F(Topk, TeamsOfManyRows) {
  uint64_t seed = 1700;
  for (uint64_t rows : {2, 9, 300})
    for (Values values : kAllValues)
      for (uint32_t count_items : {0, 200}) {
        Case c;
        c.values = values, c.rows = rows, c.columns = 17000 + seed % 3000, c.k = 1 + seed % 400, c.seed = ++seed;
        c.row_padding = seed % 3, c.force.team = true, c.force.count_items = count_items;
        c.force.random_sample = seed % 2;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, LargeKBySort) {
  uint64_t seed = 400;
  for (Values values : kAllValues)
    for (gsort_dtype t : {GSORT_F32, GSORT_I64, GSORT_F16, GSORT_U8})
      for (uint64_t k : {1, 7000, 99000, 130000, 150001}) {
        Case c;
        c.t = t, c.values = values, c.columns = 150001, c.k = k, c.seed = ++seed, c.force.sort = true;
        c.greatest = seed % 2, c.offset = seed % 4, c.index_t = seed % 2 ? GSORT_U32 : GSORT_U64;
        run_case(c);
        if (HasFatalFailure()) return;
      }
  Case c;
  c.columns = 700000, c.k = 300000;  // by itself
  run_case(c);
}

TEST_F(Topk, Rows) {
  uint64_t seed = 500;
  struct Shape {
    uint64_t rows, columns, k;
  };
  constexpr Shape shapes[] = {{1000, 1, 1},      {500, 17, 5},      {300, 100, 100},     {257, 1024, 10},
                              {100, 1024, 1024}, {20, 9000, 2048},  {5, 32000, 1},       {5, 32000, 256},
                              {5, 32000, 2048},  {3, 30000, 5000},  {7, 9000, 9000},     {200, 5000, 3000},
                              {3, 300000, 10},   {2, 300000, 3000}, {2, 300000, 270000}, {140, 70000, 100}};
  for (const Shape &shape : shapes)
    for (gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8, GSORT_BF16})
      for (int variant = 0; variant < 3; ++variant) {
        if (shape.rows * shape.columns > 2000000 && (t != GSORT_F32 || variant > 1)) continue;
        Case c;
        c.t = t, c.rows = shape.rows, c.columns = shape.columns, c.k = shape.k, c.seed = ++seed;
        c.values = kAllValues[seed % std::size(kAllValues)], c.row_padding = variant == 0 ? 0 : seed % 7 + 1;
        c.greatest = seed % 3 != 0, c.nan_last = seed % 2, c.offset = variant;
        c.force.team = variant == 2;
        run_case(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RepeatsAreEqual) {
  // The sample differs from run to run; the result must not.
  for (int i = 0; i < 200; ++i) {
    Case c;
    c.values = Values::kTwo, c.columns = 100000, c.k = 500, c.force.team = i % 2;
    run_case(c);
    if (HasFatalFailure()) return;
  }
}

// ---- ragged rows ----

struct RaggedCase {
  gsort_dtype t = GSORT_F32;
  Values values = Values::kUniform;
  std::vector<uint64_t> lengths;
  uint64_t before = 0, after = 0;  // elements outside all rows
  uint64_t k = 10;
  bool greatest = true, nan_last = false;
  bool want_values = true, want_indices = true;
  gsort_dtype index_t = GSORT_U32;
  uint64_t offset = 0;
  uint64_t seed = 1;
};

std::vector<uint64_t> offsets_of(const RaggedCase &c) {
  std::vector<uint64_t> offsets{c.before};
  for (const uint64_t length : c.lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

std::string describe(const RaggedCase &c) {
  return "ragged: dtype " + std::to_string(c.t) + " values " + std::to_string(static_cast<int>(c.values)) + " rows " +
         std::to_string(c.lengths.size()) + " first " + std::to_string(c.lengths.empty() ? 0 : c.lengths[0]) + " k " +
         std::to_string(c.k) + (c.greatest ? " greatest" : " smallest") + " seed " + std::to_string(c.seed);
}

template <class U>
void check_ragged(const RaggedCase &c, const std::vector<U> &data, const std::vector<U> &values,
                  const std::vector<unsigned char> &indices) {
  const KeyCodec<U> codec = make_codec<U>({c.t, c.greatest, c.nan_last});
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  const std::vector<uint64_t> offsets = offsets_of(c);
  for (uint64_t r = 0; r < c.lengths.size(); ++r) {
    const U *row = data.data() + offsets[r];
    const uint64_t found = std::min(c.k, c.lengths[r]);
    const std::vector<uint64_t> wanted = reference(row, c.lengths[r], found, codec);
    for (uint64_t i = 0; i < c.k; ++i) {
      uint64_t index = 0, none = 0;
      std::memcpy(&index, indices.data() + (r * c.k + i) * index_bytes, index_bytes);
      std::memset(&none, 0xff, index_bytes);
      if (c.want_values) {
        ASSERT_EQ(values[r * c.k + i], i < found ? row[wanted[i]] : U{0})
            << describe(c) << " row " << r << " of " << c.lengths[r] << " place " << i;
      }
      if (c.want_indices) {
        ASSERT_EQ(index, i < found ? wanted[i] : none)
            << describe(c) << " row " << r << " of " << c.lengths[r] << " place " << i;
      }
    }
  }
}

// Runs on `offsets`, which may be wrong: then nothing may be written.
template <class U>
void run_ragged_as(const RaggedCase &c, const std::vector<uint64_t> &offsets, uint64_t n, bool wrong) {
  const uint64_t results = c.lengths.size() * c.k, head = c.offset * sizeof(U);
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  const std::vector<U> data = make_values<U>(c.values, c.t, n, c.seed);
  Guarded in(n * sizeof(U) + head), values(results * sizeof(U) + head), indices(results * index_bytes);
  Guarded places(offsets.size() * 8), error(4);
  cudaMemcpy(in.data() + head, data.data(), n * sizeof(U), cudaMemcpyHostToDevice);
  cudaMemcpy(places.data(), offsets.data(), offsets.size() * 8, cudaMemcpyHostToDevice);
  Request request{};
  request.operation = Operation::kTopkSegments;
  request.order = {c.t, c.greatest, c.nan_last};
  request.n = n, request.k = c.k, request.segments = c.lengths.size();
  request.in = in.data() + head;
  request.offsets = reinterpret_cast<const uint64_t *>(places.data());
  request.out = c.want_values ? values.data() + head : nullptr;
  request.indices_out = c.want_indices ? indices.data() : nullptr;
  request.index_t = c.index_t;
  const uint64_t workspace_bytes = topk_segments_workspace_bytes(request);
  Guarded workspace(workspace_bytes);
  const LaunchContext context{nullptr, &device().facts, &quiet()};
  launch_topk_segments(context, request, workspace.data(), reinterpret_cast<uint32_t *>(error.data()));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << describe(c);
  uint32_t said = 2;
  cudaMemcpy(&said, error.data(), 4, cudaMemcpyDeviceToHost);
  ASSERT_EQ(said, wrong ? 1u : 0u) << describe(c);
  const bool written = !wrong;
  ASSERT_TRUE(values.intact(head, c.want_values && written ? results * sizeof(U) : 0)) << describe(c);
  ASSERT_TRUE(indices.intact(0, c.want_indices && written ? results * index_bytes : 0)) << describe(c);
  ASSERT_TRUE(workspace.intact(0, workspace_bytes)) << describe(c);
  if (wrong) return;
  std::vector<U> values_out(results), data_after(n);
  std::vector<unsigned char> indices_out(results * index_bytes);
  cudaMemcpy(values_out.data(), values.data() + head, results * sizeof(U), cudaMemcpyDeviceToHost);
  cudaMemcpy(indices_out.data(), indices.data(), indices_out.size(), cudaMemcpyDeviceToHost);
  cudaMemcpy(data_after.data(), in.data() + head, n * sizeof(U), cudaMemcpyDeviceToHost);
  ASSERT_EQ(std::memcmp(data_after.data(), data.data(), n * sizeof(U)), 0) << "input changed: " << describe(c);
  check_ragged<U>(c, data, values_out, indices_out);
}

void run_ragged(const RaggedCase &c) {
  const std::vector<uint64_t> offsets = offsets_of(c);
  with_width(dtype_bytes(c.t), [&](auto tag) {
    run_ragged_as<typename decltype(tag)::type>(c, offsets, offsets.back() + c.after, false);
  });
}

// What all cases vary in the same way.
void vary(RaggedCase &c, uint64_t seed) {
  c.seed = seed, c.greatest = seed % 2, c.nan_last = seed % 5 == 0, c.offset = seed % 4;
  c.before = seed % 3, c.after = seed % 7, c.index_t = seed % 3 == 0 ? GSORT_U64 : GSORT_I32;
  c.want_values = seed % 11 != 0, c.want_indices = seed % 11 != 1;
}

TEST_F(Topk, RaggedRowsOfEveryKind) {
  uint64_t seed = 2100;
  for (gsort_dtype t : kAllTypes)
    for (Values values : kAllValues)
      for (uint64_t k : {1, 10, 100, 256, 300, 2500}) {
        RaggedCase c;
        c.t = t, c.values = values, c.k = k;
        vary(c, ++seed);
        uint64_t state = seed;
        for (int i = 0; i < 40; ++i) {
          const uint64_t kind = next_random(state) % 10, r = next_random(state);
          c.lengths.push_back(kind == 0 ? 0 : kind < 6 ? r % 1100 : kind < 9 ? r % 5000 : r % 30000);
        }
        run_ragged(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RaggedRowsAroundLimits) {
  uint64_t seed = 2300;
  for (uint64_t k : {1, 31, 255, 256, 257, 1024, 2047, 2048, 2049, 9000})
    for (gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_I8}) {
      RaggedCase c;
      c.t = t, c.k = k, c.values = kAllValues[seed % std::size(kAllValues)];
      vary(c, ++seed);
      for (const uint64_t limit : {32, 256, 1024, 2048, 4096, 8192, 12288, 16384})
        for (uint64_t length = limit - 1; length <= limit + 1; ++length) c.lengths.push_back(length);
      run_ragged(c);
      if (HasFatalFailure()) return;
    }
}

// Long rows: few of them are done by all blocks together, many by one block each.
TEST_F(Topk, RaggedLongRows) {
  uint64_t seed = 2500;
  for (uint64_t rows : {1, 3, 70})
    for (uint64_t k : {5, 700, 3000}) {
      RaggedCase c;
      c.k = k, c.values = kAllValues[seed % std::size(kAllValues)], c.t = seed % 2 ? GSORT_F32 : GSORT_U8;
      vary(c, ++seed);
      for (uint64_t r = 0; r < rows; ++r) {
        c.lengths.push_back(kTopkRaggedLong + 1 + r % 3 * 40000);
        c.lengths.push_back(r % 5 * 300);
      }
      run_ragged(c);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, RaggedManyShortRows) {
  RaggedCase c;
  uint64_t state = 5;
  for (int i = 0; i < 20000; ++i) c.lengths.push_back(next_random(state) % 40);
  for (uint64_t k : {1, 7, 40}) {
    c.k = k;
    run_ragged(c);
  }
  c.lengths.assign(1000, 0);
  run_ragged(c);
}

TEST_F(Topk, RaggedWrongOffsets) {
  RaggedCase c;
  c.lengths.assign(50, 2000);
  const uint64_t n = 100000;
  for (int kind = 0; kind < 6; ++kind)
    for (uint64_t k : {3, 400, 3000}) {
      std::vector<uint64_t> offsets = offsets_of(c);
      if (kind == 0) offsets[20] = offsets[19] - 1;
      if (kind == 1) offsets.back() = n + 1;
      if (kind == 2) offsets.front() = ~uint64_t{0};
      if (kind == 3) offsets[10] = ~uint64_t{0};
      if (kind == 4) std::reverse(offsets.begin(), offsets.end());
      if (kind == 5)
        for (uint64_t i = 0; i < offsets.size(); ++i) offsets[i] = i % 2 == 0 ? 0 : n;
      c.k = k;
      run_ragged_as<uint32_t>(c, offsets, n, true);
      if (HasFatalFailure()) return;
    }
}

TEST(TopkPlan, ReservationCoversEverySplit) {
  for (uint64_t n : {1000ull, 100000ull, 3000000ull, 1ull << 28})
    for (uint64_t k : {1ull, 10ull, 1000ull, 70000ull, 400000ull}) {
      if (k > n) continue;
      for (gsort_dtype t : {GSORT_U8, GSORT_F32, GSORT_F64}) {
        Request whole{};
        whole.operation = Operation::kTopkRows, whole.order = {t, true, false};
        whole.n = n, whole.k = k, whole.rows = 1, whole.columns = n, whole.row_stride = n;
        const uint64_t reserved = topk_workspace_bytes_forced(whole, TopkForce{});
        for (uint64_t rows = 1; rows <= n / k; rows = rows * 3 / 2 + 1) {
          Request split = whole;
          split.rows = rows, split.columns = n / rows, split.row_stride = n / rows;
          EXPECT_LE(topk_workspace_bytes_forced(split, TopkForce{}), reserved) << n << " " << k << " " << rows;
        }
      }
    }
}

}  // namespace
}  // namespace gsort_internal
