/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/**
 * @file gsort.hpp
 * @brief gsort.h for C++17: ranges for arrays, deduced types, exceptions with the sentence, handles that move.
 *
 * @code
 * gsort::sorter sorter;                                  // the GPU if there is one, all processors otherwise
 * std::vector<float> scores = {0.25f, 7.5f, -1.0f};
 * sorter.sort(scores, gsort::order::descending);
 * auto best = sorter.topk(scores, 2);                    // best.values, best.indices
 * double total = sorter.sum(scores);                     // exact, rounded once
 * @endcode
 *
 * This header alone, over the C interface: a program needs it, gsort.h and the library. What a call does, what it
 * promises and which arrays it takes stands in gsort.h at the function of the same name.
 *
 * ### Arrays
 * Whatever has std::data() and std::size(): vectors, std::array, C arrays, std::span, and gsort::span, which takes an
 * address and a count, of device memory for one. Elements are integers of 8 to 64 bits, float, double, gsort::f16 and
 * gsort::bf16 (std::float16_t and std::bfloat16_t where they are), and types for which gsort_hpp::element_type is
 * specialised. Calls with a result of many elements return vectors; those named `_into` write into the caller's arrays
 * instead, whose sizes must agree with the input's.
 *
 * ### Failures
 * gsort::sorter throws gsort::error, which carries the status and the sentence. gsort::nothrow_sorter has the same
 * calls, which return a gsort::result instead and throw nothing; it also works where exceptions are switched off.
 *
 * ### Names
 * The C header calls its handle `gsort`, and a namespace cannot have the name of a type: what C++ adds stands in that
 * struct as gsort::sorter, gsort::order and so on, and in the namespace `gsort_hpp` under the same names.
 */
#ifndef GSORT_HPP
#define GSORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__STDCPP_FLOAT16_T__) || defined(__STDCPP_BFLOAT16_T__)
#include <stdfloat>
#endif

#include "gsort.h"

#if defined(__cpp_exceptions)
#define GSORT_HPP_EXCEPTIONS 1
#else
#define GSORT_HPP_EXCEPTIONS 0
#endif

