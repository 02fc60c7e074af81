// SPDX-License-Identifier: MIT OR Apache-2.0
// The GPU sorts against the reference: every type, direction, operation, path and awkward pointer.
#include <cstddef>
#include <numeric>

#include "cuda/sort/msd/split_plan.h"
#include "cuda/sort/msd/tables.h"
#include "sort_support.h"

namespace gsort_internal {
namespace {

struct Input {
  KeyOrder order;
  uint64_t n;
  Bytes keys;
  std::vector<uint64_t> sources;  // the stable order

  Input(KeyOrder how, Pattern pattern, uint64_t count, uint32_t seed)
      : Input(how, make_keys(pattern, count, how.dtype, seed), count) {}
  Input(KeyOrder how, Bytes of, uint64_t count) : order(how), n(count), keys(std::move(of)), sources(count) {
    std::vector<std::pair<int, uint64_t>> places(n);
    for (uint64_t i = 0; i < n; ++i) places[i] = place_of(bits_at(keys, bytes(), i), order);
    std::iota(sources.begin(), sources.end(), uint64_t{0});
    std::stable_sort(sources.begin(), sources.end(), [&](uint64_t a, uint64_t b) { return places[a] < places[b]; });
  }
  uint32_t bytes() const { return dtype_bytes(order.dtype); }
  Bytes permuted(const Bytes &items, uint32_t size) const {
    Bytes result(n * size);
    for (uint64_t i = 0; i < n; ++i) std::memcpy(result.data() + i * size, items.data() + sources[i] * size, size);
    return result;
  }
  Bytes indices(bool ranks, uint32_t size) const {
    Bytes result(n * size);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t at = ranks ? sources[i] : i, value = ranks ? i : sources[i];
      std::memcpy(result.data() + at * size, &value, size);
    }
    return result;
  }
};

class SortTest : public SortFixture {
 protected:
  void launch(const Request &request, cudaStream_t stream = nullptr) {
    const DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
    sort::launch(context(stream), request, workspace.data(), options_);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    workspace.check_zones();
    const sort::Plan plan = sort::make_plan(request, facts_, options_);
    found_cells_ = false, looked_for_cells_ = plan.grid_finds_cells;
    if (!looked_for_cells_) return;
    uint32_t go = 0;  // the first word of the state
    static_assert(offsetof(sort::msd::State<uint64_t>, go) == 0 && offsetof(sort::msd::State<uint32_t>, go) == 0, "");
    ASSERT_EQ(cudaMemcpy(&go, workspace.as<uint8_t>() + plan.slices.grid_cells, 4, cudaMemcpyDeviceToHost),
              cudaSuccess);
    found_cells_ = go != 0;
  }

  bool found_cells_ = false, looked_for_cells_ = false;  // by what was sorted last

  void check_keys(const Input &input, bool in_place, uint64_t offset) {
    const uint64_t bytes = input.n * input.bytes(), shift = offset * input.bytes();
    const DeviceArray in(input.keys, shift), out(bytes, shift / 2 / input.bytes() * input.bytes());
    Request request{Operation::kSort, input.order};
    request.n = input.n;
    request.in = in.data();
    request.out = in_place ? in.data() : out.data();
    launch(request);
    ASSERT_TRUE((in_place ? in : out).read() == input.permuted(input.keys, input.bytes())) << "keys";
    if (!in_place) ASSERT_TRUE(in.read() == input.keys) << "the input changed";
  }

