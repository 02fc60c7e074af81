// SPDX-License-Identifier: MIT OR Apache-2.0
// On the stand-in, with no call of the CUDA runtime failing: the device of a handle, device memory that is refused, and
// the ring of pinned memory that copies go through.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "faults/cuda_calls.h"
#include "gsort.hpp"
#include "host_memory/pinned_ring.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

// The device of a handle, by its options, where the calling thread's current device is the stand-in's second.
TEST(DeviceOfHandle, SameForNullZeroedAndInitialOptions) {
  use_stand_in(ArrayPlace::kHost);
  ASSERT_EQ(cudaSuccess, cudaSetDevice(1));
  gsort_options zeroed = {};
  zeroed.struct_size = sizeof zeroed;
  const gsort_options initial = GSORT_OPTIONS_INIT;
  gsort_options current = GSORT_OPTIONS_INIT;
  current.device = -1;
  const std::pair<const gsort_options *, int32_t> wanted[] = {{nullptr, 0}, {&zeroed, 0}, {&initial, 0}, {&current, 1}};
  for (const auto &[options, device] : wanted) {
    gsort *g = nullptr;
    ASSERT_EQ(GSORT_OK, gsort_create(options, &g)) << gsort_error_message(nullptr);
    gsort_info info = {};
    info.struct_size = sizeof info;
    EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
    EXPECT_EQ(GSORT_BACKEND_CUDA, info.backend) << info.reason;
    EXPECT_EQ(device, info.device);
    gsort_destroy(g);
  }
  ASSERT_EQ(cudaSuccess, cudaSetDevice(0));
  use_real_device();
}

// Device memory of which blocks of some sizes are refused, and what the library says of it.
struct Refusals {
  uint64_t at_least = 0, below = 0;  // refused: [at_least, below)
  std::string log;

  gsort_options options() {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.threads = 1;
    o.allocator_user = this;
    o.device_allocate = [](void *user, uint64_t bytes, uint64_t alignment) -> void * {
      const auto *const self = static_cast<const Refusals *>(user);
      if (bytes >= self->at_least && bytes < self->below) return nullptr;
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    o.device_deallocate = [](void *, void *memory, uint64_t) { std::free(memory); };
    o.log_user = this;
    o.log = [](void *user, const char *line) { static_cast<Refusals *>(user)->log += std::string(line) + "\n"; };
    return o;
  }
  bool said(const char *what) const { return log.find(what) != std::string::npos; }
};

class MemoryRefused : public ::testing::Test {
 protected:
  static constexpr uint64_t kElements = uint64_t{1} << 25;  // 128 MiB: what is read once is rather done in pieces
  static constexpr uint64_t kBytes = kElements * sizeof(float);

  void SetUp() override { use_stand_in(ArrayPlace::kHost); }
  void TearDown() override { use_real_device(); }
  gsort_status run(gsort *g, int call) {
    switch (call) {
      case 0:
        return gsort_sum(g, GSORT_F32, in_.data(), kElements, out_.data(), 0);
      case 1:
        return gsort_reduce(g, GSORT_MAX, GSORT_F32, in_.data(), kElements, out_.data(), 0);
      case 2:
        return gsort_topk(g, GSORT_F32, in_.data(), kElements, 256, out_.data(), GSORT_U32, indices_.data(), 0);
      default:
        return gsort_scan(g, GSORT_F32, in_.data(), out_.data(), kElements, 0);
    }
  }
  bool input_intact() const {
    return std::all_of(in_.begin(), in_.end(), [](float element) { return element == 1; });
  }

