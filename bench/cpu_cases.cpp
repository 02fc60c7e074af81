// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu_cases.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

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

template <typename T>
bool same_bytes(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// What a row's two sides do, and whether they found the same.
template <typename Type>
struct SortWork {
  using Held = typename Type::Held;
  explicit SortWork(const CpuCase &c) : t(c.t), in(make_data<Type>(c)), out(c.n), expected(c.n) {}
  gsort_status call(gsort *g) { return gsort_sort(g, t, in.data(), out.data(), in.size(), 0); }
  void prepare() { expected = in; }
  void peer() { std::sort(expected.begin(), expected.end()); }
  bool right() const { return same_bytes(out, expected); }

  gsort_dtype t;
  std::vector<Held> in, out, expected;
};

template <typename Type>
struct ArgsortWork {
  explicit ArgsortWork(const CpuCase &c) : t(c.t), in(make_data<Type>(c)), out(c.n), expected(c.n) {}
  gsort_status call(gsort *g) { return gsort_argsort(g, t, in.data(), in.size(), GSORT_U32, out.data(), 0); }
  void prepare() { std::iota(expected.begin(), expected.end(), 0u); }
  void peer() {
    std::stable_sort(expected.begin(), expected.end(), [this](uint32_t a, uint32_t b) { return in[a] < in[b]; });
  }
  bool right() const { return same_bytes(out, expected); }

  gsort_dtype t;
  std::vector<typename Type::Held> in;
  std::vector<uint32_t> out, expected;
};

template <typename Type>
struct TopkWork {
  using Held = typename Type::Held;
  explicit TopkWork(const CpuCase &c)
      : t(c.t), in(make_data<Type>(c)), values(std::min(kCpuTopk, c.n)), indices(values.size()), order(c.n) {}
  gsort_status call(gsort *g) {
    return gsort_topk(g, t, in.data(), in.size(), values.size(), values.data(), GSORT_U32, indices.data(), 0);
  }
  void prepare() { std::iota(order.begin(), order.end(), 0u); }
  void peer() {
    const auto better = [this](uint32_t a, uint32_t b) { return in[a] != in[b] ? in[a] > in[b] : a < b; };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(values.size()), order.end(), better);
  }
  bool right() const {
    for (size_t i = 0; i < values.size(); ++i)
      if (indices[i] != order[i] || values[i] != in[order[i]]) return false;
    return true;
  }

  gsort_dtype t;
  std::vector<Held> in, values;
  std::vector<uint32_t> indices, order;
};

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
struct SumWork {
  using Held = typename Type::Held;
  static constexpr bool kIsInteger = std::is_integral_v<Held> && Type::kBitsBelow == 0;
  using Total = std::conditional_t<!kIsInteger, double, std::conditional_t<std::is_signed_v<Held>, int64_t, uint64_t>>;

  explicit SumWork(const CpuCase &c) : t(c.t), in(make_data<Type>(c)) {}
  gsort_status call(gsort *g) { return gsort_sum(g, t, in.data(), in.size(), &got, 0); }
  void prepare() {}
  void peer() {
    if constexpr (kIsInteger) {
      // Unsigned, so that sums wrap; the bits are the same.
      total = static_cast<Total>(std::accumulate(in.begin(), in.end(), uint64_t{0}, [](uint64_t sum, Held x) {
        return sum + static_cast<uint64_t>(static_cast<Total>(x));
      }));
    } else {
      total = std::accumulate(in.begin(), in.end(), 0.0, [](double sum, Held x) { return sum + Type::value(x); });
    }
    benchmark::DoNotOptimize(total);
  }
  // The peer's sum of floats is rounded at every step.
  bool right() const {
    uint64_t expected = 0;
    if constexpr (kIsInteger) {
      expected = static_cast<uint64_t>(total);
    } else {
      const double exact = exact_value_sum<Type>(in);
      std::memcpy(&expected, &exact, sizeof expected);
    }
    return got == expected;
  }

