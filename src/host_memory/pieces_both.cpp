// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, reductions and selections by both engines at once: pieces from the array's front go to the device, and threads
// of the CPU take short parts from its back, until nothing is left between them. So neither waits for the other,
// whatever their speeds are.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/dtype.h"
#include "cpu/sum/share.h"
#include "cpu/topk/share.h"
#include "host_memory/pieces_reduce.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kGrain = 4096;  // pieces begin and end where pages and vectors do
constexpr uint32_t kWorkersCounted = 16;

// The elements that nobody has taken.
class Untaken {
 public:
  struct Range {
    uint64_t begin, end;
    bool empty() const { return begin >= end; }
  };
  explicit Untaken(uint64_t n) : end_(n) {}

  // A piece of one of these lengths, the longest first; or none. At most a quarter of what is left, so that the CPU is
  // not done long before it; the shortest also where the CPU has work for half of the time that it takes.
  Range take_piece(const std::vector<uint64_t> &lengths) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t left = end_ - begin_;
    for (const uint64_t length : lengths)
      if (length <= left / 4) return take_front(length);
    return lengths.back() + lengths.back() / 2 <= left ? take_front(lengths.back()) : Range{begin_, begin_};
  }
  // From a multiple of `items` on, as long as there are any.
  Range take_part(uint64_t items) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (begin_ >= end_) return {end_, end_};
    const Range part = {std::max(begin_, (end_ - 1) / items * items), end_};
    end_ = part.begin;
    return part;
  }
  // The device has not done what it took from here on.
  void give_back(uint64_t begin) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begin_ = begin;
  }
  // Nobody takes anything any more.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    begin_ = end_;
  }
  uint64_t begin() const { return begin_; }  // when all threads have ended

 private:
  Range take_front(uint64_t length) {
    begin_ += length;
    return {begin_ - length, begin_};
  }

  std::mutex mutex_;
  uint64_t begin_ = 0, end_;
};

// The lengths that a device's pieces have: the longest, and halves of it while they are worth a step.
std::vector<uint64_t> piece_lengths(uint64_t longest, uint64_t least) {
  std::vector<uint64_t> lengths = {longest};
  for (uint64_t half = longest / 2 / kGrain * kGrain; half >= std::max(least, kGrain);
       half = half / 2 / kGrain * kGrain)
    lengths.push_back(half);
  return lengths;
}

// One call. A piece leaves so many `Result`s, `cpu(begin, end, worker)` does a part.
template <class Result, class Cpu>
class SharedCall {
 public:
  SharedCall(const PieceContext &context, const Sharing &sharing, const Request &part, Cpu &cpu,
             uint64_t results_each = 1)
      : context_(context),
        sharing_(sharing),
        part_(part),
        element_(dtype_bytes(part.order.dtype)),
        least_(std::max<uint64_t>(sharing.piece_bytes_min / element_, 1)),
        results_each_(results_each),
        cpu_(cpu),
        untaken_(part.n),
        progress_{context.control, 0, part.n * element_} {
    progress_.elsewhere = &done_by_cpu_;
    const PieceNeeds needs = reduce_needs(context.device, part, results_each * sizeof(Result),
                                          [this](uint64_t items) { return piece_lengths(items, least_); });
    const uint64_t wanted = std::max(least_, part.n / kPiecesReadWanted);
    room_ = find_room(context.device, needs, std::min(wanted, part.n), kGrain);
    if (room_.items == 0) throw_no_room(context.device);
    lengths_ = piece_lengths(room_.items, least_);
    const uint64_t pieces = part.n / lengths_.back() + 1;
    results_.resize(pieces * results_each);
    begins_.reserve(pieces);
    if (sharing.alone_above == 0) next_ = untaken_.take_piece(lengths_);  // before any thread wakes
  }

  void run() {
    context_.pool.run(
        sharing_.workers,
        [](void *user, uint32_t worker) {
          auto &call = *static_cast<SharedCall *>(user);
          if (worker != 0) return call.help(worker);
          call.lead();
          return false;
        },
        this);
    context_.control.checkpoint(progress_.total, progress_.total);
  }

  // Of the device's pieces, and where they begin.
  const std::vector<Result> &results() const { return results_; }
  const std::vector<uint64_t> &begins() const { return begins_; }
  uint64_t cpu_begin() const { return untaken_.begin(); }

 private:
  // The caller's thread drives the device, and helps the others then.
  void lead() {
    try {
      if (!goes_on_alone()) stream();
      results_.resize(begins_.size() * results_each_);
      while (do_part(0)) progress_.tell();
    } catch (...) {
      untaken_.close();
      throw;
    }
  }

  // Does its part while the threads show what they can do.
  bool goes_on_alone() {
    if (sharing_.alone_above == 0) return false;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    double elapsed_us = 0;
    while (do_part(0)) {
      progress_.tell();
      elapsed_us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
      if (elapsed_us >= sharing_.trial_us) break;
    }
    // More threads than these have the memory's limit in common: four times what the ring brings is enough.
    const uint32_t counted = std::min(sharing_.workers, kWorkersCounted);
    const double each = static_cast<double>(done_by_cpu_.load(std::memory_order_relaxed)) / counted;
    if (each > sharing_.alone_above * elapsed_us) return true;
    context_.control.log("host arrays: %.1f bytes a microsecond by each thread; the device takes part",
                         each / elapsed_us);
    working_.store(sharing_.workers_beside, std::memory_order_relaxed);
    next_ = untaken_.take_piece(lengths_);
    return false;
  }

