// SPDX-License-Identifier: MIT OR Apache-2.0
// The typed calls beside the general ones, which other tests compare with references: the same bits, status and flags.
#include <vector>

#include "inputs/distributions.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

template <typename T>
struct Calls;
#define GSORT_TEST_CALLS(T, SumOfT, dtype, name)          \
  template <>                                             \
  struct Calls<T> {                                       \
    using Sum = SumOfT;                                   \
    static constexpr gsort_dtype kType = dtype;           \
    static constexpr auto topk = gsort_topk_##name;       \
    static constexpr auto argsort = gsort_argsort_##name; \
    static constexpr auto sum = gsort_sum_##name;         \
    static constexpr auto mean = gsort_mean_##name;       \
    static constexpr auto min = gsort_min_##name;         \
    static constexpr auto max = gsort_max_##name;         \
    static constexpr auto argmin = gsort_argmin_##name;   \
    static constexpr auto argmax = gsort_argmax_##name;   \
    static constexpr auto scan = gsort_scan_##name;       \
  }
GSORT_TEST_CALLS(uint32_t, uint64_t, GSORT_U32, u32);
GSORT_TEST_CALLS(int32_t, int64_t, GSORT_I32, i32);
GSORT_TEST_CALLS(uint64_t, uint64_t, GSORT_U64, u64);
GSORT_TEST_CALLS(int64_t, int64_t, GSORT_I64, i64);
GSORT_TEST_CALLS(float, double, GSORT_F32, f32);
GSORT_TEST_CALLS(double, double, GSORT_F64, f64);

template <typename T>
bool same_bits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// One result of a typed call and of the general one, each written over a poison of its own.
template <typename Out, typename Typed, typename General>
void expect_same(gsort *g, const char *what, uint64_t outputs, Typed typed, General general) {
  std::vector<Out> expected(outputs), actual(outputs);
  std::memset(expected.data(), 0x11, outputs * sizeof(Out));
  std::memset(actual.data(), 0x22, outputs * sizeof(Out));
  ASSERT_TRUE(succeeded(g, general(expected.data()))) << what;
  ASSERT_TRUE(succeeded(g, typed(actual.data()))) << what;
  EXPECT_TRUE(same_bits(expected, actual)) << what;
}

template <typename T>
void check_reductions(gsort *g, const std::vector<T> &in, uint32_t flags) {
  using C = Calls<T>;
  const uint64_t n = in.size();
  const auto reduce = [&](uint32_t op, uint32_t f) {
    return [=, &in](void *out) { return gsort_reduce(g, op, C::kType, in.data(), n, out, f); };
  };
  const auto typed = [&](auto call, uint32_t f) {
    return [=, &in](auto *out) { return call(g, in.data(), n, out, f); };
  };
  expect_same<typename C::Sum>(g, "sum", 1, typed(C::sum, 0),
                               [&](void *out) { return gsort_sum(g, C::kType, in.data(), n, out, 0); });
  expect_same<double>(g, "mean", 1, typed(C::mean, 0), reduce(GSORT_MEAN, 0));
  expect_same<T>(g, "min", 1, typed(C::min, flags), reduce(GSORT_MIN, flags));
  expect_same<T>(g, "max", 1, typed(C::max, flags), reduce(GSORT_MAX, flags));
  expect_same<uint64_t>(g, "argmin", 1, typed(C::argmin, flags), reduce(GSORT_ARGMIN, flags));
  expect_same<uint64_t>(g, "argmax", 1, typed(C::argmax, flags), reduce(GSORT_ARGMAX, flags));
}

template <typename T>
void check_arrays(gsort *g, const std::vector<T> &in, uint32_t flags) {
  using C = Calls<T>;
  const uint64_t n = in.size(), k = n / 3;
  const T *const data = in.data();
  const uint32_t order = flags | GSORT_DESCENDING, pick = flags | GSORT_SMALLEST;
  expect_same<uint64_t>(
      g, "argsort", n, [&](uint64_t *out) { return C::argsort(g, data, n, out, order); },
      [&](void *out) { return gsort_argsort(g, C::kType, data, n, GSORT_U64, out, order); });
  expect_same<T>(
      g, "scan", n, [&](T *out) { return C::scan(g, data, out, n, GSORT_EXCLUSIVE); },
      [&](void *out) { return gsort_scan(g, C::kType, data, out, n, GSORT_EXCLUSIVE); });
  expect_same<T>(
      g, "top-k values", k, [&](T *out) { return C::topk(g, data, n, k, out, nullptr, pick); },
      [&](void *out) { return gsort_topk(g, C::kType, data, n, k, out, 0, nullptr, pick); });
  expect_same<uint64_t>(
      g, "top-k indices", k, [&](uint64_t *out) { return C::topk(g, data, n, k, nullptr, out, pick); },
      [&](void *out) { return gsort_topk(g, C::kType, data, n, k, nullptr, GSORT_U64, out, pick); });
}

class TypedTest : public BackendTest {
 protected:
  template <typename T>
  void check() {
    SCOPED_TRACE(element_type(Calls<T>::kType).name);
    const Array array = generate(Distribution::kUniform, Calls<T>::kType, 5000, 77);
    std::vector<T> in(array.size());
    std::memcpy(in.data(), array.bytes().data(), array.bytes().size());
    for (const uint32_t flags : {0u, GSORT_NAN_LAST}) {
      check_reductions(handle(), in, flags);
      check_arrays(handle(), in, flags);
    }
    const std::vector<T> none;
    check_reductions(handle(), none, 0);
    T out = {};
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, Calls<T>::min(handle(), in.data(), 1, &out, GSORT_DESCENDING));
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, Calls<T>::min(nullptr, in.data(), 1, &out, 0));
  }
};

TEST_P(TypedTest, SameAsTheGeneralCalls) {
  check<uint32_t>();
  check<int32_t>();
  check<uint64_t>();
  check<int64_t>();
  check<float>();
  check<double>();
}

GSORT_INSTANTIATE_BACKENDS(TypedTest);

}  // namespace
}  // namespace gsort_test
