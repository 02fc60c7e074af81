// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels of the sort in place, thread by thread on the CPU, alone and with values, with a few thousand items a
// bucket.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "cuda/sort/in_place/count.cuh"
#include "cuda/sort/in_place/moves.cuh"
#include "cuda/sort/in_place/partition.cuh"
#include "cuda/sort/in_place/splitters.cuh"

namespace gsort_internal::sort::in_place {
namespace {

struct Case {
  uint32_t buckets = 9, stripes = 4;
  uint32_t offset = 0, value_offset = 0;  // of the arrays from a line of memory, in elements
  bool in_place = true;
  bool samples_front = false;
  KeyOrder order = {GSORT_U32, false, false};
};

// An array at a line of memory and `offset` elements, between guards.
template <class T>
class Guarded {
 public:
  Guarded(uint64_t n, uint64_t offset) : n_(n), memory_((n + 2 * kGuard) * sizeof(T), kPoison) {
    begin_ = kGuard / 2 * sizeof(T);
    while (reinterpret_cast<uintptr_t>(memory_.data() + begin_) % 128 != 0) ++begin_;
    begin_ += offset * sizeof(T);
  }
  T *data() { return reinterpret_cast<T *>(memory_.data() + begin_); }
  const T &operator[](uint64_t i) { return data()[i]; }
  bool intact() const {
    for (uint64_t i = 0; i < memory_.size(); ++i)
      if ((i < begin_ || i >= begin_ + n_ * sizeof(T)) && memory_[i] != kPoison) return false;
    return true;
  }

