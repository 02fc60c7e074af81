// SPDX-License-Identifier: MIT OR Apache-2.0
// The partition of long segments, thread by thread on the CPU: its buckets, and the sorts of them by warps of a block.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cuda/segments/count_segments.cuh"
#include "cuda/segments/merge_segments.cuh"
#include "cuda/segments/partition.cuh"
#include "cuda/segments/spread_sort.cuh"

namespace gsort_internal::segments {
namespace {

template <class U>
class Partitioned {
 public:
  using Shape = PartitionShape;
  static constexpr uint64_t kBlockItems = medium_segment_items(sizeof(U));  // longer segments are partitioned

  // `lengths` of neighbouring segments.
  Partitioned(const std::vector<U> &keys, const std::vector<uint64_t> &lengths, const KeyOrder &order, bool in_place)
      : in_place_(in_place), keys_(keys), in_(keys), out_(keys.size(), kPoison), y_(keys.size(), kPoison) {
    offsets_ = {7};
    for (const uint64_t length : lengths) offsets_.push_back(offsets_.back() + length);
    const uint64_t n = keys.size(), parts = n / kBlockItems + 1;
    const uint64_t buckets = kPartitionRounds * (n / bucket_items(sizeof(U)) + 2 * parts);
    params_.keys_in = in_.data();
    params_.keys_out = in_place ? in_.data() : out_.data();
    params_.keys_y = y_.data();
    params_.n = n;
    params_.offsets = offsets_.data();
    params_.segments = offsets_.size() - 1;
    params_.codec = make_codec<U>(order);
    params_.error = &error_;
    List *const lists[] = {&params_.small,        &params_.middle,        &params_.medium,
                           &params_.large,        &params_.again,         &params_.radix,
                           &params_.small_merges, &params_.middle_merges, &params_.medium_merges};
    for (size_t i = 0; i < kLists; ++i) {
      entries_[i].assign(buckets, 0);
      *lists[i] = {&counts_[i], entries_[i].data(), buckets};
    }
    parts_.resize(parts);
    begins_.resize(buckets), bucket_counts_.resize(buckets), room_.resize(buckets), tile_begins_.resize(parts + 1);
    starts_.resize(buckets);
    params_.parts = parts_.data();
    params_.buckets_used = &used_;
    params_.any_fill = any_fill_;
    params_.bucket_begins = begins_.data();
    params_.bucket_counts = bucket_counts_.data();
    params_.bucket_room = room_.data();
    params_.bucket_starts = starts_.data();
    params_.large_tile_begins = tile_begins_.data();
    for (uint64_t s = 0; s < params_.segments; ++s)
      if (offsets_[s + 1] - offsets_[s] > kBlockItems) list_segment(params_.large, s);
  }

  void run() {
    emulation::launch(1, Shape::kThreads, 0, [&] {
      static PartitionStorage<U, Shape> storage;
      partition_segments<U, Shape>(params_, storage);
    });
    EXPECT_LE(used_, begins_.size());
    if constexpr (spreads(sizeof(U))) {
      spread<SpreadSmall>(params_.small, params_.small_merges);
      spread<SpreadMiddle>(params_.middle, params_.middle_merges);
      spread<SpreadMedium>(params_.medium, params_.medium_merges);
    } else {
      params_.small_merges = params_.small, params_.middle_merges = params_.middle;
      params_.medium_merges = params_.medium;
    }
    std::vector<U> shared(kMergeSharedBytes<U> / sizeof(U));
    emulation::launch(2, kMergeWarps * 32, 0, [&] { merge_all_listed(params_, shared.data()); });
    const auto less = [&](U a, U b) { return params_.codec.encode(a) < params_.codec.encode(b); };
    for (uint64_t i = 0; i < *params_.radix.count; ++i) {  // which is another kernel's work
      const uint64_t *const bounds = params_.bounds_of(params_.radix.segments[i]);
      const U *const from = params_.source_of(params_.radix.segments[i]);
      std::vector<U> keys(from + bounds[0], from + bounds[1]);
      std::sort(keys.begin(), keys.end(), less);
      std::copy(keys.begin(), keys.end(), params_.keys_out + bounds[0]);
    }
    std::vector<U> want = in_place_ ? keys_ : std::vector<U>(keys_.size(), kPoison);
    for (uint64_t s = 0; s < params_.segments; ++s) {
      if (offsets_[s + 1] - offsets_[s] <= kBlockItems) continue;
      std::copy(keys_.begin() + offsets_[s], keys_.begin() + offsets_[s + 1], want.begin() + offsets_[s]);
      std::sort(want.begin() + offsets_[s], want.begin() + offsets_[s + 1], less);
    }
    EXPECT_TRUE(want == (in_place_ ? in_ : out_));
    if (!in_place_) EXPECT_TRUE(in_ == keys_);
  }

