// SPDX-License-Identifier: MIT OR Apache-2.0
// The calling thread's rounding mode and its flush-to-zero bits neither change a result nor are changed by a call.
#include <cfenv>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace gsort_test {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kFlags = 0x3f;  // what has happened, not what is to happen
uint32_t control_word() { return _mm_getcsr() & ~kFlags; }
void set_control_word(uint32_t word) { _mm_setcsr(word); }
constexpr uint32_t kFlushToZero = 0x8000, kSubnormalsAreZero = 0x0040;
#else
uint32_t control_word() { return static_cast<uint32_t>(fegetround()); }
void set_control_word(uint32_t) {}
constexpr uint32_t kFlushToZero = 0, kSubnormalsAreZero = 0;
#endif

class FloatEnvironmentTest : public BackendTest {
 protected:
  void TearDown() override {
    fesetround(FE_TONEAREST);
    set_control_word(initial_);
  }
  const uint32_t initial_ = control_word();
};

TEST_P(FloatEnvironmentTest, NeitherMattersNorChanges) {
  for (const gsort_dtype t : {GSORT_F32, GSORT_F64, GSORT_F16}) {
    for (const Distribution distribution : {Distribution::kSubnormals, Distribution::kWideExponents}) {
      const Arrays arrays(place(), generate(distribution, t, 90000, 3));
      std::vector<Bytes> expected;
      for (const NamedOperation &operation : all_operations()) expected.push_back(operation.expected(arrays));
      for (const uint32_t threads : {1u, 3u}) {
        // Threads that start in such an environment inherit it.
        for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
          fesetround(mode);
          if (mode != FE_UPWARD) set_control_word(control_word() | kFlushToZero | kSubnormalsAreZero);
          const uint32_t before = control_word();
          {
            const Handle own(backend(), threads);
            for (size_t i = 0; i < all_operations().size(); i++) {
              const NamedOperation &operation = all_operations()[i];
              const gsort_status status = operation.run(own.get(), arrays);
              EXPECT_EQ(before, control_word()) << operation.name;
              EXPECT_EQ(mode, fegetround()) << operation.name;
              EXPECT_EQ(GSORT_OK, status);
              EXPECT_EQ(GSORT_OK, gsort_synchronize(own.get()));
              EXPECT_TRUE(expected[i] == operation.result(arrays))
                  << operation.name << ", " << element_type(t).name << ", rounding mode " << mode;
            }
            uint64_t nothing = 0;
            EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sum(own.get(), t, nullptr, 1, &nothing, 0));
            EXPECT_EQ(before, control_word()) << "after a failure";
          }
          TearDown();
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Short sums have ways of their own. An addition of these that rounds upward, or takes a subnormal for zero, shows.
TEST_P(FloatEnvironmentTest, NorInShortSums) {
  for (const gsort_dtype t : {GSORT_F16, GSORT_F32, GSORT_F64}) {
    for (const Distribution distribution : {Distribution::kSubnormals, Distribution::kWideExponents}) {
      const Arrays arrays(place(), generate(distribution, t, 2048, 4));
      const Handle own(backend(), 1);
      for (const uint64_t n : {1, 2, 5, 16, 17, 40, 41, 200, 2048}) {
        const auto sum = [&] {
          Buffer out(place(), 8);
          EXPECT_EQ(GSORT_OK, gsort_sum(own.get(), t, arrays.keys.data(), n, out.data(), 0));
          EXPECT_EQ(GSORT_OK, gsort_synchronize(own.get()));
          return out.read();
        };
        const Bytes expected = sum();
        for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
          fesetround(mode);
          if (mode != FE_UPWARD) set_control_word(control_word() | kFlushToZero | kSubnormalsAreZero);
          const uint32_t before = control_word();
          EXPECT_TRUE(expected == sum()) << element_type(t).name << " " << n << ", rounding mode " << mode;
          EXPECT_EQ(before, control_word());
          TearDown();
        }
      }
    }
  }
}

GSORT_INSTANTIATE_BACKENDS(FloatEnvironmentTest);

}  // namespace
}  // namespace gsort_test
