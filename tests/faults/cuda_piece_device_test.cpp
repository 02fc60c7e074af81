// SPDX-License-Identifier: MIT OR Apache-2.0
// The device that works on pieces of host arrays, by itself on the stand-in: what it launches for a piece, in which
// order, what a launch that fails is called, and what a cancel leaves whole.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "core/control.h"
#include "cuda/engine/piece_device.h"
#include "faults/cuda_calls.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

class PieceOnTheDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    use_stand_in(ArrayPlace::kHost);
    streams_.open();
  }
  void TearDown() override {
    streams_.close();
    use_real_device();
  }

  CudaPieceDevice device() {
    PieceServices services;
    services.launch = [this](const Request &request, void *) { requests_.push_back(request.n); };
    return {services, staging_, ring_, streams_, nullptr};
  }
  // The kernels, by their names and the types of what they move, of a step that does this, and brings some bytes.
  std::vector<std::string> kernels_of(const PieceWork &work, const std::vector<PieceCopy> &in = {}) {
    PieceProgress progress{control_, 0, 1};
    requests_.clear();
    record_work();
    device().step(in, &work, {}, progress);
    std::vector<std::string> kernels;
    static const std::regex name(
        "[0-9]((deal|count_places|sum_places|list_turns|list_places|scatter|raise_indices|"
        "search)_kernel)(I[a-z]E)?");
    all_ = recorded_work();
    for (const Work &each : all_) {
      std::smatch match;
      if (std::regex_search(each.kernel, match, name)) kernels.push_back(match[1].str() + match[3].str());
    }
    return kernels;
  }

  HostMemory memory_{nullptr, nullptr, nullptr, 0};
  Control control_;
  PinnedRing ring_{memory_, 0, 1};
  CopyStreams streams_;
  Staging staging_;
  std::vector<uint64_t> requests_;  // their lengths
  std::vector<Work> all_;           // that the last step asked for
};

struct Case {
  const char *name;
  PieceWork work;
  std::vector<std::string> kernels;
  std::vector<uint64_t> requests;
};

// Of as few items as there can be. Nothing reads or writes the memory.
std::vector<Case> cases() {
  static uint64_t somewhere[8];
  Request sort{};
  sort.operation = Operation::kSort;
  sort.order.dtype = GSORT_U32;
  sort.out = somewhere, sort.n = 5;
  Request before = sort;
  before.n = 7;
  PieceWork deal{};
  deal.deal.order.dtype = GSORT_U32;
  deal.deal.items = 1, deal.deal.count = 1, deal.deal.buckets = reinterpret_cast<uint8_t *>(somewhere);
  PieceWork places{};
  places.places.n = 10, places.places.items = 3, places.places.places = somewhere;
  PieceWork turns = places, wide = places;
  turns.places.index_bytes = 1, places.places.index_bytes = 4, wide.places.index_bytes = 8;
  PieceWork scatter{};
  scatter.request = sort;
  scatter.scatter.to = somewhere, scatter.scatter.items = 1, scatter.scatter.item_bytes = 4;
  PieceWork raise{};
  raise.request = sort;
  raise.request.operation = Operation::kTopk;
  raise.request.k = 1, raise.request.index_t = GSORT_U32, raise.index_base = 100;
  PieceWork search{};
  search.request = sort;
  search.search.count = 2;
  search.search.found = somewhere, search.search.told = somewhere + 4;
  PieceWork nothing = scatter;  // for a request of no elements leaves no places to move anything to
  nothing.request.n = 0;
  PieceWork all = search;
  all.deal = deal.deal, all.places = wide.places, all.scatter = scatter.scatter, all.scatter.item_bytes = 8;
  all.before = {before}, all.index_base = 100;
  all.request.operation = Operation::kSortPairs, all.request.value_bytes = 8;
  PieceWork wide_scatter = scatter, wide_raise = raise;
  wide_scatter.scatter.item_bytes = 8;
  wide_raise.request.index_t = GSORT_U64;
  return {{"deal", deal, {"deal_kernelIjE"}, {}},
          {"turns", turns, {"count_places_kernel", "sum_places_kernel", "list_turns_kernel"}, {}},
          {"places", places, {"count_places_kernel", "sum_places_kernel", "list_places_kernelIjE"}, {}},
          {"wide places", wide, {"count_places_kernel", "sum_places_kernel", "list_places_kernelIyE"}, {}},
          {"scatter", scatter, {"scatter_kernelIjE"}, {5}},
          {"wide scatter", wide_scatter, {"scatter_kernelImE"}, {5}},
          {"raise", raise, {"raise_indices_kernelIjE"}, {5}},
          {"wide raise", wide_raise, {"raise_indices_kernelIyE"}, {5}},
          {"search", search, {"search_kernelIjE"}, {5}},
          {"nothing", nothing, {}, {}},
          {"all",
           all,
           {"deal_kernelIjE", "count_places_kernel", "sum_places_kernel", "list_places_kernelIyE",
            "raise_indices_kernelIyE", "scatter_kernelImE", "search_kernelIjE"},
           {7, 5}}};
}

