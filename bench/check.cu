// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"

#include <cstdio>

#include "cuda_error.h"
#include "distribution.h"

namespace gsort_bench {
namespace {

constexpr int kBlockThreads = 256;
constexpr int kGridBlocks = 2048;

enum class KeyKind : uint32_t { kUnsigned, kSigned, kFloat };

KeyKind key_kind(gsort_dtype t) {
  if (dtype_is_float(t)) return KeyKind::kFloat;
  return dtype_is_signed_integer(t) ? KeyKind::kSigned : KeyKind::kUnsigned;
}

// Numbers counted by a check's kernels, cleared before and read after them.
struct Counts {
  unsigned long long faults;
  unsigned long long hash_in[2];
  unsigned long long hash_out[2];
  unsigned long long total;
  unsigned long long first_fault;
};

class CountsOnDevice {
 public:
  explicit CountsOnDevice(cudaStream_t s) : stream_(s) {
    buffer_.reserve(sizeof(Counts));
    Counts zero{};
    zero.first_fault = UINT64_MAX;
    require_cuda(cudaMemcpyAsync(buffer_.get(), &zero, sizeof zero, cudaMemcpyHostToDevice, s), "check: clear");
  }
  Counts *device() const { return buffer_.as<Counts>(); }
  Counts read() const {
    require_cuda(cudaGetLastError(), "check: launch");
    Counts counts{};
    require_cuda(cudaMemcpyAsync(&counts, buffer_.get(), sizeof counts, cudaMemcpyDeviceToHost, stream_),
                 "check: read");
    require_cuda(cudaStreamSynchronize(stream_), "check");
    return counts;
  }

