// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls drawn at random over all operations, types, data and shapes, up to 10^7 elements on the log scale, compared
// with the reference byte for byte on several handles at once. A watchdog names a call that does not return. In the
// environment, for long runs:
//   GSORT_SHAPES_SECONDS   how long to draw (default: a few seconds times GSORT_TESTS_ROUNDS)
//   GSORT_SHAPES_CALLS     how many calls to draw at most (default: as many as fit the time)
//   GSORT_SHAPES_SEED      of the first call; the next ones have the next seeds (default: 1)
//   GSORT_SHAPES_ELEMENTS  the most elements of a call (default: 10^7)
//   GSORT_SHAPES_LENGTHS   every number of elements up to here is tried with every operation (default: 520)
//   GSORT_SHAPES_LENGTHS_SECONDS  after which no further number is tried (default: never)
//   GSORT_SHAPES_LANES     handles at once (default: one a processor, up to 16)
//   GSORT_SHAPES_PATIENCE  seconds after which a call hangs (default: 120)
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "inputs/samples.h"
#include "shapes/shape.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

// A handle and the call that it is in.
class Lane {
 public:
  Lane(uint32_t backend, uint32_t threads) : backend_(backend), handle_(backend, threads) {
    if (backend != GSORT_BACKEND_CUDA || handle_.get() == nullptr) return;
    stream_ = std::make_unique<DeviceStream>();
    if (gsort_set_stream(handle_.get(), stream_->get()) != GSORT_OK) std::abort();
  }
  bool usable() const { return handle_.get() != nullptr; }

  void check(const Shape &shape) {
    const std::string description = shape.describe();
    SCOPED_TRACE(description);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      description_ = description;
    }
    check_shape(handle_.get(), shape,
                [this](bool begins) { since_ = begins ? Clock::now().time_since_epoch() : kNone; });
    ++done_;
  }
  // Seconds that the library has been in the call.
  double seconds_inside() const {
    const Clock::duration since = since_;
    if (since == kNone) return 0;
    return std::chrono::duration<double>(Clock::now().time_since_epoch() - since).count();
  }
  void tell() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::fprintf(stderr, "  %.1f s inside: %s\n", seconds_inside(), description_.c_str());
  }
  uint64_t done() const { return done_; }
  void use_backend() const {
    if (backend_ == GSORT_BACKEND_CUDA) use_device(0);
  }

 private:
  static constexpr Clock::duration kNone = Clock::duration::zero();
  uint32_t backend_;
  std::unique_ptr<DeviceStream> stream_;  // outlives the handle
  Handle handle_;
  std::mutex mutex_;
  std::string description_;
  std::atomic<Clock::duration> since_{kNone};
  std::atomic<uint64_t> done_{0};
};

// Ends the program when a call does not return: it cannot be cancelled.
class Watchdog {
 public:
  explicit Watchdog(const std::vector<std::unique_ptr<Lane>> &lanes)
      : lanes_(lanes),
        patience_seconds_(static_cast<double>(from_environment("GSORT_SHAPES_PATIENCE", 120))),
        thread_([this] { watch(); }) {}
  ~Watchdog() {
    stop_ = true;
    thread_.join();
  }

 private:
  void watch() {
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (const auto &lane : lanes_) {
        if (lane->seconds_inside() <= patience_seconds_) continue;
        std::fprintf(stderr, "a call does not return; the calls of all handles:\n");
        for (const auto &each : lanes_) each->tell();
        std::abort();
      }
    }
  }
  const std::vector<std::unique_ptr<Lane>> &lanes_;
  double patience_seconds_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class ShapesTest : public BackendTest {
 protected:
  bool cuda() const { return backend() == GSORT_BACKEND_CUDA; }
  std::vector<std::unique_ptr<Lane>> make_lanes(uint64_t count) const {
    std::vector<std::unique_ptr<Lane>> lanes;
    // Thread counts that differ; on the GPU no more memory at once than a few handles need.
    for (uint64_t i = 0; i < count; i++)
      lanes.push_back(std::make_unique<Lane>(backend(), 1 + static_cast<uint32_t>(i) % 4));
    return lanes;
  }

  // Checks draw(0), draw(1), ... on all lanes until there are `calls`, the time is up or one is wrong.
  template <typename Draw>
  void run_lanes(uint64_t calls, Clock::duration patience, Draw draw) {
    const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
    const auto lanes = make_lanes(from_environment("GSORT_SHAPES_LANES", std::min<uint64_t>(processors, 16)));
    for (const auto &lane : lanes) ASSERT_TRUE(lane->usable()) << gsort_error_message(nullptr);
    const Watchdog watchdog(lanes);
    const Clock::time_point end = Clock::now() + patience;
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> threads;
    for (const auto &lane : lanes) {
      threads.emplace_back([&, own = lane.get()] {
        own->use_backend();
        for (uint64_t i = next++; i < calls && Clock::now() < end && !HasFailure(); i = next++) own->check(draw(i));
      });
    }
    for (std::thread &thread : threads) thread.join();
    done_ = 0;
    for (const auto &lane : lanes) done_ += lane->done();
    lanes_ = lanes.size();
  }
  uint64_t done_ = 0;
  size_t lanes_ = 0;
};

