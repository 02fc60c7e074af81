// SPDX-License-Identifier: MIT OR Apache-2.0
// Requests on host arrays that a device cannot hold at once, worked in pieces: the same bits as of the whole.
#ifndef GSORT_HOST_MEMORY_PIECES_H_
#define GSORT_HOST_MEMORY_PIECES_H_

#include "core/host_memory.h"
#include "core/request.h"
#include "cpu/pool.h"
#include "host_memory/piece_device.h"

namespace gsort_internal {

struct PieceContext {
  PieceDevice &device;
  HostMemory &memory;
  Control &control;
  Pool &pool;  // for what the host does itself
};

// Every array of the request lies in host memory. Throws Error: OUT_OF_MEMORY where the device's memory, or host
// scratch memory, is too little even so, before anything was written.
void execute_in_pieces(const PieceContext &context, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECES_H_
