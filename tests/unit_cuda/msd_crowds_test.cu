// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of 4-byte keys where cells have more keys than the finish takes: cells of every size and content are
// right.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "msd_support.h"

namespace gsort_internal::sort::msd {
namespace {

using gsort_test::bits_of;
using gsort_test::How;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::normal;
using gsort_test::run;
using gsort_test::unit;

constexpr uint64_t kKeys = 5000003;

// Equal cells of keys that are not even are taken where there are as many as 2^27 keys and more have.
constexpr uint32_t kCellBits = 15;

class MsdCrowds : public gsort_test::MsdTest {
 protected:
  MsdCrowds() : MsdTest(kCrowdSharedBytes) {
    how_.cell_bits = kCellBits;
    how_.map = false;
  }
};

using Word = std::function<uint64_t(uint64_t)>;

uint64_t anded(uint64_t i, uint64_t words) {
  uint64_t all = mixed(i);
  for (uint64_t word = 1; word < words; ++word) all &= mixed(i + (word << 40));
  return all;
}

// Of ranks with frequencies that fall with their 1.1st power.
uint64_t zipf_rank(uint64_t i) {
  const double most = (std::pow(1e8, -0.1) - 1) / -0.1;
  return static_cast<uint64_t>(std::pow(1 - 0.1 * unit(i) * most, -10.0));
}

std::vector<Word> uneven_words() {
  return {
      [](uint64_t i) { return mixed(zipf_rank(i)); },
      [](uint64_t i) { return zipf_rank(i) << 32; },
      [](uint64_t i) { return mixed(~i) >> (32 + mixed(i) % 32) << 32; },
      [](uint64_t i) { return anded(i, 2); },
      [](uint64_t i) { return anded(i, 4); },
      [](uint64_t i) { return anded(i, 10); },
      [](uint64_t i) { return mixed(mixed(i) % 1000000); },
      [](uint64_t i) { return mixed(mixed(i) % 4096); },
      [](uint64_t i) { return mixed(mixed(i) % 100); },
      [](uint64_t i) { return mixed(~i) % 2 ? (mixed(i) % 65536 + 12345678) << 32 : mixed(i); },
      [](uint64_t i) { return mixed(~i) % 10 ? 0 : mixed(i); },
      [](uint64_t i) { return mixed(~i) % 10 ? ~uint64_t{0} : mixed(i); },
      [](uint64_t i) {
        return static_cast<uint64_t>(static_cast<int64_t>(normal(i) * 1000)) << 32 ^ uint64_t { 1 } << 63;
      },
      [](uint64_t i) { return (i & 0xffff) << 48; },
      [](uint64_t i) { return i % 64 == 0 ? mixed(i) : (mixed(i) & 0x00ffffffffffffff) | 0x33ull << 56; },
  };
}

// Bytes in which keys differ.
uint32_t differing_bytes(const std::vector<uint32_t> &keys) {
  uint32_t differ = 0, bytes = 0;
  for (const uint32_t key : keys) differ |= key ^ keys[0];
  for (; differ != 0; differ >>= 8) bytes += (differ & 0xff) != 0;
  return bytes;
}

// With the cells of few keys and of very many, equal ones and the map's. Of few keys, and where few bytes differ, the
// LSD sort may be quicker: run() looks at every result.
TEST_F(MsdCrowds, AnyKeysAreSorted) {
  const std::vector<Word> words = uneven_words();
  for (const uint32_t cell_bits : {0u, kCellBits, kCellBitsMax - 1})
    for (const bool map : {false, true}) {
      if (cell_bits == 0 && !map) continue;
      how_.cell_bits = cell_bits;
      how_.map = map;
      how_.in_place = !how_.in_place;
      for (size_t word = 0; word < words.size(); ++word) {
        const std::vector<uint32_t> keys = make_keys<uint32_t>(kKeys, [&](uint64_t i) { return words[word](i) >> 32; });
        EXPECT_TRUE(run<uint32_t>(keys, how_) || cell_bits == 0 || differing_bytes(keys) <= 2)
            << cell_bits << ' ' << map << ' ' << word;
      }
    }
}

TEST_F(MsdCrowds, EveryOrder) {
  const auto prices = [](uint64_t i) {
    return bits_of<uint32_t>(static_cast<float>(std::floor(std::exp(3 + normal(i)) * 100) / 100));
  };
  const auto odd = [](uint64_t i) {
    return mixed(i) % 3 == 0 ? 0x7fc00000u | static_cast<uint32_t>(mixed(~i) % 5) : static_cast<uint32_t>(mixed(i) % 7);
  };
  for (const gsort_dtype type : {GSORT_I32, GSORT_F32})
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true}) {
        how_.order = {type, descending, nan_last && type == GSORT_F32};
        how_.in_place = !how_.in_place;
        how_.offset = how_.offset == 0 ? 1 : 0;
        EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys, prices), how_));
        EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys, odd), how_));
      }
}

// How the keys of a cell lie: the i-th of them, from the least value of a cell of 2^bits.
using Inside = std::function<uint32_t(uint64_t i, uint64_t count, uint32_t bits)>;

