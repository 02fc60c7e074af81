// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of segments on the GPU: every class of length, gaps, empty segments and wrong offsets.
#include "cuda/segments/launch.h"
#include "cuda/segments/plan.h"
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

  static Bytes expected(const KeyOrder &order, const Bytes &keys, const std::vector<uint64_t> &offsets) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    Bytes result = keys;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      std::vector<uint64_t> segment;
      for (uint64_t i = offsets[s]; i < offsets[s + 1]; ++i) segment.push_back(bits_at(keys, bytes, i));
      std::sort(segment.begin(), segment.end(),
                [&](uint64_t a, uint64_t b) { return place_of(a, order) < place_of(b, order); });
      for (size_t i = 0; i < segment.size(); ++i)
        std::memcpy(result.data() + (offsets[s] + i) * bytes, &segment[i], bytes);
    }
    return result;
  }

  // Of the last run, where a plan partitions: segments that no block holds, buckets for the second round, and those
  // that are left to the passes behind it.
  uint64_t large() const { return counts_[2]; }
  uint64_t again() const { return counts_[5]; }
  uint64_t passes() const { return counts_[6]; }
  uint64_t big_listed() const { return counts_[13]; }

  // The only segment of `length` keys begins behind kMisledBegin. Its sampled keys lie far above all others, so that
  // those are one bucket.
  template <class U>
  static Bytes misleading_keys(uint64_t length) {
    std::vector<U> keys(kMisledBegin + length + 5);
    std::mt19937_64 random(length);
    constexpr U kTop = U{1} << (sizeof(U) * 8 - 1);
    for (U &key : keys) key = static_cast<U>(random()) & static_cast<U>(kTop - 1);
    const uint64_t wanted = (length + segments::bucket_items(sizeof(U)) - 1) / segments::bucket_items(sizeof(U));
    const uint64_t buckets =
        std::min<uint64_t>(std::max<uint64_t>(wanted, segments::kBucketsMin), segments::kBucketsMax);
    const uint64_t count =
        buckets * std::min<uint64_t>(segments::kSampleShare, segments::sample_items_max(sizeof(U)) / buckets);
    const uint64_t step = (length << 16) / count;
    for (uint32_t i = 0; i < count; ++i)  // the places of sampled_place()
      keys[kMisledBegin + (step * i >> 16) + (uint64_t{mixed_bits(i)} * (step >> 16) >> 32)] |= kTop;
    return gsort_test::bytes_of(keys);
  }
  static uint32_t mixed_bits(uint32_t bits) {
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
  }
  static constexpr uint64_t kMisledBegin = 3;

  // Returns the error word.
  uint32_t run(const KeyOrder &order, const Bytes &keys, const std::vector<uint64_t> &offsets, bool in_place,
               uint64_t shift, Bytes &result) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    const DeviceArray in(keys, shift * bytes), out(keys.size(), bytes), device_offsets(offsets, 0), error(4, 0);
    Request request{Operation::kSortSegments, order};
    request.n = keys.size() / bytes;
    request.in = in.data();
    request.out = in_place ? in.data() : out.data();
    request.segments = offsets.size() - 1;
    request.offsets = device_offsets.as<uint64_t>();
    const DeviceArray workspace(segments::make_plan(request, facts_).workspace_bytes, 0);
    segments::launch(context(), request, workspace.data(), error.as<uint32_t>());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    workspace.check_zones();
    const segments::Plan plan = segments::make_plan(request, facts_);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(counts_, static_cast<char *>(workspace.data()) + plan.list_counts, sizeof counts_,
                                      cudaMemcpyDeviceToHost));
    EXPECT_TRUE(device_offsets.read_as<uint64_t>() == offsets) << "the offsets changed";
    result = (in_place ? in : out).read();
    if (!in_place) EXPECT_TRUE(in.read() == keys) << "the input changed";
    return error.read_as<uint32_t>()[0];
  }

 private:
  uint64_t counts_[14] = {};  // the plan's list_counts
};