TEST_F(PieceOnTheDevice, LaunchesWhatIsWantedInItsOrder) {
  std::vector<char> here(uint64_t{2} << 20), there(here.size());
  for (const Case &each : cases()) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(each.kernels, kernels_of(each.work));
    for (const Work &launch : all_)  // one block adds up all
      EXPECT_TRUE(launch.kernel.find("sum_places_kernel") == std::string::npos || launch.blocks == 1);
    EXPECT_EQ(each.requests, requests_);
    // Likewise while the ring brings what comes next.
    EXPECT_EQ(each.kernels, kernels_of(each.work, {{there.data(), here.data(), here.size()}}));
    EXPECT_EQ(each.requests, requests_);
  }
}

// A few bytes are moved before all kernels, and what was found of bounds is told behind them.
TEST_F(PieceOnTheDevice, MovesBeforeAndTellsAfterwards) {
  char memory[64] = {};
  uint64_t found[4] = {1, 2, 3, 4}, told[4] = {};
  for (const bool moves : {false, true})
    for (const uint64_t bounds : {0, 2}) {
      PieceWork work = cases()[4].work;  // a request, and a kernel behind it
      if (moves) work.moves = {{memory, memory + 32, 24}};
      work.search = {memory, bounds, found, told};
      const std::vector<std::string> kernels = kernels_of(work);
      EXPECT_EQ(bounds != 0, std::find(kernels.begin(), kernels.end(), "search_kernelIjE") != kernels.end());
      std::vector<std::pair<const void *, uint64_t>> copies;
      for (const Work &each : all_)
        if (each.function == "cudaMemcpyAsync") copies.push_back({each.to, each.bytes});
      std::vector<std::pair<const void *, uint64_t>> expected;
      if (moves) expected.push_back({memory, 24});
      if (bounds != 0) expected.push_back({told, 32});
      EXPECT_EQ(expected, copies);
      if (moves) {
        EXPECT_EQ("cudaMemcpyAsync", all_[0].function);
      }
    }
  EXPECT_EQ(4u, told[3]);
}

TEST_F(PieceOnTheDevice, LaunchesThatFailAreNamed) {
  for (const Case &each : cases())
    for (size_t nth = 0; nth < each.kernels.size(); ++nth) {
      SCOPED_TRACE(std::string(each.name) + ", " + each.kernels[nth]);
      // Both ways of listing the places of a bucket's keys have one name.
      const std::string kernel = each.kernels[nth].substr(0, each.kernels[nth].find("kernel") + 6),
                        name = kernel == "list_turns_kernel" ? "list_places_kernel" : kernel;
      std::string said;
      arm({nth, false, cudaErrorNotPermitted, "__cudaLaunchKernel"});
      try {
        (void)kernels_of(each.work);
      } catch (const Error &error) {
        said = error.text();
        EXPECT_EQ(GSORT_ERROR_INTERNAL, error.status());
      }
      disarm();
      EXPECT_EQ(0u, said.find(name + ": ")) << said;
      EXPECT_EQ(cudaSuccess, take_last_error());
    }
}

