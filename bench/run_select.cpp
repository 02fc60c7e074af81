// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows that select.
#include "bench.h"
#include "check.h"

namespace gsort_bench {
namespace {

constexpr int kPoison = 0xcd;

struct PeerChoice {
  std::function<cudaError_t(PeerScratch &)> call;
  const char *name;
};

// Tries the peers in order and takes the first that supports the row.
Task choose_peer(Bench &bench, const std::vector<PeerChoice> &choices, PeerScratch &scratch, Result &result) {
  for (const PeerChoice &choice : choices) {
    if (!bench.prepare_peer(choice.call, scratch)) continue;
    result.peer_name = choice.name;
    result.peer_extra_bytes = scratch.bytes;
    return [choice, &scratch] { require_cuda(choice.call(scratch), choice.name); };
  }
  return Task();
}

void reserve_outputs(Bench &bench, const Row &row, bool peer_sorts_all) {
  const uint64_t found = row.rows * row.k;
  const uint64_t found_by_peer = peer_sorts_all ? row.n : found;
  const uint32_t bytes = dtype_bytes(row.t);
  require_cuda(cudaMemsetAsync(bench.out.reserve(found * bytes), kPoison, found * bytes, bench.stream), "poison");
  require_cuda(cudaMemsetAsync(bench.values_out.reserve(4 * found), kPoison, 4 * found, bench.stream), "poison");
  bench.peer_out.reserve(found_by_peer * bytes);
  bench.peer_values_out.reserve(4 * found_by_peer);
  if (!peer_sorts_all) return;
  bench.values_in.reserve(4 * row.n);
  require_cuda(fill_indices(bench.values_in.get(), 4, row.n, row.columns(), bench.stream), "indices");
}

void judge_topk(Bench &bench, Result &result) {
  const Row &row = result.row;
  spoil(bench, bench.values_out, row.rows * row.k, 4);
  judge(result, check_topk({row.t, bench.in.get(), row.rows, row.columns(), row.k, bench.out.get(),
                            bench.values_out.as<uint32_t>(), row.smallest},
                           bench.stream));
}

}  // namespace

void run_topk(Bench &bench, Result &result) {
  const Row &row = result.row;
  gsort *const g = bench.handle();
  const bool sorts_all = row.peer == Peer::kSortAll;
  make_input(bench, row);
  reserve_outputs(bench, row, sorts_all);
  const PeerRows one_row{bench.in.get(), 1, row.n, row.k, bench.peer_out.get(), bench.peer_values_out.as<uint32_t>()};
  const PeerPairs pairs{bench.in.get(), bench.peer_out.get(), bench.values_in.get(), bench.peer_values_out.get(),
                        row.n};
  std::vector<PeerChoice> choices;
  if (sorts_all) {
    choices.push_back({[&](PeerScratch &scr) { return peer_sort_pairs_descending(row.t, scr, pairs, bench.stream); },
                       "DeviceRadixSort::SortPairsDescending of all"});
  } else if (!row.smallest) {
    choices.push_back({[&](PeerScratch &scr) { return peer_topk(row.t, scr, one_row, bench.stream); },
                       "DeviceTopK::MaxPairs, unsorted"});
  }
  PeerScratch scratch;
  const Task peer_task = choose_peer(bench, choices, scratch, result);
  result.bytes_moved = row.n * dtype_bytes(row.t);
  result.gsort_extra_bytes = gsort_extra_bytes(GSORT_OP_TOPK, row, row.k);
  const uint32_t flags = row.smallest ? GSORT_SMALLEST : 0;
  bench.measure(
      [&] {
        require_gsort(gsort_topk(g, row.t, bench.in.get(), row.n, row.k, bench.out.get(), GSORT_U32,
                                 bench.values_out.get(), flags),
                      g, "gsort_topk");
      },
      peer_task, result);
  judge_topk(bench, result);
}

void copy_row_offsets(Bench &bench, const Row &row) {
  std::vector<uint64_t> offsets(row.rows + 1);
  for (uint64_t i = 0; i <= row.rows; ++i) offsets[i] = i * row.columns();
  require_cuda(cudaMemcpyAsync(bench.offsets.reserve(8 * offsets.size()), offsets.data(), 8 * offsets.size(),
                               cudaMemcpyHostToDevice, bench.stream),
               "offsets");
  require_cuda(cudaStreamSynchronize(bench.stream), "offsets");
}

void run_topk_rows(Bench &bench, Result &result) {
  const Row &row = result.row;
  gsort *const g = bench.handle();
  make_input(bench, row);
  reserve_outputs(bench, row, true);
  const PeerRows rows{
      bench.in.get(), row.rows, row.columns(), row.k, bench.peer_out.get(), bench.peer_values_out.as<uint32_t>()};
  const std::vector<PeerChoice> choices = {
      {[&](PeerScratch &scr) { return peer_topk_rows(row.t, scr, rows, bench.stream); },
       "DeviceBatchedTopK::MaxPairs, unsorted"},
      {[&](PeerScratch &scr) { return peer_topk(row.t, scr, rows, bench.stream); }, "DeviceTopK::MaxPairs, unsorted"},
      {[&](PeerScratch &scr) { return peer_sort_rows(row.t, scr, rows, bench.values_in.as<uint32_t>(), bench.stream); },
       "DeviceSegmentedRadixSort of all"}};
  PeerScratch scratch;
  const Task peer_task = choose_peer(bench, choices, scratch, result);
  result.bytes_moved = row.n * dtype_bytes(row.t);
  result.gsort_extra_bytes =
      gsort_extra_bytes(row.by_offsets ? GSORT_OP_TOPK_SEGMENTS : GSORT_OP_TOPK_ROWS, row, row.k);
  if (row.by_offsets) copy_row_offsets(bench, row);
  bench.measure(
      [&] {
        if (row.by_offsets)
          return require_gsort(
              gsort_topk_segments(g, row.t, bench.in.get(), row.n, bench.offsets.as<uint64_t>(), row.rows, row.k,
                                  bench.out.get(), GSORT_U32, bench.values_out.get(), 0),
              g, "gsort_topk_segments");
        require_gsort(gsort_topk_rows(g, row.t, bench.in.get(), row.rows, row.columns(), row.columns(), row.k,
                                      bench.out.get(), GSORT_U32, bench.values_out.get(), 0),
                      g, "gsort_topk_rows");
      },
      peer_task, result);
  judge_topk(bench, result);
}

}  // namespace gsort_bench
