// SPDX-License-Identifier: MIT OR Apache-2.0
// What the CPU engine leaves behind when memory runs out, a call is cancelled or the process forks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "engine_fixture.h"

namespace gsort_test {
namespace {

struct Countdown {
  uint64_t calls_left;
  static int32_t call(void *user, uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    return static_cast<Countdown *>(user)->calls_left-- == 0 ? 1 : 0;
  }
};

gsort_status execute(EngineUnderTest &e, const Request &r) {
  try {
    e.control.begin_call();
    e.engine->execute(r);
    return GSORT_OK;
  } catch (const Error &error) {
    EXPECT_NE(error.text()[0], '\0');
    return error.status();
  }
}

// Cancels in-place sorts at every chance in turn; what is left must be a permutation.
template <class K, class V>
void cancel_everywhere(gsort_dtype t, uint32_t threads, uint32_t shape, uint64_t n) {
  std::mt19937_64 random(21);
  EngineUnderTest e(threads);
  const std::vector<K> keys = make_keys<K>(shape, n, random);
  std::vector<K> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  bool finished = false;
  for (uint64_t chance = 0; !finished; chance = chance * 5 / 4 + 1) {
    std::vector<K> in_place = keys;
    std::vector<V> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<V>(i);
    Countdown countdown{chance};
    e.control.set_progress(&Countdown::call, &countdown);
    Request r{Operation::kSortPairs, {t, chance % 2 == 1, true}};
    r.n = n, r.in = in_place.data(), r.out = in_place.data(), r.value_bytes = sizeof(V);
    r.values_in = values.data(), r.values_out = values.data();
    const gsort_status status = execute(e, r);
    finished = status == GSORT_OK;
    if (!finished) {
      ASSERT_EQ(status, GSORT_ERROR_CANCELLED);
    }
    EXPECT_EQ(e.memory.held_bytes(), e.memory.kept_bytes());
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(in_place[i], keys[values[i]]) << chance;  // pairs stay together
    std::sort(in_place.begin(), in_place.end());
    ASSERT_EQ(in_place, sorted) << chance;
  }
}

TEST(CpuCancel, LeavesAPermutation) {
  cancel_everywhere<uint32_t, uint32_t>(GSORT_F32, 1, 0, 600000);
  cancel_everywhere<uint32_t, uint32_t>(GSORT_U32, 3, 7, 600000);
  cancel_everywhere<uint64_t, uint32_t>(GSORT_F64, 2, 7, 500000);
  cancel_everywhere<uint16_t, uint32_t>(GSORT_F16, 2, 6, 500000);
}

TEST(CpuMemory, LimitLeavesEverythingIntact) {
  EngineUnderTest e(2, 1000);
  std::mt19937_64 random(22);
  const uint64_t n = 100000;
  std::vector<uint32_t> keys = make_keys<uint32_t>(0, n, random), values(n, 5);
  const std::vector<uint32_t> keys_before = keys, values_before = values;
  Request r{Operation::kSort, {GSORT_U32, false, false}};
  r.n = n, r.in = keys.data(), r.out = keys.data(), r.k = n / 2, r.index_t = GSORT_U32;
  r.values_in = values.data(), r.values_out = values.data(), r.value_bytes = 4;
  for (const Operation operation : {Operation::kSort, Operation::kSortPairs}) {
    r.operation = operation;
    EXPECT_EQ(execute(e, r), GSORT_ERROR_OUT_OF_MEMORY);
  }
  r.out = values.data();
  for (const Operation operation : {Operation::kArgsort, Operation::kRank, Operation::kTopk}) {
    r.operation = operation;
    EXPECT_EQ(execute(e, r), GSORT_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(keys, keys_before);
  EXPECT_EQ(values, values_before);
  EXPECT_EQ(e.memory.held_bytes(), 0u);
  r.operation = Operation::kSort, r.n = 200, r.out = keys.data();
  EXPECT_EQ(execute(e, r), GSORT_OK);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.begin() + 200));
}

TEST(CpuFork, ChildLetsGoWithoutWaiting) {
  auto e = std::make_unique<EngineUnderTest>(4);
  std::mt19937_64 random(23);
  std::vector<uint64_t> keys = make_keys<uint64_t>(0, 500000, random);
  Request r{Operation::kSort, {GSORT_U64, false, false}};
  r.n = keys.size(), r.in = keys.data(), r.out = keys.data();
  e->engine->execute(r);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    e->engine->abandon();
    e.reset();
    _exit(0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::reverse(keys.begin(), keys.end());
  e->engine->execute(r);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(CpuEngine, SaysWhatItIsAndRefusesStreams) {
  EngineUnderTest e(3);
  gsort_info info{};
  e.engine->describe(info);
  EXPECT_EQ(info.backend, GSORT_BACKEND_CPU);
  EXPECT_EQ(info.device, -1);
  EXPECT_EQ(info.threads, 3u);
  EXPECT_NE(info.device_name[0], '\0');
  e.engine->set_stream(nullptr);
  e.engine->set_workspace(nullptr, 0);
  EXPECT_THROW(e.engine->set_stream(&e), Error);
  EXPECT_THROW(e.engine->set_workspace(&e, 256), Error);
  EXPECT_TRUE(e.engine->host_readable(&e));
}

}  // namespace
}  // namespace gsort_test
