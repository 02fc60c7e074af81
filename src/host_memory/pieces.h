// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests on host arrays that a device cannot hold at once, worked in pieces: the same bits as of the whole.
#ifndef GSORT_HOST_MEMORY_PIECES_H_
#define GSORT_HOST_MEMORY_PIECES_H_

#include "core/error.h"
#include "core/host_memory.h"
#include "core/request.h"
#include "cpu/engine/pool.h"
#include "host_memory/piece_device.h"
#include "host_memory/piece_plan.h"

namespace gsort_internal {

struct PieceContext {
  PieceDevice &device;
  HostMemory &memory;
  Control &control;
  Pool &pool;  // for what the host does itself
  // The device may hold all: where sorts cannot be done as their arrays arrive, or a segment does not fit a piece,
  // OUT_OF_MEMORY says so, and nothing was done.
  bool else_at_once = false;
};

// Whether a call is rather sorted as its arrays arrive, where the device holds them.
bool rather_sorted_as_it_arrives(const Request &request);

// Of a call in place whose arrays are another permutation of their input by now, in which equal keys may have changed
// their order: no other way of doing it would be stable.
class LostOrder final : public Error {
 public:
  explicit LostOrder(const Error &error) : Error(error) {}
};

// Every array of the request lies in host memory. Throws Error: OUT_OF_MEMORY where the device's memory, or host
// scratch memory, is too little even so; arrays that it works in place are then as they were, or a permutation that may
// be sorted in another way. Where it may not, LostOrder.
void execute_in_pieces(const PieceContext &context, const Request &request);

// How a call is shared with the threads of the CPU.
struct Sharing {
  uint32_t workers;                           // of the pool, with the caller's, which drives the device
  uint64_t piece_bytes_min = kPieceBytesMin;  // of what the device takes at once
  uint64_t part_items = uint64_t{1} << 18;    // that a thread takes at once, 2^18 at most: some 0.1 ms
  // Where the threads may do better without the device, which others of them would have to feed: they begin alone, for
  // trial_us, and go on alone if each does more than so many bytes a microsecond. Otherwise the device takes part from
  // then on, and so many workers. 0: it does from the beginning.
  double alone_above = 0;
  uint32_t workers_beside = UINT32_MAX;
  double trial_us = 1000;
};

// Sums, means, minima, maxima and their places, and selections. Pieces go to the device, while threads of the pool work
// on the rest of the array. Throws as above; where the device's memory gives out in the midst, the threads do what it
// did not.
void execute_on_both(const PieceContext &context, const Sharing &sharing, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_H_
