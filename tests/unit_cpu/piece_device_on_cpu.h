// SPDX-License-Identifier: MIT OR Apache-2.0
// A device for pieces whose memory is ordinary memory and whose kernels are the CPU's engine, with little room and
// hostile to what its user may not count on.
#ifndef GSORT_TESTS_UNIT_CPU_PIECE_DEVICE_ON_CPU_H_
#define GSORT_TESTS_UNIT_CPU_PIECE_DEVICE_ON_CPU_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "core/dtype.h"
#include "core/half.h"
#include "core/superaccumulator.h"
#include "engine_fixture.h"
#include "host_memory/piece_device.h"

namespace gsort_test {

inline double widened(gsort_dtype t, const void *array, uint64_t i) {
  if (t == GSORT_F64) return static_cast<const double *>(array)[i];
  if (t == GSORT_F32) return static_cast<double>(static_cast<const float *>(array)[i]);
  const uint16_t bits = static_cast<const uint16_t *>(array)[i];
  return t == GSORT_F16 ? Half::to_double(bits) : BFloat16::to_double(bits);
}

__extension__ typedef __int128 Int128;

// The sum of a piece, element by element.
inline PartialSum partial_sum(const Request &request) {
  PartialSum partial{};
  const gsort_dtype t = request.order.dtype;
  if (is_float(t)) {
    Superaccumulator sum;
    sum.clear();
    for (uint64_t i = 0; i < request.n; ++i) sum.add(widened(t, request.in, i));
    std::memcpy(partial.limbs, sum.limbs(), sizeof partial.limbs);
    partial.flags = sum.flags();
    return partial;
  }
  Int128 sum = 0;
  with_width(dtype_bytes(t), [&](auto tag) {
    using U = typename decltype(tag)::type;
    for (uint64_t i = 0; i < request.n; ++i) {
      const U element = static_cast<const U *>(request.in)[i];
      const bool negative = dtype_facts(t).kind == Kind::kSigned && (element & KeyCodec<U>::kTop) != 0;
      sum += static_cast<Int128>(element) - (negative ? static_cast<Int128>(1) << (8 * sizeof(U)) : 0);
    }
  });
  partial.limbs[0] = static_cast<int64_t>(sum), partial.limbs[1] = static_cast<int64_t>(sum >> 64);
  return partial;
}

class PieceDeviceOnCpu : public PieceDevice {
 public:
  explicit PieceDeviceOnCpu(uint64_t budget_bytes) : engine_(2), budget_bytes_(budget_bytes) {}

  uint64_t steps = 0, takes = 0, fail_take = UINT64_MAX, fail_step = UINT64_MAX;
  gsort_status fail_status = GSORT_ERROR_INTERNAL;
  uint64_t bytes_in = 0, bytes_out = 0;
  // Workspaces depend on the length in no simple way: a shorter piece may need more than a longer one.
  bool by_length = false;
  // Changes what a search among so many keys has told.
  std::function<void(uint64_t *told, uint64_t count, uint64_t items)> tamper;
  bool tampers_with_deals = false;  // also where keys have been dealt out to buckets
  // Changes which bucket of so many a key goes to; buckets stay in the order of their keys.
  std::function<uint64_t(uint64_t bucket, uint64_t buckets)> misdeal;
  uint64_t dealt = 0;  // keys that were dealt out
  ArrivingSizes arriving = {UINT64_MAX, 4096};
  std::function<void(uint64_t *told, uint64_t count)> tamper_cuts;
  uint64_t cuts = 0;  // that were asked for

  uint64_t budget_bytes() override { return budget_bytes_; }
  char *take(uint64_t bytes) override {
    if (takes++ == fail_take) return nullptr;
    EXPECT_LE(bytes, budget_bytes_);
    memory_.assign(bytes + kRedZone, static_cast<char>(0xEE));
    bytes_ = bytes;
    return memory_.data();
  }
  uint64_t workspace_bytes(const Request &shape) override {
    return cuda_workspace_bytes(shape) + (by_length ? shape.n * 2654435761u % 8 * 8192 : 0);
  }

