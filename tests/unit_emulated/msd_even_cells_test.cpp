// SPDX-License-Identifier: MIT OR Apache-2.0
// Equal cells of 4-byte keys, as many as it takes: every key lies in the cell whose range has it, cells are in order
// and of nearly equal width, and a cell's digits are in the order of its keys.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/sort/msd/count.cuh"
#include "cuda/sort/msd/finish.cuh"

namespace gsort_internal::sort::msd {
namespace {

class EvenCellsTest : public testing::TestWithParam<uint32_t> {
 protected:
  EvenCellsTest() {
    state_.range_bits = GetParam();
    state_.prefix = GetParam() == 32 ? 0 : 0x9abcdef0u >> GetParam() << GetParam();
    arguments_.state = &state_;
  }
  uint64_t values() const { return uint64_t{1} << GetParam(); }
  void set_cells(uint32_t cells, uint32_t second_bits) {
    arguments_.plan.narrow_cells = cells;
    arguments_.plan.second_bits = second_bits;
  }
  uint32_t cell_of(uint64_t value) const {
    return EvenCells<uint32_t>(arguments_, 0)(state_.prefix | static_cast<uint32_t>(value));
  }

  State<uint32_t> state_ = {};
  Arguments<uint32_t> arguments_ = {};
};

// Whole bins; a power of two, one bin less and more, and few.
struct Cells {
  uint32_t cells, second_bits;
};
constexpr Cells kCells[] = {{1u << 15, 7}, {(1u << 15) - 128, 7}, {153 * 128, 7}, {608, 5},
                            {288, 5},      {257 * 256, 8},        {511 * 512, 9}};

TEST_P(EvenCellsTest, CutTheRangeInOrder) {
  for (const Cells &c : kCells) {
    if (c.cells > values()) continue;
    SCOPED_TRACE(testing::Message() << c.cells << " cells of " << GetParam() << " bits");
    set_cells(c.cells, c.second_bits);
    uint64_t next = 0;
    for (uint32_t cell = 0; cell < c.cells; ++cell) {
      const KeyRange range = range_of_cell(arguments_, cell);
      ASSERT_EQ(state_.prefix | static_cast<uint32_t>(next), range.begin) << cell;
      const uint64_t last = next + range.last;
      ASSERT_EQ(cell, cell_of(next));
      ASSERT_EQ(cell, cell_of(last));
      ASSERT_EQ(cell >> c.second_bits, EvenCells<uint32_t>(arguments_, c.second_bits)(range.begin)) << "its bin";
      ASSERT_LE(range.last, values() / c.cells) << "no wider than others";
      next = last + 1;
    }
    EXPECT_EQ(values(), next);
  }
}

TEST_P(EvenCellsTest, DigitsAreInTheOrderOfTheKeys) {
  for (const Cells &c : kCells) {
    if (c.cells > values()) continue;
    SCOPED_TRACE(testing::Message() << c.cells << " cells of " << GetParam() << " bits");
    set_cells(c.cells, c.second_bits);
    const EvenDigits digits(even_align(arguments_), c.cells);
    for (const uint32_t cell : {0u, 1u, c.cells / 3, c.cells - 1}) {
      const KeyRange range = range_of_cell(arguments_, cell);
      const uint64_t step = range.last / 20000 + 1;
      uint32_t before = 0, differ = 1;
      for (uint64_t i = 0; i <= range.last; i += step) {
        const uint32_t key = range.begin + static_cast<uint32_t>(i), offset = digits.counter_offset(key);
        ASSERT_EQ(0u, offset % 4);
        ASSERT_LT(offset / 4, kFinishDigits);
        ASSERT_LE(before, offset) << key;
        differ += i != 0 && before != offset;
        before = offset;
      }
      if (digits.exact()) {
        EXPECT_EQ(uint64_t{1}, step);
        EXPECT_EQ(uint64_t{range.last} + 1, differ) << "each value has a digit";
        // Counters side by side, twice as many as values at most.
        EXPECT_LE(before / 4, 2 * (uint64_t{range.last} + 1));
      } else {
        EXPECT_GT(uint64_t{range.last} + 1, kFinishDigits / 2);
        EXPECT_GT(before / 4, kFinishDigits - kFinishDigits / 8) << "all digits are in use";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, EvenCellsTest, testing::Values(9, 12, 15, 16, 18, 21, 23, 24, 27, 28, 29, 31, 32));

}  // namespace
}  // namespace gsort_internal::sort::msd