TEST_F(SegmentsTest, EveryOrderAndClass) {
  const std::vector<std::vector<uint64_t>> mixes = {{0, 1, 2, 3, 7, 31, 32, 33},
                                                    {8, 9, 12, 13, 16, 17},
                                                    {10},
                                                    {16},
                                                    {63, 64, 65, 127, 128, 129, 0},
                                                    {100},
                                                    {255, 256, 257, 511, 512, 513, 1},
                                                    {100, 500, 1023, 1024, 1025, 2047, 2048, 2049},
                                                    {4095, 4096, 4097, 5},
                                                    {6143, 6144, 6145, 12287, 12288, 12289, 24576, 5},
                                                    {70000, 1, 90000, 300},
                                                    {150000}};
  uint32_t seed = 0;
  for (const KeyOrder &order : all_orders()) {
    for (const auto &mix : mixes) {
      const uint64_t n = *std::max_element(mix.begin(), mix.end()) > 5000 ? 200011 : 40011;
      const Pattern pattern = kPatterns[++seed % (sizeof kPatterns / sizeof kPatterns[0])];
      SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
      const Bytes keys = make_keys(pattern, n, order.dtype, seed);
      const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, seed % 2 == 0, seed % 16, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

// Every length of a short segment, at places that shift from tile to tile.
TEST_F(SegmentsTest, EveryShortLength) {
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64}) {
    const KeyOrder order{dtype, false, is_float(dtype)};
    std::vector<uint64_t> offsets = {3};
    for (uint64_t length = 0; length <= segments::kShortSegmentItemsMax + 1; ++length)
      offsets.push_back(offsets.back() + length);
    for (uint64_t length = segments::kShortSegmentItemsMax + 1; length > 0; --length)
      offsets.push_back(offsets.back() + length);
    const uint64_t n = offsets.back() + 11;
    for (const Pattern pattern : kPatterns) {
      SCOPED_TRACE(describe(order, n, pattern));
      const Bytes keys = make_keys(pattern, n, dtype, 5);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, false, 1, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

// Segments of one length all over: short ones fill tiles to their ends.
TEST_F(SegmentsTest, EqualLengths) {
  const KeyOrder order{GSORT_U32, true, false};
  for (const uint64_t length : {1, 2, 8, 10, 32, 64, 512, 513, 1000, 4096, 8192, 10000, 12288}) {
    for (const uint64_t n : {length, length * 3, uint64_t{4096} * 12, uint64_t{1} << 17}) {
      std::vector<uint64_t> offsets = {0};
      while (offsets.back() + length <= n) offsets.push_back(offsets.back() + length);
      SCOPED_TRACE(std::to_string(length) + " of " + std::to_string(n));
      const Bytes keys = make_keys(Pattern::kUniform, n, GSORT_U32, 9);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, true, 1, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

// Keys that share bins, by how many and whether they are equal: what threads, warps and merges put in order.
TEST_F(SegmentsTest, KeysThatCrowd) {
  std::mt19937_64 random(17);
  struct Crowd {
    uint32_t crowds, keys, values;  // crowds of so many keys that lie within so many values, the rest far apart
  };
  const Crowd kinds[] = {{1, 8, 8},      {1, 9, 9},       {3, 9, 1},    {5, 31, 40},   {5, 32, 40},   {5, 33, 40},
                         {2, 256, 1000}, {1, 257, 1000},  {1, 257, 1},  {100, 12, 30}, {150, 12, 30}, {20, 200, 2},
                         {1, 400, 2},    {1, 5000, 5000}, {1, 6000, 1}, {0, 0, 1}};
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F32, GSORT_I64}) {
    const uint32_t bytes = dtype_bytes(dtype);
    for (const uint64_t length : {uint64_t{600}, uint64_t{2048}, uint64_t{6000}, uint64_t{12288}}) {
      std::vector<uint64_t> offsets = {2};
      Bytes keys(2 * bytes, 1);
      for (const Crowd &kind : kinds) {
        std::vector<uint64_t> words;
        for (uint32_t c = 0; c < kind.crowds; ++c) {
          const uint64_t base = random();
          for (uint32_t i = 0; i < kind.keys; ++i) words.push_back(base + random() % kind.values);
        }
        while (words.size() < length) words.push_back(random());
        words.resize(length);
        std::shuffle(words.begin(), words.end(), random);
        for (const uint64_t word : words)
          keys.insert(keys.end(), (const unsigned char *)&word, (const unsigned char *)&word + bytes);
        offsets.push_back(offsets.back() + length);
      }
      SCOPED_TRACE("type " + std::to_string(dtype) + ", length " + std::to_string(length));
      const KeyOrder order{dtype, false, false};
      for (const bool in_place : {false, true}) {
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, in_place, 0, result), 0u);
        ASSERT_TRUE(result == expected(order, keys, offsets));
      }
    }
  }
}

// About the most keys and segments of a call without a kernel of its own for the check, and about the ends of the tiles
// of such a call; short segments and others whose keys crowd, beside one that no block holds and without it.
TEST_F(SegmentsTest, FewKeysInFewSegments) {
  std::mt19937_64 random(29);
  const uint64_t most = segments::kWholeItemsMax, tile = segments::kWholeTileItems;
  for (const gsort_dtype dtype : {GSORT_U16, GSORT_F32, GSORT_I64}) {
    const KeyOrder order{dtype, dtype == GSORT_I64, is_float(dtype)};
    const uint32_t bytes = dtype_bytes(dtype);
    for (const uint64_t n : {uint64_t{1}, tile - 1, tile, tile + 1, uint64_t{2049}, uint64_t{20000}, most, most + 1}) {
      for (const uint64_t length : {uint64_t{5}, uint64_t{16}, uint64_t{511}, uint64_t{513}, uint64_t{1500}, n}) {
        // The last of all, where there is room: longer than a block holds.
        const uint64_t segmented = n > 60000 ? n - 30000 : n;
        std::vector<uint64_t> offsets = {n % 3};
        while (offsets.back() + length <= segmented) offsets.push_back(offsets.back() + length);
        offsets.push_back(n);
        SCOPED_TRACE("type " + std::to_string(dtype) + ", " + std::to_string(offsets.size() - 1) + " segments of " +
                     std::to_string(length) + ", n " + std::to_string(n));
        Bytes keys(n * bytes);
        for (uint64_t i = 0; i < n; ++i) {
          const uint64_t word = random() & random() & random();  // crowds within crowds
          std::memcpy(keys.data() + i * bytes, &word, bytes);
        }
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, n % 2 == 0, n % 16, result), 0u);
        ASSERT_TRUE(result == expected(order, keys, offsets));
      }
    }
  }
  for (const uint64_t count : {segments::kWholeSegmentsMax, segments::kWholeSegmentsMax + 1}) {
    SCOPED_TRACE(std::to_string(count) + " segments");
    std::vector<uint64_t> offsets = {0};
    for (uint64_t s = 0; s < count; ++s) offsets.push_back(offsets.back() + s % 13);
    const Bytes keys = make_keys(Pattern::kUniform, offsets.back() + 7, GSORT_U32, 6);
    const KeyOrder order{GSORT_U32, false, false};
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, false, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
  }
}

// About the lengths that a block of its own takes, in calls in which such are likely.
TEST_F(SegmentsTest, BigSegments) {
  uint32_t seed = 100, listed = 0, unlisted = 0;  // calls with big ones and without
  for (const KeyOrder &order : all_orders()) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    if (!segments::merges(bytes)) continue;
    const uint64_t medium = segments::medium_segment_items(bytes), big = segments::big_segment_items(bytes);
    const std::vector<std::vector<uint64_t>> mixes = {{medium + 1, big, medium, big - 1, big + 1, 300},
                                                      {big, big - 700, medium + medium / 3, 2, big / 4 * 3},
                                                      {medium * 3 / 2 + 1}};
    for (const auto &mix : mixes) {
      const uint64_t n = bytes == 2 ? segments::kMergeShortKeysMin + 4321 : (seed % 2 == 0 ? 3 : 11) * big + 4321;
      const Pattern pattern = kPatterns[++seed % (sizeof kPatterns / sizeof kPatterns[0])];
      SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
      const Bytes keys = make_keys(pattern, n, order.dtype, seed);
      const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, seed % 2 == 0, seed % 16, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
      ++(big_listed() != 0 ? listed : unlisted);
    }
  }
  if (facts_.clusters()) EXPECT_GT(listed, 4 * unlisted);
}