/** What gsort.hpp adds to C++. The usual names are those of the struct gsort: gsort::sorter and so on. */
namespace gsort_hpp {

/** Order of sorts, argsorts, ranks and merges. */
enum class order : std::uint32_t {
  ascending = 0,
  descending = GSORT_DESCENDING,
  ascending_nan_last = GSORT_NAN_LAST,
  descending_nan_last = GSORT_DESCENDING | GSORT_NAN_LAST
};
/** What a top-k takes. */
enum class pick : std::uint32_t {
  greatest = 0,
  smallest = GSORT_SMALLEST,
  greatest_nan_last = GSORT_NAN_LAST,
  smallest_nan_last = GSORT_SMALLEST | GSORT_NAN_LAST
};
/** Where NaNs stand for minima and maxima. */
enum class nans : std::uint32_t { ordered = 0, last = GSORT_NAN_LAST };

/** IEEE 754 binary16, as its bits. */
struct f16 {
  std::uint16_t bits; /**< sign, 5 bits of exponent, 10 of fraction */
};
/** bfloat16, as its bits. */
struct bf16 {
  std::uint16_t bits; /**< the upper half of a binary32 */
};

/** The defaults of gsort_create(), to be changed before a sorter is made: see gsort_options. */
struct options : gsort_options {
  // What GSORT_OPTIONS_INIT has, without the cast of C that stands in it.
  options() : gsort_options() { struct_size = static_cast<std::uint32_t>(sizeof(gsort_options)); }
};

/** `size` elements from an address on, be it in host, managed or device memory. */
template <class T>
class span {
 public:
  using element_type = T; /**< as in std::span */
  constexpr span() = default;
  /** `size` elements from `data` on. */
  constexpr span(T *data, std::size_t size) : data_(data), size_(size) {}
  constexpr T *data() const { return data_; }          /**< the address */
  constexpr std::size_t size() const { return size_; } /**< the number of elements */

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

template <class T>
constexpr gsort_dtype deduce_type() {
#if defined(__STDCPP_FLOAT16_T__)
  if (std::is_same_v<T, std::float16_t>) return GSORT_F16;
#endif
#if defined(__STDCPP_BFLOAT16_T__)
  if (std::is_same_v<T, std::bfloat16_t>) return GSORT_BF16;
#endif
  if (std::is_same_v<T, f16>) return GSORT_F16;
  if (std::is_same_v<T, bf16>) return GSORT_BF16;
  if (std::is_same_v<T, float>) return GSORT_F32;
  if (std::is_same_v<T, double>) return GSORT_F64;
  if (!std::is_integral_v<T> || std::is_same_v<T, bool>) return 0;
  const gsort_dtype is_signed = std::is_signed_v<T> ? 1 : 0;  // each signed type follows the unsigned one of its size
  switch (sizeof(T)) {
    case 1:
      return GSORT_U8 + is_signed;
    case 2:
      return GSORT_U16 + is_signed;
    case 4:
      return GSORT_U32 + is_signed;
    case 8:
      return GSORT_U64 + is_signed;
    default:
      return 0;
  }
}

}  // namespace detail

/**
 * The GSORT_* number of an element type. For a type of your own that has the bits of one of gsort's:
 * `template <> struct gsort_hpp::element_type<__half> { static constexpr gsort_dtype value = GSORT_F16; };`
 */
template <class T>
struct element_type {
  static constexpr gsort_dtype value = detail::deduce_type<T>(); /**< 0 if the type is none of gsort's */
};

namespace detail {

template <class Range>
using pointer_to = decltype(std::data(std::declval<Range &>()));
template <class Range>
using element_of = std::remove_const_t<std::remove_pointer_t<pointer_to<Range>>>;

template <class Range>
constexpr gsort_dtype type_of() {
  static_assert(element_type<element_of<Range>>::value != 0,
                "gsort sorts and adds integers of 8 to 64 bits, float, double, gsort::f16 and gsort::bf16");
  return element_type<element_of<Range>>::value;
}
template <class Range>
constexpr gsort_dtype index_type_of() {
  constexpr gsort_dtype t = element_type<element_of<Range>>::value;
  static_assert(t == GSORT_U32 || t == GSORT_I32 || t == GSORT_U64 || t == GSORT_I64,
                "indices are integers of 32 or 64 bits");
  return t;
}
template <class Range>
element_of<Range> *output(Range &range) {
  static_assert(!std::is_const_v<std::remove_pointer_t<pointer_to<Range>>>, "an output must not be const");
  return std::data(range);
}

// Integers of any kind are added to 64 bits of their signedness, floats to a double.
template <class T, gsort_dtype t = element_type<T>::value>
using sum_of =
    std::conditional_t<(t >= GSORT_F16), double, std::conditional_t<(t % 2 == 0), std::int64_t, std::uint64_t>>;

}  // namespace detail

/** Status and sentence of a failed call. */
class failure {
 public:
  failure() = default;
  /** A status and its sentence, of which a copy is kept. */
  failure(gsort_status status, const char *sentence) noexcept : status_(status) {
    std::snprintf(sentence_, sizeof sentence_, "%s", sentence);
  }
  gsort_status status() const noexcept { return status_; }   /**< GSORT_OK or an error */
  const char *message() const noexcept { return sentence_; } /**< what is wrong, its value, the remedy */

 private:
  gsort_status status_ = GSORT_OK;
  char sentence_[512] = "";
};

/** What a call of gsort::nothrow_sorter returns: a value, or why there is none. */
template <class T>
class [[nodiscard]] result : public failure {
 public:
  /** Success. */
  result(T &&value) : value_(std::move(value)) {}
  /** A failure. */
  result(const failure &why) : failure(why) {}
  explicit operator bool() const noexcept { return value_.has_value(); } /**< true after success */
  T &value() { return *value_; }                                         /**< only after success */
  T &operator*() { return *value_; }                                     /**< only after success */
  T *operator->() { return &*value_; }                                   /**< only after success */

 private:
  std::optional<T> value_;
};
/** What a call without a value returns. */
template <>
class [[nodiscard]] result<void> : public failure {
 public:
  /** Success. */
  result() = default;
  /** A failure. */
  result(const failure &why) : failure(why) {}
  explicit operator bool() const noexcept { return status() == GSORT_OK; } /**< true after success */
};

#if GSORT_HPP_EXCEPTIONS
/** What gsort::sorter throws. what() is the library's sentence. */
class error : public std::runtime_error {
 public:
  /** From a failed call. */
  explicit error(const failure &why) : std::runtime_error(why.message()), status_(why.status()) {}
  gsort_status status() const noexcept { return status_; } /**< GSORT_ERROR_* */