TEST_P(ShapesTest, DrawnAtRandom) {
  const uint64_t seconds = from_environment("GSORT_SHAPES_SECONDS", 4 * rounds());
  const uint64_t calls = from_environment("GSORT_SHAPES_CALLS", UINT64_MAX);
  const uint64_t first_seed = from_environment("GSORT_SHAPES_SEED", 1);
  const ShapeLimits limits = {from_environment("GSORT_SHAPES_ELEMENTS", 10000000), cuda()};
  run_lanes(calls, std::chrono::seconds(seconds), [&](uint64_t i) { return draw_shape(first_seed + i, limits); });
  EXPECT_GT(done_, 0u);
  std::printf("%llu calls from seed %llu on %zu handles\n", static_cast<unsigned long long>(done_),
              static_cast<unsigned long long>(first_seed), lanes_);
}

TEST_P(ShapesTest, EveryLengthOfEveryOperation) {
  const uint64_t lengths = from_environment("GSORT_SHAPES_LENGTHS", 520) + 1;
  const uint64_t seed = from_environment("GSORT_SHAPES_SEED", 1) * 1000003;
  const uint64_t seconds = from_environment("GSORT_SHAPES_LENGTHS_SECONDS", 0);
  const uint64_t calls = lengths * GSORT_OP_TOPK_SEGMENTS;
  run_lanes(calls, seconds == 0 ? std::chrono::hours(24) : std::chrono::seconds(seconds), [&](uint64_t i) {
    const auto operation = GSORT_OP_SORT + static_cast<uint32_t>(i % GSORT_OP_TOPK_SEGMENTS);
    return draw_shape_of(operation, i / GSORT_OP_TOPK_SEGMENTS, seed + i, {lengths, cuda()});
  });
  EXPECT_TRUE(seconds != 0 || calls == done_) << done_ << " of " << calls;
  EXPECT_GE(done_, std::min<uint64_t>(calls, GSORT_OP_TOPK_SEGMENTS));
  if (seconds != 0)  // lanes take them in order
    std::printf("every length up to %llu\n", static_cast<unsigned long long>(done_ / GSORT_OP_TOPK_SEGMENTS - 1));
}

// Several rows with a k of hundreds of thousands, and more columns than that: neither sorted whole nor selected short.
TEST_P(ShapesTest, RowsWithAVeryLargeK) {
  const auto lanes = make_lanes(1);
  ASSERT_TRUE(lanes[0]->usable());
  const Watchdog watchdog(lanes);
  constexpr uint64_t kEdge = uint64_t{1} << 18;
  struct Case {
    gsort_dtype type;
    uint64_t rows, columns, k;
  };
  constexpr Case kCases[] = {{GSORT_U32, 2, 700000, kEdge + 1}, {GSORT_F64, 3, 400000, kEdge + 777},
                             {GSORT_U8, 2, 300000, kEdge + 1},  {GSORT_I16, 2, 700000, kEdge},
                             {GSORT_F32, 2, 900001, 600000},    {GSORT_U64, 5, kEdge + 2, kEdge + 1}};
  for (const Case &c : kCases) {
    Shape shape;
    shape.operation = GSORT_OP_TOPK_ROWS;
    shape.type = c.type;
    shape.matrix = {c.rows, c.columns, c.columns + 1};
    shape.n = (c.rows - 1) * (c.columns + 1) + c.columns;
    shape.k = c.k;
    shape.seed = 5;
    shape.place = shape.place_out = place();
    lanes[0]->check(shape);
    if (HasFailure()) return;
  }
}

GSORT_INSTANTIATE_BACKENDS(ShapesTest);

}  // namespace
}  // namespace gsort_test
