// SPDX-License-Identifier: MIT OR Apache-2.0
// Very many small calls: drawn as in shapes_test.cpp, but hundreds of them at a time in one block of memory, which is
// poisoned, filled with the inputs and given to two engines. All bytes of the two blocks must be equal after: results,
// inputs, and what lies between the arrays. The CUDA engine is compared with the CPU engine; that one, which other
// tests compare with the reference, with itself at another number of threads. In the environment, for long runs:
//   GSORT_BATCH_CASES     how many calls (default: 2,000 times GSORT_TESTS_ROUNDS)
//   GSORT_BATCH_SEED      of the first call; the next ones have the next seeds (default: 1)
//   GSORT_BATCH_ELEMENTS  the most elements of a call (default: 4,096)
//   GSORT_BATCH_LANES     handles at once (default: one a processor, up to 16)
//   GSORT_BATCH_LENGTHS   every number of elements up to here is tried with every operation (default: 130)
//   GSORT_BATCH_TOTAL     a file that gets a line with the number of calls that were equal
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "inputs/samples.h"
#include "shapes/shape.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

constexpr uint64_t kCasesAtOnce = 256;
constexpr uint64_t kBlockBytes = uint64_t{1} << 27;
constexpr uint64_t kCaseBytes = uint64_t{1} << 18;  // most bytes of the values of pairs
constexpr uint64_t kGapBytes = 64;                  // of poison behind each array
constexpr uint8_t kPoison = 0xa5;

uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

// A call, and where its arrays begin in the block. `second`: values, the other array of a merge, or offsets.
struct Case {
  Shape shape;
  uint64_t begin = 0, in = 0, second = 0, out = 0, second_out = 0, end = 0;
};