  void check_pairs(const Input &input, uint32_t value_bytes, bool keys_in_place, bool values_in_place,
                   uint64_t offset) {
    const uint64_t bytes = input.n * input.bytes(), all_values = input.n * value_bytes;
    const uint64_t value_shift = offset * ((value_bytes & (value_bytes - 1)) == 0 ? std::min(value_bytes, 8u) : 1);
    const Bytes values = make_values(input.n, value_bytes);
    const DeviceArray keys_in(input.keys, offset * input.bytes()), keys_out(bytes, 0);
    const DeviceArray values_in(values, value_shift), values_out(all_values, 0);
    Request request{Operation::kSortPairs, input.order};
    request.n = input.n;
    request.in = keys_in.data();
    request.out = keys_in_place ? keys_in.data() : keys_out.data();
    request.value_bytes = value_bytes;
    request.values_in = values_in.data();
    request.values_out = values_in_place ? values_in.data() : values_out.data();
    launch(request);
    ASSERT_TRUE((keys_in_place ? keys_in : keys_out).read() == input.permuted(input.keys, input.bytes())) << "keys";
    ASSERT_TRUE((values_in_place ? values_in : values_out).read() == input.permuted(values, value_bytes))
        << "values of " << value_bytes;
    if (!keys_in_place) ASSERT_TRUE(keys_in.read() == input.keys) << "the keys changed";
    if (!values_in_place) ASSERT_TRUE(values_in.read() == values) << "the values changed";
  }

  void check_indices(const Input &input, Operation operation, gsort_dtype index_t, uint64_t offset) {
    const uint32_t size = dtype_bytes(index_t);
    const DeviceArray in(input.keys, offset * input.bytes()), out(input.n * size, offset * size);
    Request request{operation, input.order};
    request.n = input.n;
    request.in = in.data();
    request.out = out.data();
    request.index_t = index_t;
    launch(request);
    ASSERT_TRUE(out.read() == input.indices(operation == Operation::kRank, size)) << "indices";
    ASSERT_TRUE(in.read() == input.keys) << "the input changed";
  }

  void check_everything(const Input &input, uint64_t offset) {
    for (const bool in_place : {false, true}) check_keys(input, in_place, offset);
    for (const uint32_t value_bytes : {4u, 8u, 1u, 12u}) {
      check_pairs(input, value_bytes, false, false, offset);
      check_pairs(input, value_bytes, true, true, offset);
    }
    check_pairs(input, 4, true, false, offset);
    check_pairs(input, 8, false, true, offset);
    for (const Operation operation : {Operation::kArgsort, Operation::kRank})
      for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) check_indices(input, operation, index_t, offset);
  }
};

#define STOP_ON_FAILURE() \
  if (HasFatalFailure()) return

// In order but for one key in a hundred, so that most tiles of the order are stored as they come.
Bytes nearly_sorted(uint64_t n, gsort_dtype dtype) {
  const uint32_t bytes = dtype_bytes(dtype);
  Bytes keys = make_keys(Pattern::kSorted, n, dtype, 3);
  const Bytes others = make_keys(Pattern::kUniform, n, dtype, 4);
  for (uint64_t i = 0; i < n; i += 97) std::memcpy(keys.data() + i * bytes, others.data() + i * bytes, bytes);
  return keys;
}

// Some windows, and tiles that are not whole.
TEST_F(SortTest, RanksByWindows) {
  options_.inverse_bytes_min = 1;
  const uint64_t n = (uint64_t{1} << sort::kInverseWindowBitsMin) * 2 + 12345;
  for (const gsort_dtype dtype : {GSORT_U16, GSORT_F32, GSORT_I64})
    for (const bool descending : {false, true}) {
      const KeyOrder order{dtype, descending, false};
      for (const Pattern pattern : {Pattern::kUniform, Pattern::kTwoValues, Pattern::kConstant})
        for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) {
          SCOPED_TRACE(describe(order, n, pattern));
          check_indices(Input(order, pattern, n, 5), Operation::kRank, index_t, 1);
          STOP_ON_FAILURE();
        }
      SCOPED_TRACE("nearly sorted");
      check_indices(Input(order, nearly_sorted(n, dtype), n), Operation::kRank, GSORT_U32, 0);
      STOP_ON_FAILURE();
    }
}

TEST_F(SortTest, RacecheckRanksByWindows) {
  options_.inverse_bytes_min = 1;
  const uint64_t n = (uint64_t{1} << sort::kInverseWindowBitsMin) + 777;
  check_indices(Input({GSORT_U16, false, false}, Pattern::kUniform, n, 5), Operation::kRank, GSORT_U32, 0);
}

