// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that run once for every vector target that this machine has, and once without vectors.
#ifndef GSORT_TESTS_UNIT_CPU_VECTOR_TARGET_FIXTURE_H_
#define GSORT_TESTS_UNIT_CPU_VECTOR_TARGET_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/vector/target.h"
#include "engine_fixture.h"

namespace gsort_test {

class EachTarget : public testing::TestWithParam<VectorTarget> {
 protected:
  void SetUp() override {
    const VectorTarget target = GetParam();
    if (target != VectorTarget::kNone && !vector_target_usable(target))
      GTEST_SKIP() << "no " << vector_target_name(target) << " here";
    force_vector_target(target);
  }
  void TearDown() override { force_vector_target(before_); }

  // Calls f(tag, order) for every type, direction and NaN rule.
  template <class F>
  static void for_each_order(F &&f) {
    for (const gsort_dtype t : kAllTypes)
      for (int descending = 0; descending < 2; ++descending)
        for (int nan_last = 0; nan_last <= (is_float(t) ? 1 : 0); ++nan_last) {
          const KeyOrder order{t, descending != 0, nan_last != 0};
          with_width(dtype_bytes(t), [&](auto tag) { f(tag, order); });
        }
  }

  // The indices of the keys in their stable order.
  template <class Index, class U>
  static std::vector<Index> order_of(const KeyOrder &order, const std::vector<U> &keys) {
    std::vector<Index> indices(keys.size());
    std::iota(indices.begin(), indices.end(), Index{0});
    std::stable_sort(indices.begin(), indices.end(),
                     [&](Index a, Index b) { return comes_before(order, keys[a], keys[b]); });
    return indices;
  }

  std::mt19937_64 random_{11};
  EngineUnderTest one_{1}, two_{2}, three_{3};
  VectorTarget before_ = vector_target();
};

constexpr VectorTarget kEveryTarget[] = {VectorTarget::kNone, VectorTarget::kSse4, VectorTarget::kAvx2,
                                         VectorTarget::kAvx512, VectorTarget::kNeon};

// Some ways with AVX-512 go by whose the processor is: tests see to both.
class ProcessorOfAmd {
 public:
  explicit ProcessorOfAmd(bool is) { processor_is_of_amd = is; }
  ~ProcessorOfAmd() { processor_is_of_amd = before_; }
  ProcessorOfAmd(const ProcessorOfAmd &) = delete;
  ProcessorOfAmd &operator=(const ProcessorOfAmd &) = delete;

 private:
  const bool before_ = processor_is_of_amd;
};

inline std::string target_test_name(const testing::TestParamInfo<VectorTarget> &target) {
  const std::string name = vector_target_name(target.param);
  return name == "AVX-512" ? std::string("AVX512") : name == "no" ? "None" : name;
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_VECTOR_TARGET_FIXTURE_H_
