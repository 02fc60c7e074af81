// SPDX-License-Identifier: MIT OR Apache-2.0
// The GPU sorts against a reference that knows no radix: every type, direction, operation, path and awkward pointer.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/control.h"
#include "cuda/launch.h"
#include "plan/force.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kZoneBytes = 256;
constexpr unsigned char kPoison = 0xA5;

DeviceFacts device_facts() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return {};
  return {static_cast<uint32_t>(properties.major * 10 + properties.minor),
          static_cast<uint32_t>(properties.multiProcessorCount),
          static_cast<uint32_t>(properties.sharedMemPerBlockOptin), static_cast<uint32_t>(properties.l2CacheSize)};
}

bool has_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  (void)cudaGetLastError();
  return false;
}

// An array on the device between two zones that nobody may write.
class Guarded {
 public:
  Guarded(uint64_t bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {
    EXPECT_EQ(cudaMalloc(&memory_, whole()), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory_, kPoison, whole()), cudaSuccess);
  }
  ~Guarded() { cudaFree(memory_); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  unsigned char *get() const { return memory_ + kZoneBytes + offset_; }
  void put(const std::vector<unsigned char> &bytes) {
    EXPECT_EQ(cudaMemcpy(get(), bytes.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  std::vector<unsigned char> take() const {
    std::vector<unsigned char> all(whole());
    EXPECT_EQ(cudaMemcpy(all.data(), memory_, whole(), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto begin = all.begin() + static_cast<int64_t>(kZoneBytes + offset_);
    const auto end = begin + static_cast<int64_t>(bytes_);
    const auto clean = [](unsigned char byte) { return byte == kPoison; };
    EXPECT_TRUE(std::all_of(all.begin(), begin, clean)) << "written before the array";
    EXPECT_TRUE(std::all_of(end, all.end(), clean)) << "written after the array";
    return {begin, end};
  }

 private:
  uint64_t whole() const { return bytes_ + offset_ + 2 * kZoneBytes; }
  uint64_t bytes_, offset_;
  unsigned char *memory_ = nullptr;
};

uint64_t element(const std::vector<unsigned char> &bytes, uint64_t index, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * size, size);
  return value;
}

// Group (NaNs after all others) and place within it, from the words of the header.
std::pair<int, uint64_t> reference_key(uint64_t bits, const KeyOrder &order) {
  const DTypeFacts facts = dtype_facts(order.dtype);
  const uint64_t top = uint64_t{1} << (facts.bytes * 8 - 1), all = top | (top - 1);
  if (facts.kind == Kind::kFloat && order.nan_last) {
    const uint64_t infinity = (top - 1) - ((uint64_t{1} << facts.mantissa_bits) - 1);
    if ((bits & (top - 1)) > infinity) return {1, bits};
  }
  uint64_t place = bits;
  if (facts.kind == Kind::kSigned) place = bits ^ top;
  if (facts.kind == Kind::kFloat) place = bits & top ? all - bits : bits + top;
  return {0, order.descending ? all - place : place};
}

enum class Pattern { kUniform, kConstant, kTwoValues, kSorted, kReverse, kFewBits, kGreatest, kSpecial, kOneDigit };
constexpr Pattern kPatterns[] = {Pattern::kUniform, Pattern::kConstant, Pattern::kTwoValues,
                                 Pattern::kSorted,  Pattern::kReverse,  Pattern::kFewBits,
                                 Pattern::kGreatest, Pattern::kSpecial, Pattern::kOneDigit};

std::vector<unsigned char> make_keys(Pattern pattern, uint64_t n, gsort_dtype dtype, uint32_t seed) {
  const DTypeFacts facts = dtype_facts(dtype);
  const uint32_t bytes = facts.bytes;
  const uint64_t top = uint64_t{1} << (bytes * 8 - 1), all = top | (top - 1);
  const uint64_t infinity = facts.mantissa_bits ? (top - 1) - ((uint64_t{1} << facts.mantissa_bits) - 1) : 1;
  const uint64_t specials[] = {0, top, infinity, infinity | top, infinity + 1, (infinity | top) + 1, all, top - 1, 1};
  std::mt19937_64 random(seed);
  const uint64_t a = random(), b = random();
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t r = random();
    switch (pattern) {
      case Pattern::kConstant:
        keys[i] = a;
        break;
      case Pattern::kTwoValues:
        keys[i] = r & 1 ? a : b;
        break;
      case Pattern::kFewBits:
        keys[i] = r & random() & random();
        break;
      case Pattern::kGreatest:
        keys[i] = r % 8 ? all : r >> 8;
        break;
      case Pattern::kSpecial:
        keys[i] = specials[r % 9];
        break;
      case Pattern::kOneDigit:
        keys[i] = a ^ (r & 255) << ((seed * 8) % (bytes * 8));
        break;
      default:
        keys[i] = r;
    }
    keys[i] &= all;
  }
  if (pattern == Pattern::kSorted) std::sort(keys.begin(), keys.end());
  if (pattern == Pattern::kReverse) std::sort(keys.begin(), keys.end(), std::greater<uint64_t>());
  std::vector<unsigned char> result(n * bytes);
  for (uint64_t i = 0; i < n; ++i) std::memcpy(result.data() + i * bytes, &keys[i], bytes);
  return result;
}

std::vector<unsigned char> make_values(uint64_t n, uint32_t value_bytes) {
  std::vector<unsigned char> values(n * value_bytes);
  std::mt19937 random(7);
  for (auto &byte : values) byte = static_cast<unsigned char>(random());
  return values;
}

struct Input {
  KeyOrder order;
  uint64_t n;
  std::vector<unsigned char> keys;
  std::vector<uint64_t> sources;  // the stable order

  Input(KeyOrder how, Pattern pattern, uint64_t count, uint32_t seed)
      : order(how), n(count), keys(make_keys(pattern, count, how.dtype, seed)), sources(count) {
    std::vector<std::pair<int, uint64_t>> places(n);
    for (uint64_t i = 0; i < n; ++i) places[i] = reference_key(element(keys, i, bytes()), order);
    std::iota(sources.begin(), sources.end(), uint64_t{0});
    std::stable_sort(sources.begin(), sources.end(), [&](uint64_t a, uint64_t b) { return places[a] < places[b]; });
  }
  uint32_t bytes() const { return dtype_bytes(order.dtype); }
  std::vector<unsigned char> permuted(const std::vector<unsigned char> &items, uint32_t size) const {
    std::vector<unsigned char> result(n * size);
    for (uint64_t i = 0; i < n; ++i) std::memcpy(result.data() + i * size, items.data() + sources[i] * size, size);
    return result;
  }
  std::vector<unsigned char> indices(bool ranks, uint32_t size) const {
    std::vector<unsigned char> result(n * size);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t at = ranks ? sources[i] : i, value = ranks ? i : sources[i];
      std::memcpy(result.data() + at * size, &value, size);
    }
    return result;
  }
};

class SortTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
    facts_ = device_facts();
  }
  void TearDown() override { forced_sort() = ForcedSort{}; }

  void launch(const Request &request, cudaStream_t stream = nullptr) {
    Guarded workspace(sort_workspace_bytes(request), 0);
    launch_sort({stream, &facts_, &control_}, request, workspace.get());
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    (void)workspace.take();
  }

  void check_keys(const Input &input, bool in_place, uint64_t offset) {
    const uint64_t bytes = input.n * input.bytes(), shift = offset * input.bytes();
    Guarded in(bytes, shift), out(bytes, shift / 2 / input.bytes() * input.bytes());
    in.put(input.keys);
    Request request{Operation::kSort, input.order};
    request.n = input.n;
    request.in = in.get();
    request.out = in_place ? in.get() : out.get();
    launch(request);
    ASSERT_TRUE((in_place ? in : out).take() == input.permuted(input.keys, input.bytes())) << "keys";
    if (!in_place) ASSERT_TRUE(in.take() == input.keys) << "the input changed";
  }

  void check_pairs(const Input &input, uint32_t value_bytes, bool keys_in_place, bool values_in_place,
                   uint64_t offset) {
    const uint64_t bytes = input.n * input.bytes(), all_values = input.n * value_bytes;
    const uint64_t value_shift = offset * ((value_bytes & (value_bytes - 1)) == 0 ? std::min(value_bytes, 8u) : 1);
    const std::vector<unsigned char> values = make_values(input.n, value_bytes);
    Guarded keys_in(bytes, offset * input.bytes()), keys_out(bytes, 0);
    Guarded values_in(all_values, value_shift), values_out(all_values, 0);
    keys_in.put(input.keys);
    values_in.put(values);
    Request request{Operation::kSortPairs, input.order};
    request.n = input.n;
    request.in = keys_in.get();
    request.out = keys_in_place ? keys_in.get() : keys_out.get();
    request.value_bytes = value_bytes;
    request.values_in = values_in.get();
    request.values_out = values_in_place ? values_in.get() : values_out.get();
    launch(request);
    ASSERT_TRUE((keys_in_place ? keys_in : keys_out).take() == input.permuted(input.keys, input.bytes())) << "keys";
    ASSERT_TRUE((values_in_place ? values_in : values_out).take() == input.permuted(values, value_bytes))
        << "values of " << value_bytes;
    if (!keys_in_place) ASSERT_TRUE(keys_in.take() == input.keys) << "the keys changed";
    if (!values_in_place) ASSERT_TRUE(values_in.take() == values) << "the values changed";
  }

  void check_indices(const Input &input, Operation operation, gsort_dtype index_t, uint64_t offset) {
    const uint32_t size = dtype_bytes(index_t);
    Guarded in(input.n * input.bytes(), offset * input.bytes()), out(input.n * size, offset * size);
    in.put(input.keys);
    Request request{operation, input.order};
    request.n = input.n;
    request.in = in.get();
    request.out = out.get();
    request.index_t = index_t;
    launch(request);
    ASSERT_TRUE(out.take() == input.indices(operation == Operation::kRank, size)) << "indices";
    ASSERT_TRUE(in.take() == input.keys) << "the input changed";
  }

  void check_everything(const Input &input, uint64_t offset) {
    for (const bool in_place : {false, true}) check_keys(input, in_place, offset);
    for (const uint32_t value_bytes : {4u, 8u, 1u, 12u}) {
      check_pairs(input, value_bytes, false, false, offset);
      check_pairs(input, value_bytes, true, true, offset);
    }
    check_pairs(input, 4, true, false, offset);
    check_pairs(input, 8, false, true, offset);
    for (const Operation operation : {Operation::kArgsort, Operation::kRank})
      for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) check_indices(input, operation, index_t, offset);
  }