// Where the fast path has ordered or numbered the keys, it or one pass stores the ranks.
TEST_F(SortTest, RanksByWindowsBehindAFastPath) {
  options_.inverse_bytes_min = options_.fast_path_items_min = 1;
  options_.algorithm = sort::Algorithm::kLsd;
  const uint64_t n = (uint64_t{1} << sort::kInverseWindowBitsMin) + 4321;
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_F64})
    for (const Pattern pattern :
         {Pattern::kUniform, Pattern::kTwoValues, Pattern::kConstant, Pattern::kSorted, Pattern::kReverse})
      for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) {
        const KeyOrder order{dtype, false, false};
        SCOPED_TRACE(describe(order, n, pattern));
        check_indices(Input(order, pattern, n, 6), Operation::kRank, index_t, 0);
        STOP_ON_FAILURE();
      }
}

TEST_F(SortTest, ValuesThatAreWidened) {
  const uint64_t n = sort::kWidenedItemsMin + 77;
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_F64})
    for (const uint32_t value_bytes : {1u, 2u}) {
      const bool in_place = value_bytes == 2;
      check_pairs(Input({dtype, false, false}, Pattern::kFewBits, n, 8), value_bytes, in_place, in_place, 1);
      STOP_ON_FAILURE();
    }
}

// By the greatest units that sizes and places allow.
TEST_F(SortTest, ValuesByTheirUnits) {
  options_.algorithm = sort::Algorithm::kLsd;
  for (const uint64_t n : {uint64_t{5}, uint64_t{100003}}) {
    const Input input({GSORT_U16, true, false}, Pattern::kUniform, n, 9);
    for (const uint32_t value_bytes : {2u, 3u, 6u, 12u, 16u, 20u, 24u, 48u, 100u})
      for (const uint64_t offset : {0u, 1u}) {
        check_pairs(input, value_bytes, false, offset == 1, offset);
        STOP_ON_FAILURE();
      }
  }
}

TEST_F(SortTest, EveryOrderOnEveryPath) {
  uint32_t seed = 0;
  for (const sort::Algorithm algorithm :
       {sort::Algorithm::kAuto, sort::Algorithm::kRankSort, sort::Algorithm::kSmallBlock,
        sort::Algorithm::kGridSampleSort, sort::Algorithm::kGridRadixSort, sort::Algorithm::kLsd,
        sort::Algorithm::kCountFill}) {
    options_.algorithm = algorithm;
    const uint64_t n = algorithm == sort::Algorithm::kRankSort     ? 61
                       : algorithm == sort::Algorithm::kSmallBlock ? 2001
                                                                   : 30011;
    for (const KeyOrder &order : all_orders()) {
      for (const Pattern pattern : {Pattern::kUniform, Pattern::kSpecial, Pattern::kOneDigit}) {
        SCOPED_TRACE(describe(order, n, pattern) + " algorithm " + sort::algorithm_name(algorithm));
        check_everything(Input(order, pattern, n, ++seed), seed % 16);
        STOP_ON_FAILURE();
      }
    }
  }
}