  uint64_t small() const { return counts_[0]; }
  uint64_t middle() const { return counts_[1]; }
  uint64_t medium() const { return counts_[2]; }
  uint64_t again() const { return counts_[4]; }
  uint64_t radix() const { return counts_[5]; }
  bool filled() const { return any_fill_[0] != 0; }

 private:
  static constexpr U kPoison = static_cast<U>(0xa5a5a5a5a5a5a5a5);
  static constexpr size_t kLists = 9;

  template <class BucketShape>
  void spread(const List &list, const List &crowded) {
    emulation::launch(1, BucketShape::kThreads, 0, [&] {
      static SpreadStorage<U, BucketShape> storage;
      spread_listed<U, BucketShape>(params_, list, crowded, storage);
    });
  }

  const bool in_place_;
  const std::vector<U> keys_;
  std::vector<U> in_, out_, y_, starts_;
  std::vector<uint64_t> offsets_, begins_, tile_begins_;
  std::vector<unsigned long long> bucket_counts_, room_;
  std::vector<uint64_t> entries_[kLists];
  unsigned long long counts_[kLists] = {}, used_ = 0;
  uint32_t any_fill_[kPartitionRounds] = {}, error_ = 0;
  std::vector<Part> parts_;
  Params<U> params_ = {};
};

constexpr const char *kKinds[] = {"uniform",      "one value", "three values", "ascending", "descending",
                                  "ands",         "clusters",  "tenth",        "greatest",  "powers",
                                  "near squares", "narrow",    "steps"};

template <class U>
std::vector<U> make_keys(uint64_t n, const std::string &kind, std::mt19937_64 &random) {
  std::vector<U> keys(n);
  const uint64_t base = random();
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t x = random(), low = x >> 32;
    keys[i] = static_cast<U>(kind == "one value"      ? base
                             : kind == "three values" ? base + x % 3
                             : kind == "ascending"    ? i * 7
                             : kind == "descending"   ? (n - i) * 7
                             : kind == "ands"         ? x & random() & random()
                             : kind == "clusters"     ? (base * (x % 7)) + low % 1000
                             : kind == "tenth"        ? (x % 10 != 0 ? base : random())
                             : kind == "greatest"     ? (x % 3 != 0 ? ~uint64_t{0} : random())
                             : kind == "powers"       ? random() >> x % 64
                             : kind == "near squares" ? x % 65536 * (low % 65536)
                             : kind == "narrow"       ? base + x % 5000
                             : kind == "steps"        ? i % (n / 5) * 1000
                                                      : x);
  }
  return keys;
}

// Whether a value has more than its share of the keys.
bool has_frequent(const std::string &kind) {
  for (const char *frequent : {"one value", "three values", "tenth", "greatest"})
    if (kind == frequent) return true;
  return false;
}

template <class U>
void try_all(gsort_dtype plain, gsort_dtype other) {
  std::mt19937_64 random(sizeof(U));
  int round = 0;
  constexpr uint64_t kItems = medium_segment_items(sizeof(U));
  for (const char *kind : kKinds) {
    SCOPED_TRACE(kind);
    ++round;
    const std::vector<uint64_t> lengths = {kItems + 1,
                                           100,
                                           kItems * 2 + random() % 5,
                                           0,
                                           kItems * 9 + 5,
                                           kItems,
                                           kItems * (round % 3 == 0 ? 20 : 3) + random() % 1000};
    uint64_t n = 20;
    for (const uint64_t length : lengths) n += length;
    const KeyOrder order{round % 3 == 0 ? other : plain, round % 4 == 1, round % 6 == 0};
    Partitioned<U> run(make_keys<U>(n, kind, random), lengths, order, round % 2 == 0);
    run.run();
    EXPECT_EQ(run.again(), 0u) << "a bucket is too long";
    EXPECT_TRUE(run.filled() || !has_frequent(kind)) << "a frequent value was moved";
    if (testing::Test::HasFailure()) return;
  }
}

// Sampled keys lie far apart, all others among the least of them: what was cut wrongly is cut again.
template <class U>
void try_misled(bool in_place) {
  std::mt19937_64 random(5);
  const uint64_t length = medium_segment_items(sizeof(U)) * 8 + 77, begin = 7;
  std::vector<U> keys(length + 20);
  for (U &key : keys) key = static_cast<U>(random() % (length * 4));
  const uint64_t buckets = (length + bucket_items(sizeof(U)) - 1) / bucket_items(sizeof(U));
  const uint32_t count = static_cast<uint32_t>(buckets * kSampleShare);
  for (uint32_t i = 0; i < count; ++i)
    keys[begin + sampled_place((length << 16) / count, i)] = static_cast<U>(random() >> 1);
  Partitioned<U> run(keys, {length}, {sizeof(U) == 8 ? GSORT_U64 : GSORT_U32, false, false}, in_place);
  run.run();
  EXPECT_EQ(run.again(), 1u);
  EXPECT_EQ(run.radix(), 0u);
}

TEST(SegmentsEmulated, PartitionsTwiceWhereTheSampleMisleads) {
  for (const bool in_place : {false, true}) {
    try_misled<uint32_t>(in_place);
    try_misled<uint64_t>(in_place);
  }
}

// Whether a block spreads the keys so that they are in order.
template <class Shape, class U>
bool spreads_out(std::vector<U> keys) {
  static SpreadStorage<U, Shape> storage;
  const auto count = static_cast<uint32_t>(keys.size());
  bool spread = false;
  emulation::launch(1, Shape::kThreads, 0, [&] {
    const bool done = spread_sort(storage, count, false, [&](uint32_t i) { return keys[i]; });
    if (done) sort_in_windows<kBinRun<Shape>, kBinWindow - 1>(storage.padded_keys + kBinWindow, count);
    if (threadIdx.x == 0) spread = done;
  });
  if (!spread) return false;
  std::sort(keys.begin(), keys.end());
  EXPECT_TRUE(std::equal(keys.begin(), keys.end(), storage.padded_keys + kBinWindow));
  return true;
}

TEST(SegmentsEmulated, KeysThatCrowdAreLeftToMerges) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> keys(1000);
  for (uint64_t &key : keys) key = random();
  EXPECT_TRUE(spreads_out<SpreadSmall>(keys));
  for (uint64_t &key : keys) key = random() % 3 * 1000;
  EXPECT_TRUE(spreads_out<SpreadSmall>(keys)) << "bins of equal keys";
  for (uint64_t &key : keys) key = random() % 1000000;
  keys[0] = ~uint64_t{0};
  EXPECT_FALSE(spreads_out<SpreadSmall>(keys));
}

