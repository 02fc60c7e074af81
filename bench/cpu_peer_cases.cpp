// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu_peer_cases.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace gsort_bench {

Bytes make_keys(const PeerCase &c) {
  const uint64_t items = c.n * c.arrays();
  Bytes keys(items * c.key_bytes());
  CpuWords words(c.distribution, items);
  for (uint64_t i = 0; i < items; ++i) {
    const uint64_t word = words.next();
    with_peer_keys(c.t, &keys[i * c.key_bytes()], [word, &c](auto *k) {
      using K = std::remove_pointer_t<decltype(k)>;
      if constexpr (std::is_floating_point_v<K>) {
        const double unit = static_cast<double>(word >> 11) * 0x1p-53;
        const int32_t most = sizeof(K) == 4 ? 240 : kAllExponents;  // and sums stay finite
        const int32_t exponents = std::min(c.work.exponents, most);
        const int32_t drawn = exponents == 0 ? 0 : static_cast<int32_t>(word % static_cast<uint32_t>(exponents));
        *k = static_cast<K>(exponents == 0 ? unit : std::ldexp(1 + unit, drawn - exponents / 2 - 20));
      } else {
        *k = static_cast<K>(word >> (64 - 8 * sizeof(K)));
      }
    });
  }
  return keys;
}

const char *type_name(gsort_dtype t) {
  return t == GSORT_U32 ? "u32" : t == GSORT_U64 ? "u64" : t == GSORT_F32 ? "f32" : "f64";
}

Buffers::Buffers(const PeerCase &c, const Bytes &in) : keys(in), values(in.size()), out(c.n * c.arrays() * 8, 0xa5) {
  const uint64_t items = c.n * c.arrays();
  for (uint64_t i = 0; i < items; ++i) {
    if (c.key_bytes() == 4) {
      reinterpret_cast<uint32_t *>(values.data())[i] = static_cast<uint32_t>(i);
    } else {
      reinterpret_cast<uint64_t *>(values.data())[i] = i;
    }
  }
  if (c.is(PeerWork::kSegments))
    for (uint64_t begin = 0; begin <= c.n; begin += c.work.part) offsets.push_back(begin);
  if (c.is(PeerWork::kMerge))
    for (uint64_t half = 0; half < 2 * c.arrays(); ++half)
      with_peer_keys(c.t, keys.data(), [&](auto *k) { std::sort(k + half * c.n / 2, k + (half + 1) * c.n / 2); });
}

PeerArrays Buffers::array(const PeerCase &c, uint64_t a, uint32_t threads) {
  const uint64_t at = a * c.n * c.key_bytes();
  return {c.t, &keys[at], &values[at], &out[a * c.n * 8], c.n, threads, c.work.part};
}

PeerFunction function_of(const CpuPeer &peer, PeerWork work) {
  switch (work) {
    case PeerWork::kSort:
      return peer.sort;
    case PeerWork::kPairs:
      return peer.pairs;
    case PeerWork::kArgsort:
      return peer.argsort;
    case PeerWork::kSum:
      return peer.sum;
    case PeerWork::kScan:
      return peer.scan;
    case PeerWork::kMerge:
      return peer.merge;
    case PeerWork::kSegments:
      return peer.sort;  // one segment after the other
    case PeerWork::kTopk:
      return peer.topk;
    case PeerWork::kMax:
      return peer.greatest;
  }
  return nullptr;
}

