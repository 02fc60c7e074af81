// SPDX-License-Identifier: MIT OR Apache-2.0
// sum::launch(): exact sums and means bit for bit, minima, maxima and their places.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/half.h"
#include "core/superaccumulator.h"
#include "cuda/engine/workspace.h"
#include "cuda/sum/launch.h"
#include "cuda/sum/plan.h"
#include "unit_cuda/launch_harness.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sum;

double double_at(gsort_dtype t, const Bytes &bytes, uint64_t i) {
  const uint64_t bits = bits_at(bytes, dtype_bytes(t), i);
  if (t == GSORT_F64) return double_of_bits(bits);
  if (t == GSORT_F16) return Half::to_double(static_cast<uint16_t>(bits));
  if (t == GSORT_BF16) return BFloat16::to_double(static_cast<uint16_t>(bits));
  const uint32_t word = static_cast<uint32_t>(bits);
  float x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

struct Reference {
  uint64_t sum, mean;
};

Reference reference_of(gsort_dtype t, const Bytes &in) {
  const uint64_t n = in.size() / dtype_bytes(t);
  Superaccumulator total;
  total.clear();
  __int128 integers = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (is_float(t)) {
      total.add(double_at(t, in, i));
    } else {
      const uint64_t bits = bits_at(in, dtype_bytes(t), i);
      const uint32_t shift = 64 - 8 * dtype_bytes(t);
      const bool is_signed = dtype_facts(t).kind == Kind::kSigned;
      integers +=
          is_signed ? static_cast<__int128>(static_cast<int64_t>(bits << shift) >> shift) : static_cast<__int128>(bits);
    }
  }
  if (!is_float(t)) {
    total.add_int128(static_cast<int64_t>(integers >> 64), static_cast<uint64_t>(integers));
    total.note(kSumNotMinus0, n);
  }
  const uint64_t sum = is_float(t) ? bits_of_double(total.sum()) : static_cast<uint64_t>(integers);
  return {sum, bits_of_double(total.mean(n))};
}

class ReduceTest : public LaunchTest {
 protected:
  Request request(gsort_dtype t, const DeviceArray &in, uint64_t n, DeviceArray *out, uint32_t reduce_op) {
    Request r{};
    r.operation = reduce_op == 0 ? Operation::kSum : Operation::kReduce;
    r.order = {t, false, false};
    r.n = n;
    r.in = in.data();
    r.out = out->data();
    r.reduce_op = reduce_op;
    return r;
  }

  uint64_t result(const Request &r, const DeviceArray &out) {
    run(sum::make_plan(r, facts_).workspace_bytes, r, sum::launch);
    const Bytes bytes = out.read();
    return bits_at(bytes, static_cast<uint32_t>(bytes.size()), 0);
  }

  void check_sums(gsort_dtype t, const Bytes &content, uint64_t offset) {
    const uint64_t n = content.size() / dtype_bytes(t);
    const DeviceArray in(content, offset * dtype_bytes(t));
    const Reference expected = reference_of(t, content);
    DeviceArray out(8, 0);
    ASSERT_EQ(expected.sum, result(request(t, in, n, &out, 0), out)) << dtype_facts(t).name << " n " << n;
    ASSERT_EQ(expected.mean, result(request(t, in, n, &out, GSORT_MEAN), out))
        << "mean of " << dtype_facts(t).name << " n " << n;
    ASSERT_EQ(content, in.read());
  }
};

constexpr gsort_dtype kTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                  GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

// Around vectors, one block's tile, a cluster's tiles and a grid, in bytes of input.
std::vector<uint64_t> lengths(uint32_t width) {
  std::vector<uint64_t> all;
  for (uint64_t n = 1; n <= 36; n++) all.push_back(n);
  const uint64_t tile = Tuning::tile_bytes(width == 8 ? DoubleTuning::kThreads : Tuning::kThreads) / width;
  const uint64_t cluster = tile * Tuning::kClusterBlocksMax;
  for (const uint64_t n : {tile / 4, tile, 2 * tile, 3 * tile, 5 * tile, cluster, 3 * cluster})
    for (const int d : {-1, 0, 17}) all.push_back(n + static_cast<uint64_t>(d));
  return all;
}

uint64_t all_bits(gsort_dtype t) {
  return dtype_bytes(t) == 8 ? UINT64_MAX : (uint64_t{1} << (8 * dtype_bytes(t))) - 1;
}

TEST_F(ReduceTest, SumsOfIntegers) {
  for (const gsort_dtype t : kTypes) {
    if (is_float(t)) continue;
    for (const uint64_t n : lengths(dtype_bytes(t))) {
      check_sums(t, random_bytes(dtype_bytes(t), n, all_bits(t), n), n % 16);
      check_sums(t, Bytes(n * dtype_bytes(t), 0xff), 0);
      if (HasFatalFailure()) return;
    }
  }
}

// A kind of float input, told apart by what makes a sum hard.
struct FloatInput {
  const char *name;
  std::function<uint64_t(gsort_dtype t, uint64_t i, uint64_t n, uint64_t random)> bits;
};