// Segments of every length that warps merge, more than the grid has teams, so that teams take two at a time, side by
// side or one after the other.
template <class U>
void try_lists(const KeyOrder &order, bool in_place) {
  std::mt19937_64 random(sizeof(U) + in_place);
  constexpr uint32_t kRun = kMergeRun<U>, kCounts[] = {5, 30, 60};  // medium, middle, small
  std::vector<uint64_t> offsets = {3}, entries[3];
  for (uint32_t length = 0; length < 3; ++length) {
    const uint32_t most = length == 0   ? 12 * kRun
                          : length == 1 ? 6 * kRun
                                        : 2 * kRun,
                   least = length == 0   ? 6 * kRun + 1
                           : length == 1 ? 2 * kRun + 1
                                         : 1;
    for (uint32_t i = 0; i < kCounts[length]; ++i) {
      const uint32_t keys = i == 0      ? most
                            : i == 1    ? least
                            : i % 4 < 2 ? least + random() % (most / 2 - least / 2)
                                        : least + random() % (most - least);
      entries[length].push_back(offsets.size() - 1);
      offsets.push_back(offsets.back() + keys);
    }
  }
  std::vector<U> in(offsets.back() + 5), out(in.size(), U{0x55}), shared(kMergeSharedBytes<U> / sizeof(U));
  for (U &key : in) key = static_cast<U>(random() & random());
  std::vector<U> want = in_place ? in : out;
  Params<U> params = {};
  params.codec = make_codec<U>(order);
  for (uint64_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto begin = want.begin() + static_cast<std::ptrdiff_t>(offsets[s]);
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
              in.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]), begin);
    std::sort(begin, want.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]),
              [&](U a, U b) { return params.codec.encode(a) < params.codec.encode(b); });
  }
  unsigned long long counts[3] = {kCounts[0], kCounts[1], kCounts[2]};
  uint32_t error = 0;
  params.keys_in = in.data(), params.keys_out = in_place ? in.data() : out.data();
  params.offsets = offsets.data(), params.error = &error;
  params.medium_merges = {&counts[0], entries[0].data(), kCounts[0]};
  params.middle_merges = {&counts[1], entries[1].data(), kCounts[1]};
  params.small_merges = {&counts[2], entries[2].data(), kCounts[2]};
  emulation::launch(2, kMergeWarps * 32, 0, [&] { merge_all_listed(params, shared.data()); });
  EXPECT_TRUE(want == (in_place ? in : out));
}

