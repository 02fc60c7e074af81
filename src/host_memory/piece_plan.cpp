// SPDX-License-Identifier: MIT OR Apache-2.0
#include "host_memory/piece_plan.h"

#include <algorithm>

#include "core/error.h"

namespace gsort_internal {
namespace {

using ull = unsigned long long;

// Every `stride`-th element of every run.
template <class U>
struct Sample {
  U key;  // ordered bits
  uint32_t run;
  uint64_t place;

  bool operator<(const Sample &other) const {
    if (key != other.key) return key < other.key;
    return run != other.run ? run < other.run : place < other.place;
  }
};

template <class U>
class RunSplitter {
 public:
  RunSplitter(const std::vector<Run> &runs, const KeyOrder &order, uint64_t stride)
      : runs_(runs), codec_(make_codec<U>(order)), stride_(stride) {}

  // A part takes `samples` samples, and what lies between them and the next of each run: at most stride - 1 elements.
  Parts split(uint64_t samples, uint64_t wanted) {
    draw();
    Parts parts(runs_.size());
    std::vector<uint64_t> cut(runs_.size(), 0), passed(runs_.size(), 0);
    uint64_t rank = 0;
    for (uint64_t first = 0; rank < wanted; first += samples) {
      const bool last = samples_.size() - first <= samples;
      for (uint64_t i = first; !last && i < first + samples; ++i) ++passed[samples_[i].run];
      rank = 0;
      for (uint64_t r = 0; r < runs_.size(); ++r) {
        cut[r] = last ? runs_[r].count : std::max(cut[r], place_of(samples_[first + samples - 1], r, passed[r]));
        rank += cut[r];
      }
      parts.add(cut);
      if (last) break;
    }
    return parts;
  }

 private:
  U key_at(uint64_t run, uint64_t place) const {
    return codec_.encode(reinterpret_cast<const U *>(runs_[run].keys)[place]);
  }

  void draw() {
    for (uint32_t r = 0; r < runs_.size(); ++r)
      for (uint64_t place = stride_ - 1; place < runs_[r].count; place += stride_)
        samples_.push_back({key_at(r, place), r, place});
    std::sort(samples_.begin(), samples_.end());
  }

  // How many elements of the run come before the cut, which is just behind the sample. `passed` samples of the run do.
  uint64_t place_of(const Sample<U> &sample, uint64_t run, uint64_t passed) const {
    uint64_t begin = passed * stride_;
    if (run == sample.run) return begin;
    uint64_t end = std::min(begin + stride_ - 1, runs_[run].count);
    // Equal keys of earlier runs come before, those of later ones behind.
    while (begin < end) {
      const uint64_t middle = begin + (end - begin) / 2;
      const U key = key_at(run, middle);
      const bool before = run < sample.run ? key <= sample.key : key < sample.key;
      if (before)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  const std::vector<Run> &runs_;
  const KeyCodec<U> codec_;
  const uint64_t stride_;
  std::vector<Sample<U>> samples_;
};

}  // namespace

std::vector<uint64_t> arriving_ends(uint64_t n, uint64_t record_bytes, uint64_t piece_bytes_min) {
  // Pieces begin where kernels may load vectors.
  constexpr uint64_t kGrain = 256, kLongMax = kCutRunsMax * 3 / 4;
  const auto rounded = [](uint64_t items) { return (items + kGrain - 1) / kGrain * kGrain; };
  const uint64_t least = rounded(std::max<uint64_t>(piece_bytes_min / record_bytes, 1)),
                 wanted = std::min(n / kArrivingShare, kPieceBytesMax / record_bytes),
                 most = std::max(least, rounded(std::max(wanted, n / kLongMax)));
  std::vector<uint64_t> ends;
  for (uint64_t end = 0; end < n; ends.push_back(end)) {
    const uint64_t rest = n - end;
    end += rest < 2 * least ? rest : std::max(least, std::min(most, rounded(rest / 2)));
  }
  if (ends.size() > kCutRunsMax) ends.clear();
  return ends;
}

uint64_t most_items(uint64_t budget_bytes, uint64_t items_max, uint64_t grain,
                    const std::function<uint64_t(uint64_t)> &bytes_of) {
  uint64_t low = items_max / grain, high = low;
  // Half as many may need more, where another plan serves them: the first of the halves that fit is as good as any.
  while (low > 0 && bytes_of(low * grain) > budget_bytes) high = low - 1, low /= 2;
  while (low != 0 && low < high) {
    const uint64_t middle = high - (high - low) / 2;
    if (bytes_of(middle * grain) <= budget_bytes)
      low = middle;
    else
      high = middle - 1;
  }
  return low * grain;
}

uint64_t Parts::first_rank(uint64_t part) const {
  uint64_t rank = 0;
  for (uint64_t r = 0; r < runs_; ++r) rank += at(part, r);
  return rank;
}

Parts split_runs(const std::vector<Run> &runs, const KeyOrder &order, uint64_t capacity, uint64_t wanted) {
  std::vector<uint64_t> ends;
  uint64_t total = 0;
  for (const Run &run : runs) ends.push_back(run.count), total += run.count;
  if (total <= capacity) {
    Parts whole(runs.size());
    whole.add(ends);
    return whole;
  }
  // Of a part's room so much may stay empty: a sixteenth.
  constexpr uint64_t kSamplesPerRun = 16;
  const uint64_t stride = std::max<uint64_t>(1, capacity / (kSamplesPerRun * runs.size()));
  if (capacity / stride <= runs.size())
    throw Error(GSORT_ERROR_OUT_OF_MEMORY,
                "the device memory that may be used holds %llu elements at a time, and %llu sorted pieces cannot be "
                "merged in it; raise device_memory_limit_bytes",
                ull(capacity), ull(runs.size()));
  return with_width(dtype_bytes(order.dtype), [&](auto tag) {
    return RunSplitter<typename decltype(tag)::type>(runs, order, stride)
        .split(capacity / stride - runs.size(), wanted);
  });
}

}  // namespace gsort_internal