// Keys of 1 byte, which warps count: few values and all, segments that begin at any place of 16 bytes, and the longest.
TEST_F(SegmentsTest, CountedSegments) {
  uint32_t seed = 0;
  const uint64_t longest = segments::medium_segment_items(1), big = segments::big_segment_items(1);
  uint32_t listed = 0;
  for (const KeyOrder &order : all_orders()) {
    if (dtype_bytes(order.dtype) != 1) continue;
    for (const auto &mix : std::vector<std::vector<uint64_t>>{{513, 700, 2048, 2049, 1, 517},
                                                              {longest, longest + 1, longest - 1, 30001, 9},
                                                              {big, big + 1, big - 1, 17, 5000, 512, 4000, 1, 2000, 3},
                                                              {4096, 7680, 7681, 8191, 12345, 12288, 12289}})
      for (const Pattern pattern : kPatterns) {
        const uint64_t n = (mix[0] == big ? 400 : 20) * longest + 77;
        if (mix[0] == big && pattern != Pattern::kUniform && pattern != Pattern::kTwoValues) continue;
        SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
        const Bytes keys = make_keys(pattern, n, order.dtype, ++seed);
        const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
        for (const bool in_place : {false, true}) {
          Bytes result;
          ASSERT_EQ(run(order, keys, offsets, in_place, seed % 16, result), 0u);
          ASSERT_TRUE(result == expected(order, keys, offsets));
          listed += big_listed() != 0 ? 1 : 0;
        }
      }
  }
  EXPECT_GT(listed, 0u) << "no call had big ones";
}