  ArrivingSizes arriving_sizes() const override { return arriving; }

  void step(const std::vector<PieceCopy> &in, const PieceWork *work, const std::vector<PieceCopy> &out,
            PieceProgress &progress) override {
    if (steps++ == fail_step) throw Error(fail_status, "made to fail");
    // The three go in any order on a device.
    if (steps % 2 == 0 && work != nullptr) run(*work);
    bool cancelled = false;
    if (steps % 4 < 2) {
      cancelled = !copy_in(in, progress);
      copy_out(out, progress);
    } else {
      copy_out(out, progress);
      cancelled = !copy_in(in, progress);
    }
    if (cancelled) throw Error(GSORT_ERROR_CANCELLED, "cancelled");
    progress.tell();
    if (steps % 2 == 1 && work != nullptr) run(*work);
    for (uint64_t i = 0; i < kRedZone; ++i) ASSERT_EQ(static_cast<char>(0xEE), memory_[bytes_ + i]);
  }

 private:
  static constexpr uint64_t kRedZone = 256;

  // False: the call is to stop.
  bool copy_in(const std::vector<PieceCopy> &copies, PieceProgress &progress) {
    for (const PieceCopy &copy : copies) {
      try {
        progress.tell();
      } catch (const Error &) {
        return false;
      }
      expect_inside(copy.device, copy.bytes);
      std::memcpy(copy.device, copy.host, copy.bytes);
      bytes_in += copy.bytes;
      progress.done = progress.reached(copy.bytes);
    }
    return true;
  }

  void copy_out(const std::vector<PieceCopy> &copies, PieceProgress &progress) {
    progress.writes = true;
    for (const PieceCopy &copy : copies) {
      expect_inside(copy.device, copy.bytes);
      std::memcpy(copy.host, copy.device, copy.bytes);
      bytes_out += copy.bytes;
      progress.done = progress.reached(copy.bytes);
    }
  }

  void expect_inside(const void *at, uint64_t bytes) const {
    const char *const begin = static_cast<const char *>(at);
    EXPECT_TRUE(bytes > 0 && begin >= memory_.data() && begin + bytes <= memory_.data() + bytes_);
  }

  void run(const PieceWork &work) {
    for (const PieceMove &move : work.moves) {
      expect_inside(move.to, move.bytes);
      expect_inside(move.from, move.bytes);
      std::memcpy(move.to, move.from, move.bytes);
    }
    if (work.deal.buckets != nullptr) deal(work.deal);
    if (work.places.places != nullptr) list_places(work.places);
    for (const Request &before : work.before) {
      std::memset(work.workspace, 0xAB, workspace_bytes(before));
      execute(before);
    }
    Request request = work.request;
    std::memset(work.workspace, 0xAB, workspace_bytes(request));
    if (has_no_elements(request)) return;
    if (request.partial_sum) {
      const PartialSum partial = partial_sum(request);
      std::memcpy(request.out, &partial, sizeof partial);
      return;
    }
    if (request.scan_carry != nullptr) return scan(request);
    execute(request);
    if (work.index_base != 0) raise_indices(work);
    if (work.scatter.to != nullptr) scatter(work.scatter);
    if (work.search.count != 0) search(work);
    if (work.cuts.cuts != 0) cut(work.cuts);
  }