 private:
  gsort_status status_;
};

/** Failures are thrown. */
struct throwing {
  template <class T>
  using outcome = T; /**< what a call returns */
  /** Throws. */
  template <class T>
  [[noreturn]] static T failed(const failure &why) {
    throw error(why);
  }
};
#endif

/** Failures are returned. */
struct returning {
  template <class T>
  using outcome = result<T>; /**< what a call returns */
  /** Returns the failure. */
  template <class T>
  static result<T> failed(const failure &why) {
    return why;
  }
};

/** Values and indices of a top-k. */
template <class T, class Index>
struct top {
  std::vector<T> values;      /**< best first */
  std::vector<Index> indices; /**< where they stand in the input */
};

/** Shape of a matrix whose rows are selected from. */
struct rows {
  std::size_t count;   /**< rows */
  std::size_t columns; /**< elements of a row */
  std::size_t stride;  /**< elements from one row to the next */
};

/** A handle: gsort::sorter or gsort::nothrow_sorter. Moves, is not copied; calls from several threads take turns. */
template <class Failures>
class basic_sorter {
 public:
  /** T, or a result that holds one. */
  template <class T>
  using outcome = typename Failures::template outcome<T>;

#if GSORT_HPP_EXCEPTIONS
  /** The GPU if there is one, all processors otherwise; for gsort::sorter alone. */
  template <class F = Failures, class = std::enable_if_t<std::is_same_v<F, throwing>>>
  basic_sorter() : basic_sorter(options()) {}
  /** With options of one's own; for gsort::sorter alone. */
  template <class F = Failures, class = std::enable_if_t<std::is_same_v<F, throwing>>>
  explicit basic_sorter(const gsort_options &how) : basic_sorter(make(how)) {}
#endif
  /** The same for both forms. */
  static outcome<basic_sorter> make(const gsort_options &how = options()) {
    gsort *g = nullptr;
    const gsort_status status = gsort_create(&how, &g);
    if (status != GSORT_OK)
      return Failures::template failed<basic_sorter>(failure(status, gsort_error_message(nullptr)));
    return basic_sorter(g);
  }
  /** Takes over a handle of the C interface. */
  explicit basic_sorter(gsort *g) noexcept : handle_(g) {}

  gsort *get() const noexcept { return handle_.get(); } /**< the handle, for the C interface */

  /** See gsort_info_get(). */
  outcome<gsort_info> info() const {
    gsort_info info = {};
    info.struct_size = sizeof info;
    return finish(gsort_info_get(get(), &info), std::move(info));
  }
  /** See gsort_set_stream(). */
  outcome<void> set_stream(void *cuda_stream) { return finish(gsort_set_stream(get(), cuda_stream)); }
  /** See gsort_synchronize(). */
  outcome<void> synchronize() const { return finish(gsort_synchronize(get())); }
  /** See gsort_cancel(): from any thread. */
  outcome<void> cancel() const { return finish(gsort_cancel(get())); }
  /** See gsort_reserve(). */
  template <class T>
  outcome<void> reserve(std::uint32_t operation, std::uint64_t n, std::uint64_t parameter = 0) {
    return finish(gsort_reserve(get(), operation, detail::type_of<span<T>>(), n, parameter));
  }
  /** See gsort_set_workspace(). */
  outcome<void> set_workspace(void *device_memory, std::uint64_t bytes) {
    return finish(gsort_set_workspace(get(), device_memory, bytes));
  }
  /**
   * Calls `watch(done, total)` during long work on host memory; false cancels. What it throws stops the call, if there
   * is work left, and gsort::sorter throws it on. An empty function takes it away.
   */
  outcome<void> set_progress(std::function<bool(std::uint64_t, std::uint64_t)> watch) {
    if (!watch) {
      const gsort_status status = gsort_set_progress(get(), nullptr, nullptr);
      watcher_.reset();
      return finish(status);
    }
    std::unique_ptr<watcher> next(new (std::nothrow) watcher);
    if (next == nullptr) return Failures::template failed<void>(no_room());
    next->watch = std::move(watch);
    const gsort_status status = gsort_set_progress(get(), &watcher::call, next.get());
    if (status == GSORT_OK) watcher_ = std::move(next);
    return finish(status);
  }

