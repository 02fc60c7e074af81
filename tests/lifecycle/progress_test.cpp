// SPDX-License-Identifier: MIT OR Apache-2.0
// What a progress function is told on the CPU by every operation and width of keys: work that grows from 0 to its
// whole.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

struct Told {
  std::vector<uint64_t> done, total;
  std::thread::id thread = std::this_thread::get_id();
  bool elsewhere = false;
};

int32_t remember(void *user, uint64_t done, uint64_t total) {
  auto *told = static_cast<Told *>(user);
  told->done.push_back(done);
  told->total.push_back(total);
  if (std::this_thread::get_id() != told->thread) told->elsewhere = true;
  return 0;
}

// A last part may not be told of: of sorts that end in one go, of keys outside all segments, of tiles in a row.
bool tells_the_end(const std::string &operation, gsort_dtype t) {
  if (operation == "sort_segments") return false;
  if (operation == "scan") return !element_type(t).is_float;
  return (operation != "sort" && operation != "argsort" && operation != "rank") || element_type(t).bytes < 4;
}

void expect_growing(const Told &told) {
  ASSERT_FALSE(told.done.empty());
  EXPECT_EQ(0u, told.done.front()) << "nothing is done yet";
  for (size_t i = 1; i < told.done.size(); ++i) {
    EXPECT_EQ(told.total[0], told.total[i]) << "the whole changed";
    ASSERT_LE(told.done[i - 1], told.done[i]) << "call " << i;
  }
  EXPECT_LE(told.done.back(), told.total.back());
  EXPECT_FALSE(told.elsewhere) << "not the calling thread";
}

TEST(Progress, GrowsToTheWhole) {
  const Handle handle(GSORT_BACKEND_CPU, 1);
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F16, GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64}) {
    const Arrays arrays(Place::kHost, generate(Distribution::kUniform, t, 400000, 1));
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(std::string(operation.name) + " of " + element_type(t).name);
      Told told;
      ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
      ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
      expect_growing(told);
      if (tells_the_end(operation.name, t))
        EXPECT_EQ(told.total.back(), told.done.back());
      else
        EXPECT_TRUE(told.total.back() == arrays.n || told.total.back() == 2 * arrays.n) << told.total.back();
    }
  }
}

// Which is done digit by digit.
TEST(Progress, OfASelectionOfMoreThanHalf) {
  const Handle handle(GSORT_BACKEND_CPU, 1);
  ASSERT_EQ(GSORT_OK, handle.status());
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64}) {
    const Array in = generate(Distribution::kUniform, t, 400000, 1);
    Bytes best(in.bytes().size());
    Told told;
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
    ASSERT_TRUE(succeeded(handle.get(), gsort_topk(handle.get(), t, in.bytes().data(), in.size(), in.size() / 5 * 3,
                                                   best.data(), GSORT_U64, nullptr, 0)));
    expect_growing(told);
    EXPECT_EQ(told.total.back(), told.done.back()) << element_type(t).name;
  }
}

// Rows that all threads select from one after the other are parts of one whole, with short ones between them.
TEST(Progress, OfLongRows) {
  constexpr uint64_t kLong = (uint64_t{1} << 20) + 5;
  const Handle handle(GSORT_BACKEND_CPU, 1);
  ASSERT_EQ(GSORT_OK, handle.status());
  const std::vector<uint64_t> offsets = {0, kLong, kLong + 1000, kLong + 1000, 2 * kLong + 1000};
  for (const gsort_dtype t : {GSORT_U8, GSORT_F32}) {
    const Array in = generate(Distribution::kUniform, t, offsets.back(), 1);
    for (const uint64_t k : {uint64_t{10}, uint64_t{t == GSORT_U8 ? 900000u : 600000u}}) {
      SCOPED_TRACE(std::string(element_type(t).name) + ", k = " + std::to_string(k));
      Bytes best(4 * k * in.element_bytes());
      for (const bool rows : {true, false}) {
        Told told;
        ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
        ASSERT_TRUE(succeeded(
            handle.get(), rows ? gsort_topk_rows(handle.get(), t, in.bytes().data(), 2, kLong, kLong, k, best.data(),
                                                 GSORT_U64, nullptr, 0)
                               : gsort_topk_segments(handle.get(), t, in.bytes().data(), in.size(), offsets.data(),
                                                     offsets.size() - 1, k, best.data(), GSORT_U64, nullptr, 0)));
        expect_growing(told);
        EXPECT_EQ(rows ? 2 * kLong : in.size(), told.total.back());
        EXPECT_LT(told.total.back() / 2, told.done.back()) << "the last row is told of";
        EXPECT_GT(told.total.back() / 4 * 3, *std::lower_bound(told.done.begin(), told.done.end(), kLong))
            << "the second row begins where the first one ends";
      }
    }
  }
}