// Keys of 8 bytes with few values in each, so many that the passes by dense keys are an odd number, an even one and
// one; of both signs, as words and as numbers, in small tiles and in large ones.
TEST_F(SortTest, DenseKeys) {
  options_.dense_items_min = 1;
  uint32_t seed = 70;
  for (const sort::Algorithm algorithm : {sort::Algorithm::kLsd, sort::Algorithm::kStable})
    for (const uint64_t n : {uint64_t{30'011}, sort::lsd::kSmallTilesItemsMax + 4567})
      for (const uint64_t values : {26, 60, 10, 2, 200})
        for (const gsort_dtype dtype : {GSORT_U64, GSORT_I64, GSORT_F64}) {
          options_.algorithm = algorithm;
          Bytes keys(n * 8);
          for (uint64_t i = 0; i < keys.size(); ++i)
            keys[i] = static_cast<unsigned char>(mixed(i % 8) + mixed(i + seed) % values * (seed % 2 == 0 ? 1 : 5));
          const KeyOrder order{dtype, ++seed % 3 == 0, dtype == GSORT_F64 && seed % 2 == 0};
          SCOPED_TRACE(describe(order, n, Pattern::kFewBits) + " values of a byte " + std::to_string(values));
          const Input input(order, std::move(keys), n);
          if (n < sort::lsd::kSmallTilesItemsMax) {
            check_everything(input, seed % 16);
          } else {
            check_keys(input, seed % 2 == 0, 1);
            check_pairs(input, seed % 4 < 2 ? 4 : 8, seed % 2 == 0, seed % 8 < 4, 3);
            check_indices(input, seed % 2 == 0 ? Operation::kRank : Operation::kArgsort, GSORT_U32, 1);
          }
          STOP_ON_FAILURE();
        }
}

TEST_F(SortTest, DenseKeysInPortions) {
  options_.dense_items_min = 1;
  options_.algorithm = sort::Algorithm::kLsd;
  for (const uint32_t portion_tiles : {1u, 3u}) {
    options_.portion_tiles = portion_tiles;
    Bytes keys(77'777 * 8);
    for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<unsigned char>('a' + mixed(i) % 26);
    check_everything(Input({GSORT_U64, false, false}, std::move(keys), 77'777), 2);
    STOP_ON_FAILURE();
  }
}

// Behind the MSD sort, which turns most of these keys away, the few blocks of one SM or three take all tiles, in
// portions too; with a short last tile, and slots that copy.
TEST_F(SortTest, BlocksThatTakeManyTiles) {
  uint32_t seed = 50;
  for (const uint32_t multiprocessors : {1u, 3u}) {
    facts_.multiprocessors = multiprocessors;
    for (const gsort_dtype dtype : {GSORT_U32, GSORT_F32, GSORT_U64}) {
      for (const Pattern pattern :
           {Pattern::kFewBits, Pattern::kGreatest, Pattern::kOneDigit, Pattern::kConstant, Pattern::kUniform}) {
        for (const uint64_t n : {sort::msd::kItemsMin, uint64_t{700'001}}) {
          for (const uint32_t portion_tiles : {0u, 7u}) {
            options_.portion_tiles = portion_tiles;
            const KeyOrder order{dtype, seed % 2 == 0, false};
            SCOPED_TRACE(describe(order, n, pattern) + " portions of " + std::to_string(portion_tiles));
            const Input input(order, pattern, n, ++seed);
            for (const bool in_place : {false, true}) check_keys(input, in_place, seed % 16);
            STOP_ON_FAILURE();
          }
        }
      }
    }
  }
}

// From so many keys on the MSD sort goes on by splitters, which leave some of these to the passes behind.
TEST_F(SortTest, SplittersAndThePassesBehindThem) {
  for (const Pattern pattern : {Pattern::kFewBits, Pattern::kGreatest, Pattern::kSpecial, Pattern::kUniform}) {
    const KeyOrder order{GSORT_F64, pattern == Pattern::kGreatest, false};
    const uint64_t n = sort::msd::kSplitItemsMin + 5;
    SCOPED_TRACE(describe(order, n, pattern));
    const Input input(order, pattern, n, 77);
    for (const bool in_place : {false, true}) check_keys(input, in_place, 3);
    STOP_ON_FAILURE();
  }
}

TEST_F(SortTest, EveryPattern) {
  uint32_t seed = 100;
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_U16, GSORT_I32, GSORT_F32, GSORT_U64}) {
    for (const Pattern pattern : kPatterns) {
      for (const uint64_t n : {uint64_t{300}, uint64_t{1500}, uint64_t{100003}}) {
        const KeyOrder order{dtype, false, false};
        SCOPED_TRACE(describe(order, n, pattern));
        check_everything(Input(order, pattern, n, ++seed), seed % 16);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, EverySmallSize) {
  for (uint64_t n = 1; n <= 1100; n += n < 70 ? 1 : 31) {
    for (const sort::Algorithm algorithm :
         {sort::Algorithm::kRankSort, sort::Algorithm::kSmallBlock, sort::Algorithm::kGridSampleSort,
          sort::Algorithm::kGridRadixSort, sort::Algorithm::kLsd}) {
      options_.algorithm = algorithm;
      const KeyOrder order{n % 2 ? GSORT_U32 : GSORT_U64, n % 3 == 0, false};
      const Input input(order, Pattern::kFewBits, n, static_cast<uint32_t>(n));
      SCOPED_TRACE(describe(order, n, Pattern::kFewBits));
      check_keys(input, n % 5 == 0, n % 16);
      check_pairs(input, 4, n % 2 == 0, n % 2 == 0, n % 16);
      check_indices(input, Operation::kArgsort, GSORT_U32, n % 7);
      STOP_ON_FAILURE();
    }
  }
}

TEST_F(SortTest, EdgesOfTilesAndBlocks) {
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_U16, GSORT_U32, GSORT_U64}) {
    const uint32_t bytes = dtype_bytes(dtype);
    std::vector<uint64_t> edges = {sort::small::kRankSortItemsMax, sort::small::kGridShareAimed,
                                   sort::small::kGridHalfItemsMax, sort::small::kGridItemsMax,
                                   sort::small::grid_items_max(8, false)};
    if (bytes >= 4) edges.push_back(sort::lsd::grid_items_max(bytes, true));
    for (const uint32_t item_bytes :
         {sort::small::bytes_of_item(bytes, false), sort::small::bytes_of_item(bytes, true)})
      for (const uint32_t times : {1u, 2u}) edges.push_back(times * sort::small::block_items(item_bytes));
    edges.push_back(sort::small::single_block_items(bytes, false));
    for (const uint64_t tiles : {1, 2, 9, 40}) edges.push_back(tiles * sort::lsd::SmallTile<4>::kItems);
    // Large tiles begin above sort::lsd::kSmallTilesItemsMax.
    for (const uint64_t tile : {sort::lsd::LargeTile<4>::kItems, sort::lsd::LargeTile<8>::kItems})
      edges.push_back((sort::lsd::kSmallTilesItemsMax / tile + 2) * tile);
    for (const uint64_t edge : edges) {
      for (const uint64_t n : {edge - 1, edge, edge + 1}) {
        if (edge > sort::lsd::kSmallTilesItemsMax && dtype == GSORT_U16 && n != edge + 1)
          continue;  // the reference takes long
        const KeyOrder order{dtype, false, false};
        SCOPED_TRACE(describe(order, n, Pattern::kGreatest));
        const Input input(order, n % 2 ? Pattern::kGreatest : Pattern::kUniform, n, static_cast<uint32_t>(n));
        check_keys(input, false, 1);
        check_keys(input, true, 3);
        check_pairs(input, 4, true, true, 1);
        check_pairs(input, 8, false, false, 1);
        check_indices(input, Operation::kArgsort, GSORT_U64, 1);
        STOP_ON_FAILURE();
      }
    }
  }
}

// Shares of every number of rows, full ones and with a last one of a key, and bits that vary here and there: digits
// that begin at any bit, one pass, an odd number of them, all.
TEST_F(SortTest, PassesByAGrid) {
  options_.algorithm = sort::Algorithm::kGridRadixSort;
  constexpr uint64_t kMasks[] = {0,           1,          uint64_t{1} << 63,     0x80,      0x1fe,
                                 0x100000001, 0xff00ff00, 0x0ff00ff00ff00ff0ull, 0x7800000, ~uint64_t{0}};
  uint32_t turn = 0;
  for (uint64_t rows = 1; rows <= sort::lsd::kLongGridRows; ++rows) {
    const uint64_t whole = rows * sort::lsd::kGridThreads * sort::lsd::kGridBlocksMax;
    for (const uint64_t n : {whole - 1, whole, whole - rows * sort::lsd::kGridThreads + 1}) {
      for (const gsort_dtype dtype : {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_F64}) {
        const uint32_t bytes = dtype_bytes(dtype);
        if (rows > sort::lsd::kGridRows && bytes != 4) continue;
        Bytes keys = make_keys(Pattern::kUniform, n, dtype, ++turn);
        const uint64_t mask = kMasks[turn % std::size(kMasks)];
        for (uint64_t i = 0; i < n * bytes; ++i) keys[i] &= static_cast<unsigned char>(mask >> (i % bytes * 8));
        const KeyOrder order{dtype, turn % 3 == 0, false};
        SCOPED_TRACE(describe(order, n, Pattern::kUniform) + " mask " + std::to_string(mask));
        const Input input(order, std::move(keys), n);
        check_keys(input, turn % 2 == 0, turn % 16);
        STOP_ON_FAILURE();
        if (rows > sort::lsd::kGridRows) continue;
        check_pairs(input, turn % 2 == 0 ? 4 : 8, turn % 5 == 0, turn % 4 < 2, turn % 16);
        check_indices(input, turn % 2 == 0 ? Operation::kRank : Operation::kArgsort, GSORT_U64, turn % 7);
        STOP_ON_FAILURE();
      }
    }
  }
}

// Even keys are moved to cells; a cell with as many keys as a block finishes is one, with a key more it is not, nor are
// keys of which one, that the sample misses, has a bit above the others.
TEST_F(SortTest, CellsFoundByAGrid) {
  options_.algorithm = sort::Algorithm::kGridRadixSort;
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I32, GSORT_U64, GSORT_F64})
    for (const uint32_t rows : {3u, 8u, 11u, 16u}) {
      const uint32_t bytes = dtype_bytes(dtype), bits = 8 * bytes;
      if (rows > sort::lsd::grid_rows_max(bytes, true)) continue;
      const uint64_t n = uint64_t{rows} * sort::lsd::kGridThreads * sort::lsd::kGridBlocksMax - 700 * (rows % 2);
      for (const uint64_t full : {0u, 9216u, 9217u}) {
        for (const bool foreign : {false, true}) {
          // The encoded keys are 25 bits wide, or two bits less than the type, and have another bit in common.
          const uint32_t width = rows % 3 == 0 ? 25 : bits - 2;
          std::vector<uint64_t> ordered(n);
          uint64_t in_cell = 0;
          for (uint64_t i = 0; i < n; ++i) {
            const uint64_t word = mixed(i + n) >> (64 - width), cell = word >> (width - 8);
            ordered[i] = word;
            in_cell += cell == 77;
          }
          for (uint64_t i = 0; in_cell < full && i < n; ++i) {
            if (ordered[i] >> (width - 8) == 77) continue;
            ordered[i] = uint64_t{77} << (width - 8) | (ordered[i] & ((uint64_t{1} << (width - 8)) - 1));
            ++in_cell;
          }
          if (foreign) ordered[1] |= uint64_t{1} << width;
          const KeyOrder order{dtype, rows % 2 == 0, false};
          Bytes keys(n * bytes);
          for (uint64_t i = 0; i < n; ++i) {
            const uint64_t word = ordered[i] | uint64_t{1} << (bits - 1);
            const uint64_t key = bytes == 8 ? make_codec<uint64_t>(order).decode(word)
                                            : make_codec<uint32_t>(order).decode(static_cast<uint32_t>(word));
            std::memcpy(keys.data() + i * bytes, &key, bytes);
          }
          SCOPED_TRACE(describe(order, n, Pattern::kUniform) + " cell of " + std::to_string(in_cell));
          const Input input(order, std::move(keys), n);
          for (const bool in_place : {false, true}) {
            check_keys(input, in_place, rows % 4);
            STOP_ON_FAILURE();
            EXPECT_EQ(looked_for_cells_ && in_cell <= 9216 && !foreign, found_cells_);
          }
        }
      }
    }
}

TEST_F(SortTest, PortionsContinueEachOther) {
  for (const uint32_t portion_tiles : {1u, 2u, 5u}) {
    options_ = {sort::Algorithm::kLsd, portion_tiles};
    for (const gsort_dtype dtype : {GSORT_U8, GSORT_F32, GSORT_U64}) {
      for (const Pattern pattern : kPatterns) {
        const KeyOrder order{dtype, true, false};
        SCOPED_TRACE(describe(order, 77777, pattern));
        check_everything(Input(order, pattern, 77777, portion_tiles), 2);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, PortionsOfLargeTiles) {
  options_ = {sort::Algorithm::kLsd, 3};
  const uint64_t n = sort::lsd::kSmallTilesItemsMax + 12345;
  for (const gsort_dtype dtype : {GSORT_I16, GSORT_F32, GSORT_U64}) {
    const Input input({dtype, dtype == GSORT_F32, false}, Pattern::kUniform, n, dtype);
    SCOPED_TRACE(describe(input.order, n, Pattern::kUniform));
    check_everything(input, 3);
    STOP_ON_FAILURE();
  }
}

TEST_F(SortTest, ManyKeysOfTwoBytes) {
  for (const gsort_dtype dtype : {GSORT_U16, GSORT_I16, GSORT_F16}) {
    for (const Pattern pattern : kPatterns) {
      const Input input({dtype, true, dtype == GSORT_F16}, pattern, sort::fast_path::kCountFillItemsMin2 / 8 + 3,
                        dtype);
      options_.algorithm = sort::Algorithm::kCountFill;
      SCOPED_TRACE(describe(input.order, input.n, pattern));
      for (const uint64_t offset : {0, 1, 7}) check_keys(input, offset == 1, offset);
      STOP_ON_FAILURE();
    }
  }
}

TEST_F(SortTest, ValuesOfAnySize) {
  for (const uint32_t value_bytes : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 16u, 24u, 32u, 33u, 100u, 1024u, 4097u, 65536u}) {
    for (const uint64_t n : {uint64_t{1}, uint64_t{200}, uint64_t{3000}, uint64_t{20000}}) {
      if (n * value_bytes > 300u << 20) continue;
      const Input input({GSORT_F64, false, true}, Pattern::kSpecial, n, value_bytes);
      SCOPED_TRACE("n=" + std::to_string(n) + " value_bytes=" + std::to_string(value_bytes));
      check_pairs(input, value_bytes, false, false, 1);
      check_pairs(input, value_bytes, true, true, 1);
      STOP_ON_FAILURE();
    }
  }
}

TEST_F(SortTest, SameBitsEveryTimeWithManyTiles) {
  const Input input({GSORT_U32, false, false}, Pattern::kFewBits, 1 << 21, 5);
  for (int repeat = 0; repeat < 5; ++repeat) {
    check_pairs(input, 4, repeat % 2 == 1, repeat % 2 == 1, 0);
    check_indices(input, Operation::kArgsort, GSORT_U32, 0);
    STOP_ON_FAILURE();
  }
}

TEST_F(SortTest, CapturedAndReplayed) {
  const Input input({GSORT_I32, true, false}, Pattern::kUniform, 50000, 5);
  DeviceArray in(input.n * 4, 0), out(input.n * 4, 0);
  Request request{Operation::kSort, input.order};
  request.n = input.n;
  request.in = in.data();
  request.out = out.data();
  DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  sort::launch(context(stream), request, workspace.data(), options_);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (uint32_t replay = 0; replay < 20; ++replay) {
    const Input fresh(input.order, replay % 2 ? Pattern::kUniform : Pattern::kOneDigit, input.n, replay);
    in.put(fresh.keys);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_TRUE(out.read() == fresh.permuted(fresh.keys, 4));
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace gsort_internal