// Lays arrays out in the block, one behind the other.
class Block {
 public:
  explicit Block(Place place) : place_(place), base_(static_cast<uint8_t *>(place_allocate(place, kBlockBytes))) {}
  ~Block() { place_free(place_, base_); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  uint8_t *base() const { return base_; }
  void clear() { used_ = 0; }
  uint64_t used() const { return used_; }
  uint64_t put(const Bytes &content, uint64_t offset_bytes) {
    const uint64_t at = room(content.size(), offset_bytes);
    if (!content.empty()) std::memcpy(base_ + at, content.data(), content.size());
    return at;
  }
  uint64_t room(uint64_t bytes, uint64_t offset_bytes) {
    const uint64_t at = (used_ + 255) / 256 * 256 + offset_bytes, before = used_;
    used_ = at + bytes + kGapBytes;
    if (used_ > kBlockBytes) std::abort();
    std::memset(base_ + before, kPoison, used_ - before);
    return at;
  }

 private:
  Place place_;
  uint8_t *base_;
  uint64_t used_ = 0;
};

bool is_selection(uint32_t operation) {
  return operation == GSORT_OP_TOPK || operation == GSORT_OP_TOPK_ROWS || operation == GSORT_OP_TOPK_SEGMENTS;
}

uint64_t out_element_bytes(const Shape &s) {
  if (s.operation == GSORT_OP_ARGSORT || s.operation == GSORT_OP_RANK) return element_type(s.index_t).bytes;
  return s.operation == GSORT_OP_SUM || s.operation == GSORT_OP_REDUCE ? 8 : element_type(s.type).bytes;
}

uint64_t out_elements(const Shape &s) {
  const uint64_t segments = s.offsets.empty() ? 0 : s.offsets.size() - 1;
  switch (s.operation) {
    case GSORT_OP_MERGE:
      return s.n + s.b_n;
    case GSORT_OP_TOPK:
      return s.k;
    case GSORT_OP_TOPK_ROWS:
      return s.matrix.rows * s.k;
    case GSORT_OP_TOPK_SEGMENTS:
      return segments * s.k;
    case GSORT_OP_SUM:
    case GSORT_OP_REDUCE:
      return 1;
    default:
      return s.n;
  }
}

// The inputs of a case, sorted ones for a merge, into the block.
Case lay_out(gsort *reference, const Shape &s, Block *block) {
  Case c;
  c.shape = s;
  c.begin = block->used();
  const uint32_t bytes = element_type(s.type).bytes, index_bytes = element_type(s.index_t).bytes;
  const uint64_t offset = uint64_t{s.offset_elements} * bytes;
  c.in = block->put(generate(s.distribution, s.type, s.n, s.seed).bytes(), offset);
  if (s.operation == GSORT_OP_MERGE) {
    c.second = block->put(generate(s.distribution, s.type, s.b_n, s.seed + 1).bytes(), offset);
    for (const auto &[at, n] : {std::pair(c.in, s.n), std::pair(c.second, s.b_n)})
      EXPECT_EQ(GSORT_OK, gsort_sort(reference, s.type, block->base() + at, block->base() + at, n, s.flags));
  }
  if (s.operation == GSORT_OP_SORT_PAIRS)
    c.second = block->put(generate_values(s.n, s.value_bytes, s.seed), uint64_t{s.offset_elements} * s.value_bytes);
  if (!s.offsets.empty()) c.second = block->put(make_array(GSORT_U64, s.offsets).bytes(), 0);
  const bool in_place = s.in_place && (s.operation == GSORT_OP_SORT || s.operation == GSORT_OP_SORT_PAIRS ||
                                       s.operation == GSORT_OP_SORT_SEGMENTS || s.operation == GSORT_OP_SCAN);
  const uint64_t out_bytes = out_element_bytes(s);
  c.out = in_place ? c.in : block->room(out_elements(s) * out_bytes, s.offset_elements * out_bytes);
  if (s.operation == GSORT_OP_SORT_PAIRS)
    c.second_out = in_place ? c.second : block->room(s.n * s.value_bytes, uint64_t{s.offset_elements} * s.value_bytes);
  if (is_selection(s.operation))
    c.second_out = block->room(out_elements(s) * index_bytes, uint64_t{s.offset_elements} * index_bytes);
  c.end = block->used();
  return c;
}

gsort_status call(gsort *g, const Case &c, uint8_t *base) {
  const Shape &s = c.shape;
  const void *const in = base + c.in, *const second = base + c.second;
  void *const out = base + c.out, *const second_out = base + c.second_out;
  void *const values = s.wanted == Wanted::kIndices ? nullptr : out;
  void *const indices = s.wanted == Wanted::kValues ? nullptr : second_out;
  const uint64_t segments = s.offsets.empty() ? 0 : s.offsets.size() - 1;
  const auto *const offsets = static_cast<const uint64_t *>(second);
  switch (s.operation) {
    case GSORT_OP_SORT:
      return gsort_sort(g, s.type, in, out, s.n, s.flags);
    case GSORT_OP_SORT_PAIRS:
      return gsort_sort_pairs(g, s.type, in, out, s.value_bytes, second, second_out, s.n, s.flags);
    case GSORT_OP_ARGSORT:
      return gsort_argsort(g, s.type, in, s.n, s.index_t, out, s.flags);
    case GSORT_OP_RANK:
      return gsort_rank(g, s.type, in, s.n, s.index_t, out, s.flags);
    case GSORT_OP_MERGE:
      return gsort_merge(g, s.type, in, s.n, second, s.b_n, out, s.flags);
    case GSORT_OP_SORT_SEGMENTS:
      return gsort_sort_segments(g, s.type, in, out, s.n, offsets, segments, s.flags);
    case GSORT_OP_TOPK:
      return gsort_topk(g, s.type, in, s.n, s.k, values, s.index_t, indices, s.flags);
    case GSORT_OP_TOPK_ROWS:
      return gsort_topk_rows(g, s.type, in, s.matrix.rows, s.matrix.columns, s.matrix.row_stride, s.k, values,
                             s.index_t, indices, s.flags);
    case GSORT_OP_TOPK_SEGMENTS:
      return gsort_topk_segments(g, s.type, in, s.n, offsets, segments, s.k, values, s.index_t, indices, s.flags);
    case GSORT_OP_SUM:
      return gsort_sum(g, s.type, in, s.n, out, 0);
    case GSORT_OP_REDUCE:
      return gsort_reduce(g, s.reduce_op, s.type, in, s.n, out, s.flags);
    default:
      return gsort_scan(g, s.type, in, out, s.n, s.flags);
  }
}

// Two handles with a block each.
class Lane {
 public:
  Lane(uint32_t backend, uint32_t number)
      : cuda_(backend == GSORT_BACKEND_CUDA),
        tested_(backend, 1 + number % 4),
        reference_(GSORT_BACKEND_CPU, cuda_ ? 1 : 3),
        host_(cuda_ ? Place::kPinned : Place::kHost),
        got_(cuda_ ? Place::kPinned : Place::kHost) {
    if (!cuda_) return;
    device_ = std::make_unique<Block>(Place::kDevice);
    stream_ = std::make_unique<DeviceStream>();
    EXPECT_EQ(GSORT_OK, gsort_set_stream(tested_.get(), stream_->get()));
  }
  ~Lane() { EXPECT_EQ(GSORT_OK, gsort_synchronize(tested_.get())); }
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  // Checks draw(first), draw(first + 1), ...
  template <typename Draw>
  void check(uint64_t first, uint64_t count, Draw draw) {
    std::vector<Case> cases;
    host_.clear();
    for (uint64_t i = first; i < first + count; i++) {
      Shape shape = draw(i);
      if (shape.operation == GSORT_OP_SORT_PAIRS) shape.n = std::min(shape.n, kCaseBytes / shape.value_bytes);
      cases.push_back(lay_out(reference_.get(), shape, &host_));
    }
    send();
    for (const Case &c : cases)
      EXPECT_TRUE(succeeded(tested_.get(), call(tested_.get(), c, cuda_ ? device_->base() : got_.base())))
          << c.shape.describe();
    for (const Case &c : cases)
      EXPECT_TRUE(succeeded(reference_.get(), call(reference_.get(), c, host_.base()))) << c.shape.describe();
    receive();
    if (std::memcmp(host_.base(), got_.base(), host_.used()) != 0) name_the_wrong(cases);
  }