  /** Sorts in place. */
  template <class Keys>
  outcome<void> sort(Keys &&keys, order o = order::ascending) const {
    auto *const data = detail::output(keys);
    return finish(gsort_sort(get(), detail::type_of<Keys>(), data, data, std::size(keys), flags(o)));
  }
  /** Sorts into another array. */
  template <class Keys, class Out>
  outcome<void> sort_into(const Keys &keys, Out &&out, order o = order::ascending) const {
    same_type<Keys, Out>();
    if (std::size(out) != std::size(keys)) return lengths<void>("out", std::size(out), "keys", std::size(keys));
    return finish(
        gsort_sort(get(), detail::type_of<Keys>(), std::data(keys), detail::output(out), std::size(keys), flags(o)));
  }
  /** Sorts keys in place and moves the value of each along. */
  template <class Keys, class Values>
  outcome<void> sort_pairs(Keys &&keys, Values &&values, order o = order::ascending) const {
    return sort_pairs_into(keys, values, keys, values, o);
  }
  /** Sorts keys and moves the value of each along, into other arrays. */
  template <class Keys, class Values, class KeysOut, class ValuesOut>
  outcome<void> sort_pairs_into(const Keys &keys, const Values &values, KeysOut &&keys_out, ValuesOut &&values_out,
                                order o = order::ascending) const {
    using value = detail::element_of<const Values>;
    same_type<Keys, KeysOut>();
    static_assert(std::is_same_v<value, detail::element_of<ValuesOut>>, "values and their output are of one type");
    static_assert(std::is_trivially_copyable_v<value> && sizeof(value) <= 65536, "values are moved as bytes");
    const std::size_t n = std::size(keys);
    if (std::size(values) != n) return lengths<void>("values", std::size(values), "keys", n);
    if (std::size(keys_out) != n) return lengths<void>("keys_out", std::size(keys_out), "keys", n);
    if (std::size(values_out) != n) return lengths<void>("values_out", std::size(values_out), "keys", n);
    return finish(gsort_sort_pairs(get(), detail::type_of<Keys>(), std::data(keys), detail::output(keys_out),
                                   sizeof(value), std::data(values), detail::output(values_out), n, flags(o)));
  }
  /** The stable order, as indices. */
  template <class Index = std::uint64_t, class Keys>
  outcome<std::vector<Index>> argsort(const Keys &keys, order o = order::ascending) const {
    return vector_of<Index>(std::size(keys), [&](span<Index> out) { return run_argsort(keys, out, o); });
  }
  /** The stable order, into an array of indices. */
  template <class Keys, class Out>
  outcome<void> argsort_into(const Keys &keys, Out &&out, order o = order::ascending) const {
    if (std::size(out) != std::size(keys)) return lengths<void>("out", std::size(out), "keys", std::size(keys));
    return finish(run_argsort(keys, out, o));
  }
  /** The place of every key in the order. */
  template <class Index = std::uint64_t, class Keys>
  outcome<std::vector<Index>> rank(const Keys &keys, order o = order::ascending) const {
    return vector_of<Index>(std::size(keys), [&](span<Index> out) { return run_rank(keys, out, o); });
  }
  /** The place of every key in the order, into an array of ranks. */
  template <class Keys, class Out>
  outcome<void> rank_into(const Keys &keys, Out &&out, order o = order::ascending) const {
    if (std::size(out) != std::size(keys)) return lengths<void>("out", std::size(out), "keys", std::size(keys));
    return finish(run_rank(keys, out, o));
  }
  /** Two sorted arrays as one. */
  template <class A, class B>
  outcome<std::vector<detail::element_of<const A>>> merge(const A &a, const B &b, order o = order::ascending) const {
    using key = detail::element_of<const A>;
    return vector_of<key>(std::size(a) + std::size(b), [&](span<key> out) { return run_merge(a, b, out, o); });
  }
  /** Two sorted arrays as one, into an array that overlaps neither. */
  template <class A, class B, class Out>
  outcome<void> merge_into(const A &a, const B &b, Out &&out, order o = order::ascending) const {
    const std::size_t n = std::size(a) + std::size(b);
    if (std::size(out) != n) return lengths<void>("out", std::size(out), "a and b together", n);
    return finish(run_merge(a, b, out, o));
  }
  /** Sorts every segment in place; segment s holds the keys offsets[s] to offsets[s + 1] - 1. */
  template <class Keys, class Offsets>
  outcome<void> sort_segments(Keys &&keys, const Offsets &offsets, order o = order::ascending) const {
    return sort_segments_into(keys, offsets, keys, o);
  }
  /** Sorts every segment into another array. */
  template <class Keys, class Offsets, class Out>
  outcome<void> sort_segments_into(const Keys &keys, const Offsets &offsets, Out &&out,
                                   order o = order::ascending) const {
    same_type<Keys, Out>();
    if (std::size(out) != std::size(keys)) return lengths<void>("out", std::size(out), "keys", std::size(keys));
    return finish(gsort_sort_segments(get(), detail::type_of<Keys>(), std::data(keys), detail::output(out),
                                      std::size(keys), offsets_of(offsets), segments_of(offsets), flags(o)));
  }