bool run_gsort(const PeerCase &c, gsort *g, const Buffers &buffers, const PeerArrays &a) {
  switch (c.work.work) {
    case PeerWork::kSort:
      return gsort_sort(g, a.t, a.keys, a.keys, a.n, 0) == GSORT_OK;
    case PeerWork::kPairs:
      return gsort_sort_pairs(g, a.t, a.keys, a.keys, c.key_bytes(), a.values, a.values, a.n, 0) == GSORT_OK;
    case PeerWork::kArgsort:
      return gsort_argsort(g, a.t, a.keys, a.n, GSORT_U32, a.out, 0) == GSORT_OK;
    case PeerWork::kSum:
      return gsort_sum(g, a.t, a.keys, a.n, a.out, 0) == GSORT_OK;
    case PeerWork::kScan:
      return gsort_scan(g, a.t, a.keys, a.out, a.n, 0) == GSORT_OK;
    case PeerWork::kMerge: {
      const unsigned char *const second = static_cast<unsigned char *>(a.keys) + a.n / 2 * c.key_bytes();
      return gsort_merge(g, a.t, a.keys, a.n / 2, second, a.n - a.n / 2, a.out, 0) == GSORT_OK;
    }
    case PeerWork::kSegments:
      return gsort_sort_segments(g, a.t, a.keys, a.keys, a.n, buffers.offsets.data(), buffers.offsets.size() - 1, 0) ==
             GSORT_OK;
    case PeerWork::kTopk:
      return gsort_topk(g, a.t, a.keys, a.n, a.part, a.out, 0, nullptr, GSORT_SMALLEST) == GSORT_OK;
    case PeerWork::kMax:
      return gsort_reduce(g, GSORT_MAX, a.t, a.keys, a.n, a.out, 0) == GSORT_OK;
  }
  return false;
}

// Sorts of segments are sorts of each.
void run_peer(const PeerCase &c, PeerFunction peer, const PeerArrays &a) {
  if (!c.is(PeerWork::kSegments)) return peer(a);
  PeerArrays segment = a;
  segment.n = c.work.part;
  for (uint64_t begin = 0; begin + c.work.part <= a.n; begin += c.work.part) {
    segment.keys = static_cast<unsigned char *>(a.keys) + begin * c.key_bytes();
    peer(segment);
  }
}

namespace {

// Whether gsort's sums of floats, which are rounded or added otherwise than the peers', differ by no more than
// that.
bool sums_are_near(const PeerCase &c, Buffers &got) {
  bool near = true;
  for (uint64_t a = 0; a < c.arrays(); ++a) {
    const PeerArrays array = got.array(c, a, 1);
    with_peer_keys(c.t, array.keys, [&](auto *k) {
      double sum = 0;
      const auto is_near = [&sum](double x) { return std::fabs(x - sum) <= 1e-6 * sum; };
      for (uint64_t i = 0; i < c.n; ++i) {
        sum += static_cast<double>(k[i]);
        if (c.is(PeerWork::kScan)) near = near && is_near(static_cast<double>(static_cast<decltype(k)>(array.out)[i]));
      }
      if (c.is(PeerWork::kSum)) near = near && is_near(*static_cast<double *>(array.out));
    });
  }
  return near;
}

}  // namespace

// What gsort must leave. Pairs: values are the keys' places, so a stable order sorts those of equal keys.
bool is_right(const PeerCase &c, Buffers &got, Buffers &expected) {
  const CpuPeer peer = std_peer();
  for (uint64_t a = 0; a < c.arrays(); ++a) {
    const PeerArrays array = expected.array(c, a, 1);
    if (c.is(PeerWork::kPairs)) {
      peer.argsort(array);
      peer.sort(array);
      const uint32_t *const order = static_cast<uint32_t *>(array.out);
      for (uint64_t i = 0; i < c.n; ++i) {
        const uint64_t place = order[i] + a * c.n;
        std::memcpy(static_cast<unsigned char *>(array.values) + i * c.key_bytes(), &place, c.key_bytes());
      }
    } else {
      run_peer(c, function_of(peer, c.work.work), array);
      if (c.is(PeerWork::kTopk)) std::memcpy(array.out, array.keys, c.work.part * c.key_bytes());
    }
  }
  if (c.is(PeerWork::kSort) || c.is(PeerWork::kPairs) || c.is(PeerWork::kSegments))
    return got.keys == expected.keys && got.values == expected.values;
  const bool is_float = c.t == GSORT_F32 || c.t == GSORT_F64;
  if (is_float && (c.is(PeerWork::kSum) || c.is(PeerWork::kScan))) return sums_are_near(c, got);
  return got.out == expected.out;
}

}  // namespace gsort_bench
