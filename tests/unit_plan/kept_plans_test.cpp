// SPDX-License-Identifier: MIT OR Apache-2.0
// All plans against a kept description, kept_plans.txt: for every kind of call a line that tells all plans of many
// sizes on several devices from others, and for one device from which size on which way is taken (but for ways that
// only tests take). Other tests ask of plans what must hold whatever the tuning numbers are; this one shows that a
// change reaches the plans that it was meant for, and no other. GSORT_TESTS_UPDATE=1 writes the description anew; the
// difference belongs into the change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "plan_fields.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

struct Device {
  const char *name;
  DeviceFacts facts;
};
constexpr Device kDevices[] = {{"sm_75", {75, 40, 64 * 1024}},     {"sm_80", {80, 108, 163 * 1024}},
                               {"sm_86", {86, 84, 99 * 1024}},     {"sm_90", {90, 132, 227 * 1024}},
                               {"sm_100", {100, 148, 227 * 1024}}, {"a part of sm_90", {90, 16, 227 * 1024, false}}};
constexpr uint32_t kShown = 3;

// A kind of call, of which one size is free.
struct Kind {
  std::string name;
  std::function<Request(uint64_t)> request;
  uint64_t least, most;
  bool shown = true;
  topk::Options forced = {};
};

template <class Plan>
std::string planned(const Request &request, const Plan &plan, Digest &digest) {
  char text[512] = "";
  describe(request, plan, text, sizeof text);
  digest.add(plan);
  for (const char *c = text; *c != 0; ++c) digest.add(*c);
  return text;
}

// The line of the log; every field of the plan goes into the digest.
std::string plan_of(const Request &request, const DeviceFacts &device, const topk::Options &forced, Digest &digest) {
  switch (request.operation) {
    case Operation::kMerge:
      return planned(request, merge::make_plan(request, device), digest);
    case Operation::kSortSegments:
      return planned(request, segments::make_plan(request, device), digest);
    case Operation::kTopk:
    case Operation::kTopkRows:
      return planned(request, topk::make_plan(request, device, forced), digest);
    case Operation::kTopkSegments:
      return planned(request, topk::make_ragged_plan(request, device), digest);
    case Operation::kSum:
    case Operation::kReduce:
      return planned(request, sum::make_plan(request, device), digest);
    case Operation::kScan:
      return planned(request, scan::make_plan(request, device), digest);
    default:
      digest.add(sort::workspace_bytes(request));
      return planned(request, sort::make_plan(request, device), digest);
  }
}

// What of the line names the way.
std::string way_of(const std::string &line) {
  std::string way = line;
  way.erase(std::remove_if(way.begin(), way.end(), [](char c) { return c >= '0' && c <= '9'; }), way.end());
  return way;
}

// Powers of two and their neighbours, and sizes between, from a generator that begins alike everywhere.
std::vector<uint64_t> sizes_of(const Kind &kind) {
  std::set<uint64_t> sizes = {kind.least, kind.most};
  uint64_t state = 1;
  for (uint32_t bit = 0; bit < 40; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    sizes.insert({power - 1, power, power + 1});
    for (uint32_t i = 0; i < 6; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      sizes.insert(power + (state >> 33) % power);
    }
  }
  sizes.erase(sizes.begin(), sizes.lower_bound(kind.least));
  sizes.erase(sizes.upper_bound(kind.most), sizes.end());
  return {sizes.begin(), sizes.end()};
}

// The plans of one kind of call on one device.
class Description {
 public:
  Description(const Kind &kind, const DeviceFacts &device) : kind_(kind), device_(device) {
    uint64_t before = 0;
    for (const uint64_t n : sizes_of(kind)) {
      const std::string line = at(n);
      if (lines_.empty())
        lines_.push_back({n, line});
      else if (way_of(line) != way_of(lines_.back().second))
        find_changes(before, n);
      before = n;
    }
  }

  uint64_t digest() const { return digest_.value(); }
  const std::vector<std::pair<uint64_t, std::string>> &lines() const { return lines_; }

 private:
  std::string at(uint64_t n) { return plan_of(kind_.request(n), device_, kind_.forced, digest_); }

