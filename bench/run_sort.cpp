// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows that sort.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "bench.h"
#include "check.h"

namespace gsort_bench {
namespace {

// What no right result can be left as: an output that was not written is then seen.
constexpr int kPoison = 0xcd;

void poison(Bench &bench, DeviceBuffer &buffer, uint64_t bytes) {
  require_cuda(cudaMemsetAsync(buffer.reserve(bytes), kPoison, bytes, bench.stream), "poison");
}

double now_ms() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(clock::now().time_since_epoch()).count();
}

struct HandleCloser {
  void operator()(gsort *g) const { gsort_destroy(g); }
};
using Handle = std::unique_ptr<gsort, HandleCloser>;

Handle make_handle(Bench &bench, uint64_t device_memory_limit_bytes) {
  gsort_options o{};
  o.struct_size = sizeof o;
  o.backend = GSORT_BACKEND_CUDA;
  o.device = -1;
  o.device_memory_limit_bytes = device_memory_limit_bytes;
  gsort *g = nullptr;
  require_gsort(gsort_create(&o, &g), nullptr, "gsort_create");
  Handle handle(g);
  require_gsort(gsort_set_stream(g, bench.stream), g, "gsort_set_stream");
  return handle;
}

// Segment bounds: `items` keys each, or, for 0, sizes whose logarithm is uniform from 1 to 10^6.
std::vector<uint64_t> segment_offsets(uint64_t n, uint64_t items) {
  std::vector<uint64_t> offsets{0};
  uint64_t state = 0x853c49e6748fea9bull;
  while (offsets.back() < n) {
    uint64_t size = items;
    if (items == 0) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      size = static_cast<uint64_t>(std::pow(10.0, 6.0 * static_cast<double>(state >> 11) * 0x1p-53));
    }
    offsets.push_back(std::min(n, offsets.back() + size));
  }
  return offsets;
}

void copy_offsets(Bench &bench, const std::vector<uint64_t> &offsets) {
  const std::vector<uint32_t> narrow(offsets.begin(), offsets.end());
  bench.offsets.reserve(8 * offsets.size());
  bench.offsets_32.reserve(4 * narrow.size());
  const auto copy = [&](void *to, const void *from, size_t bytes) {
    require_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, bench.stream), "offsets");
  };
  copy(bench.offsets.get(), offsets.data(), 8 * offsets.size());
  copy(bench.offsets_32.get(), narrow.data(), 4 * narrow.size());
  require_cuda(cudaStreamSynchronize(bench.stream), "offsets");
}

// The peers that can do this sort, each with scratch memory that it says it wants.
std::vector<PeerTask> sort_peers(Bench &bench, const std::string &note,
                                 std::function<cudaError_t(SortPeer, PeerScratch &)> call) {
  std::vector<PeerTask> tasks;
  for (const SortPeer peer : kSortPeers) {
    PeerScratch scratch;
    const auto of_peer = [peer, call](PeerScratch &s) { return call(peer, s); };
    if (!bench.prepare_peer(of_peer, scratch)) continue;
    // One buffer serves them all, in turns, and may still move while it grows.
    const Task task = [&bench, of_peer, bytes = scratch.bytes] {
      PeerScratch now{bench.peer_temp.get(), bytes};
      require_cuda(of_peer(now), "a peer's sort");
    };
    tasks.push_back({sort_peer_name(peer) + note, task, scratch.bytes});
  }
  return tasks;
}

}  // namespace

void run_sort(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t bytes = row.n * dtype_bytes(row.t);
  gsort *const g = bench.handle();
  make_input(bench, row);
  poison(bench, bench.out, bytes);
  bench.peer_out.reserve(bytes);
  const auto peers = sort_peers(bench, "", [&](SortPeer peer, PeerScratch &scratch) {
    return peer_sort_keys(peer, row.t, scratch, bench.in.get(), bench.peer_out.get(), row.n, bench.stream);
  });
  result.bytes_moved = 2 * bytes;
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_SORT, row, 0);
  bench.measure(
      [&] { require_gsort(gsort_sort(g, row.t, bench.in.get(), bench.out.get(), row.n, 0), g, "gsort_sort"); }, peers,
      result);
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  judge(result, check_sorted(row.t, bench.in.get(), bench.out.get(), row.n, bench.stream));
}