  gsort_dtype t;
  std::vector<Held> in;
  uint64_t got = 0;
  Total total = 0;
};

std::string key_of(const CpuCase &c) { return cpu_case_name(c) + "/threads:" + std::to_string(c.threads); }

// The first time that a case runs its result is checked, outside of what is timed.
bool is_first_run(const CpuCase &c) {
  static std::set<std::string> seen;
  return seen.insert(key_of(c)).second;
}

std::set<std::string> &failed() {
  static std::set<std::string> cases;
  return cases;
}

// Not by SkipWithError(): aggregates that are reported alone hide it, or, where all runs have it, end the program.
void fail(const CpuCase &c, const char *why) {
  if (!failed().insert(key_of(c)).second) return;
  std::fprintf(stderr, "gsort_bench_cpu: %s: %s\n", key_of(c).c_str(), why);
}

template <typename Work>
void time_gsort(benchmark::State &state, const CpuCase &c, gsort *g) {
  Work work(c);
  for (auto _ : state)
    if (work.call(g) != GSORT_OK) fail(c, gsort_error_message(g));
  state.SetItemsProcessed(static_cast<int64_t>(c.n) * state.iterations());
  if (!is_first_run(c)) return;
  work.prepare();
  work.peer();
  if (!work.right()) fail(c, "the result is wrong");
}

template <typename Work>
void time_peer(benchmark::State &state, const CpuCase &c) {
  using Clock = std::chrono::steady_clock;
  Work work(c);
  for (auto _ : state) {
    work.prepare();
    const Clock::time_point begin = Clock::now();
    work.peer();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
  }
}

template <typename Work>
void time_side(benchmark::State &state, const CpuCase &c, gsort *g) {
  if (g != nullptr)
    time_gsort<Work>(state, c, g);
  else
    time_peer<Work>(state, c);
}

template <typename Type>
void run_typed(benchmark::State &state, const CpuCase &c, gsort *g) {
  switch (c.work) {
    case CpuWork::kSort:
      return time_side<SortWork<Type>>(state, c, g);
    case CpuWork::kArgsort:
      return time_side<ArgsortWork<Type>>(state, c, g);
    case CpuWork::kTopk:
      return time_side<TopkWork<Type>>(state, c, g);
    case CpuWork::kSum:
      return time_side<SumWork<Type>>(state, c, g);
  }
}

}  // namespace

void run_cpu_case(benchmark::State &state, const CpuCase &c, gsort *g) {
  switch (c.t) {
    case GSORT_U8:
      return run_typed<Plain<uint8_t>>(state, c, g);
    case GSORT_I8:
      return run_typed<Plain<int8_t>>(state, c, g);
    case GSORT_U16:
      return run_typed<Plain<uint16_t>>(state, c, g);
    case GSORT_I16:
      return run_typed<Plain<int16_t>>(state, c, g);
    case GSORT_U32:
      return run_typed<Plain<uint32_t>>(state, c, g);
    case GSORT_I32:
      return run_typed<Plain<int32_t>>(state, c, g);
    case GSORT_U64:
      return run_typed<Plain<uint64_t>>(state, c, g);
    case GSORT_I64:
      return run_typed<Plain<int64_t>>(state, c, g);
    case GSORT_F16:
      return run_typed<F16Bits>(state, c, g);
    case GSORT_BF16:
      return run_typed<Bf16Bits>(state, c, g);
    case GSORT_F32:
      return run_typed<Plain<float>>(state, c, g);
    default:
      return run_typed<Plain<double>>(state, c, g);
  }
}

bool cpu_case_failed(const CpuCase &c) { return failed().count(key_of(c)) != 0; }

std::string cpu_case_name(const CpuCase &c) {
  return std::string(cpu_work_name(c.work)) + "/" + dtype_name(c.t) + "/" + distribution_name(c.distribution) + "/" +
         std::to_string(c.n);
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