TEST_F(SegmentsTest, RacecheckCounts) {
  facts_.multiprocessors = 1;
  const KeyOrder order{GSORT_I8, true, false};
  const std::vector<uint64_t> offsets = {1, 9001, 9600, 10200, 12300, 20000, 20513};
  const uint64_t n = offsets.back() + 2;
  const Bytes keys = make_keys(Pattern::kUniform, n, GSORT_I8, 9);
  Bytes result;
  ASSERT_EQ(run(order, keys, offsets, true, 1, result), 0u);
  ASSERT_TRUE(result == expected(order, keys, offsets));
}

// One short segment beside longer ones, at either end of its tile and alone in it.
TEST_F(SegmentsTest, AShortSegmentAmongOthers) {
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_I32, GSORT_F64}) {
    const KeyOrder order{dtype, dtype == GSORT_F64, false};
    const uint64_t tile = segments::short_tile_items(dtype_bytes(dtype)), n = 40 * tile + 7;
    for (const uint64_t length : {1, 2, 100, 512}) {
      for (const uint64_t at :
           {tile * 7, tile * 7 - length, tile * 7 - 1, tile * 7 + tile / 2, uint64_t{0}, n - length}) {
        std::vector<uint64_t> offsets;
        for (uint64_t begin = at % 600; begin < at; begin += 600) offsets.push_back(begin);
        if (offsets.empty() || offsets.back() + 513 < at) offsets.push_back(at);
        if (offsets.back() != at) offsets.back() = at;
        offsets.push_back(at + length);
        while (offsets.back() + 1400 <= n) offsets.push_back(offsets.back() + 700);
        SCOPED_TRACE(std::to_string(length) + " at " + std::to_string(at) + ", type " + std::to_string(dtype));
        const Bytes keys = make_keys(Pattern::kUniform, n, dtype, length);
        for (const bool in_place : {false, true}) {
          Bytes result;
          ASSERT_EQ(run(order, keys, offsets, in_place, 1, result), 0u);
          ASSERT_TRUE(result == expected(order, keys, offsets));
        }
      }
    }
  }
}

