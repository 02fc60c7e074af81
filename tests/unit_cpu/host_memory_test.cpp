// SPDX-License-Identifier: MIT OR Apache-2.0
// Host scratch memory: what is kept for the next call, and what is not.
#include "core/host_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace gsort_test {
namespace {

using namespace gsort_internal;

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(HostMemory, LargeBlocksAreKeptAndTakenAgain) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  void *const first = memory.allocate(10 * kMiB);
  memory.deallocate(first, 10 * kMiB);
  EXPECT_GE(memory.kept_bytes(), 10 * kMiB);
  EXPECT_EQ(memory.held_bytes(), memory.kept_bytes());
  void *const again = memory.allocate(10 * kMiB - 5000);  // of the same rounded size
  EXPECT_EQ(again, first);
  EXPECT_EQ(memory.kept_bytes(), 0u);
  EXPECT_GE(memory.held_bytes(), 10 * kMiB);
  void *const other = memory.allocate(10 * kMiB);
  EXPECT_NE(other, first);
  memory.deallocate(again, 10 * kMiB - 5000);
  memory.deallocate(other, 10 * kMiB);
  EXPECT_EQ(memory.held_bytes(), memory.kept_bytes());
}

TEST(HostMemory, BlocksAreAlignedAndLargeEnough) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{100}, kMiB - 1, kMiB + 1, 7 * kMiB + 12345}) {
    void *const block = memory.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % HostMemory::kAlignment, 0u);
    std::memset(block, 1, bytes);  // the address sanitizer sees what is past the end
    memory.deallocate(block, bytes);
  }
}

// Sizes near 2^64 must not wrap to small ones on the way to the system.
TEST(HostMemory, SizesThatNoProcessHasAreRefused) {
  for (const uint64_t limit : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
    HostMemory memory(nullptr, nullptr, nullptr, limit);
    for (const uint64_t below : {uint64_t{0}, uint64_t{1}, uint64_t{62}, uint64_t{63}, uint64_t{64}, uint64_t{1000},
                                 2 * kMiB - 1, 2 * kMiB, 3 * kMiB, uint64_t{1} << 62, uint64_t{1} << 63}) {
      try {
        void *const block = memory.allocate(UINT64_MAX - below);
        ADD_FAILURE() << "2^64 - 1 - " << below << " bytes were had";
        memory.deallocate(block, UINT64_MAX - below);
      } catch (const Error &error) {
        EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, error.status());
      }
      EXPECT_EQ(0u, memory.held_bytes());
    }
  }
}

// The C library would give the pages of such blocks back to the system, and the next call fetch new ones.
TEST(HostMemory, BlocksOfSomePagesAreKept) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  for (const uint64_t bytes : {uint64_t{1} << 13, uint64_t{100000}, kMiB}) {
    void *const first = memory.allocate(bytes);
    memory.deallocate(first, bytes);
    void *const again = memory.allocate(bytes);
    EXPECT_EQ(again, first) << bytes;
    memory.deallocate(again, bytes);
  }
  EXPECT_EQ(memory.held_bytes(), memory.kept_bytes());
}

TEST(HostMemory, SmallBlocksServeAllSmallCalls) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  void *const first = memory.allocate(600);
  memory.deallocate(first, 600);
  for (const uint64_t bytes : {uint64_t{512}, uint64_t{2000}, uint64_t{4096}}) {
    void *const again = memory.allocate(bytes);
    EXPECT_EQ(again, first) << bytes;
    memory.deallocate(again, bytes);
  }
  EXPECT_EQ(memory.held_bytes(), 4096u);
}

TEST(HostMemory, VerySmallAndVeryLargeBlocksGoBack) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  for (const uint64_t bytes : {uint64_t{448}, 257 * kMiB}) {
    memory.deallocate(memory.allocate(bytes), bytes);
    EXPECT_EQ(memory.held_bytes(), 0u) << bytes;
  }
}

// What is kept goes back before a call is told that there is no memory.
TEST(HostMemory, WhatIsKeptGivesWay) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers want the address space for themselves";
#endif
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  memory.deallocate(memory.allocate(200 * kMiB), 200 * kMiB);
  ASSERT_GE(memory.kept_bytes(), 200 * kMiB);
  rlimit before = {};
  ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit tight = {pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + 100 * kMiB, before.rlim_max};
  ASSERT_EQ(0, setrlimit(RLIMIT_AS, &tight));
  void *block = nullptr;
  EXPECT_NO_THROW(block = memory.allocate(220 * kMiB));
  EXPECT_EQ(0u, memory.kept_bytes());
  EXPECT_THROW(memory.allocate(400 * kMiB), Error);
  ASSERT_EQ(0, setrlimit(RLIMIT_AS, &before));
  memory.deallocate(block, 220 * kMiB);
}

TEST(HostMemory, TheOldestMakeRoom) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  void *blocks[20];
  for (uint64_t i = 0; i < 20; ++i) blocks[i] = memory.allocate((i + 1) * 2 * kMiB);
  for (uint64_t i = 0; i < 20; ++i) memory.deallocate(blocks[i], (i + 1) * 2 * kMiB);
  EXPECT_LE(memory.kept_bytes(), 256 * kMiB);
  EXPECT_EQ(memory.held_bytes(), memory.kept_bytes());
  const uint64_t kept = memory.kept_bytes();
  void *const newest = memory.allocate(40 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), kept - 40 * kMiB);
  memory.deallocate(newest, 40 * kMiB);
}

TEST(HostMemory, NothingIsKeptUnderALimit) {
  HostMemory memory(nullptr, nullptr, nullptr, 30 * kMiB);
  void *const block = memory.allocate(30 * kMiB);
  EXPECT_THROW(memory.allocate(64), Error);
  memory.deallocate(block, 30 * kMiB);
  EXPECT_EQ(memory.held_bytes(), 0u);
}

TEST(HostMemory, NothingOfTheCallersIsKept) {
  static int live = 0;
  HostMemory memory(
      [](void *, uint64_t bytes, uint64_t alignment) {
        ++live;
        return std::aligned_alloc(alignment, bytes);
      },
      [](void *, void *block, uint64_t) {
        --live;
        std::free(block);
      },
      nullptr, 0);
  memory.deallocate(memory.allocate(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(live, 0);
  EXPECT_EQ(memory.held_bytes(), 0u);
}

}  // namespace
}  // namespace gsort_test
