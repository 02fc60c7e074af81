// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels of the sort in place, thread by thread on the CPU, with a few thousand keys a bucket.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cuda/sort/in_place/classify.cuh"
#include "cuda/sort/in_place/last_resort.cuh"
#include "cuda/sort/in_place/move.cuh"
#include "cuda/sort/in_place/sample.cuh"

namespace gsort_internal::sort::in_place {
namespace {

struct Case {
  uint32_t buckets = 9, stripes = 4;
  uint32_t offset = 0;  // of the array from a line of memory, in keys
  bool in_place = true;
  bool samples_front = false;
  KeyOrder order = {GSORT_U32, false, false};
};

// An array at a line of memory and `offset` keys, between guards.
template <class U>
class Guarded {
 public:
  Guarded(uint64_t n, uint64_t offset) : n_(n), memory_(n + 2 * kGuard, kPoison) {
    begin_ = kGuard / 2;
    while (reinterpret_cast<uintptr_t>(memory_.data() + begin_) % 128 != 0) ++begin_;
    begin_ += offset;
  }
  U *data() { return memory_.data() + begin_; }
  std::vector<U> content() { return {data(), data() + n_}; }
  bool intact() const {
    for (uint64_t i = 0; i < memory_.size(); ++i)
      if ((i < begin_ || i >= begin_ + n_) && memory_[i] != kPoison) return false;
    return true;
  }

 private:
  static constexpr U kPoison = static_cast<U>(0xa5a5a5a5a5a5a5a5);
  static constexpr uint64_t kGuard = 256;
  uint64_t n_, begin_ = 0;
  std::vector<U> memory_;
};

// What the launch function lays out in a workspace, each part between guards.
template <class U>
class Partition {
 public:
  Partition(const std::vector<U> &keys, const Case &how)
      : how_(how),
        keys_(keys),
        out_(keys.size(), how.offset),
        brick_(brick_keys(sizeof(U))),
        sample_(keys.size() / 32, 0),
        labels_(keys.size() / brick_, 0),
        holes_(4 + uint64_t{how.stripes} * how.buckets, 0),
        list_(keys.size() / brick_, 0),
        left_(how.buckets * left_keys(), 0),
        cycles_(kCyclesMax) {
    if (how.in_place) std::copy(keys.begin(), keys.end(), out_.data());
    job_.keys_in = how.in_place ? out_.data() : keys_.data();
    job_.keys = out_.data();
    job_.codec = make_codec<U>(how.order);
    const uint64_t n = keys.size();
    const uint64_t head = (128 - reinterpret_cast<uintptr_t>(out_.data()) % 128) % 128 / sizeof(U);
    job_.grid = {n, head, static_cast<uint32_t>((n - head) / brick_), brick_};
    job_.buckets = how.buckets;
    job_.stripe_slots = (job_.grid.slots + how.stripes - 1) / how.stripes;
    job_.stripes = (job_.grid.slots + job_.stripe_slots - 1) / job_.stripe_slots;
    job_.samples = n / 32;
    job_.sample_part = how.samples_front ? 1 : 32;
    uint64_t root = 0;
    while (root * root < job_.samples) ++root;
    job_.slack = kDeviations * (n / (2 * root) + 1);
    job_.state = &state_;
    job_.sample = sample_.data();
    job_.labels = labels_.data();
    job_.holes = holes_.data();
    job_.list = list_.data();
    job_.cycles = cycles_.data();
    job_.left = left_.data();
    job_.left_keys = left_keys();
  }

  bool less(U a, U b) const { return job_.codec.encode(a) < job_.codec.encode(b); }
  std::vector<U> sorted(std::vector<U> keys) const {
    std::sort(keys.begin(), keys.end(), [&](U a, U b) { return less(a, b); });
    return keys;
  }

  void partition() {
    const auto blocks = [](uint64_t items, uint32_t threads) {
      return static_cast<uint32_t>((items + threads - 1) / threads);
    };
    using emulation::launch;
    launch(blocks(job_.samples, kSampleThreads), kSampleThreads, 0, [&] { sample_kernel(job_); });
    std::sort(job_.sample, job_.sample + job_.samples, [&](U a, U b) { return less(a, b); });
    launch(1, kSplitterThreads, 0, [&] { splitters_kernel(job_); });
    launch(job_.stripes, ClassifyShape<sizeof(U)>::kThreads, classify_shared_bytes(sizeof(U), job_.buckets), [&] {
      static ClassifyStorage<U> storage;
      U *const shared = reinterpret_cast<U *>(emulation::dynamic_shared.data());
      Classifier<U>(job_, storage, shared, ranks_behind<U>(shared, job_.buckets)).run();
    });
    launch(1, kBordersThreads, 0, [&] { borders_kernel(job_); });
    const uint32_t by_slots = blocks(job_.grid.slots, kSlotThreads);
    launch(by_slots, kSlotThreads, 0, [&] { holes_kernel(job_); });
    launch(3, kBrickVectors, 0, [&] { fill_kernel(job_); });
    launch(by_slots, kSlotThreads, 0, [&] { edges_kernel(job_); });
    launch(by_slots, kSlotThreads, 0, [&] { list_kernel(job_); });
    launch(5, kBrickVectors, 0, [&] { cycles_kernel(job_); });
    launch(job_.buckets, kBordersThreads, 0, [&] { ends_kernel(job_); });
  }

