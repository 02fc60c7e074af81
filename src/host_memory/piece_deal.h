// SPDX-License-Identifier: MIT OR Apache-2.0
// What a device is asked where keys are dealt out to buckets and their indices are not to travel.
#ifndef GSORT_HOST_MEMORY_PIECE_DEAL_H_
#define GSORT_HOST_MEMORY_PIECE_DEAL_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

constexpr uint32_t kDealBoundsMax = 255;  // a bucket's number is a byte
constexpr uint64_t kPlaceChunk = 8192;

// Where in the array lies what is read in another order: stripes, in the order in which they are read. All addresses
// here are of the device's memory.
struct PieceStripes {
  uint32_t count = 0;                // 0: the array is read as it lies
  const uint64_t *starts = nullptr;  // of each how many elements are read before it
  const uint64_t *begins = nullptr;  // where in the array it begins
  const uint8_t *turns = nullptr;    // sorted by these, and else as they are read, they lie in the array
};

// The bucket of every key of a piece: how many of the bounds do not come behind it, where equal keys come in the order
// of their places in the array.
struct PieceDeal {
  KeyOrder order{};
  const void *keys = nullptr;
  uint64_t items = 0, first_place = 0;  // so many are read before
  PieceStripes stripes{};               // of the piece
  const void *bounds = nullptr;         // `count` keys in their order, as arrays hold them,
  const uint64_t *places = nullptr;     // and the place of each
  uint32_t count = 0;
  uint8_t *buckets = nullptr;  // of the piece's keys; NULL: nothing is dealt
};

// The places, ascending, of the keys that were dealt out to a bucket.
struct PiecePlaces {
  const uint8_t *buckets = nullptr;  // of all `n` keys, aligned, and with room, for vectors of 16 bytes
  uint64_t n = 0;
  uint32_t bucket = 0;
  uint32_t *chunks = nullptr;           // to work in: place_chunks(n) words
  void *places = nullptr;               // `items` at most; NULL: none are asked for
  uint64_t items = 0, index_bytes = 0;  // 1: the turns of their stripes, in place of places
  PieceStripes stripes{};
};

// to[places[i]] = from[i], behind the request.
struct PieceScatter {
  const void *places = nullptr;  // of 4 bytes
  const void *from = nullptr;    // NULL: the numbers from `first` on
  uint64_t first = 0;
  void *to = nullptr;                  // NULL: nothing is moved
  uint64_t items = 0, item_bytes = 0;  // 4 or 8
};

constexpr uint64_t place_chunks(uint64_t n) { return (n + kPlaceChunk - 1) / kPlaceChunk; }

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_PIECE_DEAL_H_