uint64_t exponent_mask(gsort_dtype t) { return all_bits(t) / 2 - ((uint64_t{1} << dtype_facts(t).mantissa_bits) - 1); }
uint64_t fraction_mask(gsort_dtype t) { return (uint64_t{1} << dtype_facts(t).mantissa_bits) - 1; }
uint64_t sign_bit(gsort_dtype t) { return all_bits(t) / 2 + 1; }
// A float with this exponent, relative to that of 1.0, clamped to the type's range, random fraction and sign.
uint64_t scaled(gsort_dtype t, int64_t exponent, uint64_t random) {
  const int64_t top = static_cast<int64_t>(exponent_mask(t) >> dtype_facts(t).mantissa_bits);
  const int64_t field = std::clamp<int64_t>(top / 2 + exponent, 0, top - 1);
  return static_cast<uint64_t>(field) << dtype_facts(t).mantissa_bits | (random & (fraction_mask(t) | sign_bit(t)));
}

const FloatInput kFloatInputs[] = {
    {"unit range", [](gsort_dtype t, uint64_t, uint64_t,
                      uint64_t r) { return scaled(t, -__builtin_clzll(r | 1), r) & ~sign_bit(t); }},
    {"both signs",
     [](gsort_dtype t, uint64_t, uint64_t, uint64_t r) { return scaled(t, static_cast<int64_t>(r >> 60), r); }},
    {"any finite",
     [](gsort_dtype t, uint64_t, uint64_t, uint64_t r) {
       const uint64_t bits = r & all_bits(t);
       return (bits & exponent_mask(t)) == exponent_mask(t) ? bits & ~(exponent_mask(t) / 2 + 1) & all_bits(t) : bits;
     }},
    {"any bits, few specials",
     [](gsort_dtype t, uint64_t i, uint64_t n, uint64_t r) {
       if (i == n / 2 && n % 3 == 0) return exponent_mask(t);
       if (i == n / 3 && n % 2 == 0) return exponent_mask(t) | sign_bit(t);
       if (i == n - 1 && n % 5 == 0) return exponent_mask(t) | 1;
       return scaled(t, static_cast<int64_t>(r >> 58), r);
     }},
    {"-0", [](gsort_dtype t, uint64_t, uint64_t, uint64_t) { return sign_bit(t); }},
    {"-0 and one +0", [](gsort_dtype t, uint64_t i, uint64_t n, uint64_t) { return i == n / 2 ? 0 : sign_bit(t); }},
    {"half zeros", [](gsort_dtype t, uint64_t, uint64_t, uint64_t r) { return (r >> 63) ? 0 : scaled(t, 0, r); }},
    {"subnormals", [](gsort_dtype t, uint64_t, uint64_t, uint64_t r) { return r & (fraction_mask(t) | sign_bit(t)); }},
    {"cancelling pairs",
     [](gsort_dtype t, uint64_t i, uint64_t n, uint64_t) {
       std::mt19937_64 pair(i / 2);
       const uint64_t bits = scaled(t, static_cast<int64_t>(pair() % 2000) - 1000, pair() >> 1) & ~sign_bit(t);
       return i == n - 1 ? sign_bit(t) | 1 : i % 2 == 0 ? bits : bits | sign_bit(t);
     }},
    {"greatest", [](gsort_dtype t, uint64_t, uint64_t, uint64_t) { return exponent_mask(t) - 1; }},
    {"huge and tiny",
     [](gsort_dtype t, uint64_t i, uint64_t, uint64_t r) { return scaled(t, i % 2 == 0 ? 100 : -100, r); }},
    {"rising exponents", [](gsort_dtype t, uint64_t i, uint64_t n,
                            uint64_t r) { return scaled(t, static_cast<int64_t>(i * 200 / n) - 100, r); }},
    {"a few far off",
     [](gsort_dtype t, uint64_t, uint64_t, uint64_t r) {
       return scaled(t, (r >> 54) != 0 ? 0 : static_cast<int64_t>(r >> 32 & 255) - 128, r);
     }},
    {"one at the top, rest at the bottom",
     [](gsort_dtype t, uint64_t i, uint64_t n, uint64_t r) { return i == n / 2 ? exponent_mask(t) - 1 : r & 3; }},
    {"sum halfway between doubles",
     [](gsort_dtype t, uint64_t i, uint64_t n, uint64_t) {
       return i == 0 ? scaled(t, 40, 0) : i == n - 1 ? scaled(t, -13, 0) : 0;
     }},
};

Bytes float_content(const FloatInput &input, gsort_dtype t, uint64_t n) {
  std::mt19937_64 random(n);
  Bytes content(n * dtype_bytes(t));
  for (uint64_t i = 0; i < n; i++) set_bits(&content, dtype_bytes(t), i, input.bits(t, i, n, random()) & all_bits(t));
  return content;
}

