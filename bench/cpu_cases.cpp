// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu_cases.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <type_traits>

#include "round_bins.h"

namespace gsort_bench {
namespace {

// Half types are held as the bits of non-negative numbers, which order as the numbers do.
struct F16Bits {
  using Held = uint16_t;
  static constexpr uint32_t kBitsBelow = 0x3c00;  // bits of 1.0
  static double value(Held h) {
    const int exponent = h >> 10;
    const int mantissa = (h & 0x3ff) | (exponent > 0 ? 0x400 : 0);
    return std::ldexp(mantissa, std::max(exponent, 1) - 25);
  }
};

struct Bf16Bits {
  using Held = uint16_t;
  static constexpr uint32_t kBitsBelow = 0x3f80;
  static double value(Held h) {
    const uint32_t bits = static_cast<uint32_t>(h) << 16;
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return static_cast<double>(x);
  }
};

template <typename T>
struct Plain {
  using Held = T;
  static constexpr uint32_t kBitsBelow = 0;
  static double value(Held h) { return static_cast<double>(h); }
};

// Uniform data: every bit pattern of an integer, [0, 1) for floats, patterns of numbers in [0, 1) for half types. Of
// other data, too, an element grows with its word; signed integers are those of the words' bits.
template <typename Type>
std::vector<typename Type::Held> make_data(const CpuCase &c) {
  using Held = typename Type::Held;
  std::vector<Held> data(c.n);
  CpuWords words(c.distribution, c.n);
  for (Held &x : data) {
    const uint64_t word = words.next();
    if constexpr (Type::kBitsBelow > 0) {
      x = static_cast<Held>((word >> 32) * Type::kBitsBelow >> 32);
    } else if constexpr (std::is_floating_point_v<Held>) {
      x = static_cast<Held>(static_cast<double>(word >> 40) * 0x1p-24);
    } else {
      x = static_cast<Held>(word >> (64 - 8 * sizeof(Held)));
    }
  }
  return data;
}

// Median of the times of `timed`, each after an untimed `prepare`.
double median_ms(double time_ms, const std::function<void()> &prepare, const std::function<void()> &timed) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  double spent_ms = 0;
  while (times.size() < 3 || (spent_ms < time_ms && times.size() < 25)) {
    prepare();
    const clock::time_point begin = clock::now();
    timed();
    times.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
    spent_ms += times.back();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void nothing() {}

class Statuses {
 public:
  void add(gsort_status status, const gsort *g) {
    if (status != GSORT_OK && note_.empty()) {
      note_ = std::string(gsort_status_name(status)) + ": " + gsort_error_message(g);
    }
  }
  const std::string &note() const { return note_; }

 private:
  std::string note_;
};

template <typename T>
bool same_bytes(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <typename Type>
CpuResult run_sort_case(const CpuCase &c, gsort *g, double time_ms) {
  using Held = typename Type::Held;
  const std::vector<Held> in = make_data<Type>(c);
  std::vector<Held> out(c.n);
  std::vector<Held> expected;
  CpuResult result;
  Statuses statuses;
  result.gsort_ms =
      median_ms(time_ms, nothing, [&] { statuses.add(gsort_sort(g, c.t, in.data(), out.data(), c.n, 0), g); });
  result.peer_ms = median_ms(time_ms, [&] { expected = in; }, [&] { std::sort(expected.begin(), expected.end()); });
  result.note = statuses.note();
  result.right = result.note.empty() && same_bytes(out, expected);
  return result;
}

template <typename Type>
CpuResult run_argsort_case(const CpuCase &c, gsort *g, double time_ms) {
  using Held = typename Type::Held;
  const std::vector<Held> in = make_data<Type>(c);
  std::vector<uint32_t> out(c.n);
  std::vector<uint32_t> expected(c.n);
  CpuResult result;
  Statuses statuses;
  result.gsort_ms = median_ms(
      time_ms, nothing, [&] { statuses.add(gsort_argsort(g, c.t, in.data(), c.n, GSORT_U32, out.data(), 0), g); });
  result.peer_ms = median_ms(
      time_ms, [&] { std::iota(expected.begin(), expected.end(), 0u); },
      [&] {
        std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) { return in[a] < in[b]; });
      });
  result.note = statuses.note();
  result.right = result.note.empty() && same_bytes(out, expected);
  return result;
}

template <typename Type>
CpuResult run_topk_case(const CpuCase &c, gsort *g, double time_ms) {
  using Held = typename Type::Held;
  const std::vector<Held> in = make_data<Type>(c);
  const uint64_t k = std::min(kCpuTopk, c.n);
  std::vector<Held> values(k);
  std::vector<uint32_t> indices(k);
  std::vector<uint32_t> order(c.n);
  CpuResult result;
  Statuses statuses;
  result.gsort_ms = median_ms(time_ms, nothing, [&] {
    statuses.add(gsort_topk(g, c.t, in.data(), c.n, k, values.data(), GSORT_U32, indices.data(), 0), g);
  });
  const auto better = [&](uint32_t a, uint32_t b) { return in[a] != in[b] ? in[a] > in[b] : a < b; };
  result.peer_ms = median_ms(
      time_ms, [&] { std::iota(order.begin(), order.end(), 0u); },
      [&] { std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), better); });
  order.resize(k);
  bool values_match = true;
  for (uint64_t i = 0; i < k; ++i) values_match = values_match && values[i] == in[order[i]];
  result.note = statuses.note();
  result.right = result.note.empty() && values_match && same_bytes(indices, order);
  return result;
}

