// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and means: each thread adds exactly, so how the array is shared among them does not show.
#include <cstdint>

#include "core/superaccumulator.h"
#include "cpu/engine/float_environment.h"
#include "cpu/engine/operations.h"
#include "cpu/sum/exact_sum.h"
#include "cpu/sum/share.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kSumChunkItems = 1 << 18;  // 2^18 additions of 32 bits stay within 64
static_assert(kShareItemsMax <= kSumChunkItems, "what others share is added as chunks are");
constexpr uint64_t kSumFewFloats = 1 << 11;         // whose sum a pair of doubles mostly holds
constexpr uint64_t kSumFloatsOfThread = 1 << 14;    // three to ten microseconds of work
constexpr uint64_t kSumIntegersOfThread = 1 << 16;  // the same

// The exact sum of up to kSumChunkItems integers; if `wraps`, only its lower 64 bits need be right.
template <class T>
Int128 sum_integers(const T *x, uint64_t count, bool wraps) {
  constexpr IntegerType type =
      sizeof(T) == 8 ? IntegerType::k64 : (std::is_signed<T>::value ? IntegerType::kI32 : IntegerType::kU32);
  const IntegerSum kernel = sizeof(T) == 4 || (sizeof(T) == 8 && wraps) ? integer_sum_kernel(type) : nullptr;
  if (kernel != nullptr) {
    const uint64_t sum = kernel(x, count);
    return std::is_signed<T>::value ? static_cast<Int128>(static_cast<int64_t>(sum)) : static_cast<Int128>(sum);
  }
  int64_t high = 0, low = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 8) {
      high += static_cast<int64_t>(x[i] >> 32);  // of a signed type: with the sign
      low += static_cast<int64_t>(static_cast<uint64_t>(x[i]) & 0xffffffffu);
    } else {
      low += static_cast<int64_t>(x[i]);
    }
  }
  return static_cast<Int128>(high) * (int64_t{1} << 32) + low;
}

template <class F>
void with_integer_type(gsort_dtype t, F &&f) {
  const bool is_signed = dtype_facts(t).kind == Kind::kSigned;
  with_width(dtype_bytes(t), [&](auto tag) {
    using U = typename decltype(tag)::type;
    if (is_signed) {
      f(TypeTag<std::make_signed_t<U>>{});
    } else {
      f(tag);
    }
  });
}

// The same of integers of a type. On its own, for size.
__attribute__((noinline)) Int128 sum_integers_of(gsort_dtype t, const void *in, Range range, bool wraps) {
  Int128 sum = 0;
  with_integer_type(t, [&](auto tag) {
    sum = sum_integers(static_cast<const typename decltype(tag)::type *>(in) + range.begin, range.size(), wraps);
  });
  return sum;
}

// The exact sum of an array of integers, or its lower 64 bits.
Int128 integer_sum(Context &context, const Request &r, bool wraps) {
  context.limit_threads(r.n, kSumIntegersOfThread);
  const uint64_t chunks = context.parts_for(r.n, kSumIntegersOfThread, kSumChunkItems);
  const uint64_t workers = min_u64(chunks, uint64_t{context.threads()});
  Int128 alone = 0;
  HostBuffer<Int128> of_workers;
  if (workers > 1) of_workers = HostBuffer<Int128>(context.memory, workers);
  Int128 *const totals = workers > 1 ? of_workers.data() : &alone;
  context.begin(r.n);
  for (uint64_t worker = 0; worker < workers; ++worker) totals[worker] = 0;
  context.for_each(chunks, [&](uint64_t chunk, uint32_t worker) {
    if (context.stopped()) return;
    const Range range = part_of(r.n, chunk, chunks, kLineBytes);
    totals[worker] += sum_integers_of(r.order.dtype, r.in, range, wraps);
    context.advance(range.size());
  });
  context.throw_if_stopped();
  Int128 total = totals[0];
  for (uint64_t worker = 1; worker < workers; ++worker) total += totals[worker];
  return total;
}

// What the threads' plain sums are together, if that is all they hold.
bool finish_plain(const HostBuffer<SumScratch> &scratch, uint64_t workers, uint64_t n, bool mean, double &result) {
  PlainSums total;
  for (uint64_t worker = 0; worker < workers; ++worker)
    if (!scratch[worker].is_plain || !total.add(scratch[worker].plain)) return false;
  return total.finish(n, mean, result);
}

// The sum or mean of floats.
double finish_floats(Context &context, const Request &r, bool mean) {
  double result = 0;
  bool may_be_plain = !r.rounds;
  if (may_be_plain && r.n > 0 && r.n <= kSumFewFloats) {
    PlainSums sums;
    may_be_plain = add_few_floats(r.order.dtype, r.in, r.n, sums);
    if (may_be_plain && sums.finish(r.n, mean, result)) {
      context.begin(r.n);
      context.advance(r.n);
      return result;
    }
  }
  context.limit_threads(r.n, kSumFloatsOfThread);
  const uint64_t chunks = context.parts_for(r.n, kSumFloatsOfThread, kSumChunkItems);
  const uint64_t workers = min_u64(chunks, uint64_t{context.threads()});
  const HostBuffer<SumScratch> scratch(context.memory, workers);
  context.begin(r.n);
  for (uint64_t worker = 0; worker < workers; ++worker) scratch[worker].clear();
  context.for_each(chunks, [&](uint64_t chunk, uint32_t worker) {
    if (context.stopped()) return;
    const Range range = part_of(r.n, chunk, chunks, kFoldItems);
    add_floats(r.order.dtype, r.in, range, scratch[worker], may_be_plain);
    context.advance(range.size());
  });
  context.throw_if_stopped();
  if (finish_plain(scratch, workers, r.n, mean, result)) return result;
  for (uint64_t worker = 0; worker < workers; ++worker) scratch[worker].gather();
  PlainSums rounded;
  if (workers == 1 && scratch[0].limbs.round(rounded.high, rounded.low) && rounded.finish(r.n, mean, result))
    return result;
  Superaccumulator &total = scratch[0].gathered();
  for (uint64_t worker = 1; worker < workers; ++worker) total.add(scratch[worker].gathered());
  const bool no_special = (total.flags() & ~kSumNotMinus0) == 0;
  if (r.n > 0 && no_special && total.is_zero())
    return double_of_bits(all_minus_zero(r.order.dtype, r.in, r.n) ? kDoubleSign : 0);
  return mean ? total.mean(r.n) : total.sum();
}