  /** The k best elements and their indices, best first. */
  template <class Index = std::uint64_t, class In>
  outcome<top<detail::element_of<const In>, Index>> topk(const In &in, std::size_t k, pick p = pick::greatest) const {
    // A k that is too large is the library's to refuse: no memory is taken for it.
    const std::size_t room = std::min<std::size_t>(k, std::size(in));
    return top_of<In, Index>(room, [&](auto values, auto indices) { return run_topk(in, k, values, indices, p); });
  }
  /** As many best elements as the outputs hold; one of them may be a gsort::span without an address. */
  template <class In, class Values, class Indices>
  outcome<void> topk_into(const In &in, Values &&values, Indices &&indices, pick p = pick::greatest) const {
    const std::size_t k = std::data(values) != nullptr ? std::size(values) : std::size(indices);
    if (!fits(indices, k)) return lengths<void>("indices", std::size(indices), "values", k);
    return finish(run_topk(in, k, values, indices, p));
  }
  /** The k best elements of every row. */
  template <class Index = std::uint64_t, class In>
  outcome<top<detail::element_of<const In>, Index>> topk_rows(const In &in, rows shape, std::size_t k,
                                                              pick p = pick::greatest) const {
    if (!holds(std::size(in), shape)) return too_short<top<detail::element_of<const In>, Index>>(std::size(in), shape);
    return top_of<In, Index>(shape.count * std::min(k, shape.columns), [&](auto values, auto indices) {
      return run_topk_rows(in, shape, k, values, indices, p);
    });
  }
  /** The k best elements of every row, into arrays; one of them may be a gsort::span without an address. */
  template <class In, class Values, class Indices>
  outcome<void> topk_rows_into(const In &in, rows shape, std::size_t k, Values &&values, Indices &&indices,
                               pick p = pick::greatest) const {
    if (!holds(std::size(in), shape)) return too_short<void>(std::size(in), shape);
    if (k <= shape.columns && !fits(values, shape.count * k))
      return lengths<void>("values", std::size(values), "rows * k", shape.count * k);
    if (k <= shape.columns && !fits(indices, shape.count * k))
      return lengths<void>("indices", std::size(indices), "rows * k", shape.count * k);
    return finish(run_topk_rows(in, shape, k, values, indices, p));
  }
  /** The k best elements of every segment; see gsort_topk_segments() for those that are shorter than k. */
  template <class Index = std::uint64_t, class In, class Offsets>
  outcome<top<detail::element_of<const In>, Index>> topk_segments(const In &in, const Offsets &offsets, std::size_t k,
                                                                  pick p = pick::greatest) const {
    return top_of<In, Index>(segments_of(offsets) * k, [&](auto values, auto indices) {
      return run_topk_segments(in, offsets, k, values, indices, p);
    });
  }
  /** The k best elements of every segment, into arrays; one of them may be a gsort::span without an address. */
  template <class In, class Offsets, class Values, class Indices>
  outcome<void> topk_segments_into(const In &in, const Offsets &offsets, std::size_t k, Values &&values,
                                   Indices &&indices, pick p = pick::greatest) const {
    const std::size_t n = segments_of(offsets) * k;
    if (!fits(values, n)) return lengths<void>("values", std::size(values), "segments * k", n);
    if (!fits(indices, n)) return lengths<void>("indices", std::size(indices), "segments * k", n);
    return finish(run_topk_segments(in, offsets, k, values, indices, p));
  }