// The exact sum of finite values, rounded once: mantissas are counted by exponent.
template <typename Type>
double exact_value_sum(const std::vector<typename Type::Held> &in) {
  constexpr int32_t lowest = -1074;
  std::vector<int64_t> bins(2160, 0);
  for (const typename Type::Held h : in) {
    int exponent = 0;
    const double mantissa = std::frexp(Type::value(h), &exponent);
    const int64_t whole = static_cast<int64_t>(std::ldexp(mantissa, 53));
    if (whole == 0) continue;
    // In two parts, so that no bin can overflow.
    const size_t bit = static_cast<size_t>(exponent - 53 - lowest);
    bins[bit] += whole & 0x7ffffff;
    bins[bit + 27] += whole >> 27;
  }
  return round_bins(bins.data(), static_cast<uint32_t>(bins.size()), lowest);
}

template <typename Type>
CpuResult run_sum_case(const CpuCase &c, gsort *g, double time_ms) {
  using Held = typename Type::Held;
  constexpr bool is_integer = std::is_integral_v<Held> && Type::kBitsBelow == 0;
  using Total = std::conditional_t<!is_integer, double, std::conditional_t<std::is_signed_v<Held>, int64_t, uint64_t>>;
  const std::vector<Held> in = make_data<Type>(c);
  uint64_t got = 0;
  CpuResult result;
  Statuses statuses;
  result.gsort_ms = median_ms(time_ms, nothing, [&] { statuses.add(gsort_sum(g, c.t, in.data(), c.n, &got, 0), g); });
  volatile Total kept = 0;  // keeps the compiler from dropping the loop
  result.peer_ms = median_ms(time_ms, nothing, [&] {
    if constexpr (is_integer) {
      // Unsigned, so that sums wrap; the bits are the same.
      kept = static_cast<Total>(std::accumulate(in.begin(), in.end(), uint64_t{0}, [](uint64_t sum, Held x) {
        return sum + static_cast<uint64_t>(static_cast<Total>(x));
      }));
    } else {
      kept = std::accumulate(in.begin(), in.end(), 0.0, [](double sum, Held x) { return sum + Type::value(x); });
    }
  });
  uint64_t expected = 0;
  if constexpr (is_integer) {
    expected = static_cast<uint64_t>(kept);
  } else {
    const double exact = exact_value_sum<Type>(in);
    std::memcpy(&expected, &exact, sizeof expected);
  }
  result.note = statuses.note();
  result.right = result.note.empty() && got == expected;
  return result;
}

template <typename Type>
CpuResult run_typed(const CpuCase &c, gsort *g, double time_ms) {
  switch (c.work) {
    case CpuWork::kSort:
      return run_sort_case<Type>(c, g, time_ms);
    case CpuWork::kArgsort:
      return run_argsort_case<Type>(c, g, time_ms);
    case CpuWork::kTopk:
      return run_topk_case<Type>(c, g, time_ms);
    case CpuWork::kSum:
      return run_sum_case<Type>(c, g, time_ms);
  }
  return CpuResult();
}

}  // namespace

CpuResult run_cpu_case(const CpuCase &c, gsort *g, double time_ms) {
  switch (c.t) {
    case GSORT_U8:
      return run_typed<Plain<uint8_t>>(c, g, time_ms);
    case GSORT_I8:
      return run_typed<Plain<int8_t>>(c, g, time_ms);
    case GSORT_U16:
      return run_typed<Plain<uint16_t>>(c, g, time_ms);
    case GSORT_I16:
      return run_typed<Plain<int16_t>>(c, g, time_ms);
    case GSORT_U32:
      return run_typed<Plain<uint32_t>>(c, g, time_ms);
    case GSORT_I32:
      return run_typed<Plain<int32_t>>(c, g, time_ms);
    case GSORT_U64:
      return run_typed<Plain<uint64_t>>(c, g, time_ms);
    case GSORT_I64:
      return run_typed<Plain<int64_t>>(c, g, time_ms);
    case GSORT_F16:
      return run_typed<F16Bits>(c, g, time_ms);
    case GSORT_BF16:
      return run_typed<Bf16Bits>(c, g, time_ms);
    case GSORT_F32:
      return run_typed<Plain<float>>(c, g, time_ms);
    default:
      return run_typed<Plain<double>>(c, g, time_ms);
  }
}

const char *cpu_work_name(CpuWork work) {
  static const char *const names[] = {"sort", "argsort", "topk k=256", "sum"};
  return names[static_cast<int>(work)];
}

const char *cpu_peer_name(CpuWork work) {
  static const char *const names[] = {"std::sort", "std::stable_sort", "std::partial_sort", "std::accumulate"};
  return names[static_cast<int>(work)];
}

}  // namespace gsort_bench
