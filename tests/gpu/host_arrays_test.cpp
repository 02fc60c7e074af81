// SPDX-License-Identifier: MIT OR Apache-2.0
// Host arrays of a handle on a device: pageable ones that go through the ring, pinned ones, both in one call, lengths
// around the ring's slots; where AUTO lets such calls run; progress and cancellation on the way.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "gpu/fixture.h"

namespace gsort_test {
namespace {

class cuda_HostArrays : public GpuTest {};

constexpr uint64_t kSlotBytes = uint64_t{2} << 20, kLeastBytes = uint64_t{1} << 20;

TEST_F(cuda_HostArrays, LengthsAroundTheSlots) {
  const Handle handle(GSORT_BACKEND_CUDA);
  uint64_t seed = 1;
  for (const uint64_t bytes : {kLeastBytes, kSlotBytes, 2 * kSlotBytes, 3 * kSlotBytes})
    for (const int64_t difference : {-4, 0, 4}) {
      const uint64_t n = (bytes + static_cast<uint64_t>(difference)) / 4;
      const Array input = generate(Distribution::kUniform, GSORT_U32, n, seed++);
      const Array want = reference_sort(input, 0);
      for (const Place in : {Place::kHost, Place::kPinned})
        for (const Place out : {Place::kHost, Place::kPinned, Place::kDevice}) {
          SCOPED_TRACE(std::to_string(n) + " keys from " + place_name(in) + " to " + place_name(out));
          Buffer from(in, n * 4, 4), to(out, n * 4, 12);
          from.write(input.bytes());
          ASSERT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_U32, from.data(), to.data(), n, 0)));
          ASSERT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
          ASSERT_TRUE(same_elements(want, Array(GSORT_U32, to.read())));
          ASSERT_TRUE(from.read() == input.bytes() && from.red_zones_intact() && to.red_zones_intact());
        }
    }
}

TEST_F(cuda_HostArrays, EveryOperationWhereverItRuns) {
  for (const uint32_t backend : {GSORT_BACKEND_AUTO, GSORT_BACKEND_CUDA}) {
    const Handle handle(backend);
    for (const uint64_t n : {1, 500, 20000, 400000, 1500000})
      for (const gsort_dtype t : {GSORT_F32, GSORT_U64}) {
        const Array input = generate(Distribution::kSmallRange, t, n, n);
        for (const NamedOperation &operation : all_operations()) {
          if (n < 10) continue;
          SCOPED_TRACE(std::string(operation.name) + " of " + std::to_string(n));
          const Arrays arrays(Place::kHost, input);
          ASSERT_TRUE(succeeded(handle.get(), operation.run(handle.get(), arrays)));
          ASSERT_TRUE(expected(operation, input) == operation.result(arrays));
          ASSERT_TRUE(arrays.inputs_intact());
        }
      }
  }
}

// A handle of AUTO tells where a call runs, and what the stream still does comes first.
TEST_F(cuda_HostArrays, ComesAfterTheStreamsWork) {
  static std::string told;
  told.clear();
  gsort_options o = default_options(GSORT_BACKEND_AUTO);
  o.log = [](void *, const char *line) { told += std::string(line) + "\n"; };
  const Handle handle(o);
  const uint64_t n = 1000, large = uint64_t{1} << 27;
  DeviceStream stream;
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), stream.get())));
  const Buffer device(Place::kDevice, large), from(Place::kDevice, n * 4);
  Buffer pinned(Place::kPinned, n * 4);
  for (int round = 0; round < 20; ++round) {
    pinned.write(Bytes(n * 4, 0));
    stream.fill_async(device.data(), 1, large);  // takes a while
    stream.fill_async(from.data(), 1, n * 4);
    stream.copy_async(pinned.data(), from.data(), n * 4);
    uint64_t sum = 0;
    ASSERT_TRUE(succeeded(handle.get(), gsort_sum(handle.get(), GSORT_U32, pinned.data(), n, &sum, 0)));
    ASSERT_EQ(n * 0x01010101u, sum) << "round " << round;
  }
  EXPECT_NE(std::string::npos, told.find("host arrays: on the CPU")) << told;
}

