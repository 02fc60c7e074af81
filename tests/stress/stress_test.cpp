// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation again and again on four handles at once, each with a thread and a stream of its own, so that blocks
// of one call wait for a multiprocessor while those of others hold it: a block that waits for one that cannot start, or
// that publishes before all of its threads have written, shows itself only so. The first result of each call is
// compared with the reference, every later one with the first, whole arrays bit for bit. GSORT_TESTS_ROUNDS=50 makes
// 100,000 calls on the GPU.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "inputs/samples.h"
#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr int kLanes = 4;
constexpr size_t kOutputs = 3;
constexpr size_t kBurst = 8;  // calls that are enqueued before their results are looked at
constexpr uint8_t kPoison = 0xA5;
constexpr gsort_dtype kTypes[kLanes] = {GSORT_F32, GSORT_U64, GSORT_I32, GSORT_U16};
constexpr Distribution kInputs[kLanes] = {Distribution::kSmallRange, Distribution::kUniform, Distribution::kTwoValues,
                                          Distribution::kZipf};

// One operation on one input, what it wrote the first time, and where later results go.
struct Cell {
  const NamedOperation *operation;
  const Arrays *arrays;
  Bytes first[kOutputs];  // empty: the operation does not write this array
  std::unique_ptr<Buffer> seen[kOutputs];
};

class Lane {
 public:
  Lane(uint32_t backend, int number);
  // Does `calls` calls; what went wrong is in problem().
  void work(uint64_t calls);
  void stop() { stopped_ = true; }
  const std::string &problem() const { return problem_; }
  uint64_t done() const { return done_; }
  const char *current() const { return current_; }

 private:
  void add_cells(uint64_t n);
  void run_first(Cell *cell);
  void enqueue(const Cell &cell);
  void check(const Cell &cell);
  void fill(const Buffer &buffer);
  void copy(const Buffer &to, const Buffer &from);
  void wait();

  uint32_t backend_;
  int number_;
  std::unique_ptr<DeviceStream> stream_;
  Handle handle_;
  std::vector<std::unique_ptr<Arrays>> arrays_;
  std::vector<Cell> cells_;
  std::string problem_;
  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<const char *> current_{"nothing"};
};

const Buffer *const *outputs(const Arrays &a) {
  static thread_local const Buffer *all[kOutputs];
  all[0] = &a.keys_out, all[1] = &a.values_out, all[2] = &a.indices_out;
  return all;
}

Lane::Lane(uint32_t backend, int number) : backend_(backend), number_(number), handle_(backend, 2) {
  if (handle_.get() == nullptr) {
    problem_ = gsort_error_message(nullptr);
    return;
  }
  const bool cuda = backend == GSORT_BACKEND_CUDA;
  if (cuda) {
    stream_ = std::make_unique<DeviceStream>();
    if (gsort_set_stream(handle_.get(), stream_->get()) != GSORT_OK) problem_ = gsort_error_message(handle_.get());
  }
  // One block; tens of blocks; hundreds, and on the GPU the sort that partitions by the leading digit.
  for (const uint64_t n : {uint64_t{3001}, uint64_t{60001}, number < 2 ? uint64_t{550001} : uint64_t{150001}})
    add_cells(cuda ? n : n / 20 + 1);
}

void Lane::add_cells(uint64_t n) {
  const Array input = generate(kInputs[number_], kTypes[number_], n, n);
  arrays_.push_back(std::make_unique<Arrays>(default_place(backend_), input));
  for (const NamedOperation &operation : all_operations()) {
    cells_.emplace_back();
    cells_.back().operation = &operation;
    cells_.back().arrays = arrays_.back().get();
    if (problem_.empty()) run_first(&cells_.back());
  }
}

void Lane::run_first(Cell *cell) {
  const Arrays &arrays = *cell->arrays;
  for (size_t i = 0; i < kOutputs; i++) fill(*outputs(arrays)[i]);
  const gsort_status status = cell->operation->run(handle_.get(), arrays);
  wait();
  if (status != GSORT_OK) {
    problem_ = std::string(cell->operation->name) + ": " + gsort_error_message(handle_.get());
  } else if (cell->operation->expected(arrays) != cell->operation->result(arrays)) {
    problem_ = std::string(cell->operation->name) + ": the first result is not the reference's";
  }
  for (size_t i = 0; i < kOutputs; i++) {
    const Buffer &output = *outputs(arrays)[i];
    Bytes content = output.read();
    if (content == Bytes(content.size(), kPoison)) continue;
    cell->seen[i] = std::make_unique<Buffer>(stream_ ? Place::kPinned : Place::kHost, content.size());
    cell->first[i] = std::move(content);
  }
}