  // The first size with another way than the last one's; its neighbours go into the digest, too.
  void find_changes(uint64_t low, uint64_t high) {
    const std::string way = way_of(lines_.back().second);
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (way_of(at(middle)) == way ? low : high) = middle;
    }
    lines_.push_back({high, at(high)});
  }

  Kind kind_;
  DeviceFacts device_;
  Digest digest_;
  std::vector<std::pair<uint64_t, std::string>> lines_;
};

constexpr struct {
  gsort_dtype type;
  const char *name;
} kWidths[] = {{GSORT_U8, "u8"}, {GSORT_F16, "f16"}, {GSORT_U32, "u32"}, {GSORT_F64, "f64"}};
constexpr uint64_t kMost = (uint64_t{1} << 36) + 1;

void add_sorts(std::vector<Kind> &kinds) {
  for (const auto &width : kWidths) {
    const auto add = [&, t = width.type](const std::string &name, Operation operation, uint32_t value_bytes) {
      kinds.push_back(
          {name + " of " + width.name, [=](uint64_t n) { return make(operation, t, n, value_bytes); }, 1, kMost});
    };
    add("sort", Operation::kSort, 0);
    for (const uint32_t bytes : {4u, 8u, 12u})
      add("pairs with " + std::to_string(bytes) + " bytes", Operation::kSortPairs, bytes);
    add("argsort", Operation::kArgsort, 0);
  }
}

void add_segments(std::vector<Kind> &kinds) {
  for (const auto &width : kWidths)
    for (const uint64_t segments : {uint64_t{1000}, uint64_t{1} << 22}) {
      kinds.push_back({std::to_string(segments) + " segments of " + width.name,
                       [=, t = width.type](uint64_t n) {
                         Request r = make(Operation::kSortSegments, t, n, 0);
                         r.segments = segments;
                         return r;
                       },
                       1, kMost});
      kinds.push_back({"top-k, k = 64, of " + std::to_string(segments) + " segments of " + width.name,
                       [=, t = width.type](uint64_t n) {
                         Request r = make(Operation::kTopkSegments, t, n, 0);
                         r.segments = segments, r.k = 64;
                         return r;
                       },
                       1, kMost});
    }
}

void add_topk(std::vector<Kind> &kinds, const char *options, const topk::Options &forced) {
  for (const auto &width : kWidths)
    for (const uint64_t k : {1, 8, 33, 129, 257, 1000, 2048, 5000, 262145, 5000000})
      kinds.push_back({"top-k, k = " + std::to_string(k) + options + ", of " + width.name,
                       [=, t = width.type](uint64_t n) {
                         Request r = make(Operation::kTopk, t, n, 0);
                         r.k = k;
                         return r;
                       },
                       k, kMost, *options == 0, forced});
}

void add_topk_rows(std::vector<Kind> &kinds, const char *options, const topk::Options &forced) {
  for (const auto &width : kWidths)
    for (const uint64_t rows : {2, 17, 66, 132, 529, 1000000})
      for (const uint64_t k : {1, 100, 2000})
        kinds.push_back(
            {"top-k of " + std::to_string(rows) + " rows, k = " + std::to_string(k) + options + ", of " + width.name,
             [=, t = width.type](uint64_t columns) {
               Request r = make(Operation::kTopkRows, t, rows * columns, 0);
               r.rows = rows, r.columns = columns, r.k = k;
               return r;
             },
             k, uint64_t{1} << 28, *options == 0, forced});
}

// What gsort_reserve() asks for: all rows as one.
void add_reservations(std::vector<Kind> &kinds) {
  for (const auto &width : kWidths)
    for (const uint64_t k : {100, 262144, 262145})
      kinds.push_back({"rows reserved, k = " + std::to_string(k) + ", of " + width.name,
                       [=, t = width.type](uint64_t n) {
                         Request r = make(Operation::kTopkRows, t, n, 0);
                         r.rows = 1, r.columns = n, r.k = k;
                         return r;
                       },
                       k, uint64_t{1} << 32, false});
}