  void stream() {
    PiecePipeline pipeline(context_.device, room_, progress_);
    try {
      pipeline.run_while([&](uint64_t i, Piece &piece) {
        const Untaken::Range range = i == 0 ? next_ : untaken_.take_piece(lengths_);
        if (range.empty()) return false;
        begins_.push_back(range.begin);
        make_reduce_piece(part_, room_.slot(i), room_.items, range.begin, range.end - range.begin,
                          reinterpret_cast<char *>(&results_[i * results_each_]), results_each_ * sizeof(Result),
                          piece);
        return true;
      });
    } catch (const Error &error) {
      if (error.status() != GSORT_ERROR_OUT_OF_MEMORY) throw;
      context_.control.log("%s; the rest on the CPU", error.text());
      if (pipeline.written() < begins_.size()) {
        untaken_.give_back(begins_[pipeline.written()]);
        begins_.resize(pipeline.written());
      }
    }
  }

  bool help(uint32_t worker) { return worker < working_.load(std::memory_order_relaxed) && do_part(worker); }

  bool do_part(uint32_t worker) {
    const Untaken::Range range = untaken_.take_part(sharing_.part_items);
    if (range.empty()) return false;
    cpu_(range.begin, range.end, worker);
    done_by_cpu_.fetch_add((range.end - range.begin) * element_, std::memory_order_relaxed);
    return true;
  }

  const PieceContext &context_;
  const Sharing &sharing_;
  const Request &part_;
  const uint64_t element_, least_, results_each_;
  Cpu &cpu_;
  Untaken untaken_;
  std::atomic<uint64_t> done_by_cpu_{0};
  std::atomic<uint32_t> working_{UINT32_MAX};  // workers that take parts
  PieceProgress progress_;
  PieceRoom room_;
  std::vector<uint64_t> lengths_;
  Untaken::Range next_{};
  std::vector<Result> results_;
  std::vector<uint64_t> begins_;
};

static_assert(Sharing{1}.part_items <= kShareItemsMax, "a part is one of those that are added at once");

void sum_on_both(const PieceContext &context, const Sharing &sharing, const Request &request) {
  const Request part = part_request(request);
  SumShare share(context.memory, part, sharing.workers);
  const auto add = [&](uint64_t begin, uint64_t end, uint32_t worker) { share.add(begin, end, worker); };
  SharedCall<PartialSum, decltype(add)> call(context, sharing, part, add);
  call.run();
  std::vector<PartialSum> parts = call.results();
  parts.push_back(share.sum(call.cpu_begin(), request.n));
  join_sums(request, parts);
}

void reduce_on_both(const PieceContext &context, const Sharing &sharing, const Request &request) {
  const Request part = part_request(request);
  // A part's best replaces the one that its thread had, if that does not come before it: parts are taken from
  // the back.
  std::vector<uint64_t> bests(sharing.workers, UINT64_MAX);
  const auto find = [&](uint64_t begin, uint64_t end, uint32_t worker) {
    const uint64_t index = first_of_least(part, begin, end);
    uint64_t &best = bests[worker];
    with_width(dtype_bytes(part.order.dtype), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const auto codec = make_codec<U>(part.order);
      const U *const elements = static_cast<const U *>(part.in);
      if (best == UINT64_MAX || codec.encode(elements[index]) <= codec.encode(elements[best])) best = index;
    });
  };
  SharedCall<uint64_t, decltype(find)> call(context, sharing, part, find);
  call.run();
  for (uint64_t i = 0; i < call.results().size(); ++i) {
    const uint64_t begin = call.begins()[i], index = call.results()[i];
    bests.push_back(index < request.n - begin ? begin + index : begin);  // no device that works says so
  }
  join_best(request, bests);
}

// Every piece tells where its first k lie, and every thread holds the first k of its parts: the first k of all of them
// are those of the whole.
void topk_on_both(const PieceContext &context, const Sharing &sharing, const Request &request) {
  Request part = request;
  part.out = nullptr;
  part.index_t = GSORT_U32;
  part.indices_out = reinterpret_cast<void *>(uintptr_t{kSliceAlignment});  // a size query asks whether there is one
  const std::unique_ptr<TopkShare> share = make_topk_share(context.memory, request, sharing.workers);
  const auto offer = [&](uint64_t begin, uint64_t end, uint32_t worker) { share->offer(begin, end, worker); };
  SharedCall<uint32_t, decltype(offer)> call(context, sharing, part, offer, request.k);
  call.run();
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i < call.begins().size(); ++i) {
    const uint64_t begin = call.begins()[i],
                   end = i + 1 < call.begins().size() ? call.begins()[i + 1] : call.cpu_begin();
    for (uint64_t j = 0; j < std::min(request.k, end - begin); ++j) {
      const uint64_t index = call.results()[i * request.k + j];
      found.push_back(index < end - begin ? begin + index : begin);  // no device that works says so
    }
  }
  share->select(found);
}

}  // namespace

void execute_on_both(const PieceContext &context, const Sharing &sharing, const Request &request) {
  if (request.operation == Operation::kTopk) return topk_on_both(context, sharing, request);
  is_sum(request) ? sum_on_both(context, sharing, request) : reduce_on_both(context, sharing, request);
}

}  // namespace gsort_internal