  std::vector<float> in_ = std::vector<float>(kElements, 1), out_ = std::vector<float>(kElements);
  std::vector<uint32_t> indices_ = std::vector<uint32_t>(256);
};

TEST_F(MemoryRefused, CallsThatRatherStreamAreDoneAtOnceWherePiecesFindNoRoom) {
  for (const int call : {0, 1, 3}) {
    Refusals refusals{0, kBytes, {}};
    const Handle handle(refusals.options());
    EXPECT_TRUE(succeeded(handle.get(), run(handle.get(), call))) << call;
    EXPECT_TRUE(refusals.said("in pieces") && refusals.said("at once instead")) << refusals.log;
    EXPECT_TRUE(input_intact());
  }
  // Scratch memory of the host for the best of each piece, which a call at once does without.
  Refusals none{0, 0, {}};
  gsort_options o = none.options();
  o.host_memory_limit_bytes = 1000;
  const Handle handle(o);
  EXPECT_TRUE(succeeded(handle.get(), run(handle.get(), 2)));
  EXPECT_TRUE(none.said("host_memory_limit_bytes") && none.said("at once instead")) << none.log;
}

// So are merges and sorts of segments, of which one that is longer than a piece is done at once, too.
TEST_F(MemoryRefused, MergesAndSegmentsThatRatherStream) {
  const std::vector<uint64_t> few = {0, kElements / 3, kElements}, many = [] {
    std::vector<uint64_t> offsets;
    for (uint64_t at = 0; at <= kElements; at += kElements / 1024) offsets.push_back(at);
    return offsets;
  }();
  const auto merge = [&](gsort *g) {
    return gsort_merge(g, GSORT_F32, in_.data(), 100, in_.data() + 100, kElements - 100, out_.data(), 0);
  };
  const auto segments = [&](const std::vector<uint64_t> &offsets) {
    return [&](gsort *g) {
      return gsort_sort_segments(g, GSORT_F32, in_.data(), out_.data(), kElements, offsets.data(), offsets.size() - 1,
                                 0);
    };
  };
  const auto expect_streamed = [&](bool streams, bool refused, auto &&call) {
    Refusals refusals{0, refused ? 2 * kBytes : 0, {}};
    const Handle handle(refusals.options());
    EXPECT_TRUE(succeeded(handle.get(), call(handle.get())));
    EXPECT_TRUE(refusals.said("in pieces")) << refusals.log;
    EXPECT_EQ(!streams, refusals.said("at once instead")) << refusals.log;
    EXPECT_TRUE(input_intact());
  };
  for (const bool refused : {false, true}) {
    expect_streamed(!refused, refused, merge);
    expect_streamed(!refused, refused, segments(many));
    expect_streamed(false, refused, segments(few));
  }
}

TEST_F(MemoryRefused, CallsAreDoneInPiecesWhereThereIsNoRoomForAll) {
  Refusals refusals{kBytes, UINT64_MAX, {}};
  const Handle handle(refusals.options());
  EXPECT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_F32, in_.data(), out_.data(), kElements, 0)));
  EXPECT_TRUE(refusals.said("in pieces")) << refusals.log;
}

// Sorts that are done as their arrays arrive, whose keys the stand-in's kernels leave as they are.
class Arriving : public ::testing::Test {
 protected:
  static constexpr uint64_t kElements = (uint64_t{1} << 26) + 1, kBytes = kElements * 4;

  void SetUp() override {
    use_stand_in(ArrayPlace::kRegistered);
    std::iota(keys_.begin(), keys_.end(), 7u);
  }
  void TearDown() override { use_real_device(); }
  gsort_status sort(gsort *g) { return gsort_sort(g, GSORT_U32, keys_.data(), keys_.data(), kElements, 0); }
  // Each key is there as often as before, as far as two sums tell.
  bool no_key_lost() const {
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < kElements; ++i) {
      const uint64_t key = keys_[i], was = i + 7;
      sum += key - was, squares += key * key - was * was;
    }
    return sum == 0 && squares == 0;
  }

  std::vector<uint32_t> keys_ = std::vector<uint32_t>(kElements);
};

// Registered ones, and such of which an eighth is not.
TEST_F(Arriving, InPlaceOfASortAtOnce) {
  for (const uint64_t sixteenths : {0, 13, 15, 16}) {
    use_stand_in(ArrayPlace::kHost);
    if (sixteenths != 0) place_array(keys_.data(), kBytes / 16 * sixteenths, ArrayPlace::kRegistered);
    Refusals none{0, 0, {}};
    const Handle handle(none.options());
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get())));
    EXPECT_EQ(sixteenths > 14, none.said("sorted as it arrived")) << none.log;
    EXPECT_FALSE(none.said("at once instead")) << none.log;
    EXPECT_TRUE(no_key_lost());
  }
}