  // By a stable sort of all elements' keys.
  void cut(const PieceCuts &asked) {
    cuts += asked.cuts;
    const uint64_t n = asked.ends[asked.runs - 1], told = uint64_t{asked.cuts} * asked.runs;
    expect_inside(asked.keys, n * dtype_bytes(asked.order.dtype));
    expect_inside(asked.found, told * sizeof(uint64_t));
    with_width(dtype_bytes(asked.order.dtype), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const auto codec = make_codec<U>(asked.order);
      std::vector<std::pair<U, uint64_t>> elements;
      for (uint64_t i = 0; i < n; ++i) elements.push_back({codec.encode(static_cast<const U *>(asked.keys)[i]), i});
      std::sort(elements.begin(), elements.end());
      for (uint64_t c = 0; c < asked.cuts; ++c) {
        uint64_t *const found = asked.found + c * asked.runs;
        std::fill(found, found + asked.runs, 0);
        for (uint64_t i = 0; i < asked.ranks[c]; ++i)
          ++found[std::upper_bound(asked.ends, asked.ends + asked.runs, elements[i].second) - asked.ends];
      }
    });
    std::memcpy(asked.told, asked.found, told * sizeof(uint64_t));
    if (tamper_cuts) tamper_cuts(asked.told, told);
  }

  void deal(const PieceDeal &deal) {
    const uint32_t key_bytes = dtype_bytes(deal.order.dtype);
    expect_inside(deal.keys, deal.items * key_bytes);
    expect_inside(deal.bounds, deal.count * key_bytes);
    expect_inside(deal.places, deal.count * sizeof(uint64_t));
    expect_inside(deal.buckets, deal.items);
    dealt += deal.items;
    with_width(key_bytes, [&](auto tag) {
      using U = typename decltype(tag)::type;
      using Placed = std::pair<U, uint64_t>;
      const auto codec = make_codec<U>(deal.order);
      std::vector<Placed> bounds;
      for (uint64_t b = 0; b < deal.count; ++b)
        bounds.push_back({codec.encode(static_cast<const U *>(deal.bounds)[b]), deal.places[b]});
      EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
      for (uint64_t i = 0; i < deal.items; ++i) {
        uint64_t place = deal.first_place + i;
        if (deal.stripes.count != 0) {
          const uint64_t stripe = stripe_of(deal.stripes, place);
          place = deal.stripes.begins[stripe] + (place - deal.stripes.starts[stripe]);
        }
        const Placed key = {codec.encode(static_cast<const U *>(deal.keys)[i]), place};
        const auto bucket = std::upper_bound(bounds.begin(), bounds.end(), key) - bounds.begin();
        deal.buckets[i] = static_cast<uint8_t>(misdeal ? misdeal(static_cast<uint64_t>(bucket), deal.count + 1)
                                                       : static_cast<uint64_t>(bucket));
      }
    });
  }

  uint64_t stripe_of(const PieceStripes &stripes, uint64_t read_before) const {
    expect_inside(stripes.starts, stripes.count * sizeof(uint64_t));
    expect_inside(stripes.begins, stripes.count * sizeof(uint64_t));
    expect_inside(stripes.turns, stripes.count);
    const uint64_t *const end = stripes.starts + stripes.count;
    return static_cast<uint64_t>(std::upper_bound(stripes.starts, end, read_before) - stripes.starts) - 1;
  }