 private:
  cudaStream_t stream_;
  DeviceBuffer buffer_;
};

std::string fault_sentence(const Counts &counts, const char *what) {
  char text[160];
  snprintf(text, sizeof text, "%s at %llu places, first at %llu", what, counts.faults, counts.first_fault);
  return text;
}

// Maps a key's bits to an unsigned number of the same order.
template <typename U>
__device__ U ordered(U bits, KeyKind kind) {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if (kind == KeyKind::kUnsigned) return bits;
  if (kind == KeyKind::kFloat && (bits & sign) != 0) return static_cast<U>(~bits);
  return static_cast<U>(bits ^ sign);
}

__device__ uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

__device__ unsigned long long warp_sum(unsigned long long x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(0xffffffffu, x, distance);
  return x;
}

__device__ void add_up(unsigned long long *total, unsigned long long x) {
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0 && x != 0) atomicAdd(total, x);
}

__device__ void note_fault(Counts *counts, uint64_t place) {
  atomicAdd(&counts->faults, 1ull);
  atomicMin(&counts->first_fault, static_cast<unsigned long long>(place));
}

__device__ uint64_t first_place() { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ uint64_t place_stride() { return uint64_t{gridDim.x} * blockDim.x; }

// Number of the segment that holds `place`: how many offsets are <= place, less one. Places before the first segment
// get 0 - 1 and compare unequal to any segment.
__device__ uint64_t segment_of(const uint64_t *offsets, uint64_t segments, uint64_t place) {
  uint64_t low = 0;
  uint64_t high = segments + 1;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (offsets[middle] <= place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

template <typename U>
__global__ void sorted_kernel(KeyKind kind, const U *in, const U *out, uint64_t n, Counts *counts) {
  unsigned long long hash_in[2] = {};
  unsigned long long hash_out[2] = {};
  for (uint64_t i = first_place(); i < n; i += place_stride()) {
    if (i > 0 && ordered(out[i - 1], kind) > ordered(out[i], kind)) note_fault(counts, i);
    hash_in[0] += mix(in[i] + 0x1111111111111111ull), hash_in[1] += mix(in[i] ^ 0xabcdef0123456789ull);
    hash_out[0] += mix(out[i] + 0x1111111111111111ull), hash_out[1] += mix(out[i] ^ 0xabcdef0123456789ull);
  }
  for (int h = 0; h < 2; ++h) {
    add_up(&counts->hash_in[h], hash_in[h]);
    add_up(&counts->hash_out[h], hash_out[h]);
  }
}

template <typename U>
__global__ void segments_kernel(KeyKind kind, SegmentsResult r, Counts *counts) {
  const U *const in = static_cast<const U *>(r.in);
  const U *const out = static_cast<const U *>(r.out);
  unsigned long long hash_in = 0;
  unsigned long long hash_out = 0;
  for (uint64_t i = first_place(); i < r.n; i += place_stride()) {
    const uint64_t segment = segment_of(r.offsets, r.segments, i);
    const bool continues = i > 0 && segment < r.segments && r.offsets[segment] < i;
    if (continues && ordered(out[i - 1], kind) > ordered(out[i], kind)) note_fault(counts, i);
    hash_in += mix(mix(segment) + in[i]);
    hash_out += mix(mix(segment) + out[i]);
  }
  add_up(&counts->hash_in[0], hash_in);
  add_up(&counts->hash_out[0], hash_out);
}

template <typename U, typename Index>
__global__ void stable_order_kernel(KeyKind kind, StableOrder o, Counts *counts) {
  const U *const in = static_cast<const U *>(o.in);
  const U *const keys_out = static_cast<const U *>(o.keys_out);
  const Index *const indices = static_cast<const Index *>(o.indices);
  for (uint64_t i = first_place(); i < o.n; i += place_stride()) {
    const uint64_t here = indices[i];
    const uint64_t before = i > 0 ? indices[i - 1] : 0;
    if (here >= o.n || before >= o.n || (keys_out != nullptr && keys_out[i] != in[here])) {
      note_fault(counts, i);
    } else if (i > 0) {
      const U key = ordered(in[here], kind);
      const U key_before = ordered(in[before], kind);
      if (key_before > key || (key_before == key && before >= here)) note_fault(counts, i);
    }
  }
}

// Does (key a, index i) come before (key b, index j)?
template <typename U>
__device__ bool precedes(U a, uint64_t i, U b, uint64_t j, bool smallest) {
  if (a == b) return i < j;
  return smallest ? a < b : a > b;
}

template <typename U>
__global__ void topk_order_kernel(KeyKind kind, TopkResult r, Counts *counts) {
  const U *const in = static_cast<const U *>(r.in);
  const U *const values = static_cast<const U *>(r.values);
  for (uint64_t i = first_place(); i < r.rows * r.k; i += place_stride()) {
    const U *const row = in + i / r.k * r.columns;
    const uint32_t here = r.indices[i];
    if (here >= r.columns || row[here] != values[i]) {
      note_fault(counts, i);
    } else if (i % r.k > 0) {
      const U before = ordered(values[i - 1], kind);
      if (!precedes(before, r.indices[i - 1], ordered(values[i], kind), here, r.smallest)) note_fault(counts, i);
    }
  }
}

template <typename U>
__global__ void topk_count_kernel(KeyKind kind, TopkResult r, Counts *counts) {
  const U *const in = static_cast<const U *>(r.in);
  const U *const values = static_cast<const U *>(r.values);
  unsigned long long found = 0;
  for (uint64_t i = first_place(); i < r.rows * r.columns; i += place_stride()) {
    const uint64_t row = i / r.columns;
    const uint64_t column = i % r.columns;
    const uint64_t last = (row + 1) * r.k - 1;
    const U key_last = ordered(values[last], kind);
    found += !precedes(key_last, r.indices[last], ordered(in[i], kind), column, r.smallest);
  }
  add_up(&counts->total, found);
}

template <typename U>
__global__ void extreme_kernel(KeyKind kind, bool greatest, const U *in, uint64_t n, Counts *counts) {
  unsigned long long best = UINT64_MAX;
  for (uint64_t i = first_place(); i < n; i += place_stride()) {
    const unsigned long long key = ordered(in[i], kind);
    best = min(best, greatest ? ~key : key);
  }
  atomicMin(&counts->first_fault, best);
}

template <typename U>
__global__ void extreme_place_kernel(KeyKind kind, bool greatest, const U *in, uint64_t n, unsigned long long best,
                                     Counts *counts) {
  for (uint64_t i = first_place(); i < n; i += place_stride()) {
    const unsigned long long key = ordered(in[i], kind);
    if ((greatest ? ~key : key) == best) atomicMin(&counts->first_fault, static_cast<unsigned long long>(i));
  }
}

template <typename T>
__global__ void integer_sum_kernel(const T *in, uint64_t n, Counts *counts) {
  unsigned long long sum = 0;
  for (uint64_t i = first_place(); i < n; i += place_stride()) {
    sum += static_cast<unsigned long long>(static_cast<long long>(in[i]));
  }
  add_up(&counts->total, sum);
}

__global__ void same_bytes_kernel(const uint32_t *a, const uint32_t *b, uint64_t words, Counts *counts) {
  for (uint64_t i = first_place(); i < words; i += place_stride()) {
    if (a[i] != b[i]) note_fault(counts, i);
  }
}

__global__ void scan_close_kernel(const float *got, const double *wide, uint64_t n, Counts *counts) {
  for (uint64_t i = first_place(); i < n; i += place_stride()) {
    // Negated, so that a NaN counts as a fault.
    if (!(fabs(got[i] - wide[i]) <= 0x1p-22 * fabs(wide[i]))) note_fault(counts, i);
  }
}

__global__ void flip_bit_kernel(uint8_t *byte) { *byte ^= 0x40; }

// Calls f with a zero of the unsigned type that has the width of t.
template <typename F>
void with_width(gsort_dtype t, F f) {
  switch (dtype_bytes(t)) {
    case 1:
      return f(uint8_t{0});
    case 2:
      return f(uint16_t{0});
    case 4:
      return f(uint32_t{0});
    default:
      return f(uint64_t{0});
  }
}

}  // namespace

std::string check_sorted(gsort_dtype t, const void *in, const void *out, uint64_t n, cudaStream_t s) {
  CountsOnDevice counts(s);
  with_width(t, [&](auto width) {
    using U = decltype(width);
    sorted_kernel<U><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(t), static_cast<const U *>(in),
                                                           static_cast<const U *>(out), n, counts.device());
  });
  const Counts found = counts.read();
  if (found.faults != 0) return fault_sentence(found, "not in order");
  const bool same = found.hash_in[0] == found.hash_out[0] && found.hash_in[1] == found.hash_out[1];
  return same ? "" : "the output does not hold the input's keys";
}

std::string check_segments(const SegmentsResult &r, cudaStream_t s) {
  CountsOnDevice counts(s);
  with_width(r.t, [&](auto width) {
    segments_kernel<decltype(width)><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(r.t), r, counts.device());
  });
  const Counts found = counts.read();
  if (found.faults != 0) return fault_sentence(found, "a segment is not in order");
  return found.hash_in[0] == found.hash_out[0] ? "" : "a segment does not hold its input's keys";
}

std::string check_stable_order(const StableOrder &o, cudaStream_t s) {
  CountsOnDevice counts(s);
  with_width(o.t, [&](auto width) {
    using U = decltype(width);
    if (o.index_bytes == 4) {
      stable_order_kernel<U, uint32_t><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(o.t), o, counts.device());
    } else {
      stable_order_kernel<U, uint64_t><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(o.t), o, counts.device());
    }
  });
  const Counts found = counts.read();
  return found.faults == 0 ? "" : fault_sentence(found, "not the stable order");
}