// Keys of `values` values, in segments that begin and end anywhere among pieces, rows, windows and full counters.
void try_counts(const KeyOrder &order, uint32_t values, bool in_place) {
  std::mt19937_64 random(values * 2 + in_place);
  const std::vector<uint32_t> lengths = {513,      1,    15,   16,   17,    2048, 2049, 600,
                                         4096 - 7, 7680, 7681, 8200, 20000, 3000, 33};
  std::vector<uint64_t> offsets = {5}, entries;
  for (const uint32_t length : lengths) {
    entries.push_back(offsets.size() - 1);
    offsets.push_back(offsets.back() + length);
  }
  offsets.back() += 3;  // one more, not listed
  std::vector<uint8_t> in(offsets.back() + 9), out(in.size(), 0x55);
  const uint32_t base = random() % 256, step = random() % 7 + 1;
  for (uint8_t &key : in) key = static_cast<uint8_t>(base + random() % values * step);
  for (const size_t run : {2u, 8u})
    std::fill(in.begin() + offsets[run], in.begin() + offsets[run + 1], in[offsets[run]]);
  offsets.back() -= 3;
  std::vector<uint8_t> want = in_place ? in : out;
  Params<uint8_t> params = {};
  params.codec = make_codec<uint8_t>(order);
  for (uint64_t s = 0; s + 1 < offsets.size(); ++s) {
    std::copy(in.begin() + offsets[s], in.begin() + offsets[s + 1], want.begin() + offsets[s]);
    std::sort(want.begin() + offsets[s], want.begin() + offsets[s + 1],
              [&](uint8_t a, uint8_t b) { return params.codec.encode(a) < params.codec.encode(b); });
  }
  unsigned long long counts[3] = {4, entries.size() - 7, 3};
  uint32_t error = 0;
  params.keys_in = in.data(), params.keys_out = in_place ? in.data() : out.data();
  params.offsets = offsets.data(), params.error = &error;
  params.medium = {&counts[0], entries.data(), counts[0]};
  params.small = {&counts[1], entries.data() + counts[0], counts[1]};
  params.big = {&counts[2], entries.data() + counts[0] + counts[1], counts[2]};
  params.big_items_max = big_segment_items(1);
  emulation::launch(1, kCountWarps * 32, 0, [&] {
    static CountStorage storage;
    count_all_listed(params, storage);
  });
  EXPECT_TRUE(want == (in_place ? in : out)) << values << " values";
}