TEST_F(Arriving, AtOnceWhereThereIsNoRoom) {
  Refusals refusals{kBytes + kBytes / 4, 2 * kBytes, {}};
  const Handle handle(refusals.options());
  EXPECT_TRUE(succeeded(handle.get(), sort(handle.get())));
  EXPECT_TRUE(refusals.said("at once instead") && !refusals.said("sorted as it arrived")) << refusals.log;
  EXPECT_TRUE(no_key_lost());
}

// Others may have taken so much of the device's memory that it holds neither all nor the runs.
TEST_F(Arriving, InPiecesThatNeedLessWhereThereIsRoomForNeither) {
  Refusals refusals{kBytes, UINT64_MAX, {}};
  const Handle handle(refusals.options());
  EXPECT_TRUE(succeeded(handle.get(), sort(handle.get())));
  EXPECT_TRUE(refusals.said("in pieces that need less")) << refusals.log;
  EXPECT_FALSE(refusals.said("at once instead") || refusals.said("sorted as it arrived")) << refusals.log;
  EXPECT_TRUE(no_key_lost());
}

// A limit that forbids a sort at once, but not this way; and one that forbids both.
TEST_F(Arriving, WithinALimit) {
  for (const ArrayPlace place : {ArrayPlace::kRegistered, ArrayPlace::kHost})
    for (const bool arrives : {true, false}) {
      use_stand_in(place);
      Refusals none{0, 0, {}};
      gsort_options o = none.options();
      o.device_memory_limit_bytes = arrives ? kBytes * 19 / 10 : kBytes * 3 / 2;
      const Handle handle(o);
      EXPECT_TRUE(succeeded(handle.get(), sort(handle.get())));
      EXPECT_EQ(arrives, none.said("sorted as it arrived")) << none.log;
      EXPECT_EQ(!arrives, none.said("spread over the output")) << none.log;
      EXPECT_TRUE(no_key_lost());
    }
}

// Some of its calls of the CUDA runtime fail in turn, and the handle sorts afterwards.
TEST_F(Arriving, FailingCallsLoseNothing) {
  const int device = current_device();
  for (const cudaError_t error : {cudaErrorNotPermitted, cudaErrorMemoryAllocation}) {
    Refusals none{0, 0, {}};
    const Handle handle(none.options());
    uint32_t failed = 0;
    for (uint64_t at = error == cudaErrorMemoryAllocation ? 20 : 12;; at += 43) {
      arm({at, false, error});
      const gsort_status status = sort(handle.get());
      const CallReport report = disarm();
      EXPECT_EQ(cudaSuccess, take_last_error());
      restore_thread(device);
      ASSERT_TRUE(no_key_lost()) << report.failed;
      if (report.failed.empty()) break;
      failed += status != GSORT_OK;
      EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_INTERNAL || status == GSORT_ERROR_OUT_OF_MEMORY);
    }
    EXPECT_GT(failed, 1u);
  }
}

TEST_F(MemoryRefused, CallsThatMustBeDoneInPiecesAreRefused) {
  for (const int call : {0, 1, 2, 3}) {
    Refusals refusals{0, UINT64_MAX, {}};
    gsort_options o = refusals.options();
    o.device_memory_limit_bytes = kBytes / 2;
    const Handle handle(o);
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, run(handle.get(), call));
    EXPECT_NE(std::string::npos, std::string(gsort_error_message(handle.get())).find("device"));
    EXPECT_FALSE(refusals.said("at once instead")) << refusals.log;
    EXPECT_TRUE(input_intact());
  }
}