void Lane::fill(const Buffer &buffer) {
  if (stream_) {
    stream_->fill_async(buffer.data(), kPoison, buffer.bytes());
  } else {
    std::memset(buffer.data(), kPoison, buffer.bytes());
  }
}

void Lane::copy(const Buffer &to, const Buffer &from) {
  if (stream_) {
    stream_->copy_async(to.data(), from.data(), from.bytes());
  } else {
    std::memcpy(to.data(), from.data(), from.bytes());
  }
}

void Lane::wait() {
  if (stream_) stream_->synchronize();
}

void Lane::enqueue(const Cell &cell) {
  for (size_t i = 0; i < kOutputs; i++)
    if (cell.seen[i]) fill(*outputs(*cell.arrays)[i]);
  if (cell.operation->run(handle_.get(), *cell.arrays) != GSORT_OK)
    problem_ = std::string(cell.operation->name) + ": " + gsort_error_message(handle_.get());
  for (size_t i = 0; i < kOutputs; i++)
    if (cell.seen[i]) copy(*cell.seen[i], *outputs(*cell.arrays)[i]);
}

void Lane::check(const Cell &cell) {
  for (size_t i = 0; i < kOutputs; i++) {
    if (!cell.seen[i] || std::memcmp(cell.seen[i]->data(), cell.first[i].data(), cell.first[i].size()) == 0) continue;
    problem_ = std::string(cell.operation->name) + " of " + std::to_string(cell.arrays->n) +
               " elements differs from its first result after " + std::to_string(done_.load()) + " calls of lane " +
               std::to_string(number_) + ": " + same_bytes(cell.first[i], cell.seen[i]->read()).message();
  }
}

void Lane::work(uint64_t calls) {
  if (backend_ == GSORT_BACKEND_CUDA) use_device(0);
  // Lanes walk through the cells in different orders, so that different kernels meet. A step that has no divisor in
  // common with the number of cells visits all.
  constexpr size_t kSteps[kLanes] = {5, 7, 8, 10};
  const size_t step = kSteps[number_];
  size_t at = static_cast<size_t>(number_) * 8;
  while (done_ < calls && problem_.empty() && !stopped_) {
    const Cell *burst[kBurst];
    for (const Cell *&cell : burst) {
      cell = &cells_[at % cells_.size()];
      at += step;
      current_ = cell->operation->name;
      enqueue(*cell);
    }
    wait();
    for (const Cell *cell : burst) check(*cell);
    done_ += kBurst;
  }
}

class StressTest : public BackendTest {
 protected:
  // Ends the program if the lanes stand still: a call that hangs cannot be cancelled.
  static void watch(const std::vector<std::unique_ptr<Lane>> &lanes, const std::atomic<int> &running) {
    constexpr int kPatienceSeconds = 60;
    uint64_t last = 0;
    auto since = std::chrono::steady_clock::now();
    while (running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      uint64_t sum = 0;
      for (const auto &lane : lanes) sum += lane->done();
      const auto now = std::chrono::steady_clock::now();
      if (sum != last) last = sum, since = now;
      if (now - since < std::chrono::seconds(kPatienceSeconds)) continue;
      for (const auto &lane : lanes)
        std::fprintf(stderr, "no progress: a lane stands at %s after %llu calls\n", lane->current(),
                     static_cast<unsigned long long>(lane->done()));
      std::abort();
    }
  }
};

TEST_P(StressTest, SameBitsUnderContention) {
  const uint64_t calls = (backend() == GSORT_BACKEND_CUDA ? 2000 : 400) * rounds();
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < kLanes; i++) {
    lanes.push_back(std::make_unique<Lane>(backend(), i));
    ASSERT_EQ("", lanes.back()->problem()) << "lane " << i;
  }
  std::atomic<int> running{kLanes};
  std::vector<std::thread> threads;
  for (const auto &lane : lanes) {
    threads.emplace_back([&lane, &lanes, &running, calls] {
      lane->work((calls + kLanes - 1) / kLanes);
      if (!lane->problem().empty())
        for (const auto &other : lanes) other->stop();
      --running;
    });
  }
  watch(lanes, running);
  for (std::thread &thread : threads) thread.join();
  uint64_t done = 0;
  for (const auto &lane : lanes) {
    EXPECT_EQ("", lane->problem());
    done += lane->done();
  }
  EXPECT_GE(done, calls);
  std::printf("%llu calls on %d handles at once\n", static_cast<unsigned long long>(done), kLanes);
}

GSORT_INSTANTIATE_BACKENDS(StressTest);

}  // namespace
}  // namespace gsort_test
