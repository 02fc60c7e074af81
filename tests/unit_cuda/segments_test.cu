// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of segments on the GPU: every class of length, gaps, empty segments and wrong offsets.
#include "sort_support.h"

namespace gsort_internal {
namespace {

class SegmentsTest : public SortFixture {
 protected:
  // Segment lengths of every class, gaps before the first and after the last.
  static std::vector<uint64_t> mixed_offsets(uint64_t n, uint32_t seed, const std::vector<uint64_t> &lengths) {
    std::mt19937_64 random(seed);
    std::vector<uint64_t> offsets = {std::min<uint64_t>(n, seed % 7)};
    while (offsets.back() < n) {
      const uint64_t length = lengths[random() % lengths.size()];
      if (offsets.back() + length > n) break;
      offsets.push_back(offsets.back() + length);
      if (offsets.size() > n) break;  // many empty segments
    }
    return offsets;
  }

  static std::vector<unsigned char> expected(const KeyOrder &order, const std::vector<unsigned char> &keys,
                                             const std::vector<uint64_t> &offsets) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    std::vector<unsigned char> result = keys;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      std::vector<uint64_t> segment;
      for (uint64_t i = offsets[s]; i < offsets[s + 1]; ++i) segment.push_back(element(keys, i, bytes));
      std::sort(segment.begin(), segment.end(),
                [&](uint64_t a, uint64_t b) { return reference_key(a, order) < reference_key(b, order); });
      for (size_t i = 0; i < segment.size(); ++i)
        std::memcpy(result.data() + (offsets[s] + i) * bytes, &segment[i], bytes);
    }
    return result;
  }

  // Returns the error word.
  uint32_t run(const KeyOrder &order, const std::vector<unsigned char> &keys, const std::vector<uint64_t> &offsets,
               bool in_place, uint64_t shift, std::vector<unsigned char> &result) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    Guarded in(keys.size(), shift * bytes), out(keys.size(), bytes), device_offsets(offsets.size() * 8, 0), error(4, 0);
    in.put(keys);
    std::vector<unsigned char> raw(offsets.size() * 8);
    std::memcpy(raw.data(), offsets.data(), raw.size());
    device_offsets.put(raw);
    Request request{Operation::kSortSegments, order};
    request.n = keys.size() / bytes;
    request.in = in.get();
    request.out = in_place ? in.get() : out.get();
    request.segments = offsets.size() - 1;
    request.offsets = reinterpret_cast<const uint64_t *>(device_offsets.get());
    Guarded workspace(segments_workspace_bytes(request), 0);
    launch_segments({nullptr, &facts_, &control_}, request, workspace.get(), reinterpret_cast<uint32_t *>(error.get()));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    (void)workspace.take();
    EXPECT_TRUE(device_offsets.take() == raw) << "the offsets changed";
    result = (in_place ? in : out).take();
    if (!in_place) EXPECT_TRUE(in.take() == keys) << "the input changed";
    uint32_t word = 0;
    const std::vector<unsigned char> error_bytes = error.take();
    std::memcpy(&word, error_bytes.data(), 4);
    return word;
  }
};

TEST_F(SegmentsTest, EveryOrderAndClass) {
  const std::vector<std::vector<uint64_t>> mixes = {{0, 1, 2, 3, 7, 31, 32, 33},  {63, 64, 65, 127, 128, 129},
                                                    {100, 500, 2047, 2048, 2049}, {1023, 1024, 1025, 4097},
                                                    {8191, 8192, 8193, 3},        {12287, 12288, 12289, 24576, 5},
                                                    {70000, 1, 90000, 300},       {150000}};
  uint32_t seed = 0;
  for (const KeyOrder &order : all_orders()) {
    for (const auto &mix : mixes) {
      const uint64_t n = mix.back() > 5000 || mix.size() < 5 ? 200011 : 20011;
      const Pattern pattern = kPatterns[++seed % (sizeof kPatterns / sizeof kPatterns[0])];
      SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
      const std::vector<unsigned char> keys = make_keys(pattern, n, order.dtype, seed);
      const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
      std::vector<unsigned char> result;
      ASSERT_EQ(run(order, keys, offsets, seed % 2 == 0, seed % 16, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

TEST_F(SegmentsTest, WrongOffsetsWriteNothing) {
  const uint64_t n = 50000;
  const KeyOrder order{GSORT_U32, false, false};
  const std::vector<unsigned char> keys = make_keys(Pattern::kUniform, n, GSORT_U32, 1);
  const std::vector<std::vector<uint64_t>> wrong = {
      {0, n + 1}, {0, 10, 9, 100}, {5, 4}, {0, 100, UINT64_MAX}, {UINT64_MAX, 0}, {0, 30000, 20000, 50000, 10, 50000}};
  for (const auto &offsets : wrong) {
    for (const bool in_place : {false, true}) {
      std::vector<unsigned char> result;
      EXPECT_EQ(run(order, keys, offsets, in_place, 0, result), 1u);
      EXPECT_TRUE(result == (in_place ? keys : std::vector<unsigned char>(keys.size(), kPoison)));
    }
  }
}

TEST_F(SegmentsTest, NoSegmentsCopy) {
  const KeyOrder order{GSORT_U16, false, false};
  const std::vector<unsigned char> keys = make_keys(Pattern::kUniform, 5000, GSORT_U16, 1);
  std::vector<unsigned char> result;
  ASSERT_EQ(run(order, keys, {0}, false, 3, result), 0u);
  ASSERT_TRUE(result == keys);
}

}  // namespace
}  // namespace gsort_internal
