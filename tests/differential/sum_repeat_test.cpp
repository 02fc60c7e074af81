// SPDX-License-Identifier: MIT OR Apache-2.0
// A thousand runs of each sum: the right bits every time, at any number of threads.
#include "inputs/distributions.h"
#include "reference/sums.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr int kRuns = 1000;

class SumRepeatTest : public BackendTest {};

TEST_P(SumRepeatTest, TheSameBitsAThousandTimes) {
  // More than a chunk for each of the threads; on a GPU more than a block.
  for (const gsort_dtype t : {GSORT_F16, GSORT_F32, GSORT_F64, GSORT_I64}) {
    const bool is_float = element_type(t).is_float;
    const Array in = generate(is_float ? Distribution::kWideExponents : Distribution::kUniform, t, 300007, t);
    const uint64_t sum = reference_sum(in), mean = reference_mean(in);
    Buffer data(place(), in.bytes().size()), out(place(), 16);
    data.write(in.bytes());
    auto *const results = static_cast<uint8_t *>(out.data());
    for (const uint32_t threads : {1u, 2u, 3u, 8u}) {
      const Handle handle(backend(), threads);
      gsort *const g = handle.get();
      for (int run = 0; run < kRuns / 4; run++) {
        out.poison();
        ASSERT_TRUE(succeeded(g, gsort_sum(g, t, data.data(), in.size(), results, 0)));
        ASSERT_TRUE(succeeded(g, gsort_reduce(g, GSORT_MEAN, t, data.data(), in.size(), results + 8, 0)));
        ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
        const Bytes got = out.read();
        ASSERT_EQ(sum, load_bits(got.data(), 8)) << element_type(t).name << ", " << threads << " threads, run " << run;
        ASSERT_EQ(mean, load_bits(got.data() + 8, 8)) << element_type(t).name << ", " << threads << " threads";
      }
    }
  }
}

GSORT_INSTANTIATE_BACKENDS(SumRepeatTest);

}  // namespace
}  // namespace gsort_test