  /** The sum: modulo 2^64 of integers, exact and rounded once to a double of floats. */
  template <class In>
  outcome<detail::sum_of<detail::element_of<const In>>> sum(const In &in) const {
    detail::sum_of<detail::element_of<const In>> out = 0;
    const gsort_status status = gsort_sum(get(), detail::type_of<const In>(), std::data(in), std::size(in), &out, 0);
    return finish(status, std::move(out));
  }
  /** The exact quotient, rounded once; NaN of nothing. */
  template <class In>
  outcome<double> mean(const In &in) const {
    double out = 0;
    const gsort_status status = reduce(GSORT_MEAN, in, &out, nans::ordered);
    return finish(status, std::move(out));
  }
  /** The first element of the ascending order; none of an empty array. */
  template <class In>
  outcome<std::optional<detail::element_of<const In>>> min(const In &in, nans where = nans::ordered) const {
    return extreme<detail::element_of<const In>>(GSORT_MIN, in, where);
  }
  /** The first element of the descending order; none of an empty array. */
  template <class In>
  outcome<std::optional<detail::element_of<const In>>> max(const In &in, nans where = nans::ordered) const {
    return extreme<detail::element_of<const In>>(GSORT_MAX, in, where);
  }
  /** Index of the minimum, the lowest of equals; none of an empty array. */
  template <class In>
  outcome<std::optional<std::uint64_t>> argmin(const In &in, nans where = nans::ordered) const {
    return extreme<std::uint64_t>(GSORT_ARGMIN, in, where);
  }
  /** Index of the maximum, the lowest of equals; none of an empty array. */
  template <class In>
  outcome<std::optional<std::uint64_t>> argmax(const In &in, nans where = nans::ordered) const {
    return extreme<std::uint64_t>(GSORT_ARGMAX, in, where);
  }
  /** Running sums; element i is the sum of the elements up to and with i. */
  template <class In>
  outcome<std::vector<detail::element_of<const In>>> inclusive_scan(const In &in) const {
    return scanned(in, 0);
  }
  /** Running sums; element i is the sum of the elements before i. */
  template <class In>
  outcome<std::vector<detail::element_of<const In>>> exclusive_scan(const In &in) const {
    return scanned(in, GSORT_EXCLUSIVE);
  }
  /** Running sums into an array, which may be the input. */
  template <class In, class Out>
  outcome<void> inclusive_scan_into(const In &in, Out &&out) const {
    if (std::size(out) != std::size(in)) return lengths<void>("out", std::size(out), "in", std::size(in));
    return finish(run_scan(in, out, 0));
  }
  /** Running sums into an array, which may be the input. */
  template <class In, class Out>
  outcome<void> exclusive_scan_into(const In &in, Out &&out) const {
    if (std::size(out) != std::size(in)) return lengths<void>("out", std::size(out), "in", std::size(in));
    return finish(run_scan(in, out, GSORT_EXCLUSIVE));
  }

 private:
  struct destroyer {
    void operator()(gsort *g) const noexcept { gsort_destroy(g); }
  };
  // The progress function, at an address that stays when the sorter moves.
  struct watcher {
    std::function<bool(std::uint64_t, std::uint64_t)> watch;

    static std::int32_t call(void *user, std::uint64_t done, std::uint64_t total) {
      auto *const self = static_cast<watcher *>(user);
#if GSORT_HPP_EXCEPTIONS
      try {
        return self->watch(done, total) ? 0 : 1;
      } catch (...) {  // must not pass through the library
        if (std::is_same_v<Failures, throwing>) thrown_here() = std::current_exception();
        return 1;
      }
#else
      return self->watch(done, total) ? 0 : 1;
#endif
    }
  };

