// SPDX-License-Identifier: MIT OR Apache-2.0
// What a top-k of segments launches by what its first kernel tells the host, and what a sort of segments says: on the
// stand-in, whose kernel writes the notice as the test says.
#include <cstdlib>
#include <string>
#include <vector>

#include "faults/engine_fixture.h"

namespace gsort_test {
namespace {

// The words of the notice behind the error: rows for blocks, long ones, rows for teams, and, by length, of more than
// 128, 512, 1,024, 2,048, 4,096 and 8,192 elements; parts of rows, and the rows that have them.
struct Told {
  uint64_t wrong, for_blocks, longer, for_team, by_length[6];
  bool blocks, team, listed;  // launched
  uint64_t parts = 0, split = 0;
};

class NoticeTest : public EngineTest {
 protected:
  static constexpr uint64_t kRows = 100, kColumns = 900, kBest = 20, kPage = 4096;

  void SetUp() override {
    EngineTest::SetUp();
    for (uint64_t row = 0; row <= kRows; ++row) offsets_.push_back(row * kColumns);
  }

  // The words lie on a page of their own in a block of two.
  gsort_options options_with_words() {
    gsort_options o = options();
    o.allocator_user = this;
    o.host_allocate = [](void *user, uint64_t bytes, uint64_t alignment) -> void * {
      void *const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      if (bytes == 2 * kPage)
        static_cast<NoticeTest *>(user)->words_ =
            reinterpret_cast<uint64_t *>((reinterpret_cast<uintptr_t>(memory) + kPage - 1) / kPage * kPage);
      return memory;
    };
    o.host_deallocate = [](void *, void *memory, uint64_t) { std::free(memory); };
    return o;
  }

  gsort_status select(gsort *g, const Told &told) {
    use_stand_in(ArrayPlace::kDevice);
    play_kernels([&](const std::string &kernel) {
      if (kernel.find("topk_list_few_rows_kernel") == std::string::npos || words_ == nullptr) return;
      words_[1] = told.wrong, words_[2] = told.for_blocks, words_[3] = told.longer, words_[4] = told.for_team;
      for (uint32_t i = 0; i < 6; ++i) words_[5 + i] = told.by_length[i];
      words_[11] = told.parts, words_[12] = told.split;
      ++words_[0];
    });
    record_work();
    const gsort_status status = gsort_topk_segments(g, GSORT_U32, in_.data(), in_.size(), offsets_.data(), kRows, kBest,
                                                    best_.data(), GSORT_U32, indices_.data(), 0);
    launched_.clear();
    for (const Work &work : recorded_work()) launched_ += work.kernel + "\n";
    return status;
  }
  bool launched(const char *kernel) const { return launched_.find(kernel) != std::string::npos; }

  uint64_t *words_ = nullptr;
  std::string launched_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> in_ = std::vector<uint32_t>(kRows * kColumns);
  std::vector<uint32_t> best_ = std::vector<uint32_t>(kRows * kBest), indices_ = best_;
};

TEST_F(NoticeTest, KernelsOfTheRowsThatThereAreAreLaunched) {
  constexpr Told kCases[] = {{0, 0, 0, 0, {}, false, false, false},
                             {0, 3, 0, 0, {}, true, false, false},
                             {0, 0, 0, 2, {}, false, true, false},
                             {0, 0, 1, 0, {}, false, true, false},
                             {0, 0, 63, 0, {}, false, true, false},  // long rows by all blocks
                             {0, 0, 64, 0, {}, true, false, false},
                             {0, 0, 64, 2, {}, true, true, false},  // many of them by a block each
                             {0, 1, 1, 0, {}, true, true, false},
                             {0, 2, 0, 1, {}, true, true, false},
                             {0, 0, 0, 0, {5, 7}, false, false, false},
                             {0, 0, 0, 0, {0, 0, 1}, false, false, true},
                             {0, 0, 0, 0, {0, 0, 0, 0, 0, 1}, false, false, true},
                             {0, 2, 0, 1, {3, 3, 3, 3, 3, 3}, true, true, true},
                             {0, 0, 0, 0, {}, false, false, true, 4, 2},
                             {0, 2, 0, 0, {3}, true, false, true, 9, 1},
                             {1, 3, 3, 3, {3, 3, 3, 3, 3, 3}, false, false, false, 3, 3}};
  const Handle handle(options_with_words());
  for (const Told &told : kCases) {
    SCOPED_TRACE(std::to_string(told.for_blocks) + " rows for blocks, " + std::to_string(told.longer) + " longer, " +
                 std::to_string(told.for_team) + " for teams");
    EXPECT_EQ(told.wrong == 0 ? GSORT_OK : GSORT_ERROR_INVALID_ARGUMENT, select(handle.get(), told));
    ASSERT_NE(nullptr, words_);
    EXPECT_TRUE(launched("topk_list_few_rows_kernel"));
    EXPECT_TRUE(launched("topk_short_sorted_rows_kernel"));
    EXPECT_TRUE(launched("topk_lanes_kernel")) << "likely all rows are of its list";
    EXPECT_EQ(told.blocks, launched("topk_stream_kernel")) << launched_;
    EXPECT_EQ(told.listed, launched("topk_bound_rows_kernel")) << launched_;
    EXPECT_EQ(told.team, launched("topk_team_kernel")) << launched_;
    EXPECT_EQ(told.wrong == 0 && told.split != 0, launched("topk_merge_parts_kernel")) << launched_;
  }
}

// Whether offsets are wrong: of short calls by the kernel that sorts, of others by one of its own.
TEST_F(NoticeTest, SortsOfSegmentsAreToldOfTheirOffsets) {
  const Handle handle(options_with_words());
  for (const auto &[keys, judge] :
       {std::pair<uint64_t, const char *>{3000, "short_segments_kernel"}, {uint64_t{1} << 18, "check_segments_kernel"}})
    for (const uint64_t wrong : {0, 1, 0}) {
      std::vector<uint32_t> some(keys), out(keys);
      const std::vector<uint64_t> offsets = {0, keys / 2, keys};
      use_stand_in(ArrayPlace::kDevice);
      bool judged = false;
      play_kernels([&, name = judge](const std::string &kernel) {
        if (kernel.find(name) == std::string::npos || words_ == nullptr) return;
        words_[1] = wrong, ++words_[0], judged = true;
      });
      EXPECT_EQ(wrong == 0 ? GSORT_OK : GSORT_ERROR_INVALID_ARGUMENT,
                gsort_sort_segments(handle.get(), GSORT_U32, some.data(), out.data(), keys, offsets.data(), 2, 0))
          << judge;
      EXPECT_TRUE(judged) << judge;
    }
}

}  // namespace
}  // namespace gsort_test