std::string check_topk(const TopkResult &r, cudaStream_t s) {
  CountsOnDevice counts(s);
  with_width(r.t, [&](auto width) {
    topk_order_kernel<decltype(width)><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(r.t), r, counts.device());
    topk_count_kernel<decltype(width)><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(r.t), r, counts.device());
  });
  const Counts found = counts.read();
  if (found.faults != 0) return fault_sentence(found, "wrong value, index or order");
  return found.total == r.rows * r.k ? "" : "better elements were left out";
}

std::string check_extreme(uint32_t op, gsort_dtype t, const void *in, uint64_t n, uint64_t got, cudaStream_t s) {
  const bool greatest = op == GSORT_MAX || op == GSORT_ARGMAX;
  CountsOnDevice best(s);
  CountsOnDevice place(s);
  with_width(t, [&](auto width) {
    using U = decltype(width);
    extreme_kernel<U>
        <<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(t), greatest, static_cast<const U *>(in), n, best.device());
    extreme_place_kernel<U><<<kGridBlocks, kBlockThreads, 0, s>>>(key_kind(t), greatest, static_cast<const U *>(in), n,
                                                                  best.read().first_fault, place.device());
  });
  uint64_t expected = place.read().first_fault;
  if (op == GSORT_MIN || op == GSORT_MAX) {
    uint64_t bits = 0;
    const uint32_t bytes = dtype_bytes(t);
    require_cuda(cudaMemcpy(&bits, static_cast<const char *>(in) + expected * bytes, bytes, cudaMemcpyDeviceToHost),
                 "check: read the extreme");
    expected = bits;
  }
  return expected == got ? "" : "wrong minimum, maximum or index";
}

uint64_t integer_sum(gsort_dtype t, const void *in, uint64_t n, cudaStream_t s) {
  CountsOnDevice counts(s);
  const auto launch = [&](auto *typed) {
    integer_sum_kernel<<<kGridBlocks, kBlockThreads, 0, s>>>(typed, n, counts.device());
  };
  switch (t) {
    case GSORT_U8:
      launch(static_cast<const uint8_t *>(in));
      break;
    case GSORT_U16:
      launch(static_cast<const uint16_t *>(in));
      break;
    case GSORT_U32:
      launch(static_cast<const uint32_t *>(in));
      break;
    case GSORT_I32:
      launch(static_cast<const int32_t *>(in));
      break;
    default:
      launch(static_cast<const uint64_t *>(in));
      break;
  }
  return counts.read().total;
}

std::string check_same_bytes(const void *a, const void *b, uint64_t bytes, cudaStream_t s) {
  CountsOnDevice counts(s);
  same_bytes_kernel<<<kGridBlocks, kBlockThreads, 0, s>>>(static_cast<const uint32_t *>(a),
                                                          static_cast<const uint32_t *>(b), bytes / 4, counts.device());
  const Counts found = counts.read();
  return found.faults == 0 ? "" : fault_sentence(found, "words differ from CUB's");
}

void flip_bit(void *bytes, uint64_t place, cudaStream_t s) {
  flip_bit_kernel<<<1, 1, 0, s>>>(static_cast<uint8_t *>(bytes) + place);
  require_cuda(cudaGetLastError(), "flip a bit");
  require_cuda(cudaStreamSynchronize(s), "flip a bit");
}

std::string check_scan_close(const float *got, const double *wide, uint64_t n, cudaStream_t s) {
  CountsOnDevice counts(s);
  scan_close_kernel<<<kGridBlocks, kBlockThreads, 0, s>>>(got, wide, n, counts.device());
  const Counts found = counts.read();
  return found.faults == 0 ? "" : fault_sentence(found, "sums too far from the reference");
}

}  // namespace gsort_bench