TEST_F(ReduceTest, SumsOfFloats) {
  for (const gsort_dtype t : kTypes) {
    if (!is_float(t)) continue;
    for (const FloatInput &input : kFloatInputs) {
      SCOPED_TRACE(input.name);
      for (const uint64_t n : lengths(dtype_bytes(t))) {
        check_sums(t, float_content(input, t, n), n % 4);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One multiprocessor's blocks take all tiles, so that every thread empties its levels and flushes many times.
TEST_F(ReduceTest, ManyTilesAThread) {
  facts_.multiprocessors = 1;
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64, GSORT_U8, GSORT_I64}) {
    const uint64_t n = (uint64_t{1} << 20) + 11;
    if (!is_float(t)) check_sums(t, random_bytes(dtype_bytes(t), n, all_bits(t), 3), 1);
    for (const FloatInput &input : kFloatInputs) {
      SCOPED_TRACE(input.name);
      if (is_float(t)) check_sums(t, float_content(input, t, n), 1);
      if (HasFatalFailure()) return;
    }
  }
  // Enough for the integers behind the levels, and for the bins, to be flushed too.
  for (const gsort_dtype t : {GSORT_F32, GSORT_BF16, GSORT_F64})
    for (const uint32_t input : {1u, 2u}) {
      SCOPED_TRACE(kFloatInputs[input].name);
      check_sums(t, float_content(kFloatInputs[input], t, (uint64_t{19} << 20) + 1), 1);
      if (HasFatalFailure()) return;
    }
}

// The last block must see what all others added: the same bits every time, with all blocks arriving close together.
TEST_F(ReduceTest, RepeatsGiveTheSameBits) {
  for (const uint64_t n : {uint64_t{50'000}, uint64_t{1} << 18, (uint64_t{1} << 21) + 5}) {
    const Bytes content = float_content(kFloatInputs[1], GSORT_F32, n);
    const DeviceArray in(content, 4);
    DeviceArray out(8, 0), index(8, 0);
    const uint64_t expected = reference_of(GSORT_F32, content).sum;
    const Request r = request(GSORT_F32, in, n, &out, 0), arg = request(GSORT_F32, in, n, &index, GSORT_ARGMAX);
    const uint64_t first_index = result(arg, index);
    DeviceArray workspace(sum::make_plan(r, facts_).workspace_bytes, 0);
    const Bytes zeros(kStandingBytes, 0);
    const DeviceArray standing(zeros, 0);
    for (void *const counters : {static_cast<void *>(nullptr), standing.data()}) {
      LaunchContext with = context();
      with.standing = counters;
      for (int repeat = 0; repeat < 1000; repeat++) {
        sum::launch(with, r, workspace.data());
        sum::launch(with, arg, workspace.data());
        if (repeat % 50 != 0) continue;
        ASSERT_EQ(expected, bits_at(out.read(), 8, 0)) << "repeat " << repeat;
        ASSERT_EQ(first_index, bits_at(index.read(), 8, 0)) << "repeat " << repeat;
      }
    }
    EXPECT_EQ(zeros, standing.read()) << "counters are to be left zero";
  }
}

template <class U>
void reference_extreme(gsort_dtype t, const Bytes &in, uint32_t op, bool nan_last, uint64_t *value, uint64_t *index) {
  const KeyCodec<U> codec = make_codec<U>({t, op == GSORT_MAX || op == GSORT_ARGMAX, nan_last});
  const std::vector<U> keys = values_of<U>(in);
  *index = 0;
  for (uint64_t i = 1; i < keys.size(); i++)
    if (codec.encode(keys[i]) < codec.encode(keys[*index])) *index = i;
  *value = keys[*index];
}

TEST_F(ReduceTest, ExtremesAndTheirPlaces) {
  for (const gsort_dtype t : kTypes) {
    const uint32_t width = dtype_bytes(t);
    for (const uint64_t n : lengths(width)) {
      // Uniform, few values (many ties), all equal to the least and to the greatest key, NaN only.
      const uint64_t patterns[] = {all_bits(t), 0x8001, 0};
      for (uint32_t kind = 0; kind < 6; kind++) {
        Bytes content = random_bytes(width, n, patterns[std::min(kind, 2u)] & all_bits(t), n + kind);
        if (kind == 3) std::fill(content.begin(), content.end(), 0xff);
        if (kind == 4) std::fill(content.begin(), content.end(), 0x7f);
        if (kind == 5) set_bits(&content, width, n - 1, is_float(t) ? exponent_mask(t) : all_bits(t));
        const DeviceArray in(content, n % 16 * width);
        for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX}) {
          for (const bool nan_last : {false, true}) {
            if (nan_last && !is_float(t)) continue;
            const bool wants_index = op == GSORT_ARGMIN || op == GSORT_ARGMAX;
            DeviceArray out(wants_index ? 8 : width, 0);
            Request r = request(t, in, n, &out, op);
            r.order.nan_last = nan_last;
            uint64_t value = 0, index = 0;
            with_width(width, [&](auto tag) {
              reference_extreme<typename decltype(tag)::type>(t, content, op, nan_last, &value, &index);
            });
            ASSERT_EQ(wants_index ? index : value, result(r, out))
                << dtype_facts(t).name << " n " << n << " kind " << kind << " op " << op << " nan_last " << nan_last;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gsort_test