// More segments of any length that a block holds than teams of warps take at once, so that teams of several sizes
// follow each other in a block.
TEST_F(SegmentsTest, ManySegmentsOfMixedLengths) {
  std::mt19937_64 random(31);
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F32, GSORT_F64}) {
    const KeyOrder order{dtype, dtype == GSORT_F32, false};
    const uint32_t bytes = dtype_bytes(dtype);
    const uint64_t n = uint64_t{48 << 20} / bytes, longest = segments::medium_segment_items(bytes);
    for (const uint64_t few : {longest, longest / 2, longest / 6}) {
      std::vector<uint64_t> offsets = {1};
      while (offsets.back() + longest <= n)
        offsets.push_back(offsets.back() + 1 + random() % (random() % 8 == 0 ? longest : few));
      SCOPED_TRACE("type " + std::to_string(dtype) + ", up to " + std::to_string(few));
      const Bytes keys = make_keys(Pattern::kUniform, n, dtype, few);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, few == longest, 0, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

// Segments that no block holds, about the lengths from which on they have one bucket more.
// Keys of 2 bytes by merges.
TEST_F(SegmentsTest, ManyShortKeys) {
  for (const gsort_dtype dtype : {GSORT_U16, GSORT_F16, GSORT_BF16}) {
    const KeyOrder order{dtype, dtype != GSORT_U16, dtype == GSORT_F16};
    const uint64_t n = segments::kMergeShortKeysMin + 4321;
    const Pattern pattern = dtype == GSORT_BF16 ? Pattern::kSpecial : Pattern::kUniform;
    const Bytes keys = make_keys(pattern, n, dtype, 11);
    const std::vector<uint64_t> offsets =
        mixed_offsets(n, 5, {700, 2047, 2048, 2049, 3000, 6144, 6145, 9000, 12288, 12289, 40, 1024, 20000});
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, dtype == GSORT_BF16, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
  }
}

TEST_F(SegmentsTest, LongSegments) {
  const std::vector<std::vector<uint64_t>> mixes = {{6145, 12289, 7, 14400, 0, 14401, 7201},
                                                    {6144, 12288, 500, 24577, 3000},
                                                    {50000, 1, 48000, 48001, 2048},
                                                    {100000},
                                                    {300000, 513}};
  uint32_t seed = 0;
  for (const KeyOrder &order : all_orders()) {
    if (dtype_bytes(order.dtype) < 4) continue;
    for (const auto &mix : mixes) {
      const uint64_t n = 310011;
      const Pattern pattern = kPatterns[++seed % (sizeof kPatterns / sizeof kPatterns[0])];
      SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
      const Bytes keys = make_keys(pattern, n, order.dtype, seed);
      const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
      for (const bool in_place : {false, true}) {
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, in_place, seed % 16, result), 0u);
        ASSERT_TRUE(result == expected(order, keys, offsets));
      }
    }
  }
}

// Keys that lie unevenly, in segments that no block holds.
TEST_F(SegmentsTest, LongSegmentsOfUnevenKeys) {
  std::mt19937_64 random(23);
  const uint64_t n = 400000;
  const std::vector<uint64_t> offsets = {0, 30000, 30100, 200000, 399999};
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64}) {
    const uint32_t bytes = dtype_bytes(dtype);
    for (uint32_t kind = 0; kind < 8; ++kind) {
      SCOPED_TRACE("type " + std::to_string(dtype) + ", kind " + std::to_string(kind));
      Bytes keys(n * bytes);
      const uint64_t base = random();
      for (uint64_t i = 0; i < n; ++i) {
        const uint64_t x = random(), y = random();
        const uint64_t kinds[] = {
            x >> y % 64, base * (x % 7) + y % 1000, x % 65536 * (y % 65536),     x % 10 ? base : y, base + x % 5000,
            x & y,       i % (n / 5) * 1000,        x % 3 ? ~uint64_t{0} : y % 9};
        std::memcpy(keys.data() + i * bytes, &kinds[kind], bytes);
      }
      for (const bool in_place : {false, true}) {
        const KeyOrder order{dtype, kind % 2 == 1, is_float(dtype)};
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, in_place, kind, result), 0u);
        ASSERT_TRUE(result == expected(order, keys, offsets));
      }
    }
  }
}

// More buckets than a round of partitions makes, so that most are partitioned again.
TEST_F(SegmentsTest, SegmentsThatTakeTwoRounds) {
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I64}) {
    const uint64_t n = dtype == GSORT_U32 ? 8000000 : 4000000;
    const KeyOrder order{dtype, false, false};
    const std::vector<uint64_t> offsets = {1, n - 20000, n - 3};
    for (const Pattern pattern : {Pattern::kUniform, Pattern::kSorted, Pattern::kFewBits}) {
      SCOPED_TRACE(describe(order, n, pattern));
      const Bytes keys = make_keys(pattern, n, dtype, 3), want = expected(order, keys, offsets);
      for (const bool in_place : {false, true}) {
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, in_place, 1, result), 0u);
        ASSERT_TRUE(result == want);
      }
    }
  }
}

// The sample misleads in the first round, so that the second has more keys than its buckets are made for, and those
// that no block holds are left to the passes.
TEST_F(SegmentsTest, BucketsOfTheSecondRoundByPasses) {
  if (facts_.shared_bytes_block_max < segments::kLargeSharedBytes) GTEST_SKIP() << "no partition on this device";
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
    const uint64_t length = dtype == GSORT_U32 ? 4700000 : 2350000;
    const Bytes keys = dtype == GSORT_U32 ? misleading_keys<uint32_t>(length) : misleading_keys<uint64_t>(length);
    const KeyOrder order{dtype, false, false};
    const std::vector<uint64_t> offsets = {kMisledBegin, kMisledBegin + length};
    const Bytes want = expected(order, keys, offsets);
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE("type " + std::to_string(dtype) + (in_place ? " in place" : ""));
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, in_place, 1, result), 0u);
      ASSERT_TRUE(result == want);
      EXPECT_EQ(again(), 1u);
      EXPECT_GE(passes(), 10u);
      EXPECT_LE(passes(), 400u) << "no bucket was left to a block";
    }
  }
}

