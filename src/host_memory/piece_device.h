// SPDX-License-Identifier: MIT OR Apache-2.0
// What arrays are worked on in pieces by: memory of some size, copies both ways, and requests done in that memory. The
// device in the end; in tests the CPU's engine, so that all of the work by pieces is tested without a GPU.
#ifndef GSORT_HOST_MEMORY_PIECE_DEVICE_H_
#define GSORT_HOST_MEMORY_PIECE_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/control.h"
#include "core/request.h"
#include "host_memory/piece_deal.h"
#include "host_memory/piece_plan.h"

namespace gsort_internal {

struct PieceCopy {
  char *device;
  char *host;  // not written on the way to the device
  uint64_t bytes;
};

// Where keys lie among those that a sort has put in order.
struct PieceSearch {
  const char *bounds = nullptr;  // `count` keys in the device's memory, as arrays hold them
  uint64_t count = 0;
  uint64_t *found = nullptr;  // in the device's memory: of each bound how many keys come before it, and how many do not
                              // come behind it
  uint64_t *told = nullptr;   // the same in host memory, when the step has ended
};

// Where sorted runs in the device's memory, one behind the other, are cut so that so many elements come before each cut
// in the stable order, in which equal keys of earlier runs come first.
struct PieceCuts {
  KeyOrder order{};
  const void *keys = nullptr;
  uint32_t runs = 0, cuts = 0;  // no cuts: nothing is asked for
  uint64_t ends[kCutRunsMax] = {}, ranks[kCutRunsMax] = {};
  uint64_t *found = nullptr;  // in the device's memory: of each cut how many elements of each run come before it
  uint64_t *told = nullptr;   // the same in host memory, when the step has ended
};

// Bytes that are moved within the device's memory.
struct PieceMove {
  char *to;
  const char *from;
  uint64_t bytes;
};

// What is done with a piece on the device.
struct PieceWork {
  Request request;          // with pointers into the device's memory
  void *workspace;          // of the bytes that workspace_bytes() says
  uint64_t index_base = 0;  // added to each index that a selection, or a sort of pairs without values_in, has made
  std::vector<PieceMove> moves{};  // before the request
  // Before the request, too.
  PieceDeal deal{};
  PiecePlaces places{};
  std::vector<Request> before{};  // then these
  PieceScatter scatter{};
  PieceSearch search{};  // after a sort; of no bounds: none
  PieceCuts cuts{};      // last
};

// What a cancel does to copies that are under way.
enum class OnCancel {
  kFinishOut,  // nothing more is brought to the device; what leaves it is written whole
  kStop,
  kGoOn,  // the call ends well
};

// How far a call is: bytes that were copied, of those that will be.
struct PieceProgress {
  Control &control;
  uint64_t done, total;
  OnCancel on_cancel = OnCancel::kFinishOut;
  bool writes = false;                               // a step has begun to write what leaves
  const std::atomic<uint64_t> *elsewhere = nullptr;  // bytes that others have done
  bool is_of_many = false;                           // sorts, of which `total` has all: none of them changes it

  // The way that a sort takes moves so many bytes.
  void expect(uint64_t bytes) {
    if (!is_of_many) total = bytes;
  }
  uint64_t reached(uint64_t more) const { return done + more < total ? done + more : total; }
  // Tells how far it is with so many bytes more; throws if the call is to stop.
  void tell(uint64_t more = 0) const {
    const uint64_t here = reached(more), others = elsewhere == nullptr ? 0 : elsewhere->load(std::memory_order_relaxed);
    const uint64_t all = others < total - here ? here + others : total;
    if (on_cancel == OnCancel::kGoOn)
      control.report(all, total);
    else
      control.checkpoint(all, total);
  }
};

class PieceDevice {
 public:
  virtual ~PieceDevice() = default;

  // The most memory that take() may be asked for.
  virtual uint64_t budget_bytes() = 0;
  // Memory for one piece after the other, instead of what was taken before; NULL if there is not enough.
  virtual char *take(uint64_t bytes) = 0;
  virtual uint64_t workspace_bytes(const Request &shape) = 0;
  // In how many pieces arrays that travel both ways should go, if the memory allows.
  virtual uint64_t pieces_wanted() const { return kPiecesWanted; }
  // From which number of bytes on sorts are done as their arrays arrive, and in pieces of how many at least.
  struct ArrivingSizes {
    uint64_t bytes_min, piece_bytes_min;
  };
  virtual ArrivingSizes arriving_sizes() const { return {kArrivingBytesMin, kArrivingPieceBytesMin}; }

  // All at once: `in` arrives, `work` (NULL: none) is done with what came before, `out` leaves. Ends when all has
  // ended. Calls progress.tell() on the way; when that throws, what leaves is written whole or not at all, which
  // progress.writes tells, and nothing reads or writes host arrays any more.
  virtual void step(const std::vector<PieceCopy> &in, const PieceWork *work, const std::vector<PieceCopy> &out,
                    PieceProgress &progress) = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECE_DEVICE_H_