// The best of all lie where a selection draws its sample (cpu/topk/sampled.h), which so misleads it: what it goes on
// with is the rest of the work, not a new one.
TEST(Progress, OfASelectionThatASampleMisleads) {
  constexpr uint64_t n = 1 << 20, k = 10000;
  Array in(GSORT_U32, n);
  uint64_t state = n;
  for (uint32_t i = 0; i < 4096; ++i) {
    state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
    in.set((state >> 32) * n >> 32, uint64_t{1} << 30 | i);
  }
  std::vector<std::string> lines;
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.threads = 1;
  options.log = [](void *user, const char *line) { static_cast<std::vector<std::string> *>(user)->push_back(line); };
  options.log_user = &lines;
  const Handle handle(options);
  ASSERT_EQ(GSORT_OK, handle.status());
  Told told;
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
  Bytes best(k * in.element_bytes());
  ASSERT_TRUE(succeeded(
      handle.get(), gsort_topk(handle.get(), GSORT_U32, in.bytes().data(), n, k, best.data(), GSORT_U64, nullptr, 0)));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(std::string::npos, lines.back().find("by a sample")) << "not misled: " << lines.back();
  expect_growing(told);
}

// Records with keys of few values, which are counted (cpu/sort/few_values.h), each value the place of its key before.
struct Counted {
  static constexpr uint64_t kItems = uint64_t{1} << 21;
  enum class Call { kPairs, kPairsInPlace, kArgsort };

  explicit Counted(gsort_dtype t, uint64_t values) : keys(t, kItems), places(kItems) {
    Random random(values);
    for (uint64_t i = 0; i < kItems; ++i) {
      keys.set(i, 1 + random.below(values));
      places[i] = static_cast<uint32_t>(i);
    }
  }
  gsort_status run(gsort *g, Call call) {
    keys_out = call == Call::kPairsInPlace ? keys.bytes() : Bytes(keys.bytes().size());
    places_out = call == Call::kPairsInPlace ? places : std::vector<uint32_t>(kItems);
    if (call == Call::kArgsort)
      return gsort_argsort(g, keys.type(), keys.bytes().data(), kItems, GSORT_U32, places_out.data(), 0);
    const bool in_place = call == Call::kPairsInPlace;
    return gsort_sort_pairs(g, keys.type(), in_place ? keys_out.data() : keys.bytes().data(), keys_out.data(),
                            sizeof places[0], in_place ? places_out.data() : places.data(), places_out.data(), kItems,
                            0);
  }
  // Whether each key of the output is that of its value, and no value is there twice.
  bool belong_together() const {
    const Array out(keys.type(), keys_out);
    std::vector<bool> seen(kItems);
    for (uint64_t i = 0; i < kItems; ++i) {
      const uint32_t place = places_out[i];
      if (place >= kItems || seen[place] || out.get(i) != keys.get(place)) return false;
      seen[place] = true;
    }
    return true;
  }