std::vector<Inside> insides() {
  return {
      [](uint64_t, uint64_t, uint32_t) { return 0u; },
      [](uint64_t, uint64_t, uint32_t bits) { return (1u << bits) - 1; },
      [](uint64_t i, uint64_t, uint32_t bits) { return i % 2 == 0 ? 0u : (1u << bits) - 1; },
      [](uint64_t i, uint64_t count, uint32_t) { return i == count / 3 ? 1u : 0u; },
      [](uint64_t i, uint64_t, uint32_t) { return 7 + static_cast<uint32_t>(i % 2); },
      [](uint64_t i, uint64_t, uint32_t bits) { return static_cast<uint32_t>(mixed(i) >> (64 - bits)); },
      [](uint64_t i, uint64_t, uint32_t bits) { return static_cast<uint32_t>(i) & ((1u << bits) - 1); },
      // Most keys in neighbouring values around the middle, where a block's windows end.
      [](uint64_t i, uint64_t, uint32_t bits) { return (1u << (bits - 1)) - 4 + static_cast<uint32_t>(mixed(i) % 8); },
  };
}

// One cell of a given size among others that are even.
TEST_F(MsdCrowds, CellsOfEverySize) {
  const uint64_t most = BlockShape<4>::kFinishKeysMax, cell = 77;
  const std::vector<Inside> all = insides();
  for (const uint32_t bits : {17u, 16u, 14u}) {
    how_.cell_bits = 32 - bits;
    const std::vector<uint64_t> sizes = {
        most,          most + 1,         kCrowdKeysMax, kCrowdKeysMax + 1,       kHugeCellKeys - 1,
        kHugeCellKeys, (1u << bits) - 1, 1u << bits,    2 * kHugeChunkLeast + 1, 3 * 65536 + 4097};
    for (size_t size = 0; size < sizes.size(); ++size)
      for (size_t inside = size % 2; inside < all.size(); inside += bits == 17 ? 1 : 2) {
        const uint64_t count = sizes[size], step = kKeys / count;
        const std::vector<uint32_t> keys = make_keys<uint32_t>(kKeys, [&](uint64_t i) {
          if (i % step == 0 && i / step < count)
            return static_cast<uint32_t>(cell << bits) | all[inside](i / step, count, bits);
          const uint32_t key = static_cast<uint32_t>(mixed(i));
          return key >> bits == cell ? key ^ 1u << bits : key;
        });
        EXPECT_TRUE(run<uint32_t>(keys, how_)) << bits << ' ' << count << ' ' << inside;
      }
  }
}

// Single keys with another prefix than a narrow range of many equal ones.
TEST_F(MsdCrowds, ForeignPrefixIsLeftToAnother) {
  std::vector<uint32_t> keys = make_keys<uint32_t>(kKeys, [](uint64_t i) { return mixed(mixed(i) % 50000) >> 40; });
  EXPECT_TRUE(run<uint32_t>(keys, how_));
  keys[31337] |= 0x80000000u;
  EXPECT_FALSE(run<uint32_t>(keys, how_));
}

// Cells of tens of thousands of keys, beside others that a block holds.
TEST_F(MsdCrowds, LongCells) {
  for (const uint64_t share : {15, 30, 97})
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys,
                                                  [&](uint64_t i) {
                                                    const uint32_t key = static_cast<uint32_t>(mixed(i));
                                                    const uint32_t high = static_cast<uint32_t>(mixed(i) >> 60) << 17;
                                                    return mixed(~i) % 100 < share ? (key & 0x1ffff) | high : key;
                                                  }),
                              how_))
        << share;
}

// A crowded one, too small a part of the keys for the sample, among as many cells as the keys take: of a value, of
// some, of neighbours, and of keys far apart.
TEST_F(MsdCrowds, CellsOfAnyNumber) {
  how_ = How();
  how_.map = false;
  for (const uint32_t bits : {32, 26})
    for (const uint32_t kind : {0, 1, 2, 3}) {
      const uint64_t at = (uint64_t{1} << (bits - 1)) + 12345;
      const auto key = [&](uint64_t i) {
        const uint64_t low = mixed(~i);
        if (i % 600 != 0) return mixed(i) >> (64 - bits);
        return at + (kind == 0 ? 0 : kind == 1 ? low % 5 * 1009 : kind == 2 ? low % 200 : low % 20000);
      };
      SCOPED_TRACE(testing::Message() << bits << ' ' << kind);
      EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys, key), how_));
    }
}

// For compute-sanitizer's racecheck over the kernel of crowded cells: see scripts/gpu-check. Few of them, each with a
// part whose keys lie closely, one of few values and one of a single value.
TEST_F(MsdCrowds, RacecheckCrowdedCells) {
  const auto key = [](uint64_t i) {
    const uint64_t cell = mixed(i) % 4, low = mixed(~i) >> 47;
    if (i % 97 != 0) return mixed(i) >> 32;
    return cell << 28 | (i % 3 == 0 ? low : i % 3 == 1 ? low % 5 * 1009 : 40000 + low % 200 * (cell + 1));
  };
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys, key), how_));
}