void run_pairs(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t key_bytes = row.n * dtype_bytes(row.t);
  const uint64_t value_bytes = row.n * row.value_bytes;
  gsort *const g = bench.handle();
  make_input(bench, row);
  // Values are the places in the input, so that the check sees stability and lost pairs alike.
  bench.values_in.reserve(value_bytes);
  require_cuda(fill_indices(bench.values_in.get(), row.value_bytes, row.n, 0, bench.stream), "values");
  poison(bench, bench.out, key_bytes);
  poison(bench, bench.values_out, value_bytes);
  bench.peer_out.reserve(key_bytes);
  bench.peer_values_out.reserve(value_bytes);
  const PeerPairs pairs{bench.in.get(), bench.peer_out.get(), bench.values_in.get(), bench.peer_values_out.get(),
                        row.n};
  const auto peers = sort_peers(bench, "", [&](SortPeer peer, PeerScratch &scratch) {
    return peer_sort_pairs(peer, row.t, row.value_bytes, scratch, pairs, bench.stream);
  });
  result.bytes_moved = 2 * (key_bytes + value_bytes);
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_SORT_PAIRS, row, row.value_bytes);
  bench.measure(
      [&] {
        require_gsort(gsort_sort_pairs(g, row.t, bench.in.get(), bench.out.get(), row.value_bytes,
                                       bench.values_in.get(), bench.values_out.get(), row.n, 0),
                      g, "gsort_sort_pairs");
      },
      peers, result);
  spoil(bench, bench.values_out, row.n, row.value_bytes);
  judge(result,
        check_stable_order({row.t, bench.in.get(), bench.out.get(), bench.values_out.get(), row.value_bytes, row.n},
                           bench.stream));
}

void run_argsort(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t key_bytes = row.n * dtype_bytes(row.t);
  gsort *const g = bench.handle();
  make_input(bench, row);
  poison(bench, bench.values_out, 4 * row.n);
  // The peers have no argsort: they are given indices that lie ready, whose making is not timed.
  bench.values_in.reserve(4 * row.n);
  require_cuda(fill_indices(bench.values_in.get(), 4, row.n, 0, bench.stream), "indices");
  bench.peer_out.reserve(key_bytes);
  bench.peer_values_out.reserve(4 * row.n);
  const PeerPairs pairs{bench.in.get(), bench.peer_out.get(), bench.values_in.get(), bench.peer_values_out.get(),
                        row.n};
  auto peers = sort_peers(bench, ", indices ready", [&](SortPeer peer, PeerScratch &scratch) {
    return peer_sort_pairs(peer, row.t, 4, scratch, pairs, bench.stream);
  });
  // Beyond scratch they need the indices and a place for the keys.
  for (PeerTask &peer : peers) peer.extra_bytes += 4 * row.n + key_bytes;
  result.bytes_moved = key_bytes + 4 * row.n;
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_ARGSORT, row, 4);
  bench.measure(
      [&] {
        require_gsort(gsort_argsort(g, row.t, bench.in.get(), row.n, GSORT_U32, bench.values_out.get(), 0), g,
                      "gsort_argsort");
      },
      peers, result);
  spoil(bench, bench.values_out, row.n, 4);
  judge(result, check_stable_order({row.t, bench.in.get(), nullptr, bench.values_out.get(), 4, row.n}, bench.stream));
}

void run_merge(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t width = dtype_bytes(row.t);
  const uint64_t b_n = row.n / (row.merge_ratio + 1);
  const uint64_t a_n = row.n - b_n;
  gsort *const g = bench.handle();
  char *const a = static_cast<char *>(bench.in.reserve(row.n * width));
  char *const b = a + a_n * width;
  require_cuda(generate(row.distribution, row.t, a, a_n, bench.options.seed, bench.stream), "data");
  require_cuda(generate(row.distribution, row.t, b, b_n, bench.options.seed + 1, bench.stream), "data");
  poison(bench, bench.out, row.n * width);
  const PeerMerge work{a, a_n, b, b_n, bench.peer_out.reserve(row.n * width)};
  PeerScratch scratch;
  const auto peer = [&](PeerScratch &scr) { return peer_merge(row.t, scr, work, bench.stream); };
  Task peer_task;
  if (bench.prepare_peer(peer, scratch)) {
    peer_task = [&] { require_cuda(peer(scratch), "cub::DeviceMerge"); };
    result.peer_name = "DeviceMerge::MergeKeys";
    result.peer_extra_bytes = scratch.bytes;
  }
  result.bytes_moved = 2 * row.n * width;
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_MERGE, row, 0);
  bench.measure([&] { require_gsort(gsort_merge(g, row.t, a, a_n, b, b_n, bench.out.get(), 0), g, "gsort_merge"); },
                peer_task, result);
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  judge(result, check_sorted(row.t, bench.in.get(), bench.out.get(), row.n, bench.stream));
}