  template <class E>
  static constexpr std::uint32_t flags(E value) {
    return static_cast<std::uint32_t>(value);
  }
  template <class A, class B>
  static constexpr void same_type() {
    static_assert(std::is_same_v<detail::element_of<const A>, detail::element_of<B>>,
                  "an output has the element type of its input");
  }
  template <class Out>
  static bool fits(Out &out, std::size_t n) {
    return std::data(out) == nullptr || std::size(out) == n;
  }
  static bool holds(std::size_t elements, const rows &shape) {
    if (shape.count == 0 || shape.columns == 0) return true;
    return shape.columns <= elements &&
           (elements - shape.columns) / (shape.stride == 0 ? 1 : shape.stride) + 1 >= shape.count;
  }
  template <class Offsets>
  static const std::uint64_t *offsets_of(const Offsets &offsets) {
    static_assert(element_type<detail::element_of<const Offsets>>::value == GSORT_U64, "offsets are uint64_t");
    return reinterpret_cast<const std::uint64_t *>(std::data(offsets));
  }
  template <class Offsets>
  static std::size_t segments_of(const Offsets &offsets) {
    return std::size(offsets) == 0 ? 0 : std::size(offsets) - 1;
  }

#if GSORT_HPP_EXCEPTIONS
  // What the progress function threw on this thread, until the call that it ran in has returned.
  static std::exception_ptr &thrown_here() noexcept {
    static thread_local std::exception_ptr thrown;
    return thrown;
  }
#endif
  failure last_failure(gsort_status status) const { return failure(status, gsort_error_message(get())); }
  // Also after success: what is thrown at the very end stops nothing.
  static void rethrow() {
#if GSORT_HPP_EXCEPTIONS
    if (std::is_same_v<Failures, throwing> && thrown_here() != nullptr)
      std::rethrow_exception(std::exchange(thrown_here(), nullptr));
#endif
  }
  outcome<void> finish(gsort_status status) const {
    rethrow();
    if (status == GSORT_OK) return outcome<void>();
    return Failures::template failed<void>(last_failure(status));
  }
  template <class T>
  outcome<T> finish(gsort_status status, T &&value) const {
    rethrow();
    if (status == GSORT_OK) return std::move(value);
    return Failures::template failed<T>(last_failure(status));
  }
  template <class T>
  outcome<T> lengths(const char *name, std::size_t has, const char *other, std::size_t needs) const {
    char text[160];
    std::snprintf(text, sizeof text, "%s has %zu elements and %s has %zu; pass as many", name, has, other, needs);
    return Failures::template failed<T>(failure(GSORT_ERROR_INVALID_ARGUMENT, text));
  }
  template <class T>
  outcome<T> too_short(std::size_t elements, const rows &shape) const {
    char text[200];
    std::snprintf(text, sizeof text, "in has %zu elements, too few for %zu rows of %zu columns %zu elements apart",
                  elements, shape.count, shape.columns, shape.stride);
    return Failures::template failed<T>(failure(GSORT_ERROR_INVALID_ARGUMENT, text));
  }

  template <class T>
  static bool make_room(std::vector<T> &vector, std::size_t n) {
#if GSORT_HPP_EXCEPTIONS
    try {
      vector.resize(n);
    } catch (const std::exception &) {
      return false;
    }
#else
    vector.resize(n);
#endif
    return true;
  }
  static failure no_room() { return failure(GSORT_ERROR_OUT_OF_MEMORY, "host memory ran out; free some memory"); }
  // A vector that `call` fills.
  template <class T, class Call>
  outcome<std::vector<T>> vector_of(std::size_t n, Call &&call) const {
    std::vector<T> out;
    if (!make_room(out, n)) return Failures::template failed<std::vector<T>>(no_room());
    const gsort_status status = call(span<T>(out.data(), n));
    return finish(status, std::move(out));
  }
  template <class In, class Index, class Call>
  outcome<top<detail::element_of<const In>, Index>> top_of(std::size_t n, Call &&call) const {
    using element = detail::element_of<const In>;
    top<element, Index> out;
    if (!make_room(out.values, n) || !make_room(out.indices, n))
      return Failures::template failed<top<element, Index>>(no_room());
    const gsort_status status = call(span<element>(out.values.data(), n), span<Index>(out.indices.data(), n));
    return finish(status, std::move(out));
  }