  // Every key is in its bucket, and the windows put the buckets in order, if the sample has not misled.
  void check() {
    uint64_t filled = 0;
    for (uint32_t b = 0; b < job_.buckets; ++b) {
      filled += state_.filled[b];
      EXPECT_LE(state_.left[b], left_keys());
    }
    EXPECT_EQ(state_.holes, filled);
    const std::vector<U> want = sorted(keys_);
    std::vector<U> buckets = out_.content(), windows = buckets;
    const auto order = [&](U a, U b) { return less(a, b); };
    for (uint32_t b = 0; b < job_.buckets; ++b)
      std::sort(buckets.begin() + static_cast<int64_t>(state_.regions.start[b]),
                buckets.begin() + static_cast<int64_t>(state_.regions.start[b + 1]), order);
    EXPECT_TRUE(buckets == want) << "a key is in a wrong bucket";
    Plan plan{};
    plan.buckets = job_.buckets, plan.n = job_.grid.n, plan.slack = job_.slack;
    // Plans have no windows that are less than four times the slack.
    const bool has_windows = plan.n / plan.buckets > 4 * plan.slack && state_.failed == 0;
    for (uint32_t b = 0; b < plan.buckets && has_windows; ++b) {
      const Window window = window_of(plan, b);
      std::sort(windows.begin() + static_cast<int64_t>(window.begin),
                windows.begin() + static_cast<int64_t>(window.end), order);
    }
    if (has_windows) EXPECT_TRUE(windows == want) << "a bucket is not within its window";
    EXPECT_TRUE(out_.intact() && sample_.intact() && labels_.intact() && holes_.intact() && list_.intact() &&
                left_.intact())
        << "something was written past its end";
  }

  void check_last_resort() {
    ASSERT_NE(state_.failed, 0u);
    emulation::launch(1, kLastResortThreads, 0, [&] { last_resort_kernel(job_); });
    EXPECT_TRUE(out_.content() == sorted(keys_));
    EXPECT_TRUE(out_.intact());
  }
  bool failed() const { return state_.failed != 0; }

 private:
  uint64_t left_keys() const { return (uint64_t{how_.stripes} + how_.buckets) * brick_; }

  const Case how_;
  const std::vector<U> keys_;
  Guarded<U> out_;
  const uint32_t brick_;
  Guarded<U> sample_;
  Guarded<uint8_t> labels_;
  Guarded<uint32_t> holes_, list_;
  Guarded<U> left_;
  std::vector<Cycle> cycles_;
  State state_ = {};
  Job<U> job_ = {};
};

// Ten kinds of keys.
template <class U>
std::vector<U> make_keys(uint64_t n, int kind, std::mt19937_64 &random) {
  std::vector<U> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t x = random();
    const uint64_t kinds[] = {x,
                              5,
                              x % 3,
                              i * 7,
                              (n - i) * 7,
                              x & random() & random(),
                              x % 10 != 0 ? 0 : x,
                              ~uint64_t{0},
                              i % (n / 5) * 1000,
                              x % 1000 < 3 ? ~uint64_t{0} : x >> random() % 20};
    keys[i] = static_cast<U>(kinds[kind]);
  }
  return keys;
}

template <class U>
void try_all(gsort_dtype plain, gsort_dtype other) {
  std::mt19937_64 random(sizeof(U));
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    Case how{};
    how.buckets = 9 + static_cast<uint32_t>(random() % 8);
    how.stripes = 1 + static_cast<uint32_t>(random() % 12);
    how.offset = static_cast<uint32_t>(random() % (128 / sizeof(U)));
    how.in_place = round % 3 != 1;
    how.order = {round % 3 == 0 ? other : plain, round % 4 == 1, false};
    const bool is_long = round % 4 == 3;
    if (is_long) how.buckets = 9;
    Partition<U> run(make_keys<U>((is_long ? 500000 : 40000) + random() % 100000, round % 10, random), how);
    run.partition();
    run.check();
    EXPECT_FALSE(run.failed());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(InPlaceEmulated, PartitionsKeysOf4Bytes) { try_all<uint32_t>(GSORT_U32, GSORT_F32); }
TEST(InPlaceEmulated, PartitionsKeysOf8Bytes) { try_all<uint64_t>(GSORT_I64, GSORT_F64); }

TEST(InPlaceEmulated, LastResortSortsWhatTheSampleDoesNotShow) {
  std::mt19937_64 random(1);
  Case how{};
  how.samples_front = true;
  Partition<uint32_t> run(make_keys<uint32_t>(50001, 3, random), how);
  run.partition();
  run.check();
  run.check_last_resort();
}

}  // namespace
}  // namespace gsort_internal::sort::in_place