// Copies of registered arrays that go one way are handed over together, once, unless there is one alone.
TEST_F(PieceOnTheDevice, RegisteredCopiesTravelTogether) {
  const std::vector<uint32_t> keys(100, 3), values(100, 4);
  std::vector<uint32_t> out(100), values_out(100), there(200);
  use_stand_in(ArrayPlace::kRegistered);
  Request pairs{};
  pairs.operation = Operation::kSortPairs;
  pairs.order.dtype = GSORT_U32, pairs.value_bytes = 4, pairs.n = 100;
  pairs.in = keys.data(), pairs.values_in = values.data();
  pairs.out = out.data(), pairs.values_out = values_out.data();
  MemoryKinds kinds;
  staging_.collect(pairs, kinds, 0);
  char *const device_keys = reinterpret_cast<char *>(there.data()), *const device_values = device_keys + 400;
  const auto copy = [](char *on_device, const std::vector<uint32_t> &array) {
    return PieceCopy{on_device, reinterpret_cast<char *>(const_cast<uint32_t *>(array.data())), 400};
  };
  const std::vector<PieceCopy> none;
  for (const size_t count : {1, 2}) {
    std::vector<PieceCopy> in = {copy(device_keys, keys), copy(device_values, values)},
                           back = {copy(device_keys, out), copy(device_values, values_out)};
    in.resize(count), back.resize(count);
    for (const bool arrives : {true, false}) {
      PieceProgress progress{control_, 0, 400 * count};
      record_work();
      device().step(arrives ? in : none, nullptr, arrives ? none : back, progress);
      std::vector<std::string> calls;
      for (const Work &work : recorded_work())
        if (work.bytes != 0) calls.push_back(work.function);
      EXPECT_EQ(std::vector<std::string>(count, count == 1 ? "cudaMemcpyAsync" : "cudaMemcpyBatchAsync"), calls);
      EXPECT_EQ(400 * count, progress.done);
    }
  }
  EXPECT_EQ(keys, out);
  EXPECT_EQ(values, values_out);
}

// Copies too short for the ring: what leaves has left whole when a cancel is heard, and nothing arrives then.
TEST_F(PieceOnTheDevice, WhatLeavesIsWrittenWhole) {
  struct Listener {
    uint32_t calls, stop_at;
  } listener = {};
  control_.set_progress(
      [](void *user, uint64_t, uint64_t) -> int32_t {
        auto *const self = static_cast<Listener *>(user);
        return ++self->calls == self->stop_at ? 1 : 0;
      },
      &listener);
  const std::string sent = "sent", fetched = "fetched";
  for (uint32_t stop_at = 1; stop_at <= 5; ++stop_at) {
    std::string arrived[2] = {"----", "----"}, left[2] = {"-------", "-------"};
    const auto from = [](const std::string &text) { return const_cast<char *>(text.data()); };
    const std::vector<PieceCopy> in = {{arrived[0].data(), from(sent), 4}, {arrived[1].data(), from(sent), 4}},
                                 out = {{from(fetched), left[0].data(), 7}, {from(fetched), left[1].data(), 7}};
    control_.begin_call();
    listener = {0, stop_at};
    PieceProgress progress{control_, 0, 22};
    EXPECT_THROW(device().step(in, nullptr, out, progress), Error) << stop_at;
    EXPECT_EQ(stop_at > 1, progress.writes) << stop_at;
    for (const std::string &each : left) EXPECT_EQ(stop_at > 1, each == fetched) << stop_at;
    EXPECT_EQ(stop_at > 4, arrived[0] == sent) << stop_at;
    EXPECT_NE(sent, arrived[1]) << stop_at;
    EXPECT_EQ(OnCancel::kFinishOut, progress.on_cancel);
  }
}

}  // namespace
}  // namespace gsort_test
