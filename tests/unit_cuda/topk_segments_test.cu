// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows of different lengths: every class of length, elements outside all rows, wrong offsets.
#include "cuda/topk/ragged_plan.h"
#include "topk_support.h"

namespace gsort_test {
namespace {

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
void check_ragged(const RaggedCase &c, const std::vector<U> &data, const std::vector<U> &values, const Bytes &indices) {
  const KeyCodec<U> codec = make_codec<U>({c.t, c.greatest, c.nan_last});
  const uint32_t index_bytes = dtype_bytes(c.index_t);
  const uint64_t none = ~uint64_t{0} >> (64 - 8 * index_bytes);
  const std::vector<uint64_t> offsets = offsets_of(c);
  for (uint64_t r = 0; r < c.lengths.size(); ++r) {
    const U *row = data.data() + offsets[r];
    const uint64_t found = std::min(c.k, c.lengths[r]);
    const std::vector<uint64_t> wanted = reference(row, c.lengths[r], found, codec);
    for (uint64_t i = 0; i < c.k; ++i) {
      const uint64_t index = bits_at(indices, index_bytes, r * c.k + i);
      if (c.want_values) {
        ASSERT_EQ(values[r * c.k + i], i < found ? row[wanted[i]] : U{0})
            << "row " << r << " of " << c.lengths[r] << " place " << i;
      }
      if (c.want_indices) {
        ASSERT_EQ(index, i < found ? wanted[i] : none) << "row " << r << " of " << c.lengths[r] << " place " << i;
      }
    }
  }
}

// Where the kernel that checks offsets tells the host.
class Noticed {
 public:
  Noticed() {
    EXPECT_EQ(cudaMallocHost(&words_, kWords * sizeof *words_), cudaSuccess);
    std::fill_n(words_, kWords, 0);
  }
  ~Noticed() { cudaFreeHost(words_); }
  Noticed(const Noticed &) = delete;
  Noticed &operator=(const Noticed &) = delete;
  gsort_internal::Notice notice() const { return {words_, 7}; }