  template <class Keys, class Out>
  gsort_status run_argsort(const Keys &keys, Out &out, order o) const {
    return gsort_argsort(get(), detail::type_of<const Keys>(), std::data(keys), std::size(keys),
                         detail::index_type_of<Out>(), detail::output(out), flags(o));
  }
  template <class Keys, class Out>
  gsort_status run_rank(const Keys &keys, Out &out, order o) const {
    return gsort_rank(get(), detail::type_of<const Keys>(), std::data(keys), std::size(keys),
                      detail::index_type_of<Out>(), detail::output(out), flags(o));
  }
  template <class A, class B, class Out>
  gsort_status run_merge(const A &a, const B &b, Out &out, order o) const {
    same_type<A, B>();
    same_type<A, Out>();
    return gsort_merge(get(), detail::type_of<const A>(), std::data(a), std::size(a), std::data(b), std::size(b),
                       detail::output(out), flags(o));
  }
  template <class In, class Values, class Indices>
  gsort_status run_topk(const In &in, std::size_t k, Values &values, Indices &indices, pick p) const {
    same_type<In, Values>();
    return gsort_topk(get(), detail::type_of<const In>(), std::data(in), std::size(in), k, detail::output(values),
                      detail::index_type_of<Indices>(), detail::output(indices), flags(p));
  }
  template <class In, class Values, class Indices>
  gsort_status run_topk_rows(const In &in, const rows &shape, std::size_t k, Values &values, Indices &indices,
                             pick p) const {
    same_type<In, Values>();
    return gsort_topk_rows(get(), detail::type_of<const In>(), std::data(in), shape.count, shape.columns, shape.stride,
                           k, detail::output(values), detail::index_type_of<Indices>(), detail::output(indices),
                           flags(p));
  }
  template <class In, class Offsets, class Values, class Indices>
  gsort_status run_topk_segments(const In &in, const Offsets &offsets, std::size_t k, Values &values, Indices &indices,
                                 pick p) const {
    same_type<In, Values>();
    return gsort_topk_segments(get(), detail::type_of<const In>(), std::data(in), std::size(in), offsets_of(offsets),
                               segments_of(offsets), k, detail::output(values), detail::index_type_of<Indices>(),
                               detail::output(indices), flags(p));
  }
  template <class In>
  gsort_status reduce(std::uint32_t op, const In &in, void *out, nans where) const {
    return gsort_reduce(get(), op, detail::type_of<const In>(), std::data(in), std::size(in), out, flags(where));
  }
  template <class T, class In>
  outcome<std::optional<T>> extreme(std::uint32_t op, const In &in, nans where) const {
    T out = {};
    const gsort_status status = reduce(op, in, &out, where);
    return finish(status, std::size(in) == 0 ? std::optional<T>() : std::optional<T>(out));
  }
  template <class In, class Out>
  gsort_status run_scan(const In &in, Out &out, std::uint32_t how) const {
    same_type<In, Out>();
    return gsort_scan(get(), detail::type_of<const In>(), std::data(in), detail::output(out), std::size(in), how);
  }
  template <class In>
  outcome<std::vector<detail::element_of<const In>>> scanned(const In &in, std::uint32_t how) const {
    using element = detail::element_of<const In>;
    return vector_of<element>(std::size(in), [&](span<element> out) { return run_scan(in, out, how); });
  }

  std::unique_ptr<watcher> watcher_;  // destroyed after the handle, which calls it
  std::unique_ptr<gsort, destroyer> handle_;
};

}  // namespace gsort_hpp

/** The opaque handle of the C interface, in which the names of C++ stand. There are no objects of it. */
struct gsort {
  gsort() = delete;
#if GSORT_HPP_EXCEPTIONS
  using sorter = gsort_hpp::basic_sorter<gsort_hpp::throwing>; /**< failures are thrown */
  using error = gsort_hpp::error;                              /**< what is thrown */
#endif
  using nothrow_sorter = gsort_hpp::basic_sorter<gsort_hpp::returning>; /**< failures are returned */
  template <class T>
  using result = gsort_hpp::result<T>; /**< see gsort_hpp::result */
  using failure = gsort_hpp::failure;  /**< see gsort_hpp::failure */
  using options = gsort_hpp::options;  /**< see gsort_hpp::options */
  using order = gsort_hpp::order;      /**< see gsort_hpp::order */
  using pick = gsort_hpp::pick;        /**< see gsort_hpp::pick */
  using nans = gsort_hpp::nans;        /**< see gsort_hpp::nans */
  using rows = gsort_hpp::rows;        /**< see gsort_hpp::rows */
  using f16 = gsort_hpp::f16;          /**< see gsort_hpp::f16 */
  using bf16 = gsort_hpp::bf16;        /**< see gsort_hpp::bf16 */
  template <class T>
  using span = gsort_hpp::span<T>; /**< see gsort_hpp::span */
  template <class T, class Index>
  using top = gsort_hpp::top<T, Index>; /**< see gsort_hpp::top */
};

#endif /* GSORT_HPP */
