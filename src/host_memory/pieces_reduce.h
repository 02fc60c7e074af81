// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, reductions and selections of parts of an array, and how the first two are joined: within the ways that go by
// pieces.
#ifndef GSORT_HOST_MEMORY_PIECES_REDUCE_H_
#define GSORT_HOST_MEMORY_PIECES_REDUCE_H_

#include <cstdint>
#include <vector>

#include "core/superaccumulator.h"
#include "host_memory/piece_pipeline.h"

namespace gsort_internal {

// Whether parts are summed up; of other reductions each part gives the index of its best element.
inline bool is_sum(const Request &request) {
  return request.operation == Operation::kSum || request.reduce_op == GSORT_MEAN;
}

// What is asked of each part of a sum or a reduction, whose results are PartialSum or uint64_t, the index.
Request part_request(const Request &request);

// What pieces of lengths up to so many items need; lengths() tells which of them there are.
PieceNeeds reduce_needs(PieceDevice &device, const Request &part, uint64_t result_bytes,
                        const std::function<std::vector<uint64_t>(uint64_t items)> &lengths);

// A part of a selection has the indices of its first k as uint32_t: request.indices_out is not NULL, request.out is.

// Fills the piece at `slot`, whose room is for pieces of slot_items: elements from `begin` on, and a result that goes
// to `result`.
void make_reduce_piece(const Request &part, char *slot, uint64_t slot_items, uint64_t begin, uint64_t items,
                       char *result, uint64_t result_bytes, Piece &piece);

// Writes the result of the request.
void join_sums(const Request &request, const std::vector<PartialSum> &parts);
// `indices` of the array, one of them right. The least wins among equals; what is not below n does not count.
void join_best(const Request &request, const std::vector<uint64_t> &indices);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_REDUCE_H_