// Sums of many floats may be shared by the device and the CPU's threads; of registered arrays sums of integers, minima
// and maxima, too. Not by a handle that was asked for one of them.
TEST_F(cuda_HostArrays, OnBothSides) {
  static std::string told;
  const uint64_t n = (uint64_t{1} << 27) + 3;  // 512 MiB
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  for (const uint32_t backend : {GSORT_BACKEND_AUTO, GSORT_BACKEND_CUDA}) {
    gsort_options o = default_options(backend);
    o.threads = 12;
    o.log = [](void *, const char *line) { told += std::string(line) + "\n"; };
    const Handle handle(o);
    for (const gsort_dtype t : {GSORT_F32, GSORT_I32})
      for (const Place place : {Place::kHost, Place::kPinned}) {
        const Array input = generate(Distribution::kSmallRange, t, n, 3);
        Buffer in(place, n * 4);
        in.write(input.bytes());
        const auto expect_same = [&](bool shared, auto &&call) {
          uint64_t want = 1, got = 2;
          ASSERT_TRUE(succeeded(cpu, call(cpu, &want)));
          told.clear();
          ASSERT_TRUE(succeeded(handle.get(), call(handle.get(), &got)));
          EXPECT_EQ(want, got);
          EXPECT_EQ(shared && backend == GSORT_BACKEND_AUTO, told.find("on both") != std::string::npos) << told;
        };
        SCOPED_TRACE(std::string(place_name(place)) + ", type " + std::to_string(t));
        const bool pinned = place == Place::kPinned, sums = pinned || t == GSORT_F32;
        expect_same(sums, [&](gsort *g, void *out) { return gsort_sum(g, t, in.data(), n, out, 0); });
        for (const uint32_t op : {GSORT_MEAN, GSORT_ARGMIN, GSORT_ARGMAX})
          expect_same(op == GSORT_MEAN ? sums : pinned,
                      [&](gsort *g, void *out) { return gsort_reduce(g, op, t, in.data(), n, out, 0); });
      }
  }
}

// Sorts of registered arrays that are done as these arrive: the bits of the CPU's engine, of keys alone, stable pairs
// and argsorts, in place and not. Pageable ones are sorted so where a limit forbids a sort at once.
class cuda_Arriving : public GpuTest {
 protected:
  static constexpr uint64_t kBytes = uint64_t{256} << 20;

  static Handle handle_within(uint64_t bytes) {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.device_memory_limit_bytes = bytes;
    o.log = [](void *, const char *line) { told += std::string(line) + "\n"; };
    return Handle(o);
  }
  static void expect_arrived(bool arrived) {
    EXPECT_EQ(arrived, told.find("sorted as it arrived") != std::string::npos) << told;
    told.clear();
  }
  static void expect_sorted(const Where &where, Distribution distribution, gsort_dtype t, uint32_t flags,
                            bool arrives = true) {
    SCOPED_TRACE(std::string(element_type(t).name) + ", " + distribution_name(distribution));
    const Array in = generate(distribution, t, kBytes / element_type(t).bytes + 12345, 1);
    ASSERT_TRUE(same_elements(run_sort({shared_handle(GSORT_BACKEND_CPU)}, in, flags), run_sort(where, in, flags)));
    expect_arrived(arrives);
  }
  static inline std::string told;
};

TEST_F(cuda_Arriving, Keys) {
  const Handle handle = handle_within(0);
  expect_sorted({handle.get(), Place::kPinned, Place::kPinned, 1, false}, Distribution::kUniform, GSORT_U32, 0);
  expect_sorted({handle.get(), Place::kPinned, Place::kPinned, 0, true}, Distribution::kSorted, GSORT_I64,
                GSORT_DESCENDING);
  expect_sorted({handle.get(), Place::kPinned, Place::kPinned, 0, true}, Distribution::kUniform, GSORT_F32,
                GSORT_NAN_LAST);
  expect_sorted({handle.get(), Place::kPinned, Place::kPinned}, Distribution::kAllEqual, GSORT_F64, 0);
}

TEST_F(cuda_Arriving, PageableKeysWithinALimit) {
  for (const bool in_place : {false, true}) {
    const Handle limited = handle_within(kBytes * 19 / 10), handle = handle_within(0);
    expect_sorted({limited.get(), Place::kHost, Place::kHost, 0, in_place}, Distribution::kUniform, GSORT_U32, 0);
    expect_sorted({handle.get(), Place::kHost, Place::kHost, 0, in_place}, Distribution::kUniform, GSORT_U32, 0, false);
  }
}

TEST_F(cuda_Arriving, PairsAndArgsortsAreStable) {
  const Handle handle = handle_within(0);
  gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
  for (const uint32_t value_bytes : {4u, 12u}) {
    const bool in_place = value_bytes == 12;
    const uint32_t flags = in_place ? GSORT_DESCENDING : 0;
    const Array keys = generate(Distribution::kSmallRange, GSORT_U32, kBytes / (4 + value_bytes) + 777, value_bytes);
    const Pairs pairs = {keys, generate_values(keys.size(), value_bytes, 1)};
    const Pairs want = run_sort_pairs({cpu}, pairs, value_bytes, flags),
                got = run_sort_pairs({handle.get(), Place::kPinned, Place::kPinned, 0, in_place}, pairs, value_bytes,
                                     flags);
    ASSERT_TRUE(same_elements(want.keys, got.keys));
    ASSERT_TRUE(same_bytes(want.values, got.values));
    expect_arrived(true);
  }
  for (const gsort_dtype index_t : {GSORT_U32, GSORT_I64}) {
    const Array keys = generate(Distribution::kTwoValues, GSORT_F32, kBytes / 8 + 777, 3);
    ASSERT_TRUE(same_elements(run_argsort({cpu}, keys, index_t, 0),
                              run_argsort({handle.get(), Place::kPinned}, keys, index_t, 0)));
    expect_arrived(true);
  }
}

