// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of the MSD sort of keys alone share: one run with all its checks, a reference, and inputs.
#ifndef GSORT_TESTS_UNIT_CUDA_MSD_SUPPORT_H_
#define GSORT_TESTS_UNIT_CUDA_MSD_SUPPORT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/plan.h"
#include "launch_harness.h"

namespace gsort_test {

using namespace gsort_internal;
using namespace gsort_internal::sort::msd;

struct How {
  bool in_place = false;
  uint64_t offset = 0;
  KeyOrder order = {GSORT_U32, false, false};
  uint32_t cell_bits = 0;
  bool map = true, splits = false, splitters_only = false;
  bool leaves_close = false;  // the kernels that sort such keys are to be tried
  uint64_t frequent_min = kFrequentItemsMin;
  State<uint32_t> *state = nullptr;  // of 4-byte keys: what the sort knew in the end
};

// Skips where a block has less shared memory than the kernels take.
class MsdTest : public DeviceTest {
 protected:
  explicit MsdTest(uint32_t shared_bytes = kSharedBytesMin) : shared_bytes_(shared_bytes) {}
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && facts_.shared_bytes_block_max < shared_bytes_) GTEST_SKIP() << "a chip with less shared memory";
  }
  How how_;

 private:
  const uint32_t shared_bytes_;
};

// The keys in order, by a radix sort of their ordered bits that has nothing in common with the one under test.
template <class U>
std::vector<U> in_order(const std::vector<U> &keys, const KeyCodec<U> &codec) {
  constexpr uint32_t kBits = 11, kBins = 1u << kBits;
  std::vector<U> from(keys.size()), to(keys.size());
  std::transform(keys.begin(), keys.end(), from.begin(), [&](U key) { return codec.encode(key); });
  for (uint32_t shift = 0; shift < sizeof(U) * 8; shift += kBits) {
    std::vector<uint64_t> places(kBins + 1);
    for (const U key : from) ++places[((key >> shift) & (kBins - 1)) + 1];
    if (std::find(places.begin(), places.end(), from.size()) != places.end()) continue;
    for (uint32_t bin = 0; bin < kBins; ++bin) places[bin + 1] += places[bin];
    for (const U key : from) to[places[(key >> shift) & (kBins - 1)]++] = key;
    from.swap(to);
  }
  std::transform(from.begin(), from.end(), from.begin(), [&](U key) { return codec.decode(key); });
  return from;
}

// Runs the sort, checks all that must hold and returns whether the keys were sorted. With splitters alone they must be.
template <class U>
bool run(const std::vector<U> &keys, const How &how) {
  const uint64_t n = keys.size(), bytes = n * sizeof(U);
  const KeyCodec<U> codec = make_codec<U>(how.order);
  const LaunchContext context = {nullptr, &device_facts(), &quiet()};
  const DeviceArray in(keys, how.offset * sizeof(U)), out(bytes, (how.offset ^ 1) * sizeof(U)), scratch(bytes, 0);
  Plan plan = make_plan_on(n, device_facts().shared_bytes_block_max, how.cell_bits, how.frequent_min);
  if (!how.map) plan.mapped_cells = 0, plan.takes_frequent = false;
  plan.leaves_close = how.leaves_close;
  const SplitPlan split = how.splits ? plan_split(n) : SplitPlan{};
  const DeviceArray tables(tables_bytes(plan, split, sizeof(U)), 0);
  const uint32_t *const word =
      launch<U>(context, {in.as<U>(), how.in_place ? in.as<U>() : out.as<U>(), scratch.as<U>(), n, codec, tables.data(),
                          plan, split, nullptr, false, how.splitters_only});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  uint32_t sorted = 0;
  EXPECT_EQ(cudaMemcpy(&sorted, word, sizeof(sorted), cudaMemcpyDeviceToHost), cudaSuccess);
  if (how.state != nullptr)
    EXPECT_EQ(cudaMemcpy(how.state, tables.data(), sizeof(*how.state), cudaMemcpyDeviceToHost), cudaSuccess);
  scratch.check_zones();
  tables.check_zones();
  const std::vector<U> after_in = in.read_as<U>(), after_out = out.read_as<U>();
  if (!how.in_place) EXPECT_TRUE(after_in == keys) << "the input was written";
  if (how.splitters_only) EXPECT_NE(sorted, 0u);
  if (sorted)
    EXPECT_TRUE((how.in_place ? after_in : after_out) == in_order(keys, codec));
  else
    EXPECT_TRUE(how.in_place ? after_in == keys : all_poison(after_out));
  return sorted != 0;
}

// key(i) for every i below n, by some threads.
template <class U, class Key>
std::vector<U> make_keys(uint64_t n, const Key &key) {
  constexpr uint64_t kThreads = 8;
  std::vector<U> keys(n);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = n * t / kThreads; i < n * (t + 1) / kThreads; ++i) keys[i] = static_cast<U>(key(i));
    });
  for (std::thread &thread : threads) thread.join();
  return keys;
}

inline double unit(uint64_t i) { return static_cast<double>(mixed(i) >> 11) * 0x1p-53; }
inline double normal(uint64_t i) {
  return std::sqrt(-2 * std::log(unit(2 * i) + 0x1p-60)) * std::cos(6.283185307179586 * unit(2 * i + 1));
}
template <class U, class F>
U bits_of(F value) {
  static_assert(sizeof(U) == sizeof(F), "the same bits");
  U bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_MSD_SUPPORT_H_