  DeviceFacts facts_{};
  Control control_;
};

std::vector<KeyOrder> all_orders() {
  std::vector<KeyOrder> orders;
  for (gsort_dtype dtype = GSORT_U8; dtype <= GSORT_F64; ++dtype)
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true})
        if (!nan_last || is_float(dtype)) orders.push_back({dtype, descending, nan_last});
  return orders;
}

std::string describe(const KeyOrder &order, uint64_t n, Pattern pattern) {
  return std::string(dtype_facts(order.dtype).name) + (order.descending ? " descending" : "") +
         (order.nan_last ? " nan_last" : "") + " n=" + std::to_string(n) +
         " pattern=" + std::to_string(static_cast<int>(pattern));
}

#define STOP_ON_FAILURE() \
  if (HasFatalFailure()) return

TEST_F(SortTest, EveryOrderOnEveryPath) {
  uint32_t seed = 0;
  for (const SortAlgorithm algorithm : {SortAlgorithm::kAuto, SortAlgorithm::kRankSort, SortAlgorithm::kSmallBlock,
                                        SortAlgorithm::kLsd, SortAlgorithm::kCountFill}) {
    forced_sort().algorithm = algorithm;
    const uint64_t n = algorithm == SortAlgorithm::kRankSort     ? 509
                       : algorithm == SortAlgorithm::kSmallBlock ? 3001
                                                                 : 30011;
    for (const KeyOrder &order : all_orders()) {
      for (const Pattern pattern : {Pattern::kUniform, Pattern::kSpecial, Pattern::kOneDigit}) {
        SCOPED_TRACE(describe(order, n, pattern) + " algorithm " + sort_algorithm_name(algorithm));
        check_everything(Input(order, pattern, n, ++seed), seed % 16);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, EveryPattern) {
  uint32_t seed = 100;
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_U16, GSORT_I32, GSORT_F32, GSORT_U64}) {
    for (const Pattern pattern : kPatterns) {
      for (const uint64_t n : {uint64_t{300}, uint64_t{1500}, uint64_t{100003}}) {
        const KeyOrder order{dtype, false, false};
        SCOPED_TRACE(describe(order, n, pattern));
        check_everything(Input(order, pattern, n, ++seed), seed % 16);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, EverySmallSize) {
  for (uint64_t n = 1; n <= 1100; n += n < 70 ? 1 : 31) {
    for (const SortAlgorithm algorithm :
         {SortAlgorithm::kRankSort, SortAlgorithm::kSmallBlock, SortAlgorithm::kLsd}) {
      forced_sort().algorithm = algorithm;
      const KeyOrder order{n % 2 ? GSORT_U32 : GSORT_U64, n % 3 == 0, false};
      const Input input(order, Pattern::kFewBits, n, static_cast<uint32_t>(n));
      SCOPED_TRACE(describe(order, n, Pattern::kFewBits));
      check_keys(input, n % 5 == 0, n % 16);
      check_pairs(input, 4, n % 2 == 0, n % 2 == 0, n % 16);
      check_indices(input, Operation::kArgsort, GSORT_U32, n % 7);
      STOP_ON_FAILURE();
    }
  }
}

TEST_F(SortTest, EdgesOfTilesAndBlocks) {
  for (const gsort_dtype dtype : {GSORT_U8, GSORT_U16, GSORT_U32, GSORT_U64}) {
    const uint32_t bytes = dtype_bytes(dtype);
    std::vector<uint64_t> edges = {kRankSortItemsMax, small_items(bytes), medium_items(bytes)};
    for (const uint32_t value_bytes : {4u, 8u})
      for (const uint64_t tiles : {1, 2, 9, 40}) edges.push_back(tiles * pass_tile_items(bytes, value_bytes));
    for (const uint64_t edge : edges) {
      for (const uint64_t n : {edge - 1, edge, edge + 1}) {
        const KeyOrder order{dtype, false, false};
        SCOPED_TRACE(describe(order, n, Pattern::kGreatest));
        const Input input(order, n % 2 ? Pattern::kGreatest : Pattern::kUniform, n, static_cast<uint32_t>(n));
        check_keys(input, false, 1);
        check_keys(input, true, 3);
        check_pairs(input, 4, true, true, 1);
        check_pairs(input, 8, false, false, 1);
        check_indices(input, Operation::kArgsort, GSORT_U64, 1);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, PortionsContinueEachOther) {
  for (const uint32_t portion_tiles : {1u, 2u, 5u}) {
    forced_sort() = {SortAlgorithm::kLsd, portion_tiles};
    for (const gsort_dtype dtype : {GSORT_U8, GSORT_F32, GSORT_U64}) {
      for (const Pattern pattern : kPatterns) {
        const KeyOrder order{dtype, true, false};
        SCOPED_TRACE(describe(order, 77777, pattern));
        check_everything(Input(order, pattern, 77777, portion_tiles), 2);
        STOP_ON_FAILURE();
      }
    }
  }
}

TEST_F(SortTest, ValuesOfAnySize) {
  for (const uint32_t value_bytes : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u, 16u, 24u, 32u, 33u, 100u, 1024u, 4097u, 65536u}) {
    for (const uint64_t n : {uint64_t{1}, uint64_t{200}, uint64_t{3000}, uint64_t{20000}}) {
      if (n * value_bytes > 300u << 20) continue;
      const Input input({GSORT_F64, false, true}, Pattern::kSpecial, n, value_bytes);
      SCOPED_TRACE("n=" + std::to_string(n) + " value_bytes=" + std::to_string(value_bytes));
      check_pairs(input, value_bytes, false, false, 1);
      check_pairs(input, value_bytes, true, true, 1);
      STOP_ON_FAILURE();
    }
  }
}

TEST_F(SortTest, SameBitsEveryTimeWithManyTiles) {
  const Input input({GSORT_U32, false, false}, Pattern::kFewBits, 1 << 21, 5);
  for (int repeat = 0; repeat < 5; ++repeat) {
    check_pairs(input, 4, repeat % 2 == 1, repeat % 2 == 1, 0);
    check_indices(input, Operation::kArgsort, GSORT_U32, 0);
    STOP_ON_FAILURE();
  }
}

TEST_F(SortTest, CapturedAndReplayed) {
  const Input input({GSORT_I32, true, false}, Pattern::kUniform, 50000, 5);
  Guarded in(input.n * 4, 0), out(input.n * 4, 0);
  Request request{Operation::kSort, input.order};
  request.n = input.n;
  request.in = in.get();
  request.out = out.get();
  Guarded workspace(sort_workspace_bytes(request), 0);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch_sort({stream, &facts_, &control_}, request, workspace.get());
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (uint32_t replay = 0; replay < 20; ++replay) {
    const Input fresh(input.order, replay % 2 ? Pattern::kUniform : Pattern::kOneDigit, input.n, replay);
    in.put(fresh.keys);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_TRUE(out.take() == fresh.permuted(fresh.keys, 4));
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

class SegmentsTest : public SortTest {
 protected:
  // Segment lengths of every class, gaps before the first and after the last.
  static std::vector<uint64_t> mixed_offsets(uint64_t n, uint32_t seed, const std::vector<uint64_t> &lengths) {
    std::mt19937_64 random(seed);
    std::vector<uint64_t> offsets = {std::min<uint64_t>(n, seed % 7)};
    while (offsets.back() < n) {
      const uint64_t length = lengths[random() % lengths.size()];
      if (offsets.back() + length > n) break;
      offsets.push_back(offsets.back() + length);
      if (offsets.size() > n) break;  // many empty segments
    }
    return offsets;
  }

  static std::vector<unsigned char> expected(const KeyOrder &order, const std::vector<unsigned char> &keys,
                                             const std::vector<uint64_t> &offsets) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    std::vector<unsigned char> result = keys;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
      std::vector<uint64_t> segment;
      for (uint64_t i = offsets[s]; i < offsets[s + 1]; ++i) segment.push_back(element(keys, i, bytes));
      std::sort(segment.begin(), segment.end(),
                [&](uint64_t a, uint64_t b) { return reference_key(a, order) < reference_key(b, order); });
      for (size_t i = 0; i < segment.size(); ++i)
        std::memcpy(result.data() + (offsets[s] + i) * bytes, &segment[i], bytes);
    }
    return result;
  }

  // Returns the error word.
  uint32_t run(const KeyOrder &order, const std::vector<unsigned char> &keys, const std::vector<uint64_t> &offsets,
               bool in_place, uint64_t shift, std::vector<unsigned char> &result) {
    const uint32_t bytes = dtype_bytes(order.dtype);
    Guarded in(keys.size(), shift * bytes), out(keys.size(), bytes), device_offsets(offsets.size() * 8, 0), error(4, 0);
    in.put(keys);
    std::vector<unsigned char> raw(offsets.size() * 8);
    std::memcpy(raw.data(), offsets.data(), raw.size());
    device_offsets.put(raw);
    Request request{Operation::kSortSegments, order};
    request.n = keys.size() / bytes;
    request.in = in.get();
    request.out = in_place ? in.get() : out.get();
    request.segments = offsets.size() - 1;
    request.offsets = reinterpret_cast<const uint64_t *>(device_offsets.get());
    Guarded workspace(segments_workspace_bytes(request), 0);
    launch_segments({nullptr, &facts_, &control_}, request, workspace.get(),
                    reinterpret_cast<uint32_t *>(error.get()));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    (void)workspace.take();
    EXPECT_TRUE(device_offsets.take() == raw) << "the offsets changed";
    result = (in_place ? in : out).take();
    if (!in_place) EXPECT_TRUE(in.take() == keys) << "the input changed";
    uint32_t word = 0;
    const std::vector<unsigned char> error_bytes = error.take();
    std::memcpy(&word, error_bytes.data(), 4);
    return word;
  }
};

TEST_F(SegmentsTest, EveryOrderAndClass) {
  const std::vector<std::vector<uint64_t>> mixes = {
      {0, 1, 2, 3, 7, 31, 32, 33}, {63, 64, 65, 127, 128, 129}, {100, 500, 2047, 2048, 2049}, {1023, 1024, 1025, 4097},
      {8191, 8192, 8193, 3}, {12287, 12288, 12289, 24576, 5}, {70000, 1, 90000, 300}, {150000}};
  uint32_t seed = 0;
  for (const KeyOrder &order : all_orders()) {
    for (const auto &mix : mixes) {
      const uint64_t n = mix.back() > 5000 || mix.size() < 5 ? 200011 : 20011;
      const Pattern pattern = kPatterns[++seed % (sizeof kPatterns / sizeof kPatterns[0])];
      SCOPED_TRACE(describe(order, n, pattern) + " first length " + std::to_string(mix[0]));
      const std::vector<unsigned char> keys = make_keys(pattern, n, order.dtype, seed);
      const std::vector<uint64_t> offsets = mixed_offsets(n, seed, mix);
      std::vector<unsigned char> result;
      ASSERT_EQ(run(order, keys, offsets, seed % 2 == 0, seed % 16, result), 0u);
      ASSERT_TRUE(result == expected(order, keys, offsets));
    }
  }
}

TEST_F(SegmentsTest, WrongOffsetsWriteNothing) {
  const uint64_t n = 50000;
  const KeyOrder order{GSORT_U32, false, false};
  const std::vector<unsigned char> keys = make_keys(Pattern::kUniform, n, GSORT_U32, 1);
  const std::vector<std::vector<uint64_t>> wrong = {
      {0, n + 1}, {0, 10, 9, 100}, {5, 4}, {0, 100, UINT64_MAX}, {UINT64_MAX, 0}, {0, 30000, 20000, 50000, 10, 50000}};
  for (const auto &offsets : wrong) {
    for (const bool in_place : {false, true}) {
      std::vector<unsigned char> result;
      EXPECT_EQ(run(order, keys, offsets, in_place, 0, result), 1u);
      EXPECT_TRUE(result == (in_place ? keys : std::vector<unsigned char>(keys.size(), kPoison)));
    }
  }
}

TEST_F(SegmentsTest, NoSegmentsCopy) {
  const KeyOrder order{GSORT_U16, false, false};
  const std::vector<unsigned char> keys = make_keys(Pattern::kUniform, 5000, GSORT_U16, 1);
  std::vector<unsigned char> result;
  ASSERT_EQ(run(order, keys, {0}, false, 3, result), 0u);
  ASSERT_TRUE(result == keys);
}

}  // namespace
}  // namespace gsort_internal