 private:
  static constexpr unsigned char kPoison = 0xa5;
  static constexpr uint64_t kGuard = 256;
  uint64_t n_, begin_ = 0;
  std::vector<unsigned char> memory_;
};

bool operator==(const uint4 &a, const uint4 &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// The value of the item at a place of the input; all of them differ.
template <class V>
V value_of(uint64_t place) {
  V value{};
  if constexpr (sizeof(V) == 16)
    value = {static_cast<uint32_t>(place), 1, static_cast<uint32_t>(~place), 3};
  else if constexpr (kHasValues<V>)
    value = static_cast<V>(place);
  return value;
}

// What the launch function lays out in a workspace, each part between guards.
template <class U, class V>
class Partitioned {
 public:
  static constexpr uint32_t kBrick = Job<U, V>::kBrick;

  Partitioned(const std::vector<U> &keys, const Case &how)
      : keys_(keys),
        n_(keys.size()),
        slots_(static_cast<uint32_t>((n_ + kBrick - 1) / kBrick)),
        parts_(uint64_t{how.buckets} * how.stripes + 1),
        out_(n_, how.offset),
        values_in_(n_, 0),
        values_(n_, how.value_offset),
        sample_(n_ / 32, 0),
        sorted_(n_ / 32, 0),
        counts_(parts_, 0),
        starts_(parts_, 0),
        piece_of_(parts_, 0),
        piece_keys_(parts_ * kBrick, 0),
        piece_values_(parts_ * kBrick, 0),
        source_(slots_, 0),
        target_(slots_, 0),
        moves_(slots_, 0),
        cut_keys_((slots_ / kSlotsPerCut + 1) * kBrick, 0),
        cut_values_((slots_ / kSlotsPerCut + 1) * kBrick, 0) {
    set_shape(how);
    set_arrays(how.in_place);
    V *const values_in = how.in_place ? values_.data() : values_in_.data();
    for (uint64_t i = 0; i < n_; ++i) values_in[i] = value_of<V>(i);
    if (how.in_place) std::copy(keys.begin(), keys.end(), out_.data());
  }

  void partition() {
    const auto blocks = [](uint64_t items, uint32_t threads) {
      return static_cast<uint32_t>((items + threads - 1) / threads);
    };
    using emulation::launch;
    const KeyJob<U> &keys = job_;
    launch(blocks(job_.samples, kSampleThreads), kSampleThreads, 0, [&] { sample_kernel(keys); });
    std::copy(job_.sample, job_.sample + job_.samples, job_.sample_sorted);
    std::sort(job_.sample_sorted, job_.sample_sorted + job_.samples,
              [&](U a, U b) { return job_.codec.encode(a) < job_.codec.encode(b); });
    launch(kBucketsMax, kSplitterThreads, 0, [&] { splitters_kernel(keys); });
    const std::vector<unsigned long long> sampled(state_.splitter, state_.splitter + kBucketsMax);
    std::fill(job_.counts, job_.counts + parts_, 0);
    launch(job_.stripes * kCountParts, kCountThreads, 0, [&] { count_kernel(keys); });
    launch(1, kExactThreads, 0, [&] { exact_kernel(keys); });
    searched_ = !std::equal(sampled.begin(), sampled.end(), state_.splitter);
    launch(1, kStartThreads, 0, [&] { starts_kernel(keys); });
    std::fill(job_.source, job_.source + slots_, kNone);
    std::fill(job_.target, job_.target + slots_, kNone);
    const uint32_t bytes = block_items(Job<U, V>::kItemBytes, job_.buckets) * Job<U, V>::kItemBytes;
    launch(job_.stripes, kPartitionThreads, bytes, [&] {
      static PartitionStorage<U, V> storage;
      Partition<U, V>(job_, storage, reinterpret_cast<unsigned char *>(emulation::dynamic_shared.data())).run();
    });
    launch(blocks(slots_, kMoveThreads), kMoveThreads, 0, [&] { list_kernel(job_); });
    launch(2, kMoveThreads, 0, [&] { move_kernel(job_); });
    launch(job_.buckets * job_.stripes + 1, kPieceThreads, 0, [&] { pieces_kernel(job_); });
  }

  // Every bucket begins near where it should, and has its items in the order of the input.
  void check() {
    std::vector<uint64_t> places(n_);
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(),
                     [&](uint64_t a, uint64_t b) { return job_.codec.encode(keys_[a]) < job_.codec.encode(keys_[b]); });
    for (uint32_t bucket = 0; bucket < job_.buckets; ++bucket) {
      const uint64_t begin = starts_[bucket * job_.stripes], end = starts_[(bucket + 1) * job_.stripes];
      ASSERT_LE(begin, end);
      const uint64_t wanted = bucket_target(job_.n, job_.buckets, bucket);
      EXPECT_LE(begin > wanted ? begin - wanted : wanted - begin, job_.slack);
      std::sort(places.begin() + static_cast<int64_t>(begin), places.begin() + static_cast<int64_t>(end));
    }
    EXPECT_EQ(starts_[job_.buckets * job_.stripes], n_);
    for (uint64_t i = 0; i < n_; ++i) {
      ASSERT_EQ(out_[i], keys_[places[i]]) << i;
      if constexpr (kHasValues<V>) ASSERT_TRUE(values_[i] == value_of<V>(places[i])) << i;
    }
    EXPECT_TRUE(out_.intact() && values_.intact() && sample_.intact() && sorted_.intact() && counts_.intact() &&
                starts_.intact() && piece_of_.intact() && piece_keys_.intact() && piece_values_.intact() &&
                source_.intact() && target_.intact() && moves_.intact() && cut_keys_.intact() && cut_values_.intact())
        << "something was written past its end";
  }
  bool searched() const { return searched_; }
  // Moves in a circle.
  uint32_t circles() const {
    return static_cast<uint32_t>(
        std::count_if(job_.moves, job_.moves + state_.moves, [](uint32_t move) { return (move & kRotates) != 0; }));
  }

 private:
  const std::vector<U> keys_;
  const uint64_t n_;
  const uint32_t slots_;
  const uint64_t parts_;
  Guarded<U> out_;
  Guarded<V> values_in_, values_;
  Guarded<U> sample_, sorted_;
  Guarded<uint32_t> counts_;
  Guarded<uint64_t> starts_;
  Guarded<uint32_t> piece_of_;
  Guarded<U> piece_keys_;
  Guarded<V> piece_values_;
  Guarded<uint32_t> source_, target_, moves_;
  Guarded<U> cut_keys_;
  Guarded<V> cut_values_;
  State state_ = {};
  bool searched_ = false;
  Job<U, V> job_ = {};

  void set_shape(const Case &how) {
    job_.vectors = how.offset * sizeof(U) % 16 == 0 && how.value_offset * kValueBytes<V> % 16 == 0;
    job_.codec = make_codec<U>(how.order);
    job_.n = n_;
    job_.brick = kBrick;
    job_.slots = slots_;
    job_.buckets = how.buckets;
    job_.stripe_slots = (slots_ + how.stripes - 1) / how.stripes;
    job_.stripes = (slots_ + job_.stripe_slots - 1) / job_.stripe_slots;
    job_.samples = n_ / 32;
    job_.sample_part = how.samples_front ? 1 : 32;
    uint64_t root = 0;
    while (root * root < job_.samples) ++root;
    job_.slack = kDeviations * (n_ / (2 * root) + 1);
  }

  void set_arrays(bool in_place) {
    job_.keys_in = in_place ? out_.data() : keys_.data();
    job_.keys = out_.data();
    job_.values_in = in_place ? values_.data() : values_in_.data();
    job_.values = values_.data();
    job_.state = &state_;
    job_.sample = sample_.data();
    job_.sample_sorted = sorted_.data();
    job_.counts = counts_.data();
    job_.starts = starts_.data();
    job_.piece_of = piece_of_.data();
    job_.piece_keys = piece_keys_.data();
    job_.piece_values = piece_values_.data();
    job_.source = source_.data();
    job_.target = target_.data();
    job_.moves = moves_.data();
    job_.cut_keys = cut_keys_.data();
    job_.cut_values = cut_values_.data();
  }
};

constexpr int kKinds = 12;
template <class U>
std::vector<U> make_keys(uint64_t n, int kind, std::mt19937_64 &random) {
  std::vector<U> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t x = random();
    const uint64_t kinds[kKinds] = {x,
                                    5,
                                    x % 3,
                                    i * 7,
                                    (n - i) * 7,
                                    x & random() & random(),
                                    x % 10 != 0 ? 0 : x,
                                    ~uint64_t{0},
                                    i % (n / 5) * 1000,
                                    x % 1000 < 3 ? ~uint64_t{0} : x >> random() % 20,
                                    i < n / 2 ? i + n : i,
                                    i / 4096 % 2 != 0 ? i + n : i};
    keys[i] = static_cast<U>(kinds[kind]);
  }
  return keys;
}

// Every kind of keys.
template <class U, class V>
void try_all(gsort_dtype plain, gsort_dtype other) {
  std::mt19937_64 random(sizeof(U) + sizeof(V));
  uint32_t circles = 0;
  for (int round = 0; round < kKinds; ++round) {
    SCOPED_TRACE(round);
    Case how{};
    how.buckets = kBucketsMin + static_cast<uint32_t>(random() % (kBucketsMax - kBucketsMin + 1));
    how.stripes = 1 + static_cast<uint32_t>(random() % 12);
    if (random() % 2 != 0) how.offset = static_cast<uint32_t>(random() % (128 / sizeof(U)));
    if (random() % 2 != 0) how.value_offset = static_cast<uint32_t>(random() % (128 / sizeof(V)));
    how.in_place = round % 3 != 1;
    how.order = {round % 3 == 0 ? other : plain, round % 4 == 1, false};
    how.samples_front = round % 7 == 3;
    Partitioned<U, V> run(make_keys<U>((round % 8 == 0 ? 240000 : 40000) + random() % 100000, round % kKinds, random),
                          how);
    run.partition();
    run.check();
    circles += run.circles();
    EXPECT_TRUE(how.samples_front || !run.searched());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(circles, 0u);
}

TEST(InPlaceEmulated, PartitionsKeysOf4Bytes) { try_all<uint32_t, NoValue>(GSORT_U32, GSORT_F32); }
TEST(InPlaceEmulated, PartitionsKeysOf8Bytes) { try_all<uint64_t, NoValue>(GSORT_I64, GSORT_F64); }
TEST(InPlaceEmulated, PartitionsPairs) {
  try_all<uint32_t, uint32_t>(GSORT_I32, GSORT_F32);
  try_all<uint64_t, uint64_t>(GSORT_U64, GSORT_F64);
}
TEST(InPlaceEmulated, PartitionsPairsOfUnlikeSizes) {
  try_all<uint32_t, uint64_t>(GSORT_U32, GSORT_F32);
  try_all<uint64_t, uint32_t>(GSORT_U64, GSORT_F64);
  try_all<uint32_t, uint4>(GSORT_I32, GSORT_F32);
  try_all<uint64_t, uint4>(GSORT_I64, GSORT_F64);
}

TEST(InPlaceEmulated, FindsSplittersThatTheSampleDoesNotShow) {
  std::mt19937_64 random(1);
  Case how{};
  how.samples_front = true;
  for (const int kind : {3, 6, 10}) {
    SCOPED_TRACE(kind);
    // The few keys in front are lower than all others, or are mixed as they are.
    std::vector<uint32_t> keys = make_keys<uint32_t>(60001, kind, random);
    std::sort(keys.begin(), keys.begin() + 2000);
    Partitioned<uint32_t, uint32_t> run(keys, how);
    run.partition();
    run.check();
    EXPECT_EQ(run.searched(), kind != 6);
  }
}

}  // namespace
}  // namespace gsort_internal::sort::in_place