// What a handle of AUTO lets both sides do, the CPU does alone where the device has no memory. The stand-in's kernels
// do nothing, so that the result is known only then.
TEST_F(MemoryRefused, SumsOnBothSidesAreLeftToTheCpu) {
  const std::vector<float> in(4 * kElements, 1);  // 512 MiB
  for (const ArrayPlace arrays : {ArrayPlace::kHost, ArrayPlace::kRegistered})
    for (const uint64_t below : {uint64_t{0}, UINT64_MAX}) {
      use_stand_in(arrays);
      Refusals refusals{0, below, {}};
      gsort_options o = refusals.options();
      o.backend = GSORT_BACKEND_AUTO;
      o.threads = 12;
      const Handle handle(o);
      double sum = 0;
      EXPECT_TRUE(succeeded(handle.get(), gsort_sum(handle.get(), GSORT_F32, in.data(), in.size(), &sum, 0)));
      EXPECT_TRUE(refusals.said("host arrays: on both")) << refusals.log;
      EXPECT_EQ(below != 0, refusals.said("on the CPU instead")) << refusals.log;
      if (below != 0) {
        EXPECT_EQ(static_cast<double>(in.size()), sum);
      }
    }
}

// Indices that the device has not made, because it does nothing, or because it has no memory.
TEST_F(MemoryRefused, SelectionsOnBothSidesAreLeftToTheCpu) {
  const std::vector<float> in(4 * kElements, 1);  // 512 MiB
  use_stand_in(ArrayPlace::kRegistered);
  for (const uint64_t below : {uint64_t{0}, UINT64_MAX}) {
    Refusals refusals{0, below, {}};
    gsort_options o = refusals.options();
    o.backend = GSORT_BACKEND_AUTO;
    o.threads = 12;
    const Handle handle(o);
    EXPECT_TRUE(succeeded(handle.get(), gsort_topk(handle.get(), GSORT_F32, in.data(), in.size(), 256, out_.data(),
                                                   GSORT_U32, indices_.data(), 0)));
    EXPECT_TRUE(refusals.said("host arrays: on both")) << refusals.log;
    EXPECT_EQ(below != 0, refusals.said("on the CPU instead")) << refusals.log;
    if (below != 0) {
      EXPECT_TRUE(std::all_of(indices_.begin(), indices_.end(), [&](const uint32_t &index) {
        return index == static_cast<uint32_t>(&index - indices_.data());
      }));
    }
  }
}

// A caller's own device memory: what was handed out comes back, each block once and with the bytes that were asked for.
struct Ledger {
  std::map<void *, uint64_t> out;
  uint32_t handed_out = 0, misuses = 0;

  gsort_options options() {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.threads = 1;
    o.allocator_user = this;
    o.device_allocate = [](void *user, uint64_t bytes, uint64_t alignment) -> void * {
      auto *const self = static_cast<Ledger *>(user);
      void *const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      self->out[memory] = bytes;
      self->handed_out++;
      return memory;
    };
    o.device_deallocate = [](void *user, void *memory, uint64_t bytes) {
      auto *const self = static_cast<Ledger *>(user);
      const auto block = self->out.find(memory);
      if (block == self->out.end() || block->second != bytes) self->misuses++;
      if (block == self->out.end()) return;
      self->out.erase(block);
      std::free(memory);
    };
    return o;
  }
};

// The last word of progress comes when nothing can be stopped any more.
TEST(ProgressOfAnArrayOfTheHost, WhatItThrowsAtTheEndIsThrownOnByThatCall) {
  use_stand_in(ArrayPlace::kHost);
  {
    gsort::options options;
    options.backend = GSORT_BACKEND_CUDA;
    gsort::sorter sorter(options);
    std::vector<float> elements(1 << 20, 1);
    sorter.set_progress([](uint64_t done, uint64_t total) -> bool {
      if (done == total) throw std::logic_error("at the end");
      return true;
    });
    EXPECT_THROW(sorter.sort(elements), std::logic_error);
    sorter.set_progress(nullptr);
    EXPECT_THROW(sorter.topk(elements, elements.size() + 1), gsort::error);
  }
  use_real_device();
}