 private:
  static constexpr uint64_t kWords = topk::kLists + 3;
  uint64_t *words_ = nullptr;
};

// Runs on `offsets`, which may be wrong: then nothing may be written. The host hears of the check where it may, or not.
template <class U>
void run_ragged_once(const RaggedCase &c, const std::vector<uint64_t> &offsets, uint64_t n, bool wrong, bool hears) {
  SCOPED_TRACE(describe(c));
  const uint64_t results = c.lengths.size() * c.k, head = c.offset * sizeof(U);
  const std::vector<U> data = make_values<U>(c.values, c.t, n, c.seed);
  const DeviceArray in(data, head), values(results * sizeof(U), head), indices(results * dtype_bytes(c.index_t), 0);
  const DeviceArray places(offsets, 0), error(4, 0);
  Request request{};
  request.operation = Operation::kTopkSegments;
  request.order = {c.t, c.greatest, c.nan_last};
  request.n = n, request.k = c.k, request.segments = c.lengths.size();
  request.in = in.data();
  request.offsets = places.as<uint64_t>();
  request.out = c.want_values ? values.data() : nullptr;
  request.indices_out = c.want_indices ? indices.data() : nullptr;
  request.index_t = c.index_t;
  const DeviceArray workspace(topk::make_ragged_plan(request, device_facts()).workspace_bytes, 0);
  const Noticed noticed;
  const gsort_internal::Notice notice = noticed.notice();
  const bool told = topk::launch_segments({nullptr, &device_facts(), &quiet()}, request, workspace.data(),
                                          error.as<uint32_t>(), hears ? &notice : nullptr);
  if (told) ASSERT_EQ(notice.word(1), wrong ? 1u : 0u) << "when the call returns";
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(notice.word(0), told ? 7u : 0u);
  ASSERT_EQ(error.read_as<uint32_t>()[0], wrong ? 1u : 0u);
  const std::vector<U> values_after = values.read_as<U>();
  const Bytes indices_after = indices.read();
  if (wrong || !c.want_values) ASSERT_TRUE(all_poison(values_after)) << "values written";
  if (wrong || !c.want_indices) ASSERT_TRUE(all_poison(indices_after)) << "indices written";
  workspace.check_zones();
  ASSERT_TRUE(in.read_as<U>() == data) << "input changed";
  ASSERT_TRUE(places.read_as<uint64_t>() == offsets) << "offsets changed";
  if (!wrong) check_ragged<U>(c, data, values_after, indices_after);
}

template <class U>
void run_ragged_as(const RaggedCase &c, const std::vector<uint64_t> &offsets, uint64_t n, bool wrong) {
  run_ragged_once<U>(c, offsets, n, wrong, true);
  if (::testing::Test::HasFatalFailure()) return;
  run_ragged_once<U>(c, offsets, n, wrong, false);
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

// Rows that are cut into parts, and such as are not, for they are a small share of all.
void run_in_parts(gsort_dtype t, Values values, uint64_t k, uint64_t rows, uint64_t seed) {
  RaggedCase c;
  c.t = t, c.values = values, c.k = k;
  vary(c, seed);
  uint64_t state = seed;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t kind = next_random(state) % 16, r = next_random(state) >> 8;
    const uint64_t limits[] = {8192, 16384, 24576, 65536, topk::kRaggedLong};
    c.lengths.push_back(kind < 4 ? limits[r % 5] - 1 + r / 5 % 3 : kind < 8 ? r % 100000 : r % 2000);
  }
  run_ragged(c);
}

TEST_F(Topk, RaggedRowsInParts) {
  uint64_t seed = 4400;
  for (const gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8, GSORT_F16, GSORT_I32})
    for (Values values : kAllValues)
      for (const uint64_t k : {2, 16, 17, 32, 33, 64, 65, 128}) {
        if (++seed % 4 != 0) continue;
        run_in_parts(t, values, k, 1 + seed % 30, seed);
        if (HasFatalFailure()) return;
      }
  for (const gsort_dtype t : {GSORT_U32, GSORT_F64, GSORT_U16})  // many, and one that is too long
    for (const uint64_t k : {8, 64}) {
      RaggedCase c;
      c.t = t, c.k = k, c.values = kAllValues[seed % std::size(kAllValues)];
      vary(c, ++seed);
      c.lengths.assign(topk::kListAloneMax + 100, 500);
      for (uint64_t i = 0; i < 40; ++i) c.lengths[i * 37] = 20000 * (1 + i % 9);
      if (k == 8) c.lengths[5] = topk::kPartsRowMax + 1;
      c.lengths[7] = topk::kPartsRowMax;
      run_ragged(c);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, RacecheckRaggedRowsInParts) {
  uint64_t seed = 4700;
  for (const gsort_dtype t : {GSORT_U32, GSORT_F64, GSORT_U8})
    for (const uint64_t k : {8, 60, 128}) {
      run_in_parts(t, kAllValues[seed % 2], k, 12, ++seed);
      if (HasFatalFailure()) return;
    }
}

// Long rows: few of them are done by all blocks together, many by one block each, and of small k in parts.
TEST_F(Topk, RaggedLongRows) {
  uint64_t seed = 2500;
  for (uint64_t rows : {1, 3, 70})
    for (uint64_t k : {5, 700, 3000}) {
      RaggedCase c;
      c.k = k, c.values = kAllValues[seed % std::size(kAllValues)], c.t = seed % 2 ? GSORT_F32 : GSORT_U8;
      vary(c, ++seed);
      for (uint64_t r = 0; r < rows; ++r) {
        c.lengths.push_back(topk::kRaggedLong + 1 + r % 3 * 40000);
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
  for (const uint64_t rows : {uint64_t{1000}, topk::kListAloneMax + 1}) {  // no elements at all
    c.lengths.assign(rows, 0);
    run_ragged(c);
  }
}

// So many that a warp looks at some rows, and some of its lanes do each: the number of rows at once is a multiple of
// those that it does together, or not, and rows of other kinds are among them.
void run_some_at_a_time(gsort_dtype t, Values values, uint64_t k, uint64_t rows, uint64_t seed) {
  RaggedCase c;
  c.t = t, c.values = values, c.k = k;
  vary(c, seed);
  uint64_t state = seed;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t kind = next_random(state) % 16, r = next_random(state);
    c.lengths.push_back(kind == 0 ? r % 600 : kind < 8 ? r % 66 : r % 131);
  }
  run_ragged(c);
}

TEST_F(Topk, RaggedRowsSomeAtATime) {
  const uint64_t rows = 32 * device_facts().multiprocessors;
  uint64_t seed = 2800;
  for (const gsort_dtype t : {GSORT_U8, GSORT_F16, GSORT_F32, GSORT_I64, GSORT_F64})
    for (Values values : kAllValues)
      for (uint64_t k : {2, 8, 9, 16, 17}) {
        run_some_at_a_time(t, values, k, rows + seed % 5, seed);
        if (HasFatalFailure()) return;
        ++seed;
      }
}

TEST_F(Topk, RacecheckRowsSomeAtATime) {
  const uint64_t rows = 32 * device_facts().multiprocessors + 1;
  for (const gsort_dtype t : {GSORT_U32, GSORT_F64})
    for (uint64_t k : {8, 16}) {
      run_some_at_a_time(t, kAllValues[0], k, rows, 2900 + k);
      if (HasFatalFailure()) return;
    }
}

// Rows of every list by length and around their limits, many and few of them, among short ones and long ones.
void run_listed(gsort_dtype t, Values values, uint64_t k, uint64_t rows, uint64_t seed) {
  RaggedCase c;
  c.t = t, c.values = values, c.k = k;
  vary(c, seed);
  uint64_t state = seed;
  for (uint64_t i = 0; i < rows; ++i) {
    const uint64_t limits[] = {128, 512, 1024, 2048, 4096, 8192, 16384}, r = next_random(state) >> 8;
    const uint64_t limit = limits[next_random(state) % (i % 8 == 0 ? 7 : i % 2 == 0 ? 5 : 3)];
    c.lengths.push_back(r % 3 == 0 ? limit - 1 + r / 3 % 3 : r % 3 == 1 ? r / 3 % limit : r / 3 % 200);
  }
  if (seed % 3 == 0) c.lengths[rows / 2] = topk::kRaggedLong + 1;
  run_ragged(c);
}

TEST_F(Topk, RaggedRowsOnListsByLength) {
  uint64_t seed = 3100;
  for (const gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_U8, GSORT_F16, GSORT_I32})
    for (Values values : kAllValues)
      for (const uint64_t k : {1, 2, 16, 17, 33, 64, 65, 128, 129, 200}) {
        run_listed(t, values, k, 40 + seed % 90, ++seed);
        if (HasFatalFailure()) return;
      }
  for (const gsort_dtype t : {GSORT_F32, GSORT_U64, GSORT_BF16})
    for (const uint64_t k : {1, 8, 40, 100, 256}) {
      run_listed(t, kAllValues[seed % std::size(kAllValues)], k, topk::kListAloneMax + seed % 500, ++seed);
      if (HasFatalFailure()) return;
    }
}

TEST_F(Topk, RacecheckRowsOnListsByLength) {
  uint64_t seed = 3600;
  for (const gsort_dtype t : {GSORT_U32, GSORT_F64, GSORT_U8})
    for (const uint64_t k : {1, 8, 20, 64, 128}) {
      run_listed(t, kAllValues[seed % 2], k, 60, ++seed);
      if (HasFatalFailure()) return;
    }
}

// Few enough elements a row on the average that the host waits to hear who has rows: blocks, a team, or both.
TEST_F(Topk, RaggedLongRowsAmongMany) {
  uint64_t seed = 2700;
  for (const uint64_t longer : {uint64_t{0}, uint64_t{5}, uint64_t{70}, uint64_t{1500}})
    for (const bool team : {false, true})
      for (const uint64_t k : {1, 40, 256}) {
        RaggedCase c;
        c.k = k, c.values = kAllValues[seed % std::size(kAllValues)], c.t = seed % 2 ? GSORT_F32 : GSORT_U64;
        vary(c, ++seed);
        c.lengths.assign(3000, 90);
        for (uint64_t i = 0; i < longer; ++i) c.lengths[2 * i + 1] = topk::kWarpItemsMax + 1 + i % 500;
        if (team) c.lengths[2] = topk::kRaggedLong + 1, c.lengths[2999] = topk::kRaggedLong + 3;
        run_ragged(c);
        if (HasFatalFailure()) return;
      }
}

TEST_F(Topk, RaggedWrongOffsetsAmongMany) {
  RaggedCase c;
  c.lengths.assign(5000, 100);
  const uint64_t n = 500000;
  for (const uint64_t at : {0, 1, 31, 1024, 4095, 4096, 4999, 5000})
    for (const uint64_t value : {uint64_t{7}, n + 1, ~uint64_t{0}}) {
      std::vector<uint64_t> offsets = offsets_of(c);
      if (value == 7 && at < 2) continue;  // right
      offsets[at] = value;
      run_ragged_as<uint32_t>(c, offsets, n, true);
      if (HasFatalFailure()) return;
    }
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

}  // namespace
}  // namespace gsort_test
