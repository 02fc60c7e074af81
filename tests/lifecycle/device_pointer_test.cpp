// SPDX-License-Identifier: MIT OR Apache-2.0
// A CPU handle refuses memory of a device, also where the driver came into the process after the handle was made. On
// any machine: a stand-in for the driver speaks for pages that cannot be read, which is how device memory looks to the
// CPU.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>

#include "support/backend.h"

namespace gsort_test {
namespace {

constexpr size_t kPages = 65536;

class DevicePointer : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(GSORT_OK, handle_.status());
    pages_ =
        static_cast<uint8_t *>(mmap(nullptr, kPages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void *>(pages_));
    driver_ = dlopen(GSORT_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, driver_) << dlerror();
    *word("fake_begin") = reinterpret_cast<uintptr_t>(pages_);
    *word("fake_end") = reinterpret_cast<uintptr_t>(pages_) + kPages;
    *count("fake_managed") = 0;
    *count("fake_queries") = 0;
  }
  void TearDown() override { munmap(pages_, kPages); }
  uintptr_t *word(const char *name) { return static_cast<uintptr_t *>(dlsym(driver_, name)); }
  unsigned *count(const char *name) { return static_cast<unsigned *>(dlsym(driver_, name)); }
  gsort *g() { return handle_.get(); }

  const Handle handle_{GSORT_BACKEND_CPU, 1};
  uint8_t *pages_ = nullptr;
  void *driver_ = nullptr;
};

TEST_F(DevicePointer, IsRefusedByName) {
  uint64_t sum = 77;
  errno = 5;
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sum(g(), GSORT_U8, pages_, 100, &sum, 0));
  EXPECT_EQ(5, errno);
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g())).find("in = "));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g())).find("device memory"));
  EXPECT_EQ(77u, sum);
  uint8_t key = 1;
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(g(), GSORT_U8, &key, pages_ + 5000, 1, 0));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g())).find("keys_out = "));
  EXPECT_GT(*count("fake_queries"), 0u);
}

TEST_F(DevicePointer, OffsetsOnADeviceAreRefused) {
  uint32_t keys[4] = {4, 3, 2, 1};
  const auto *offsets = reinterpret_cast<const uint64_t *>(pages_);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort_segments(g(), GSORT_U32, keys, keys, 4, offsets, 2, 0));
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(g())).find("offsets = "));
  EXPECT_EQ(4u, keys[0]);
}

// Seen by what else is wrong with the call, so that it does not touch pages that nobody can.
TEST_F(DevicePointer, ManagedMemoryAndThatOfNoDeviceIsTaken) {
  void *const nobodys = mmap(nullptr, kPages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(MAP_FAILED, nobodys);
  *count("fake_managed") = 1;
  for (uint8_t *const keys : {pages_, static_cast<uint8_t *>(nobodys)}) {
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort(g(), GSORT_U8, keys, keys + 1, 100, 0));
    EXPECT_EQ(std::string::npos, std::string(gsort_error_message(g())).find("device")) << gsort_error_message(g());
  }
  munmap(nobodys, kPages);
}

// Looking for the driver takes the loader's lock, which a call on the host's own memory must not.
TEST_F(DevicePointer, TheDriverIsNotAskedOfReadableMemory) {
  ASSERT_EQ(0, mprotect(pages_, kPages, PROT_READ | PROT_WRITE));
  uint64_t sum = 0;
  for (int round = 0; round < 3; round++) {
    std::memset(pages_, round, kPages);
    EXPECT_EQ(GSORT_OK, gsort_sum(g(), GSORT_U8, pages_, kPages, &sum, 0));
    EXPECT_EQ(static_cast<uint64_t>(round) * kPages, sum);
  }
  EXPECT_EQ(0u, *count("fake_queries"));
}

// The same page, first readable, then a device's on another page: what is remembered is the page, not its neighbour.
TEST_F(DevicePointer, ReadablePagesDoNotVouchForOthers) {
  ASSERT_EQ(0, mprotect(pages_, 4096, PROT_READ | PROT_WRITE));
  uint64_t sum = 0;
  EXPECT_EQ(GSORT_OK, gsort_sum(g(), GSORT_U8, pages_, 4096, &sum, 0));
  EXPECT_EQ(GSORT_OK, gsort_sum(g(), GSORT_U8, pages_ + 4095, 1, &sum, 0));
  for (size_t page = 1; page < kPages / 4096; page++) {
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sum(g(), GSORT_U8, pages_ + page * 4096, 1, &sum, 0)) << page;
  }
}

}  // namespace
}  // namespace gsort_test