TEST(SegmentsEmulated, WarpsCountKeysOf1Byte) {
  for (const bool in_place : {false, true})
    for (const uint32_t values : {1u, 2u, 9u, 100u, 256u}) {
      try_counts({GSORT_U8, false, false}, values, in_place);
      try_counts({GSORT_I8, true, false}, values, in_place);
    }
}

// Big segments, a block each: of the least and the greatest length, and of one key more than whole runs.
template <class U>
void try_big(const KeyOrder &order, bool in_place) {
  std::mt19937_64 random(sizeof(U) * 2 + in_place);
  constexpr uint64_t kRun = kMergeRun<U>;
  std::vector<uint64_t> offsets = {3}, entries;
  for (const uint64_t keys :
       {kMergeWarps * kRun + 1, kBigWarps * kRun, uint64_t{17} * kRun, 17 * kRun + 1, 21 * kRun - 5}) {
    entries.push_back(offsets.size() - 1);
    offsets.push_back(offsets.back() + keys);
  }
  std::vector<U> in(offsets.back() + 5), out(in.size(), U{0x55}), shared(kBigSharedBytes<U> / sizeof(U));
  for (U &key : in) key = static_cast<U>(random() & random());
  std::vector<U> want = in_place ? in : out;
  Params<U> params = {};
  params.codec = make_codec<U>(order);
  for (uint64_t s = 0; s + 1 < offsets.size(); ++s) {
    std::copy(in.begin() + offsets[s], in.begin() + offsets[s + 1], want.begin() + offsets[s]);
    std::sort(want.begin() + offsets[s], want.begin() + offsets[s + 1],
              [&](U a, U b) { return params.codec.encode(a) < params.codec.encode(b); });
  }
  unsigned long long count = entries.size();
  uint32_t error = 0;
  params.keys_in = in.data(), params.keys_out = in_place ? in.data() : out.data();
  params.offsets = offsets.data(), params.error = &error;
  params.big = {&count, entries.data(), count};
  emulation::launch(2, kBigWarps * 32, 0, [&] { merge_big_listed(params, shared.data()); });
  EXPECT_TRUE(want == (in_place ? in : out));
}

TEST(SegmentsEmulated, ABlockMergesABigSegment) {
  for (const bool in_place : {false, true}) {
    try_big<uint32_t>({GSORT_F32, true, true}, in_place);
    try_big<uint64_t>({GSORT_I64, true, false}, in_place);
  }
}

TEST(SegmentsEmulated, TeamsMergeSegmentsOfEveryLength) {
  for (const bool in_place : {false, true}) {
    try_lists<uint32_t>({GSORT_U32, false, false}, in_place);
    try_lists<uint32_t>({GSORT_F32, true, true}, in_place);
    try_lists<uint64_t>({GSORT_I64, true, false}, in_place);
    try_lists<uint64_t>({GSORT_F64, false, false}, in_place);
  }
}

TEST(SegmentsEmulated, PartitionsKeysOf4Bytes) { try_all<uint32_t>(GSORT_U32, GSORT_F32); }
TEST(SegmentsEmulated, PartitionsKeysOf8Bytes) { try_all<uint64_t>(GSORT_I64, GSORT_F64); }

}  // namespace
}  // namespace gsort_internal::segments