// A device whose blocks hold too little to partition: passes over memory alone.
TEST_F(SegmentsTest, LongSegmentsByPasses) {
  facts_.shared_bytes_block_max = std::min(facts_.shared_bytes_block_max, segments::kLargeSharedBytes - 1);
  const std::vector<uint64_t> offsets = {3, 20000, 20000, 100000, 199990};
  for (const KeyOrder &order : all_orders()) {
    const Bytes keys = make_keys(Pattern::kUniform, 200000, order.dtype, 4);
    SCOPED_TRACE(describe(order, 200000, Pattern::kUniform));
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, order.descending, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
  }
}

// So few keys that compute-sanitizer's racecheck comes to an end: both rounds of partitions, buckets of one value,
// every class of shorter segments, and passes.
TEST_F(SegmentsTest, RacecheckLongSegments) {
  if (facts_.shared_bytes_block_max < segments::kLargeSharedBytes) GTEST_SKIP() << "no partition on this device";
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F64}) {
    const KeyOrder order{dtype, dtype == GSORT_F64, dtype == GSORT_F64};
    const uint64_t most = segments::medium_segment_items(dtype_bytes(dtype)), n = most * 2 + 3000;
    const std::vector<uint64_t> offsets = {2, most + 3, most + 700, most + 703, most + 2500, n - 1};
    for (const Pattern pattern : {Pattern::kUniform, Pattern::kTwoValues}) {
      SCOPED_TRACE(describe(order, n, pattern));
      const Bytes keys = make_keys(pattern, n, dtype, 7);
      Bytes result;
      ASSERT_EQ(run(order, keys, offsets, pattern == Pattern::kUniform, 1, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
      EXPECT_EQ(large(), 2u);
    }
  }
}

// More small and middle segments than the teams of few blocks, side by side and one after the other in a team.
TEST_F(SegmentsTest, RacecheckTeams) {
  facts_.multiprocessors = 1;
  std::mt19937_64 random(37);
  for (const gsort_dtype dtype : {GSORT_F32, GSORT_I64}) {
    const KeyOrder order{dtype, dtype == GSORT_I64, false};
    const uint64_t run_keys = segments::merge_run_items(dtype_bytes(dtype));
    std::vector<uint64_t> offsets = {1};
    const auto add = [&](uint64_t least, uint64_t most) {
      offsets.push_back(offsets.back() + least + random() % (most - least + 1));
    };
    for (uint32_t i = 0; i < 60; ++i) add(513, random() % 3 == 0 ? 2 * run_keys : std::max<uint64_t>(run_keys, 600));
    for (uint32_t i = 0; i < 24; ++i) add(2 * run_keys + 1, (random() % 3 == 0 ? 6 : 3) * run_keys);
    const uint64_t n = offsets.back() + 2;
    ASSERT_LE(n, segments::kWholeItemsMax) << "nothing is spread first";
    const Bytes keys = make_keys(Pattern::kUniform, n, dtype, 9);
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, false, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
  }
}

// Two big segments for one block, and one beside it.
TEST_F(SegmentsTest, RacecheckBig) {
  for (const gsort_dtype dtype : {GSORT_F32, GSORT_I64}) {
    const uint32_t bytes = dtype_bytes(dtype);
    if (!facts_.clusters()) GTEST_SKIP() << "no kernel for big segments";
    facts_.multiprocessors = 2;
    const KeyOrder order{dtype, dtype == GSORT_I64, false};
    const uint64_t medium = segments::medium_segment_items(bytes);
    const std::vector<uint64_t> offsets = {1, medium + 2, 3 * medium + 2, 5 * medium - 700};
    const uint64_t n = offsets.back() + 2;
    const Bytes keys = make_keys(Pattern::kUniform, n, dtype, 9);
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, false, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
    EXPECT_EQ(big_listed(), 3u);
  }
}

TEST_F(SegmentsTest, RacecheckTwoRounds) {
  if (facts_.shared_bytes_block_max < segments::kLargeSharedBytes) GTEST_SKIP() << "no partition on this device";
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_U64}) {
    const uint64_t length = segments::big_segment_items(dtype_bytes(dtype)) + 1000;
    const Bytes keys = dtype == GSORT_U32 ? misleading_keys<uint32_t>(length) : misleading_keys<uint64_t>(length);
    const KeyOrder order{dtype, false, false};
    const std::vector<uint64_t> offsets = {kMisledBegin, kMisledBegin + length};
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, true, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
    EXPECT_EQ(again(), 1u);
  }
}

