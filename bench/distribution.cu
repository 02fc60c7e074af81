// SPDX-License-Identifier: MIT OR Apache-2.0
#include "distribution.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace gsort_bench {
namespace {

constexpr int kBlockThreads = 256;
constexpr uint64_t kHotPrefix15 = uint64_t{0x2d5a} << 49;  // any 15-bit prefix serves
constexpr uint64_t kBelowPrefix15 = (uint64_t{1} << 49) - 1;

struct Source {
  Distribution d;
  uint64_t n;
  uint64_t seed;
};

// Finalizer of splitmix64: a bijection whose output bits each depend on every input bit.
__device__ uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ uint64_t random_word(const Source &src, uint64_t i, uint32_t stream) {
  return mix(mix(src.seed + i * 0x9e3779b97f4a7c15ull) + stream * 0xd1342543de82ef95ull);
}

__device__ double unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Ascends with `place`; neighbours differ by about 2^64 / n, with noise that keeps the order.
__device__ uint64_t ascending_word(const Source &src, uint64_t place, uint64_t places) {
  const uint64_t step = UINT64_MAX / places;
  return place * step + random_word(src, place, 0) % (step == 0 ? 1 : step);
}

__device__ uint64_t anded_word(const Source &src, uint64_t i, uint32_t ands) {
  uint64_t word = random_word(src, i, 0);
  for (uint32_t a = 1; a <= ands; ++a) word &= random_word(src, i, a);
  return word;
}

__device__ uint64_t zipf_rank(const Source &src, uint64_t i) {
  return static_cast<uint64_t>(exp2(20.0 * unit(random_word(src, i, 0)))) - 1;
}

__device__ uint64_t staggered_word(const Source &src, uint64_t i) {
  constexpr uint64_t blocks = 128;
  const uint64_t block = i / ((src.n + blocks - 1) / blocks);
  const uint64_t place = block < blocks / 2 ? 2 * block + 1 : 2 * block - blocks;
  return (place << 57) | (random_word(src, i, 0) >> 7);
}

__device__ uint64_t spread_bits16(uint64_t x) {
  uint64_t spread = 0;
  for (int b = 0; b < 16; ++b) spread |= ((x >> b) & 1) << (2 * b);
  return spread;
}

__device__ double normal(const Source &src, uint64_t i) {
  const double radius = sqrt(-2.0 * log(1.0 - unit(random_word(src, i, 0))));
  return radius * cospi(2.0 * unit(random_word(src, i, 1)));
}

// Eight letters, the first in the top byte, drawn by how often English words have them.
__device__ uint64_t text_word(const Source &src, uint64_t i) {
  constexpr char letters[] = "etaoinshrdlucmfywgpbvkxqjz";
  constexpr double harmonic = 3.8544;  // of 26: letter r has a probability of about 1 / (r + 1)
  uint64_t word = 0;
  for (uint32_t place = 0; place < 8; ++place) {
    const double drawn = harmonic * unit(random_word(src, i, place));
    double sum = 0;
    uint32_t r = 0;
    while (r < 25 && (sum += 1.0 / (r + 1)) < drawn) ++r;
    word = word << 8 | static_cast<uint64_t>(letters[r]);
  }
  return word;
}

// Microseconds since some day: more of them by day than by night and on workdays.
__device__ uint64_t timestamp(const Source &src, uint64_t i) {
  const uint64_t day = random_word(src, i, 0) % 3650;
  const uint64_t workday = day % 7 < 5 || random_word(src, i, 1) % 3 == 0 ? day : day - day % 7;
  const double hour = fmin(23.9, fmax(0.0, 14.0 + 4.0 * normal(src, i)));
  return 1000000ull * (1700000000ull + workday * 86400 + static_cast<uint64_t>(hour * 3600)) +
         random_word(src, i, 2) % 1000000;
}

__device__ uint64_t cluster_word(const Source &src, uint64_t i) {
  const uint64_t centre = mix(random_word(src, i, 2) % 1000);
  return centre + static_cast<uint64_t>(static_cast<int64_t>(normal(src, i) * 0x1p44));
}

// Distributions of whole numbers: the number itself, small, not a word.
__device__ uint64_t small_number(const Source &src, uint64_t i) {
  switch (src.d) {
    case Distribution::kPrices:
      return static_cast<uint64_t>(100.0 * exp(3.0 + normal(src, i)) + 0.5);
    case Distribution::kLogSizes:
      return static_cast<uint64_t>(exp(9.0 + 2.5 * normal(src, i)));
    case Distribution::kPercents:
      return static_cast<uint64_t>(fmin(100.0, fmax(0.0, 50.0 + 15.0 * normal(src, i))));
    default:  // kZipf
      return zipf_rank(src, i);
  }
}

__device__ bool is_small_number(Distribution d) {
  return d == Distribution::kPrices || d == Distribution::kLogSizes || d == Distribution::kPercents ||
         d == Distribution::kZipf;
}

__device__ uint64_t bucket_word(const Source &src, uint64_t i) {
  const uint64_t word = random_word(src, i, 0);
  const uint64_t choice = random_word(src, i, 1);
  switch (src.d) {
    case Distribution::kPrefix8:
      return (uint64_t{0x5a} << 56) | (word >> 8);
    case Distribution::kPrefix15:
      return kHotPrefix15 | (word & kBelowPrefix15);
    case Distribution::kHotBucket:
      return (choice & 0xfff) == 0 ? word : kHotPrefix15 | (word & kBelowPrefix15);
    case Distribution::kHalfBucket:
      return (choice & 1) == 0 ? word : kHotPrefix15 | (word & kBelowPrefix15);
    default:  // kHalvingBuckets
      return (static_cast<uint64_t>(__clzll(static_cast<long long>(choice | 1))) << 56) | (word >> 8);
  }
}

// Words in an order.
__device__ uint64_t ordered_word(const Source &src, uint64_t i) {
  switch (src.d) {
    case Distribution::kSorted:
      return ascending_word(src, i, src.n);
    case Distribution::kReverse:
      return ascending_word(src, src.n - 1 - i, src.n);
    case Distribution::kNearlySorted:
      return random_word(src, i, 0) % 100 == 0 ? random_word(src, i, 1) : ascending_word(src, i, src.n);
    case Distribution::kOrganPipe:
      return ascending_word(src, i < src.n / 2 ? i : src.n - 1 - i, src.n / 2 + 1);
    default:  // kSawtooth
      return ascending_word(src, i & 0xffff, 0x10000);
  }
}

// Words of which 16 bits differ.
__device__ uint64_t bits16_word(const Source &src, uint64_t i) {
  const uint64_t word = random_word(src, i, 0);
  switch (src.d) {
    case Distribution::kBits16Low:
      return (word & 0xffff) << 32;
    case Distribution::kBits16Middle:
      return (word & 0xffff) << 40;
    case Distribution::kBits16High:
      return (word & 0xffff) << 48;
    default:  // kBits16Spread
      return spread_bits16(word) << 32;
  }
}

// Few words, over and over.
__device__ uint64_t repeated_word(const Source &src, uint64_t i) {
  const uint64_t word = random_word(src, i, 0);
  switch (src.d) {
    case Distribution::kConstant:
      return 0x5a5a12345678abcdull;
    case Distribution::kTwoValues:
      return (word & 1) != 0 ? 0xc0ffee0012345678ull : 0x1234567890abcdefull;
    case Distribution::kWordHashes:
      return mix(static_cast<uint64_t>(exp2(16.6 * unit(word))));
    case Distribution::kFew256:
      return mix(word & 0xff);
    case Distribution::kFew65536:
      return mix(word & 0xffff);
    default:  // kFew16777216
      return mix(word & 0xffffff);
  }
}

// Words of the distributions that have a function of their own each.
__device__ uint64_t single_word(const Source &src, uint64_t i) {
  const uint64_t word = random_word(src, i, 0);
  switch (src.d) {
    case Distribution::kAnd1:
      return anded_word(src, i, 1);
    case Distribution::kAnd3:
      return anded_word(src, i, 3);
    case Distribution::kAnd9:
      return anded_word(src, i, 9);
    case Distribution::kZipfScrambled:
      return mix(zipf_rank(src, i));
    case Distribution::kStaggered:
      return staggered_word(src, i);
    case Distribution::kLogUniform:
      return word >> (random_word(src, i, 1) & 31);
    case Distribution::kZeros:
      return random_word(src, i, 1) % 10 != 0 ? 0 : word;
    case Distribution::kText:
      return text_word(src, i);
    case Distribution::kClusters:
      return cluster_word(src, i);
    default:
      return word;
  }
}

// The word of an integer distribution; a type of w bits takes its top w bits, so 32-bit patterns are shifted up.
__device__ uint64_t integer_word(const Source &src, uint64_t i) {
  switch (src.d) {
    case Distribution::kConstant:
    case Distribution::kTwoValues:
    case Distribution::kWordHashes:
    case Distribution::kFew256:
    case Distribution::kFew65536:
    case Distribution::kFew16777216:
      return repeated_word(src, i);
    case Distribution::kSorted:
    case Distribution::kReverse:
    case Distribution::kNearlySorted:
    case Distribution::kOrganPipe:
    case Distribution::kSawtooth:
      return ordered_word(src, i);
    case Distribution::kBits16Low:
    case Distribution::kBits16Middle:
    case Distribution::kBits16High:
    case Distribution::kBits16Spread:
      return bits16_word(src, i);
    case Distribution::kPrefix8:
    case Distribution::kPrefix15:
    case Distribution::kHotBucket:
    case Distribution::kHalfBucket:
    case Distribution::kHalvingBuckets:
      return bucket_word(src, i);
    default:
      return single_word(src, i);
  }
}

__device__ double real_value(const Source &src, uint64_t i) {
  const uint64_t word = random_word(src, i, 0);
  switch (src.d) {
    case Distribution::kNormal:
      return normal(src, i);
    case Distribution::kExponential:
      return -log(1.0 - unit(word));
    case Distribution::kPrices:
      return 0.01 * static_cast<double>(small_number(src, i));
    case Distribution::kZipf:
    case Distribution::kLogSizes:
    case Distribution::kPercents:
      return static_cast<double>(small_number(src, i));
    case Distribution::kTimestamps:
      return 1e-6 * static_cast<double>(timestamp(src, i));
    case Distribution::kZeros:
      return random_word(src, i, 2) % 10 != 0 ? 0.0 : normal(src, i);
    case Distribution::kLogUniform:
      return exp2(60.0 * unit(word) - 30.0);
    case Distribution::kIds32:
      return static_cast<double>(word >> 32);
    case Distribution::kInfinities:
      return word % 1000 == 0 ? unit(random_word(src, i, 1)) : static_cast<double>(INFINITY);
    case Distribution::kNarrow:
      return 1.0 + 0.00003 * unit(word);
    case Distribution::kSampleLow:
      return i % 64 == 0 ? unit(word) : 1000.0 + unit(word);
    case Distribution::kSampleHigh:
      return i % 64 == 0 ? 1000.0 + unit(word) : unit(word);
    default:
      return unit(integer_word(src, i));
  }
}

template <typename T>
struct Maker {  // unsigned integers, which stand for signed ones of their width as well
  static __device__ T make(const Source &src, uint64_t i) {
    if (src.d == Distribution::kNormal) return static_cast<T>(static_cast<int64_t>(normal(src, i) * 0x1p28));
    if (is_small_number(src.d)) return static_cast<T>(small_number(src, i));
    if (src.d == Distribution::kTimestamps) {
      return static_cast<T>(sizeof(T) == 8 ? timestamp(src, i) : timestamp(src, i) / 1000000);
    }
    if (src.d == Distribution::kIds32) return static_cast<T>(random_word(src, i, 0) >> 32);
    return static_cast<T>(integer_word(src, i) >> (64 - 8 * sizeof(T)));
  }
};

template <>
struct Maker<float> {
  static __device__ float make(const Source &src, uint64_t i) {
    const uint32_t word = static_cast<uint32_t>(random_word(src, i, 0));
    if (src.d == Distribution::kNans && (word & 1) != 0) return __uint_as_float(0x7f800001u | (word & 0x807ffffeu));
    return static_cast<float>(real_value(src, i));
  }
};

template <>
struct Maker<double> {
  static __device__ double make(const Source &src, uint64_t i) {
    const uint64_t word = random_word(src, i, 0);
    if (src.d != Distribution::kNans || (word & 1) == 0) return real_value(src, i);
    return __longlong_as_double(static_cast<long long>(0x7ff0000000000001ull | (word & 0x800ffffffffffffeull)));
  }
};

template <>
struct Maker<__half> {
  static __device__ __half make(const Source &src, uint64_t i) { return __float2half(Maker<float>::make(src, i)); }
};

template <>
struct Maker<__nv_bfloat16> {
  static __device__ __nv_bfloat16 make(const Source &src, uint64_t i) {
    return __float2bfloat16(Maker<float>::make(src, i));
  }
};

template <typename T>
__global__ void generate_kernel(Source src, T *out) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < src.n; i += stride) {
    out[i] = Maker<T>::make(src, i);
  }
}

