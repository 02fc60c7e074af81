// SPDX-License-Identifier: MIT OR Apache-2.0
// How many threads a container's limits leave: made-up control groups in a folder, and the process's own affinity.
#include "cpu/engine/quota.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cpu/engine/pool.h"
#include "gsort.h"

using namespace gsort_internal;

namespace {

// A folder that stands for the root of the file system.
class Quota : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gsort_quota_XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(name));
    root_ = name;
  }
  void TearDown() override { EXPECT_EQ(0, std::system(("rm -r " + root_).c_str())); }
  void write(const std::string &path, const std::string &content) const {
    for (size_t i = 1; i < path.size(); ++i)
      if (path[i] == '/') mkdir((root_ + path.substr(0, i)).c_str(), 0700);
    std::ofstream(root_ + path) << content;
  }
  uint32_t quota() const { return quota_processors(root_.c_str()); }
  std::string root_;
};

TEST_F(Quota, NoControlGroupsNoLimit) { EXPECT_EQ(UINT32_MAX, quota()); }

TEST_F(Quota, Version2) {
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(UINT32_MAX, quota());
  const std::string file = "/sys/fs/cgroup/cpu.max";
  const struct {
    const char *content;
    uint32_t processors;
  } cases[] = {
      {"max 100000\n", UINT32_MAX}, {"200000 100000\n", 2}, {"150000 100000\n", 2},      {"200001 100000\n", 3},
      {"1000 100000\n", 1},         {"50000 25000\n", 2},   {"-1 100000\n", UINT32_MAX}, {"100000 0\n", UINT32_MAX},
      {"\n", UINT32_MAX},           {"", UINT32_MAX}};
  for (const auto &c : cases) {
    write(file, c.content);
    EXPECT_EQ(c.processors, quota()) << c.content;
  }
}

TEST_F(Quota, TheLeastOfTheGroupsAroundCounts) {
  write("/proc/self/cgroup", "0::/a/b/c\n");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "500000 100000\n");
  EXPECT_EQ(3u, quota());
  write("/sys/fs/cgroup/a/b/c/cpu.max", "100000 100000\n");
  EXPECT_EQ(1u, quota());
}

TEST_F(Quota, Version1) {
  write("/proc/self/cgroup",
        "12:memory:/m\n4:cpuset:/s\n3:cpu,cpuacct:/docker/0123\n1:name=systemd:/docker/0123\n0::/\n");
  write("/sys/fs/cgroup/cpu/s/cpu.cfs_quota_us", "100000\n");
  write("/sys/fs/cgroup/cpu/s/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(UINT32_MAX, quota()) << "that of another controller";
  // The container sees its group as the root.
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(UINT32_MAX, quota()) << "no period";
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(4u, quota());
  write("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(4u, quota());
  write("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(3u, quota());
}

TEST_F(Quota, OddFilesDoNoHarm) {
  write("/proc/self/cgroup", "nonsense\n:\n::\n0::\n3:cpu\n5:cpu:\n" + std::string(9000, 'x') + "\n");
  EXPECT_EQ(UINT32_MAX, quota());
  write("/proc/self/cgroup", "0::/" + std::string(3000, 'y') + "\n");
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(2u, quota());
}

uint32_t threads_of_a_handle(uint32_t asked) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  options.threads = asked;
  gsort *g = nullptr;
  EXPECT_EQ(GSORT_OK, gsort_create(&options, &g));
  gsort_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(GSORT_OK, gsort_info_get(g, &info));
  gsort_destroy(g);
  return info.threads;
}

TEST(Threads, ZeroMeansWhatAffinityAndQuotaAllow) {
  cpu_set_t before;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
  const auto allowed = static_cast<uint32_t>(CPU_COUNT(&before));
  const uint32_t quota = quota_processors("");
  EXPECT_EQ(allowed < quota ? allowed : quota, threads_of_a_handle(0));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
  EXPECT_EQ(1u, threads_of_a_handle(0));
  EXPECT_EQ(5u, threads_of_a_handle(5)) << "a number that was asked for stays";
  ASSERT_EQ(0, sched_setaffinity(0, sizeof before, &before));
}

int entries_of(const char *path) {
  DIR *const folder = opendir(path);
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// A thread that was joined may be listed for a moment longer.
int entries_soon(const char *path, int wanted) {
  for (int i = 0; i < 1000 && entries_of(path) != wanted; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return entries_of(path);
}

TEST(Threads, AsManyStartAsWereAskedForAndAllEnd) {
  std::vector<uint8_t> many(3000000, 1);
  const int before = entries_of("/proc/self/task");
  for (const uint32_t threads : {1u, 2u, 5u}) {
    gsort_options options = {};
    options.struct_size = sizeof options;
    options.backend = GSORT_BACKEND_CPU;
    options.device = -1;
    options.threads = threads;
    gsort *g = nullptr;
    ASSERT_EQ(GSORT_OK, gsort_create(&options, &g));
    EXPECT_EQ(before, entries_of("/proc/self/task")) << "threads start when they are needed";
    uint64_t sum = 0;
    EXPECT_EQ(GSORT_OK, gsort_sum(g, GSORT_U8, many.data(), many.size(), &sum, 0));
    EXPECT_EQ(before + static_cast<int>(threads) - 1, entries_of("/proc/self/task"));
    gsort_destroy(g);
    EXPECT_EQ(before, entries_soon("/proc/self/task", before));
  }
}

TEST(Threads, HandlesLeaveNoFileOpen) {
  (void)threads_of_a_handle(0);
  const int before = entries_of("/proc/self/fd");
  for (int i = 0; i < 10; ++i) (void)threads_of_a_handle(0);
  EXPECT_EQ(before, entries_of("/proc/self/fd"));
}

}  // namespace