// Wide cells with more keys than a block has room for: one value is most of them, or two neighbours are, or none is.
TEST_F(MsdCrowds, WideCells) {
  how_ = How();
  how_.cell_bits = make_plan(kKeys).cell_bits;  // as many cells
  const uint32_t bits = 32 - how_.cell_bits;
  for (const uint64_t share : {0, 1, 90, 100, 200})
    for (const uint64_t there : {uint64_t{30000}, uint64_t{60000}, uint64_t{kCrowdKeysMax} + 9000, uint64_t{100000}}) {
      const std::vector<uint32_t> keys = make_keys<uint32_t>(kKeys, [&](uint64_t i) {
        const uint32_t key = static_cast<uint32_t>(mixed(i)), high = 7u << bits;
        if (i % (kKeys / there) != 0) return key;
        if (share == 200) return high + 12345 + static_cast<uint32_t>(mixed(~i) % 2);
        return mixed(~i) % 100 < share ? high + 12345 : high + (key & ((1u << bits) - 1));
      });
      EXPECT_TRUE(run<uint32_t>(keys, how_)) << share << ' ' << there;
    }
}

TEST_F(MsdCrowds, ManyKeys) {
  how_.cell_bits = 0;
  how_.map = true;
  const uint64_t n = (uint64_t{kCellKeysMean} << 14) + 12345;
  const std::vector<Word> words = uneven_words();
  for (const size_t word : {size_t{0}, size_t{6}, size_t{10}})
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, [&](uint64_t i) { return words[word](i) >> 32; }), how_)) << word;
}

// Digits of the finish that many keys share: equal ones, closely and widely spread ones, of few values, and more than a
// warp has registers for.
template <class U>
void sort_crowded_digits(How how) {
  constexpr uint32_t kBits = sizeof(U) * 8;
  how.order.dtype = sizeof(U) == 4 ? GSORT_U32 : GSORT_U64;
  for (const uint32_t high_bits : {9, 12, 15})
    for (const uint64_t values : {1, 3, 17, 64, 200, 256, 257, 512, 100000}) {
      const std::vector<U> keys = make_keys<U>(kKeys, [&](uint64_t i) {
        const uint64_t low = mixed(~i) % values * (values == 3 ? 77 : 1) + (values == 200 ? mixed(i << 1) % 3 : 0);
        return static_cast<U>(mixed(i) >> (64 - high_bits) << (kBits - high_bits) | low);
      });
      // Of few values, or of cells that hold too many keys, others sort them; run() looks at every result.
      const bool sorted = run<U>(keys, how);
      EXPECT_TRUE(sorted || high_bits == 9 || values < 200) << kBits << ' ' << high_bits << ' ' << values;
    }
}
TEST_F(MsdCrowds, DigitsThatManyKeysShare) {
  how_ = How();
  sort_crowded_digits<uint32_t>(how_);
  sort_crowded_digits<uint64_t>(how_);
}

// Clusters in evenly filled cells, and within the cells of a map; runs of equal keys.
TEST_F(MsdCrowds, KeysThatLieCloselyAreLeftToPassesToo) {
  how_ = How();
  constexpr uint64_t n = 9000001;
  const auto even = [](uint64_t i) { return (mixed(mixed(i) % 100000) >> 32) + mixed(~i) % 1024; };
  const auto uneven = [](uint64_t i) {
    const uint64_t cluster = mixed(i) % 20000;
    return (mixed(cluster) >> (32 + mixed(cluster + 5) % 3)) + mixed(~i) % 256;
  };
  const auto runs = [](uint64_t i) { return mixed(i / 64) >> 32; };
  const std::function<uint64_t(uint64_t)> all[] = {even, uneven, runs};
  for (const auto &key : all) {
    const std::vector<uint32_t> keys = make_keys<uint32_t>(n, key);
    how_.leaves_close = false;
    EXPECT_TRUE(run<uint32_t>(keys, how_));
    how_.leaves_close = true;
    EXPECT_FALSE(run<uint32_t>(keys, how_));
  }
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, [](uint64_t i) { return mixed(i) >> 32; }), how_));
}

// Lumps of a dozen cells' worth of keys; many keys of so few values that a cell has two; values of some cells' worth;
// one entry of the map that is uneven inside.
TEST_F(MsdCrowds, KindsThatPassesSortQuickerAreLeftToThem) {
  how_ = How();
  const auto lumps = [](uint64_t i) { return mixed(i) % 60 * 70000001 + mixed(~i) % 1024; };
  EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>(kKeys, lumps), how_));
  EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>(kKeys, [](uint64_t i) { return mixed(zipf_rank(i)) >> 32; }), how_));
  const auto sizes = [](uint64_t i) { return static_cast<uint64_t>(std::exp(9 + 2.5 * normal(i))); };
  EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>(kKeys, sizes), how_));
  const auto few = [](uint64_t values) { return [=](uint64_t i) { return mixed(mixed(i) % values) >> 32; }; };
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kKeys, few(65536)), how_));
  EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>((uint64_t{kCellKeysMean} << 14) / 5 * 6, few(65536)), how_));
}

}  // namespace
}  // namespace gsort_internal::sort::msd