void add_sums(std::vector<Kind> &kinds) {
  for (const auto &width : kWidths) {
    const auto add = [&, t = width.type](const std::string &name, Operation operation, uint32_t reduce_op,
                                         bool exclusive) {
      kinds.push_back({name + " of " + width.name,
                       [=](uint64_t n) {
                         Request r = make(operation, t, n, 0);
                         r.reduce_op = reduce_op, r.exclusive = exclusive;
                         return r;
                       },
                       1, kMost});
    };
    add("sum", Operation::kSum, 0, false);
    add("mean", Operation::kReduce, GSORT_MEAN, false);
    add("minimum", Operation::kReduce, GSORT_MIN, false);
    add("index of the maximum", Operation::kReduce, GSORT_ARGMAX, false);
    add("scan", Operation::kScan, 0, false);
    add("exclusive scan", Operation::kScan, 0, true);
    kinds.push_back({std::string("merge with 1000 keys of ") + width.name,
                     [t = width.type](uint64_t n) {
                       Request r = make(Operation::kMerge, t, n, 0);
                       r.b_n = 1000;
                       return r;
                     },
                     1, kMost});
  }
}

std::vector<Kind> kinds_of_calls() {
  std::vector<Kind> kinds;
  add_sorts(kinds);
  add_segments(kinds);
  add_sums(kinds);
  add_reservations(kinds);
  topk::Options select, team, sort, stream;
  select.select = true, team.team = true, sort.sort = true, stream.stream = true;
  add_topk(kinds, "", {});
  add_topk(kinds, " (selection)", select);
  add_topk(kinds, " (a team)", team);
  add_topk_rows(kinds, "", {});
  add_topk_rows(kinds, " (sort)", sort);
  add_topk_rows(kinds, " (a stream)", stream);
  return kinds;
}

// From how much shared memory of a block on the plan of a sort is another.
void describe_by_shared_bytes(std::ostringstream &text, const Request &request) {
  const auto line_for = [&](uint32_t shared_bytes) {
    Digest digest;
    const std::string line = plan_of(request, {90, 132, shared_bytes}, {}, digest);
    return std::to_string(digest.value() >> 40) + ": " + line;
  };
  uint32_t low = 48 * 1024;
  std::string before = line_for(low);
  for (uint32_t next = low + 512; next <= 228 * 1024; low = next, next += 512) {
    const std::string line = line_for(next);
    if (line == before) continue;
    uint32_t high = next;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (line_for(middle) == before ? low : high) = middle;
    }
    text << "  from " << high << " bytes of shared memory: " << line << '\n';
    before = line;
  }
}

void describe_by_shared_bytes(std::ostringstream &text) {
  for (const Operation operation : {Operation::kSort, Operation::kSortPairs})
    for (const auto &width : kWidths)
      for (const uint32_t bit : {12, 13, 17, 19, 22, 24, 26, 28}) {
        text << (operation == Operation::kSort ? "sort" : "pairs with 8 bytes") << " of 2^" << bit << ' ' << width.name
             << '\n';
        describe_by_shared_bytes(text, make(operation, width.type, uint64_t{1} << bit, 8));
      }
}

std::string described() {
  std::ostringstream text;
  for (const Kind &kind : kinds_of_calls()) {
    text << kind.name << "\n ";
    std::string ways;
    for (const Device &device : kDevices) {
      const Description plans(kind, device.facts);
      char digest[64];
      std::snprintf(digest, sizeof digest, " %s %08x", device.name, static_cast<uint32_t>(plans.digest() >> 32));
      text << digest;
      if (!kind.shown || &device != &kDevices[kShown]) continue;
      for (const auto &[n, line] : plans.lines()) ways += "  from " + std::to_string(n) + ": " + line + '\n';
    }
    text << '\n' << ways;
  }
  describe_by_shared_bytes(text);
  return text.str();
}

TEST(KeptPlans, AreAsTheirDescriptionSays) {
  const char *const path = GSORT_KEPT_PLANS;
  const std::string now = described();
  const char *const update = std::getenv("GSORT_TESTS_UPDATE");
  if (update != nullptr && *update == '1') std::ofstream(path) << now;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::istringstream lines(now);
  std::string is, was, kind;
  uint32_t different = 0;
  while (std::getline(lines, is)) {
    if (is[0] != ' ') kind = is;
    ASSERT_TRUE(std::getline(file, was)) << "the description ends before " << kind;
    EXPECT_EQ(was, is) << "plans changed: " << kind << "; if that is meant, GSORT_TESTS_UPDATE=1 writes it down";
    if (was != is && ++different == 20) FAIL() << "and perhaps more";
  }
  EXPECT_FALSE(std::getline(file, was)) << "no such plan any more: " << was;
}

}  // namespace
}  // namespace gsort_test