  void list_places(const PiecePlaces &places) const {
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(places.buckets) % 16 - reinterpret_cast<uintptr_t>(memory_.data()) % 16);
    expect_inside(places.buckets, (places.n + 15) / 16 * 16);
    expect_inside(places.chunks, place_chunks(places.n) * sizeof(uint32_t));
    expect_inside(places.places, places.items * places.index_bytes);
    std::memset(places.chunks, 0xAB, place_chunks(places.n) * sizeof(uint32_t));
    uint64_t at = 0;
    for (uint64_t i = 0; i < places.n && at < places.items; ++i)
      if (places.buckets[i] == places.bucket) {
        const uint64_t told = places.index_bytes == 1 ? places.stripes.turns[stripe_of(places.stripes, i)] : i;
        std::memcpy(static_cast<char *>(places.places) + at++ * places.index_bytes, &told, places.index_bytes);
      }
  }

  void scatter(const PieceScatter &scatter) const {
    const uint64_t bytes = scatter.item_bytes;
    expect_inside(scatter.places, scatter.items * sizeof(uint32_t));
    expect_inside(scatter.to, scatter.items * bytes);
    if (scatter.from != nullptr) expect_inside(scatter.from, scatter.items * bytes);
    for (uint64_t i = 0; i < scatter.items; ++i) {
      const uint64_t place = static_cast<const uint32_t *>(scatter.places)[i];
      uint64_t item = scatter.first + i;
      if (scatter.from != nullptr) std::memcpy(&item, static_cast<const char *>(scatter.from) + i * bytes, bytes);
      ASSERT_LT(place, scatter.items);
      std::memcpy(static_cast<char *>(scatter.to) + place * bytes, &item, bytes);
    }
  }

  void search(const PieceWork &work) const {
    const Request &request = work.request;
    expect_inside(work.search.bounds, work.search.count * dtype_bytes(request.order.dtype));
    expect_inside(work.search.found, 2 * work.search.count * sizeof(uint64_t));
    with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const auto codec = make_codec<U>(request.order);
      const U *const keys = static_cast<const U *>(request.out), *const end = keys + request.n;
      const auto before = [&](U a, U b) { return codec.encode(a) < codec.encode(b); };
      for (uint64_t i = 0; i < work.search.count; ++i) {
        U bound;
        std::memcpy(&bound, work.search.bounds + i * sizeof(U), sizeof(U));
        work.search.found[2 * i] = static_cast<uint64_t>(std::lower_bound(keys, end, bound, before) - keys);
        work.search.found[2 * i + 1] = static_cast<uint64_t>(std::upper_bound(keys, end, bound, before) - keys);
      }
    });
    std::memcpy(work.search.told, work.search.found, 2 * work.search.count * sizeof(uint64_t));
    if (tamper && (work.deal.buckets == nullptr || tampers_with_deals))
      tamper(work.search.told, 2 * work.search.count, request.n);
  }

  static void number_values(Request &request) {
    for (uint64_t i = 0; i < request.n; ++i)
      std::memcpy(static_cast<char *>(request.values_out) + i * request.value_bytes, &i, request.value_bytes);
    request.values_in = request.values_out;
  }

  void execute(Request request) {
    if (request.operation == Operation::kSortPairs && request.values_in == nullptr) number_values(request);
    engine_.control.begin_call();
    engine_.engine->execute(request);
  }

  static void raise_indices(const PieceWork &work) {
    const bool pairs = work.request.operation == Operation::kSortPairs;
    const uint64_t bytes = pairs ? work.request.value_bytes : dtype_bytes(work.request.index_t),
                   count = pairs ? work.request.n : work.request.k;
    char *const indices = static_cast<char *>(pairs ? work.request.values_out : work.request.indices_out);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t index = 0;
      std::memcpy(&index, indices + i * bytes, bytes);
      index += work.index_base;
      std::memcpy(indices + i * bytes, &index, bytes);
    }
  }

  // What came before is scanned again, and the results of the piece are the last ones. The carry says only whether
  // there was anything.
  void scan(Request request) {
    const bool first = bits_of_double(*request.scan_carry) == bits_of_double(-0.0);
    if (first) scanned_.clear();
    EXPECT_TRUE(first || *request.scan_carry == 1) << "nobody has written the carry";
    *request.scan_carry = 1;
    const uint64_t element = dtype_bytes(request.order.dtype), before = scanned_.size();
    const char *const in = static_cast<const char *>(request.in);
    scanned_.insert(scanned_.end(), in, in + request.n * element);
    std::vector<char> results(scanned_.size());
    void *const out = request.out;
    const uint64_t bytes = request.n * element;
    request.in = scanned_.data(), request.out = results.data(), request.n = scanned_.size() / element;
    request.scan_carry = nullptr;
    engine_.control.begin_call();
    engine_.engine->execute(request);
    std::memcpy(out, results.data() + before, bytes);
  }

  EngineUnderTest engine_;
  const uint64_t budget_bytes_;
  std::vector<char> memory_;
  uint64_t bytes_ = 0;
  std::vector<char> scanned_;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_PIECE_DEVICE_ON_CPU_H_