TEST(DeviceAllocator, GetsEveryBlockBack) {
  for (const ArrayPlace place : {ArrayPlace::kHost, ArrayPlace::kDevice}) {
    use_stand_in(place);
    Ledger ledger;
    {
      const Handle handle(ledger.options());
      ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
      std::vector<float> keys(300000, 1);
      for (const uint64_t n : {uint64_t{1000}, uint64_t{300000}, uint64_t{20000}})
        EXPECT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_F32, keys.data(), keys.data(), n, 0)));
      EXPECT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    }
    EXPECT_GE(ledger.handed_out, 2u);
    EXPECT_EQ(0u, ledger.misuses);
    EXPECT_TRUE(ledger.out.empty()) << ledger.out.size() << " blocks were not given back";
  }
  use_real_device();
}

// Values in device memory, which kernels move as words if there are 2, 4, 8 or 16 bytes of each: the input and the
// output are each looked at.
TEST(DeviceValues, MisalignedOnesAreRefusedByName) {
  use_stand_in(ArrayPlace::kDevice);
  {
    const Handle handle(default_options(GSORT_BACKEND_CUDA));
    ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    constexpr uint64_t kPairs = 500, kBytesMax = 72;
    std::vector<uint32_t> keys(kPairs, 3);
    std::vector<uint64_t> values(kPairs * kBytesMax / 8 + 2, 7), out(values.size(), 9);
    for (const uint32_t bytes : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 18, 20, 24, 32, 64, 72}) {
      const bool is_word = bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
      const uint32_t alignment = !is_word ? 1 : std::min(bytes, 8u);
      for (uint32_t skew = 0; skew <= 8; ++skew)
        for (const bool in : {true, false}) {
          const gsort_status status =
              gsort_sort_pairs(handle.get(), GSORT_U32, keys.data(), keys.data(), bytes,
                               reinterpret_cast<char *>(values.data()) + (in ? skew : 0),
                               reinterpret_cast<char *>(out.data()) + (in ? 0 : skew), kPairs, 0);
          EXPECT_EQ(skew % alignment == 0 ? GSORT_OK : GSORT_ERROR_INVALID_ARGUMENT, status) << bytes << " at " << skew;
          if (status == GSORT_OK) continue;
          EXPECT_NE(nullptr, std::strstr(gsort_error_message(handle.get()), in ? "values_in" : "values_out"));
          EXPECT_NE(nullptr, std::strstr(gsort_error_message(handle.get()),
                                         ("aligned to " + std::to_string(alignment) + " bytes").c_str()));
        }
    }
    EXPECT_EQ(out.size(), static_cast<uint64_t>(std::count(out.begin(), out.end(), 9u))) << "something was written";
  }
  use_real_device();
}

// Arrays of which parts are registered, at either end, in the midst, or side by side: the stand-in's kernels do
// nothing, so that a result is the input as it came and went.
class PartlyRegistered : public ::testing::Test {
 protected:
  static constexpr uint64_t kElements = (uint64_t{5} << 21) + 1001, kBytes = kElements * 4, kEnd = UINT64_MAX;
  using Parts = std::vector<std::pair<uint64_t, uint64_t>>;

  PartlyRegistered() {
    for (uint64_t i = 0; i < kElements; ++i) in_[i] = static_cast<uint32_t>(i * 2654435761u);
  }
  void SetUp() override { use_stand_in(ArrayPlace::kHost); }
  void TearDown() override { use_real_device(); }

  static void register_parts(const void *array, const Parts &parts) {
    for (const auto &[begin, end] : parts)
      place_array(static_cast<const char *>(array) + begin, std::min(end, kBytes) - begin, ArrayPlace::kRegistered);
  }
  template <class F>
  void expect_copied(uint64_t limit_bytes, const Parts &in_parts, const Parts &out_parts, F &&call) {
    use_stand_in(ArrayPlace::kHost);
    register_parts(in_.data(), in_parts), register_parts(out_.data(), out_parts);
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.threads = 1;
    o.device_memory_limit_bytes = limit_bytes;
    const Handle handle(o);
    std::fill(out_.begin(), out_.end(), 0u);
    EXPECT_TRUE(succeeded(handle.get(), call(handle.get())));
    EXPECT_TRUE(in_ == out_);
    EXPECT_EQ(cudaSuccess, take_last_error());
  }