  Array keys;
  std::vector<uint32_t> places, places_out;
  Bytes keys_out;
};
// ThreadSanitizer takes ten times as long.
#if defined(__SANITIZE_THREAD__)
constexpr gsort_dtype kCountedTypes[] = {GSORT_U32};
constexpr uint64_t kCountedValues[] = {9};
#else
constexpr gsort_dtype kCountedTypes[] = {GSORT_U16, GSORT_U32, GSORT_F64};
constexpr uint64_t kCountedValues[] = {2, 9};
#endif
constexpr Counted::Call kCountedCalls[] = {Counted::Call::kPairs, Counted::Call::kPairsInPlace,
                                           Counted::Call::kArgsort};

void note_counted(void *user, const char *line) {
  if (std::string(line).find("which are counted") != std::string::npos) *static_cast<bool *>(user) = true;
}
gsort_options counting_options(uint32_t threads, bool *counted) {
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.threads = threads;
  options.log = note_counted;
  options.log_user = counted;
  return options;
}

// One thread hears of it at every eighth of a step, of which there are up to four; with several threads the calling
// one may find that the others did most.
TEST(Progress, OfCountedPairs) {
  for (const uint32_t threads : {1u, 3u}) {
    bool counted = false;
    const Handle handle(counting_options(threads, &counted));
    ASSERT_EQ(GSORT_OK, handle.status());
    for (const gsort_dtype t : kCountedTypes)
      for (const uint64_t values : kCountedValues) {
        Counted arrays(t, values);
        for (const Counted::Call call : kCountedCalls) {
          SCOPED_TRACE(testing::Message() << threads << " threads, " << element_type(t).name << ", " << values
                                          << " values, call " << static_cast<int>(call));
          Told told;
          counted = false;
          ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
          ASSERT_TRUE(succeeded(handle.get(), arrays.run(handle.get(), call)));
          // On one thread, keys of 4 and 8 bytes may be parted by vectors instead.
          EXPECT_TRUE(counted || (threads == 1 && t != GSORT_U16));
          expect_growing(told);
          const uint64_t total = told.total[0];
          if (threads > 1) continue;
          EXPECT_EQ(total, told.done.back());
          for (size_t i = 1; i < told.done.size(); ++i)
            EXPECT_GE(total / 16, told.done[i] - told.done[i - 1]) << "call " << i;
        }
      }
  }
}

// Pairs that one thread parts again and again before the first of them is in order.
template <class K>
class PartedPairs {
 public:
  static constexpr uint64_t n = 1 << 21;
  explicit PartedPairs(gsort_dtype t) : t_(t), before_(n), keys_(n), places_(n) {
    const Array input = generate(Distribution::kUniform, t, n, 1);
    std::memcpy(before_.data(), input.bytes().data(), n * sizeof(K));
  }
  gsort_status sort(gsort *g, uint32_t flags) {
    keys_ = before_;
    std::iota(places_.begin(), places_.end(), K{0});
    return gsort_sort_pairs(g, t_, keys_.data(), keys_.data(), sizeof(K), places_.data(), places_.data(), n, flags);
  }
  void expect_all_there() const {
    std::vector<bool> seen(n);
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(places_[i] < n && !seen[places_[i]]) << i;
      ASSERT_EQ(before_[places_[i]], keys_[i]) << i;
      seen[places_[i]] = true;
    }
  }

 private:
  gsort_dtype t_;
  std::vector<K> before_, keys_, places_;
};

// There are chances to cancel while parts of a half, a quarter, ... of the array are parted.
template <class K>
void check_parted_pairs(gsort_dtype t, uint32_t flags, bool *parted) {
  *parted = false;  // of some types alone, with some vectors
  gsort_options options = counting_options(1, parted);
  options.log = [](void *user, const char *line) {
    if (std::string(line).find("by partitions") != std::string::npos) *static_cast<bool *>(user) = true;
  };
  const Handle handle(options);
  ASSERT_EQ(GSORT_OK, handle.status());
  PartedPairs<K> pairs(t);
  Told told;
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
  ASSERT_TRUE(succeeded(handle.get(), pairs.sort(handle.get(), flags)));
  if (!*parted) return;
  expect_growing(told);
  EXPECT_LE(10, std::count(told.done.begin(), told.done.end(), PartedPairs<K>::n));
  for (uint64_t at = 1; at < 30; at += at < 16 ? 5 : 3) {
    SCOPED_TRACE(testing::Message() << "cancelled at " << at);
    uint64_t left = at;
    const auto cancel = [](void *user, uint64_t, uint64_t) { return (*static_cast<uint64_t *>(user))-- == 0 ? 1 : 0; };
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), cancel, &left)));
    ASSERT_EQ(GSORT_ERROR_CANCELLED, pairs.sort(handle.get(), flags));
    pairs.expect_all_there();
  }
}