void run_segments(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t bytes = row.n * dtype_bytes(row.t);
  gsort *const g = bench.handle();
  const std::vector<uint64_t> offsets = segment_offsets(row.n, row.segment_items);
  const uint64_t segments = offsets.size() - 1;
  copy_offsets(bench, offsets);
  make_input(bench, row);
  poison(bench, bench.out, bytes);
  const PeerSegments work{bench.in.get(), bench.peer_out.reserve(bytes), row.n, bench.offsets_32.as<uint32_t>(),
                          segments};
  PeerScratch scratch;
  const auto peer = [&](PeerScratch &scr) { return peer_sort_segments(row.t, scr, work, bench.stream); };
  Task peer_task;
  if (bench.prepare_peer(peer, scratch)) {
    peer_task = [&] { require_cuda(peer(scratch), "cub::DeviceSegmentedSort"); };
    result.peer_name = "DeviceSegmentedSort::SortKeys";
    result.peer_extra_bytes = scratch.bytes;
  }
  result.bytes_moved = 2 * bytes;
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_SORT_SEGMENTS, row, segments);
  bench.measure(
      [&] {
        require_gsort(gsort_sort_segments(g, row.t, bench.in.get(), bench.out.get(), row.n,
                                          bench.offsets.as<uint64_t>(), segments, 0),
                      g, "gsort_sort_segments");
      },
      peer_task, result);
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  judge(result, check_segments({row.t, bench.in.get(), bench.out.get(), row.n, bench.offsets.as<uint64_t>(), segments},
                               bench.stream));
}

void run_first_call(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t bytes = row.n * dtype_bytes(row.t);
  const bool first_handle = !bench.has_handle();
  make_input(bench, row);
  poison(bench, bench.out, bytes);
  require_cuda(cudaStreamSynchronize(bench.stream), "first call");
  const double begin = now_ms();
  const Handle g = make_handle(bench, 0);
  const auto sort = [&] {
    require_gsort(gsort_sort(g.get(), row.t, bench.in.get(), bench.out.get(), row.n, 0), g.get(), "gsort_sort");
    require_gsort(gsort_synchronize(g.get()), g.get(), "gsort_synchronize");
    return now_ms();
  };
  const double first = sort();
  const double second = sort();
  // What the handle and the first call cost beyond a sort.
  result.gsort.median_ms = (first - begin) - (second - first);
  result.gsort.least_ms = result.gsort.median_ms;
  result.gsort.runs = 1;
  spoil(bench, bench.out, row.n, dtype_bytes(row.t));
  judge(result, check_sorted(row.t, bench.in.get(), bench.out.get(), row.n, bench.stream));
  if (result.note.empty()) {
    result.note = first_handle ? "create + first sort - second sort, wall" : "not the first handle of the process";
  }
}

namespace {

// A sort of the row's keys, or of its pairs.
gsort_status sort_row(Bench &bench, const Row &row, gsort *g) {
  if (row.value_bytes == 0) return gsort_sort(g, row.t, bench.in.get(), bench.out.get(), row.n, 0);
  return gsort_sort_pairs(g, row.t, bench.in.get(), bench.out.get(), row.value_bytes, bench.values_in.get(),
                          bench.values_out.get(), row.n, 0);
}

void judge_row(Bench &bench, Result &result) {
  const Row &row = result.row;
  if (row.value_bytes == 0) {
    spoil(bench, bench.out, row.n, dtype_bytes(row.t));
    return judge(result, check_sorted(row.t, bench.in.get(), bench.out.get(), row.n, bench.stream));
  }
  spoil(bench, bench.values_out, row.n, row.value_bytes);
  judge(result,
        check_stable_order({row.t, bench.in.get(), bench.out.get(), bench.values_out.get(), row.value_bytes, row.n},
                           bench.stream));
}

}  // namespace

void run_low_memory(Bench &bench, Result &result) {
  const Row &row = result.row;
  const uint64_t key_bytes = row.n * dtype_bytes(row.t), value_bytes = row.n * row.value_bytes;
  make_input(bench, row);
  if (value_bytes != 0) {
    bench.values_in.reserve(value_bytes);
    require_cuda(fill_indices(bench.values_in.get(), row.value_bytes, row.n, 0, bench.stream), "values");
  }
  const auto poison_outputs = [&] {
    poison(bench, bench.out, key_bytes);
    if (value_bytes != 0) poison(bench, bench.values_out, value_bytes);
  };
  poison_outputs();
  const Handle g = make_handle(bench, (key_bytes + value_bytes) / 8);
  if (sort_row(bench, row, g.get()) == GSORT_ERROR_OUT_OF_MEMORY) {
    result.note = std::string("refused: ") + gsort_error_message(g.get());
    return;
  }
  result.bytes_moved = 2 * (key_bytes + value_bytes);
  const auto sort = [&] { require_gsort(sort_row(bench, row, g.get()), g.get(), "low-memory sort"); };
  bench.measure(sort, Task(), result);
  // The usual way, for comparison; no peer.
  Result usual = result;
  gsort *const h = bench.handle();
  bench.measure([&] { require_gsort(sort_row(bench, row, h), h, "usual sort"); }, Task(), usual);
  char note[64];
  std::snprintf(note, sizeof note, "the usual way %.4g ms", usual.gsort.median_ms);
  poison_outputs();
  sort();
  result.note = note;
  gsort_info info{};
  info.struct_size = sizeof info;
  if (gsort_info_get(g.get(), &info) == GSORT_OK) result.gsort_extra_bytes = info.device_held_bytes;
  judge_row(bench, result);
}

}  // namespace gsort_bench