  const std::vector<Parts> kinds_ = {{},
                                     {{0, kEnd}},
                                     {{0, kBytes / 2}},
                                     {{kBytes / 2, kEnd}},
                                     {{0, 4097}},
                                     {{kBytes - 5, kEnd}},
                                     {{0, kBytes / 3}, {kBytes / 2, kEnd}},
                                     {{0, kBytes / 3 + 1}, {kBytes / 3 + 1, kEnd}},
                                     {{kBytes / 4, kBytes / 3}}};
  std::vector<uint32_t> in_ = std::vector<uint32_t>(kElements), out_ = std::vector<uint32_t>(kElements);
};

TEST_F(PartlyRegistered, CopiedAtOnce) {
  for (const Parts &in : kinds_)
    for (const Parts &out : kinds_)
      expect_copied(0, in, out,
                    [&](gsort *g) { return gsort_sort(g, GSORT_U32, in_.data(), out_.data(), kElements, 0); });
}

TEST_F(PartlyRegistered, CopiedInPieces) {
  for (const Parts &in : kinds_)
    for (const Parts &out : kinds_)
      expect_copied(uint64_t{28} << 20, in, out,
                    [&](gsort *g) { return gsort_scan(g, GSORT_F32, in_.data(), out_.data(), kElements, 0); });
}

// Short arrays are the driver's, which refuses them whole.
TEST_F(PartlyRegistered, ShortArrays) {
  std::vector<uint32_t> keys(1001);
  for (const uint64_t begin : {uint64_t{0}, uint64_t{1}, uint64_t{2000}})
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{1000}, uint64_t{2004}}) {
      use_stand_in(ArrayPlace::kHost);
      place_array(reinterpret_cast<const char *>(keys.data()) + begin, bytes, ArrayPlace::kRegistered);
      std::iota(keys.begin(), keys.end(), 7u);
      const std::vector<uint32_t> before = keys;
      const Handle handle(default_options(GSORT_BACKEND_CUDA));
      EXPECT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_U32, keys.data(), keys.data(), 1001, 0)));
      EXPECT_TRUE(before == keys);
    }
}

// Copies of all lengths through the ring, both ways at once: every byte arrives, and none beside them.
TEST(Ring, CopiesEveryByte) {
  using namespace gsort_internal;
  use_stand_in(ArrayPlace::kHost);
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  Control control;
  std::optional<PinnedRing> ring(std::in_place, memory, 0, 1);  // calls come in one order
  constexpr uint64_t kSlot = uint64_t{2} << 20, kGap = 3;
  const std::vector<uint64_t> lengths = {1,         4095,          4097,          (uint64_t{128} << 10) - 1,
                                         kSlot - 1, kSlot,         kSlot + 1,     0,
                                         3 * kSlot, 5 * kSlot + 7, kSlot * 3 / 2, 77};
  uint64_t bytes = 0;
  for (const uint64_t length : lengths) bytes += length + kGap;
  std::vector<char> from[2], to[2];
  for (int way : {0, 1}) {
    from[way].resize(bytes), to[way].assign(bytes, 'x');
    for (uint64_t i = 0; i < bytes; ++i) from[way][i] = static_cast<char>(i * 2654435761u >> (13 + way));
  }
  std::vector<PieceCopy> in, out;
  uint64_t at = 0;
  for (const uint64_t length : lengths) {
    in.push_back({to[0].data() + at, from[0].data() + at, length});
    out.push_back({from[1].data() + at, to[1].data() + at, length});
    at += length + kGap;
  }
  PieceProgress progress{control, 0, 2 * bytes};
  ASSERT_TRUE(ring->exchange({nullptr, in}, {nullptr, out}, progress));
  EXPECT_EQ(2 * (bytes - kGap * lengths.size()), progress.done);
  for (int way : {0, 1}) {
    at = 0;
    for (const uint64_t length : lengths) {
      ASSERT_TRUE(std::equal(&from[way][at], &from[way][at] + length, &to[way][at])) << way << ", " << length;
      at += length;
      for (uint64_t end = at + kGap; at < end; ++at) ASSERT_EQ('x', to[way][at]) << way << ", behind " << length;
    }
  }
  ring.reset();
  use_real_device();
}

