// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of 8-byte keys by splitters: any are sorted, whatever their spread, and nothing else is written.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "msd_support.h"
#include "uneven_words.h"

namespace gsort_internal::sort::msd {
namespace {

using gsort_test::bits_of;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::normal;
using gsort_test::run;
using gsort_test::unit;

constexpr uint64_t kFew = (uint64_t{1} << 20) + 7, kMore = 5000003;

class MsdSplit : public gsort_test::MsdTest {
 protected:
  MsdSplit() { how_.splits = true; }
};

using gsort_test::anded;
using gsort_test::bell;
using gsort_test::text;
using gsort_test::uneven_words;
using gsort_test::Word;
using gsort_test::zipf_rank;

// Also with whatever the sample of other ways would take.
TEST_F(MsdSplit, AnyKeysAreSorted) {
  for (const uint64_t n : {kFew, kMore})
    for (const Word &word : uneven_words()) {
      how_.splitters_only = n == kFew;
      run<uint64_t>(make_keys<uint64_t>(n, word), how_);
    }
}

// Where other ways turn the data away after they have begun.
TEST_F(MsdSplit, TakesOverAfterTheHistogram) {
  how_.in_place = true;
  std::vector<uint64_t> keys = make_keys<uint64_t>(kMore, [](uint64_t i) { return mixed(i) >> 1; });
  keys[31337] |= uint64_t{1} << 63;
  for (const uint32_t cell_bits : {0u, kCellBitsMax})
    for (const bool splits : {false, true}) {
      how_.cell_bits = cell_bits;
      how_.splits = splits;
      EXPECT_EQ(run<uint64_t>(keys, how_), splits) << cell_bits;
    }
}

// Keys that would have many unequal ones in a digit, or take few passes; others that are uneven, too, it sorts.
TEST_F(MsdSplit, LeavesCrowdedKeysToAnother) {
  for (const bool in_place : {false, true}) {
    how_.in_place = in_place;
    for (const int words : {2, 3, 4})
      EXPECT_FALSE(run<uint64_t>(make_keys<uint64_t>(kMore, [&](uint64_t i) { return anded(i, words); }), how_))
          << words;
    EXPECT_FALSE(run<uint64_t>(make_keys<uint64_t>(kMore, text), how_));
    EXPECT_FALSE(run<uint64_t>(make_keys<uint64_t>(kMore, zipf_rank), how_)) << "they differ in few bytes";
  }
  const std::vector<Word> smooth = {
      [](uint64_t i) { return mixed(zipf_rank(i)); },
      [](uint64_t i) { return zipf_rank(i) * 0x100010001; },
      [](uint64_t i) { return mixed(~i) >> mixed(i) % 64; },
      [](uint64_t i) { return anded(i, 10); },
      [](uint64_t i) { return mixed(mixed(i) % 65536); },
      [](uint64_t i) { return mixed(mixed(i) % 1000000); },
      [](uint64_t i) { return bell(i, 0x1p28); },
      [](uint64_t i) { return mixed(~i) % 10 ? 0 : mixed(i); },
  };
  for (size_t i = 0; i < smooth.size(); ++i)
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kMore, smooth[i]), how_)) << i;
}

TEST_F(MsdSplit, InPlaceAtOddAddressesInEveryOrder) {
  how_.splitters_only = true;
  const auto spiky = [](uint64_t i) { return mixed(~i) % 4 ? mixed(mixed(i) % 300) : mixed(i); };
  const std::vector<uint64_t> wide = make_keys<uint64_t>(kFew, spiky);
  for (const uint64_t offset : {0, 1, 2, 3})
    for (const bool in_place : {false, true})
      for (const bool descending : {false, true}) {
        how_.offset = offset;
        how_.in_place = in_place;
        how_.order = {GSORT_F64, descending, offset % 2 == 0};
        run<uint64_t>(wide, how_);
      }
}

// Keys that no sample sees: below and above all others and between their clusters, beside bins so narrow that only
// counts of their values are kept.
TEST_F(MsdSplit, KeysThatTheSampleMisses) {
  how_.splitters_only = true;
  for (const uint64_t values : {2, 50, 1000, 3000, 100000}) {
    const uint64_t scale = values == 1000 ? 1 : 77;
    std::vector<uint64_t> keys =
        make_keys<uint64_t>(kMore, [&](uint64_t i) { return (0x40000000 + mixed(i) % values) * scale; });
    for (uint64_t i = 0; i < 500; ++i) {
      const uint64_t place = mixed(i) % kMore, far = mixed(i + 1000);
      keys[place] = i % 2 ? far : (0x40000000 + values + far % 9 - 3) * scale;
    }
    run<uint64_t>(keys, how_);
  }
}

// Clusters in clusters: cells with more keys than a block holds, and digits of the finish with many unequal keys.
TEST_F(MsdSplit, ClustersOfEveryDepth) {
  how_.splitters_only = true;
  for (uint32_t depth = 1; depth <= 8; ++depth) {
    const auto key = [&](uint64_t i) {
      const uint32_t bits = static_cast<uint32_t>(mixed(i + 7) % depth) * 7;
      return uint64_t{0x5a5a5a5a5a5a5a5a} >> (63 - bits) << (63 - bits) | mixed(i) >> bits >> 1;
    };
    run<uint64_t>(make_keys<uint64_t>(kMore, key), how_);
  }
  const auto spread = [](uint64_t i) { return static_cast<uint64_t>(std::exp(20 * normal(i)) * 0x1p10); };
  run<uint64_t>(make_keys<uint64_t>(kMore, spread), how_);
}

// As many keys as make bins of the usual size.
TEST_F(MsdSplit, ManyKeys) {
  const uint64_t n = (uint64_t{1} << 26) + 12345;
  run<uint64_t>(make_keys<uint64_t>(n, [](uint64_t i) { return mixed(zipf_rank(i)); }), how_);
  how_.order = {GSORT_F64, false, false};
  run<uint64_t>(make_keys<uint64_t>(n,
                                    [](uint64_t i) {
                                      const double price = std::exp(normal(i) + 3);
                                      return bits_of<uint64_t>(std::rint(price * 100) / 100);
                                    }),
                how_);
}

}  // namespace
}  // namespace gsort_internal::sort::msd