 private:
  void send() {
    if (!cuda_) std::memcpy(got_.base(), host_.base(), host_.used());
    // What the host engine writes comes after, so the copy has to have ended.
    if (!cuda_) return;
    stream_->copy_async(device_->base(), host_.base(), host_.used());
    stream_->synchronize();
  }
  void receive() {
    if (cuda_) stream_->copy_async(got_.base(), device_->base(), host_.used());
    EXPECT_TRUE(succeeded(tested_.get(), gsort_synchronize(tested_.get())));
    if (cuda_) stream_->synchronize();
  }
  void name_the_wrong(const std::vector<Case> &cases) const {
    for (const Case &c : cases)
      for (uint64_t i = c.begin; i < c.end; i++) {
        if (host_.base()[i] == got_.base()[i]) continue;
        ADD_FAILURE() << c.shape.describe() << ": byte " << i - c.begin << " of its " << c.end - c.begin << " (in at "
                      << c.in - c.begin << ", out at " << c.out - c.begin << " and " << c.second_out - c.begin << ")";
        break;
      }
  }

  bool cuda_;
  std::unique_ptr<DeviceStream> stream_;  // outlives the handle
  Handle tested_, reference_;
  Block host_, got_;
  std::unique_ptr<Block> device_;
};

class BatchTest : public BackendTest {
 protected:
  // Checks draw(0) to draw(calls - 1) on all lanes.
  template <typename Draw>
  void run_lanes(uint64_t calls, const char *what, Draw draw) {
    const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
    const uint64_t lanes = from_environment("GSORT_BATCH_LANES", std::min<uint64_t>(processors, 16));
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> threads;
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t number = 0; number < lanes; ++number)
      threads.emplace_back([&, number] {
        if (backend() == GSORT_BACKEND_CUDA) use_device(0);
        Lane lane(backend(), number);
        for (uint64_t i = next.fetch_add(kCasesAtOnce); i < calls && !HasFailure(); i = next.fetch_add(kCasesAtOnce))
          lane.check(i, std::min(kCasesAtOnce, calls - i), draw);
      });
    for (std::thread &thread : threads) thread.join();
    if (HasFailure()) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%llu calls (%s) on %llu handles in %.1f s: %.0f a second\n", static_cast<unsigned long long>(calls),
                what, static_cast<unsigned long long>(lanes), seconds, static_cast<double>(calls) / seconds);
    const char *const total = std::getenv("GSORT_BATCH_TOTAL");
    std::FILE *const file = total == nullptr ? nullptr : std::fopen(total, "a");
    if (file == nullptr) return;
    std::fprintf(file, "%s %llu calls, %s\n", backend() == GSORT_BACKEND_CUDA ? "cuda" : "cpu",
                 static_cast<unsigned long long>(calls), what);
    std::fclose(file);
  }
};

TEST_P(BatchTest, ManySmallCalls) {
  const uint64_t seed = from_environment("GSORT_BATCH_SEED", 1);
  const ShapeLimits limits = {from_environment("GSORT_BATCH_ELEMENTS", 4096), false};
  const std::string what = "drawn from seed " + std::to_string(seed);
  run_lanes(from_environment("GSORT_BATCH_CASES", 2000 * rounds()), what.c_str(),
            [&](uint64_t i) { return draw_shape(seed + i, limits); });
}

TEST_P(BatchTest, EveryLengthOfEveryOperation) {
  const uint64_t seed = from_environment("GSORT_BATCH_SEED", 1) * 1000003;
  const uint64_t lengths = from_environment("GSORT_BATCH_LENGTHS", 130) + 1;
  const std::string what = "every length up to " + std::to_string(lengths - 1);
  run_lanes(lengths * GSORT_OP_TOPK_SEGMENTS, what.c_str(), [&](uint64_t i) {
    const auto operation = GSORT_OP_SORT + static_cast<uint32_t>(i % GSORT_OP_TOPK_SEGMENTS);
    return draw_shape_of(operation, i / GSORT_OP_TOPK_SEGMENTS, seed + i, {lengths, false});
  });
}

GSORT_INSTANTIATE_BACKENDS(BatchTest);

}  // namespace
}  // namespace gsort_test