// What the calling thread does while the others copy: once, and where it fails, what leaves is written whole.
TEST(Ring, DoesTheRestMeanwhile) {
  using namespace gsort_internal;
  use_stand_in(ArrayPlace::kHost);
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  Control control;
  std::optional<PinnedRing> ring(std::in_place, memory, 0, 1);  // calls come in one order
  constexpr uint64_t kBytes = uint64_t{30} << 20;
  const std::vector<char> sent(kBytes, 'a'), fetched(kBytes, 'b');
  for (const bool fails : {false, true}) {
    std::vector<char> from[2] = {sent, fetched}, to[2] = {std::vector<char>(kBytes), std::vector<char>(kBytes)};
    const std::vector<PieceCopy> in = {{to[0].data(), from[0].data(), kBytes}},
                                 out = {{from[1].data(), to[1].data(), kBytes}};
    PieceProgress progress{control, 0, 2 * kBytes};
    uint32_t calls = 0;
    const auto meanwhile = [&] {
      ++calls;
      if (fails) throw Error(GSORT_ERROR_INTERNAL, "made to fail");
    };
    if (fails)
      EXPECT_THROW((void)ring->exchange({nullptr, in}, {nullptr, out}, progress, meanwhile), Error);
    else
      EXPECT_TRUE(ring->exchange({nullptr, in}, {nullptr, out}, progress, meanwhile));
    EXPECT_EQ(1u, calls);
    EXPECT_TRUE(to[1] == fetched);
    EXPECT_TRUE(to[0] == sent || fails);
  }
  ring.reset();
  use_real_device();
}

// A cancel ends what may end: nothing more goes to the device, and what leaves it is written whole, unless it may stop.
TEST(Ring, ACancelEndsWhatMayEnd) {
  using namespace gsort_internal;
  use_stand_in(ArrayPlace::kHost);
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  Control control;
  uint32_t calls = 0;
  control.set_progress(
      [](void *user, uint64_t, uint64_t) -> int32_t { return ++*static_cast<uint32_t *>(user) == 3 ? 1 : 0; }, &calls);
  std::optional<PinnedRing> ring(std::in_place, memory, 0, 1);  // calls come in one order
  constexpr uint64_t kBytes = uint64_t{30} << 20;
  const std::vector<char> sent(kBytes, 'a'), fetched(kBytes, 'b');
  for (const OnCancel on_cancel : {OnCancel::kFinishOut, OnCancel::kStop, OnCancel::kGoOn}) {
    std::vector<char> to[2] = {std::vector<char>(kBytes), std::vector<char>(kBytes)};
    const std::vector<PieceCopy> in = {{to[0].data(), const_cast<char *>(sent.data()), kBytes}},
                                 out = {{const_cast<char *>(fetched.data()), to[1].data(), kBytes}};
    control.begin_call();
    calls = 0;
    PieceProgress progress{control, 0, 2 * kBytes, on_cancel};
    const auto exchange = [&] { return ring->exchange({nullptr, in}, {nullptr, out}, progress); };
    if (on_cancel == OnCancel::kGoOn)
      EXPECT_TRUE(exchange());
    else
      EXPECT_THROW((void)exchange(), Error);
    EXPECT_EQ(on_cancel == OnCancel::kGoOn, to[0] == sent);
    EXPECT_EQ(on_cancel != OnCancel::kStop, to[1] == fetched);
  }
  ring.reset();
  use_real_device();
}

}  // namespace
}  // namespace gsort_test