TEST_F(SegmentsTest, RacecheckPasses) {
  facts_.shared_bytes_block_max = std::min(facts_.shared_bytes_block_max, segments::kLargeSharedBytes - 1);
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_U32, GSORT_F64}) {
    const KeyOrder order{dtype, false, false};
    const uint64_t n = segments::medium_segment_items(dtype_bytes(dtype)) + 3000;
    const std::vector<uint64_t> offsets = {1, n - 2000, n - 1900, n - 3};
    const Bytes keys = make_keys(Pattern::kUniform, n, dtype, 4);
    Bytes result;
    ASSERT_EQ(run(order, keys, offsets, false, 1, result), 0u);
    ASSERT_TRUE(result == expected(order, keys, offsets));
    EXPECT_EQ(large(), 1u);
  }
}

// Empty segments, in front of, behind and between a few that hold keys, and alone.
TEST_F(SegmentsTest, RowsOfEmptySegments) {
  const KeyOrder order{GSORT_U32, false, false};
  const uint64_t n = 100000;
  const Bytes keys = make_keys(Pattern::kUniform, n, GSORT_U32, 3);
  const std::vector<std::vector<uint64_t>> bounds = {
      {0, n},   {7, n - 5}, {0}, {n}, {4096}, {500, 510, 520, 4090, 4100, 60000}, {4095, 4096, 4097, 8192, 8193},
      {1, 2, 3}};
  for (const auto &bound : bounds) {
    for (const uint64_t repeats : {uint64_t{1}, uint64_t{33}, uint64_t{70000}}) {
      std::vector<uint64_t> offsets;
      for (const uint64_t at : bound) offsets.insert(offsets.end(), repeats, at);
      SCOPED_TRACE(std::to_string(bound.size()) + " bounds, each " + std::to_string(repeats) + " times");
      for (const bool in_place : {false, true}) {
        Bytes result;
        ASSERT_EQ(run(order, keys, offsets, in_place, 2, result), 0u);
        ASSERT_TRUE(result == expected(order, keys, offsets));
      }
    }
  }
}

TEST_F(SegmentsTest, WrongOffsetsWriteNothing) {
  const uint64_t n = 50000;
  const KeyOrder order{GSORT_U32, false, false};
  const Bytes keys = make_keys(Pattern::kUniform, n, GSORT_U32, 1);
  std::vector<std::vector<uint64_t>> wrong = {
      {0, n + 1}, {0, 10, 9, 100}, {5, 4}, {0, 100, UINT64_MAX}, {UINT64_MAX, 0}, {0, 30000, 20000, 50000, 10, 50000}};
  // One wrong pair among many that would be right.
  std::vector<uint64_t> long_row;
  for (uint64_t at = 0; at <= n; at += 5) long_row.push_back(at);
  std::swap(long_row[3000], long_row[3001]);
  wrong.push_back(long_row);
  std::swap(long_row[3000], long_row[3001]);
  std::reverse(long_row.begin(), long_row.begin() + 2048);
  wrong.push_back(long_row);
  std::reverse(long_row.begin(), long_row.end());
  wrong.push_back(long_row);
  for (const auto &offsets : wrong) {
    for (const bool in_place : {false, true}) {
      Bytes result;
      EXPECT_EQ(run(order, keys, offsets, in_place, 0, result), 1u);
      EXPECT_TRUE(result == (in_place ? keys : Bytes(keys.size(), kPoison)));
    }
  }
}

TEST_F(SegmentsTest, NoSegmentsCopy) {
  const KeyOrder order{GSORT_U16, false, false};
  const Bytes keys = make_keys(Pattern::kUniform, 5000, GSORT_U16, 1);
  Bytes result;
  ASSERT_EQ(run(order, keys, {0}, false, 3, result), 0u);
  ASSERT_TRUE(result == keys);
}

}  // namespace
}  // namespace gsort_internal