// A cancel is heard while both work, at every time, and the handle goes on. Soon where the machine is not busy, as with
// other tests: then one of the calls at least ends within 50 ms.
TEST_F(cuda_HostArrays, CancelledOnBothSides) {
  using Clock = std::chrono::steady_clock;
  const uint64_t n = uint64_t{1} << 28;
  gsort_options o = default_options(GSORT_BACKEND_AUTO);
  o.threads = 12;
  const Handle handle(o);
  for (const Place place : {Place::kHost, Place::kPinned}) {
    const Buffer in(place, n * 4);
    uint64_t want = 0, got = 0;
    ASSERT_TRUE(succeeded(handle.get(), gsort_sum(handle.get(), GSORT_F32, in.data(), n, &want, 0)));
    uint32_t heard = 0;
    double soonest = 1;
    for (uint32_t after_us = 0; after_us < 10000; after_us += 1000) {
      Clock::time_point cancelled;
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(after_us));
        cancelled = Clock::now();
        (void)gsort_cancel(handle.get());
      });
      const gsort_status status = gsort_sum(handle.get(), GSORT_F32, in.data(), n, &got, 0);
      const Clock::time_point ended = Clock::now();
      other.join();
      if (status == GSORT_OK) {
        EXPECT_EQ(want, got);
        continue;
      }
      ASSERT_EQ(GSORT_ERROR_CANCELLED, status);
      ++heard;
      const double seconds = std::chrono::duration<double>(ended - cancelled).count();
      EXPECT_LT(seconds, 1) << after_us;
      soonest = std::min(soonest, seconds);
    }
    EXPECT_LT(soonest, 0.05);
    EXPECT_GE(heard, 1u);
    ASSERT_TRUE(succeeded(handle.get(), gsort_sum(handle.get(), GSORT_F32, in.data(), n, &got, 0)));
    EXPECT_EQ(want, got);
  }
}

TEST_F(cuda_HostArrays, ProgressAndCancellationOnTheWay) {
  const uint64_t n = uint64_t{1} << 25;
  Array input = generate(Distribution::kUniform, GSORT_U32, n, 1);
  const Handle handle(GSORT_BACKEND_CUDA);
  struct Seen {
    uint64_t calls = 0, last = 0, total = 0, stop_at = UINT64_MAX;
    bool fell = false;
  } seen;
  const auto progress = [](void *user, uint64_t done, uint64_t total) -> int32_t {
    Seen &s = *static_cast<Seen *>(user);
    s.calls++;
    s.fell |= done < s.last || done > total;
    s.last = done;
    s.total = total;
    return s.calls >= s.stop_at;
  };
  Buffer keys(Place::kHost, n * 4);
  keys.write(input.bytes());
  ASSERT_TRUE(succeeded(handle.get(), gsort_set_progress(handle.get(), progress, &seen)));
  seen.stop_at = 2;
  EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sort_u32(handle.get(), static_cast<uint32_t *>(keys.data()), n, 0));
  EXPECT_TRUE(keys.read() == input.bytes()) << "a cancelled copy to the device changes nothing";
  seen = Seen{};
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(succeeded(handle.get(), gsort_sort_u32(handle.get(), static_cast<uint32_t *>(keys.data()), n, 0)));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Ten a second are promised; how many more there are depends on what else the processors do.
  EXPECT_GE(static_cast<double>(seen.calls), std::max(2.0, 10 * seconds)) << seconds << " s";
  EXPECT_EQ(seen.total, seen.last);
  EXPECT_FALSE(seen.fell) << "progress went back, or past its end";
  EXPECT_TRUE(same_elements(reference_sort(input, 0), Array(GSORT_U32, keys.read())));
}

// Under a limit that has no room for the ring the driver copies.
TEST_F(cuda_HostArrays, WithoutRoomForTheRing) {
  gsort_options o = default_options(GSORT_BACKEND_CUDA);
  o.host_memory_limit_bytes = 100000;
  const Handle handle(o);
  const Array input = generate(Distribution::kUniform, GSORT_F64, 1000000, 1);
  EXPECT_TRUE(same_elements(reference_sort(input, 0), run_sort({handle.get(), Place::kHost}, input, 0)));
}

}  // namespace
}  // namespace gsort_test
