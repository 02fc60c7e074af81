// SPDX-License-Identifier: MIT OR Apache-2.0
// What gsort's CPU engine and other projects are timed at: the work, its data, and whether gsort's results are right.
#ifndef GSORT_BENCH_CPU_PEER_CASES_H_
#define GSORT_BENCH_CPU_PEER_CASES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_data.h"
#include "cpu_peers.h"

namespace gsort_bench {

enum class PeerWork { kSort, kPairs, kArgsort, kSum, kScan, kMerge, kSegments, kTopk, kMax };
struct NamedWork {
  PeerWork work;
  const char *name;
  uint64_t part = 0;      // elements of a segment, or k
  int32_t exponents = 0;  // of floats to be added, drawn from so many powers of two; 0: uniform in [0, 1)
};
constexpr int32_t kAllExponents = 1900;
constexpr NamedWork kPeerWorks[] = {{PeerWork::kSort, "sort"},
                                    {PeerWork::kPairs, "pairs"},
                                    {PeerWork::kArgsort, "argsort"},
                                    {PeerWork::kSum, "sum"},
                                    {PeerWork::kSum, "sum-50", 0, 50},
                                    {PeerWork::kSum, "sum-wide", 0, kAllExponents},
                                    {PeerWork::kScan, "scan"},
                                    {PeerWork::kMerge, "merge"},
                                    {PeerWork::kSegments, "segments-10", 10},
                                    {PeerWork::kSegments, "segments-100", 100},
                                    {PeerWork::kSegments, "segments-1000", 1000},
                                    {PeerWork::kTopk, "topk-10", 10},
                                    {PeerWork::kTopk, "topk-4096", 4096},
                                    {PeerWork::kMax, "max"}};

struct PeerCase {
  NamedWork work;
  gsort_dtype t;
  uint64_t n;
  Distribution distribution;

  uint32_t key_bytes() const { return t == GSORT_U32 || t == GSORT_F32 ? 4 : 8; }
  // Short arrays are worked on by the dozen, so that a run is long against the clock.
  uint64_t arrays() const { return std::max<uint64_t>(1, (uint64_t{1} << 14) / n); }
  bool is(PeerWork other) const { return work.work == other; }
};

using Bytes = std::vector<unsigned char>;

Bytes make_keys(const PeerCase &c);
const char *type_name(gsort_dtype t);

// The arrays of a run: values are the places of the keys before, indices have room for 8 bytes.
struct Buffers {
  Bytes keys, values, out;
  std::vector<uint64_t> offsets;  // of segments

  Buffers(const PeerCase &c, const Bytes &in);
  PeerArrays array(const PeerCase &c, uint64_t a, uint32_t threads);
};

// NULL: the peer has none.
PeerFunction function_of(const CpuPeer &peer, PeerWork work);

// Whether the call succeeded.
bool run_gsort(const PeerCase &c, gsort *g, const Buffers &buffers, const PeerArrays &a);
void run_peer(const PeerCase &c, PeerFunction peer, const PeerArrays &a);

// Whether gsort has left in `got` what it must; the standard library works on `expected`, the data as they were.
bool is_right(const PeerCase &c, Buffers &got, Buffers &expected);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_PEER_CASES_H_