TEST(Progress, OfPartedPairs) {
  bool parted = false;
  check_parted_pairs<uint32_t>(GSORT_U32, 0, &parted);
  if (!parted) GTEST_SKIP() << "no vectors that part pairs";
  check_parted_pairs<uint32_t>(GSORT_F32, GSORT_NAN_LAST, &parted);  // encoded before and decoded after
  check_parted_pairs<uint64_t>(GSORT_U64, GSORT_DESCENDING, &parted);
}

// What lies where it goes is a permutation of what it was whenever a cancel is heard, keys and values together.
TEST(Progress, CountedPairsAreCancelled) {
  for (const uint32_t threads : {1u, 3u}) {
    bool counted = false;
    const Handle handle(counting_options(threads, &counted));
    ASSERT_EQ(GSORT_OK, handle.status());
    for (const uint64_t values : kCountedValues) {
      Counted arrays(GSORT_U32, values);
      for (const Counted::Call call : kCountedCalls) {
        uint64_t cancels = 0;
        for (uint64_t at = 0; at < 40; at += 1 + at / 5) {
          SCOPED_TRACE(testing::Message() << threads << " threads, " << values << " values, call "
                                          << static_cast<int>(call) << ", cancelled at " << at);
          std::pair<uint64_t, uint64_t> left{at, 0};  // calls before it cancels, and behind
          const auto cancel = [](void *user, uint64_t, uint64_t) {
            auto &calls = *static_cast<std::pair<uint64_t, uint64_t> *>(user);
            if (calls.first == 0) ++calls.second;
            return calls.first == 0 ? 1 : (--calls.first, 0);
          };
          ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), cancel, &left)));
          const gsort_status status = arrays.run(handle.get(), call);
          ASSERT_EQ(left.second > 0 ? GSORT_ERROR_CANCELLED : GSORT_OK, status);
          ASSERT_GE(1u, left.second) << "heard, and went on";
          cancels += left.second;
          const bool is_whole =
              call == Counted::Call::kPairsInPlace || (call == Counted::Call::kPairs && status == GSORT_OK);
          ASSERT_TRUE(!is_whole || arrays.belong_together());
        }
        EXPECT_LT(threads == 1 ? 8u : 2u, cancels) << "chances to cancel";
      }
    }
  }
}

// One last key of another value: what was counted is for nothing, and the rest of the work is not a new one.
TEST(Progress, OfPairsThatAreCountedInVain) {
  for (const uint32_t threads : {1u, 3u}) {
    bool counted = false;
    const Handle handle(counting_options(threads, &counted));
    ASSERT_EQ(GSORT_OK, handle.status());
    Counted arrays(GSORT_U32, 9);
    arrays.keys.set(Counted::kItems - 1, 5000);
    for (const Counted::Call call : kCountedCalls) {
      Told told;
      ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), remember, &told)));
      ASSERT_TRUE(succeeded(handle.get(), arrays.run(handle.get(), call)));
      EXPECT_FALSE(counted);
      expect_growing(told);
      EXPECT_TRUE(call == Counted::Call::kArgsort || arrays.belong_together());
      EXPECT_TRUE(threads > 1 || told.done.back() > told.total[0] / 4 * 3) << "the sort is told of";
    }
  }
}

}  // namespace
}  // namespace gsort_test
