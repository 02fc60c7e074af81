// SPDX-License-Identifier: MIT OR Apache-2.0
// What a device is asked where keys are dealt out to buckets and their indices are not to travel.
#ifndef GSORT_HOST_MEMORY_PIECE_DEAL_H_
#define GSORT_HOST_MEMORY_PIECE_DEAL_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

constexpr uint32_t kDealBoundsMax = 255;  // a bucket's number is a byte
constexpr uint64_t kPlaceChunk = 8192;

// The bucket of every key of a piece: how many of the bounds do not come behind it, where equal keys come in the order
// of their places. All addresses are of the device's memory.
struct PieceDeal {
  KeyOrder order{};
  const void *keys = nullptr;
  uint64_t items = 0, first_place = 0;
  const void *bounds = nullptr;      // `count` keys in their order, as arrays hold them,
  const uint64_t *places = nullptr;  // and the place of each
  uint32_t count = 0;
  uint8_t *buckets = nullptr;  // of the piece's keys; NULL: nothing is dealt
};

// The places, ascending, of the keys that were dealt out to a bucket.
struct PiecePlaces {
  const uint8_t *buckets = nullptr;  // of all `n` keys, aligned, and with room, for vectors of 16 bytes
  uint64_t n = 0;
  uint32_t bucket = 0;
  uint32_t *chunks = nullptr;  // to work in: place_chunks(n) words
  void *places = nullptr;      // `items` at most; NULL: none are asked for
  uint64_t items = 0, index_bytes = 0;
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