template <typename T>
__global__ void fill_indices_kernel(T *out, uint64_t n, uint64_t period) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = static_cast<T>(period == 0 ? i : i % period);
  }
}

uint32_t grid_blocks(uint64_t n) {
  const uint64_t blocks = (n + kBlockThreads - 1) / kBlockThreads;
  return static_cast<uint32_t>(blocks < 8192 ? blocks : 8192);
}

template <typename T>
cudaError_t generate_as(const Source &src, void *out, cudaStream_t s) {
  generate_kernel<T><<<grid_blocks(src.n), kBlockThreads, 0, s>>>(src, static_cast<T *>(out));
  return cudaGetLastError();
}

}  // namespace

cudaError_t generate(Distribution d, gsort_dtype t, void *out, uint64_t n, uint64_t seed, cudaStream_t s) {
  const Source src{d, n, seed};
  if (n == 0) return cudaSuccess;
  switch (t) {
    case GSORT_F16:
      return generate_as<__half>(src, out, s);
    case GSORT_BF16:
      return generate_as<__nv_bfloat16>(src, out, s);
    case GSORT_F32:
      return generate_as<float>(src, out, s);
    case GSORT_F64:
      return generate_as<double>(src, out, s);
    default:
      break;
  }
  switch (dtype_bytes(t)) {
    case 1:
      return generate_as<uint8_t>(src, out, s);
    case 2:
      return generate_as<uint16_t>(src, out, s);
    case 4:
      return generate_as<uint32_t>(src, out, s);
    default:
      return generate_as<uint64_t>(src, out, s);
  }
}

cudaError_t fill_indices(void *out, uint32_t element_bytes, uint64_t n, uint64_t period, cudaStream_t s) {
  if (n == 0) return cudaSuccess;
  if (element_bytes == 4) {
    fill_indices_kernel<<<grid_blocks(n), kBlockThreads, 0, s>>>(static_cast<uint32_t *>(out), n, period);
  } else {
    fill_indices_kernel<<<grid_blocks(n), kBlockThreads, 0, s>>>(static_cast<uint64_t *>(out), n, period);
  }
  return cudaGetLastError();
}

}  // namespace gsort_bench