double integer_mean(Int128 sum, uint64_t n) {
  constexpr Int128 exact = Int128{1} << 53;  // up to here integers are doubles, whose quotient is rounded once
  if (sum >= -exact && sum <= exact && n > 0 && n <= static_cast<uint64_t>(exact))
    return static_cast<double>(static_cast<int64_t>(sum)) / static_cast<double>(n);
  Superaccumulator total;
  total.clear();
  total.note(kSumNotMinus0, n);
  total.add_int128(static_cast<int64_t>(sum >> 64), static_cast<uint64_t>(sum));
  return total.mean(n);
}

template <bool kMean>
bool sum_few_floats(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) {
  if (n > kSumFewFloats) return false;
  const FloatEnvironment float_environment;
  PlainSums sums;
  double result = 0;
  rounds = !add_few_floats(t, in, n, sums);
  if (rounds && !add_few_far_floats(t, in, n, kMean, sums)) return false;
  if (!sums.finish(n, kMean, result)) return false;
  *static_cast<double *>(out) = result;
  return true;
}

}  // namespace

bool sum_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept {
  if (is_float(t)) return sum_few_floats<false>(t, in, n, out, rounds);
  with_integer_type(t, [&](auto tag) {
    const auto *const x = static_cast<const typename decltype(tag)::type *>(in);
    *static_cast<uint64_t *>(out) = static_cast<uint64_t>(sum_integers(x, n, true));
  });
  return true;
}

bool mean_few(gsort_dtype t, const void *in, uint64_t n, void *out, bool &rounds) noexcept {
  if (is_float(t)) return sum_few_floats<true>(t, in, n, out, rounds);
  const FloatEnvironment float_environment;
  *static_cast<double *>(out) = integer_mean(sum_integers_of(t, in, {0, n}, false), n);
  return true;
}

void cpu_sum(Context &context, const Request &request) {
  if (is_float(request.order.dtype)) {
    *static_cast<double *>(request.out) = finish_floats(context, request, false);
  } else {
    *static_cast<uint64_t *>(request.out) = static_cast<uint64_t>(integer_sum(context, request, true));
  }
}

void cpu_mean(Context &context, const Request &request) {
  double *const out = static_cast<double *>(request.out);
  if (is_float(request.order.dtype)) {
    *out = finish_floats(context, request, true);
    return;
  }
  *out = integer_mean(integer_sum(context, request, false), request.n);
}

SumShare::SumShare(HostMemory &memory, const Request &request, uint32_t workers) : request_(request) {
  if (is_float(request.order.dtype)) {
    floats_ = HostBuffer<SumScratch>(memory, workers);
    for (uint32_t worker = 0; worker < workers; ++worker) floats_[worker].clear();
  } else {
    integers_ = HostBuffer<Int128>(memory, workers);
    for (uint32_t worker = 0; worker < workers; ++worker) integers_[worker] = 0;
  }
}

void SumShare::add(uint64_t begin, uint64_t end, uint32_t worker) noexcept {
  const FloatEnvironment float_environment;
  const gsort_dtype t = request_.order.dtype;
  if (is_float(t)) return add_floats(t, request_.in, {begin, end}, floats_[worker]);
  const bool wraps = request_.operation == Operation::kSum;
  integers_[worker] += sum_integers_of(t, request_.in, {begin, end}, wraps);
}

PartialSum SumShare::sum(uint64_t begin, uint64_t end) noexcept {
  const FloatEnvironment float_environment;
  PartialSum partial{};
  const gsort_dtype t = request_.order.dtype;
  if (!is_float(t)) {
    Int128 total = 0;
    for (uint64_t worker = 0; worker < integers_.count(); ++worker) total += integers_[worker];
    partial.limbs[0] = static_cast<int64_t>(total), partial.limbs[1] = static_cast<int64_t>(total >> 64);
    return partial;
  }
  for (uint64_t worker = 0; worker < floats_.count(); ++worker) floats_[worker].gather();
  Superaccumulator &total = floats_[0].gathered();
  for (uint64_t worker = 1; worker < floats_.count(); ++worker) total.add(floats_[worker].gathered());
  // Of a sum that is no zero the flag decides nothing.
  const bool no_special = (total.flags() & ~kSumNotMinus0) == 0;
  const char *const first = static_cast<const char *>(request_.in) + begin * dtype_bytes(t);
  if (!no_special || !total.is_zero() || !all_minus_zero(t, first, end - begin)) total.note(kSumNotMinus0, 0);
  total.normalise();
  for (uint32_t i = 0; i < kSumLimbs; ++i) partial.limbs[i] = total.limbs()[i];
  partial.flags = total.flags();
  return partial;
}

}  // namespace gsort_internal
