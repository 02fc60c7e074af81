// SPDX-License-Identifier: MIT OR Apache-2.0
// Launches that the device refuses because they do not fit.
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "cuda/engine/check.h"
#include "faults/cuda_faults_fixture.h"
#include "reference/sorting.h"

namespace gsort_test {
namespace {

// What a launch can answer that asks for too much.
constexpr cudaError_t kDoNotFit[] = {cudaErrorCooperativeLaunchTooLarge, cudaErrorLaunchOutOfResources,
                                     cudaErrorInvalidClusterSize};
constexpr std::initializer_list<const char *> kLaunches = {"cudaLaunchKernelExC", "__cudaLaunchKernel"};

// Where blocks that must be resident together do not fit, as under a service that shares the device out, the call is
// planned for less. Any other launch that does not fit is a failure of the call.
TEST_P(FaultTest, LaunchesThatDoNotFit) {
  const Arrays arrays(place(), generate(Distribution::kUniform, GSORT_F32, 150000, 1));
  uint64_t together = 0, others = 0;
  for (const cudaError_t error : kDoNotFit)
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(operation.name);
      const Handle handle(options());
      gsort *const g = handle.get();
      const auto call = [&](gsort *each) { return operation.run(each, arrays); };
      fail_each(g, kLaunches, error, call, [&](const CallReport &report, gsort_status status) {
        if (report.together) {
          ++together;
          EXPECT_TRUE(succeeded(g, status)) << "launch " << report.failed_number;
        } else {
          ++others;
          EXPECT_EQ(GSORT_ERROR_INTERNAL, status) << "launch " << report.failed_number;
          EXPECT_STRNE("", gsort_error_message(g));
          EXPECT_TRUE(succeeded(g, call(g))) << "the next call";
        }
        EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
        EXPECT_TRUE(arrays.inputs_intact());
      });
      if (HasFailure()) return;
    }
  EXPECT_GE(together, std::size(kDoNotFit) * 4);  // of segments alone there are two, of top-k and scans one each
  EXPECT_GE(others, std::size(kDoNotFit) * 11);   // of all operations together: some are one grid's launch alone
}

// What no plan is left for is told as that, not as a fault of the library.
TEST(LaunchDoesNotFit, IsAPartOfTheDeviceThatIsTooSmall) {
  for (const cudaError_t error : kDoNotFit) {
    try {
      gsort_internal::check_launch_together(error, "a_kernel");
      ADD_FAILURE() << error;
    } catch (const gsort_internal::LaunchDoesNotFit &thrown) {
      EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, thrown.status());
      EXPECT_NE(std::string::npos, std::string(thrown.text()).find("a_kernel")) << thrown.text();
      EXPECT_NE(std::string::npos, std::string(thrown.text()).find("too small")) << thrown.text();
    }
  }
}

struct InPlaceCase {
  const char *name;
  uint64_t n, segment;  // segment: 0: none
  uint32_t value_bytes;
  Distribution keys;
  cudaError_t error;
};
constexpr InPlaceCase kInPlaceCases[] = {
    {"long segments", 200000, 60000, 0, Distribution::kUniform, kDoNotFit[0]},
    {"crowded segments", 200000, 60000, 0, Distribution::kZipf, kDoNotFit[1]},
    {"keys", 600000, 0, 0, Distribution::kUniform, kDoNotFit[2]},
    {"pairs", 600000, 0, 4, Distribution::kUniform, kDoNotFit[0]},
    {"few values with values", uint64_t{1} << 24, 0, 4, Distribution::kSmallRange, kDoNotFit[1]}};

// The arrays of such a case, and the call.
class InPlaceArrays {
 public:
  InPlaceArrays(const InPlaceCase &how, Place place)
      : how_(how),
        input_(generate(how.keys, GSORT_U32, how.n, 1)),
        values_content_(generate_values(how.n, how.value_bytes, 7)),
        bounds_({3, 3 + how.segment, 3 + 2 * how.segment, how.n}),
        keys_(place, input_.bytes().size()),
        values_(place, values_content_.size()),
        offsets_(place, bounds_.size() * 8) {
    offsets_.write(make_array(GSORT_U64, bounds_).bytes());
  }

  void restore() {
    keys_.write(input_.bytes());
    values_.write(values_content_);
  }

  gsort_status sort(gsort *g) {
    void *const keys = keys_.data();
    if (how_.segment != 0)
      return gsort_sort_segments(g, GSORT_U32, keys, keys, how_.n, static_cast<const uint64_t *>(offsets_.data()),
                                 bounds_.size() - 1, 0);
    if (how_.value_bytes == 0) return gsort_sort(g, GSORT_U32, keys, keys, how_.n, 0);
    return gsort_sort_pairs(g, GSORT_U32, keys, keys, how_.value_bytes, values_.data(), values_.data(), how_.n, 0);
  }

  Bytes keys() const { return keys_.read(); }
  Bytes values() const { return values_.read(); }
  Bytes expected_keys() const {
    return (how_.segment != 0 ? reference_sort_segments(input_, bounds_, 0) : reference_sort(input_, 0)).bytes();
  }

 private:
  InPlaceCase how_;
  Array input_;
  Bytes values_content_;
  std::vector<uint64_t> bounds_;
  Buffer keys_, values_, offsets_;
};

// In place what was launched before may have changed the array: a call that succeeds has lost nothing, whichever of its
// launches did not fit at first, and one that fails says so.
TEST_P(FaultTest, LaunchesInPlaceThatDoNotFit) {
  for (const InPlaceCase &each : kInPlaceCases) {
    if (!real() && each.n > 1000000) continue;  // of which the stand-in would show nothing more
    SCOPED_TRACE(each.name);
    InPlaceArrays arrays(each, place());
    static uint64_t plans_for_less;
    plans_for_less = 0;
    gsort_options o = options();
    o.log = [](void *, const char *line) { plans_for_less += std::strstr(line, "; planning for ") != nullptr; };
    const Handle handle(o);
    gsort *const g = handle.get();
    const auto call = [&](gsort *h) {
      arrays.restore();
      return arrays.sort(h);
    };
    ASSERT_TRUE(succeeded(g, call(g)));
    ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
    const Bytes want_keys = arrays.keys(), want_values = arrays.values();
    ASSERT_TRUE(!real() || want_keys == arrays.expected_keys());
    const auto look = [&](const CallReport &report, gsort_status status) {
      EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
      EXPECT_EQ(report.together ? GSORT_OK : GSORT_ERROR_INTERNAL, status) << "launch " << report.failed_number;
      if (!real() || status != GSORT_OK) return;
      EXPECT_TRUE(arrays.keys() == want_keys) << "launch " << report.failed_number;
      EXPECT_TRUE(arrays.values() == want_values) << "launch " << report.failed_number;
    };
    EXPECT_GT(fail_each(g, kLaunches, each.error, call, look), 0u);
    if (HasFailure()) return;
    // Segments that a partition has moved have no keys in their place.
    EXPECT_TRUE(each.segment == 0 || plans_for_less == 0);
  }
}

}  // namespace
}  // namespace gsort_test
