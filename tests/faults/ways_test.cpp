// SPDX-License-Identifier: MIT OR Apache-2.0
// That the calls of gpu/ways.h take the ways that they name, and all of them, on the stand-in: what the GPU's tests
// that go through these calls reach is known without a GPU. Nothing is computed.
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda/scan/plan.h"
#include "cuda/sort/plan.h"
#include "cuda/sum/plan.h"
#include "faults/cuda_calls.h"
#include "gpu/ways.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

void keep(void *user, const char *line) { *static_cast<std::string *>(user) += std::string(line) + "\n"; }

// Arrays of any length, of which nobody touches much.
class Room {
 public:
  static constexpr uint64_t kBytes = uint64_t{1} << 30;
  Room() {
    void *const room =
        mmap(nullptr, 6 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(MAP_FAILED, room);
    begin_ = static_cast<char *>(room);
  }
  ~Room() { munmap(begin_, 6 * kBytes); }
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  WayArrays<void *> arrays(const WayCall &call) const {
    const std::vector<uint64_t> offsets = offsets_of(call);
    std::memcpy(begin_ + 2 * kBytes, offsets.data(), offsets.size() * 8);
    return {
        begin_, begin_ + kBytes, begin_ + 2 * kBytes, begin_ + 3 * kBytes, begin_ + 4 * kBytes, begin_ + 5 * kBytes};
  }

 private:
  char *begin_;
};

class Ways : public ::testing::Test {
 protected:
  void SetUp() override {
    StandInDevice device;
    device.multiprocessors = 132;
    use_stand_in(ArrayPlace::kDevice, device);
  }
  void TearDown() override { use_real_device(); }

  // What the log says of the call.
  std::string log_of(const WayCall &call) const {
    std::string log;
    gsort_options options = default_options(GSORT_BACKEND_CUDA);
    options.log = keep;
    options.log_user = &log;
    if (call.little_memory) options.device_memory_limit_bytes = call.input_bytes() / 8;
    const Handle handle(options);
    EXPECT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    EXPECT_TRUE(succeeded(handle.get(), run(handle.get(), call, room_.arrays(call))));
    return log;
  }

 private:
  Room room_;
};

// Those that a device like an H100 has.
std::vector<std::string> all_ways() {
  using namespace gsort_internal;
  // Of plans whose ways have no names but what the log says.
  std::vector<std::string> ways = {" in place, with ",
                                   " with their values in place",
                                   ", by counting",
                                   "a fast path for ordered keys and combinations",
                                   "for ordered keys and up to 256 values",
                                   "more by LSD passes",
                                   "more by partitions or by LSD passes",
                                   ", one grid of",
                                   ", in groups of",
                                   ", in a ring of",
                                   " lanes a row",
                                   "one warp a row",
                                   "which is its own sample",
                                   "the best of a row by a warp",
                                   "the best of a row by 2 blocks (clusters)",
                                   "2 warps a row, bound by groups of each",
                                   "8 warps a row, bound by groups of each",
                                   "512 threads a row, which it lists",
                                   "256 threads a row, bound by a sample",
                                   "128 threads a row, bound by a sample",
                                   "a row, bound by two samples",
                                   "parts a row, one block of 8 warps each, then a merge",
                                   "blocks (clusters), sample of",
                                   " blocks, sample of 0,",
                                   " blocks, sample of 131072,",
                                   "buckets by the blocks of a grid",
                                   " listed by ",
                                   ": sort of pairs",
                                   "exact selection, then a sort",
                                   "top-k of segments: ",
                                   " tiles of 30720 bytes, "};
  using sort::Algorithm;
  for (const Algorithm way : {Algorithm::kRankSort, Algorithm::kSmallBlock, Algorithm::kGridSampleSort,
                              Algorithm::kGridRadixSort, Algorithm::kLsd, Algorithm::kMsd, Algorithm::kStable,
                              Algorithm::kSampleSort, Algorithm::kStableSampleSort, Algorithm::kCountFill})
    ways.push_back(sort::algorithm_name(way));
  for (const scan::Algorithm way : {scan::Algorithm::kPipeline, scan::Algorithm::kCluster, scan::Algorithm::kStaged})
    ways.push_back(scan::algorithm_name(way));
  for (const sum::Scope scope : {sum::Scope::kBlock, sum::Scope::kCluster, sum::Scope::kGrid})
    ways.push_back(sum::scope_name(scope));
  return ways;
}

TEST_F(Ways, EachCallTakesTheOneThatItNames) {
  std::string all;
  for (const WayCall &call : calls_of_all_ways()) {
    const std::string log = log_of(call);
    EXPECT_NE(std::string::npos, log.find(call.says)) << call.name() << ", not \"" << call.says << "\": " << log;
    all += log;
  }
  for (const std::string &way : all_ways()) EXPECT_NE(std::string::npos, all.find(way)) << way;
}

}  // namespace
}  // namespace gsort_test
