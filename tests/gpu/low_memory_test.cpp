// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of device arrays with an eighth of their bytes to work in: where the handle's limit or the caller's workspace
// leaves no more, a sort of keys, or of keys and values, is done in place instead of refused.
#include <algorithm>
#include <string>
#include <vector>

#include "gpu/fixture.h"
#include "inputs/samples.h"

namespace gsort_test {
namespace {

class cuda_LowMemory : public GpuTest {};

// Little more than the least that is sorted so. One more than whole bricks, so that the last of them holds one item.
constexpr uint64_t kLength = 4100 * 1024 + 1;

struct Limited {
  static void log(void *user, const char *message) { *static_cast<std::string *>(user) += std::string(message) + "\n"; }
  explicit Limited(uint64_t bytes) : handle(options(this, bytes)) {}
  static gsort_options options(Limited *self, uint64_t bytes) {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.device_memory_limit_bytes = bytes;
    o.log = log;
    o.log_user = &self->text;
    return o;
  }
  gsort *get() const { return handle.get(); }
  uint64_t held_bytes() const {
    gsort_info info = {};
    info.struct_size = sizeof info;
    EXPECT_TRUE(succeeded(get(), gsort_info_get(get(), &info)));
    return info.device_held_bytes;
  }
  bool sorted_in_place() const { return text.find("in place") != std::string::npos; }
  std::string text;
  Handle handle;
};

uint64_t usual_bytes(gsort_dtype t, uint64_t n) {
  uint64_t bytes = 0;
  EXPECT_EQ(GSORT_OK, gsort_workspace_bytes(GSORT_OP_SORT, t, n, 0, &bytes));
  return bytes;
}

TEST_F(cuda_LowMemory, SortsWithAnEighth) {
  uint32_t turn = 0, number = 0;
  for (const gsort_dtype t :
       {GSORT_U32, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_I64, GSORT_F64, GSORT_U8, GSORT_I16, GSORT_F16})
    for (const Distribution distribution : kAllDistributions) {
      // In each round others, and each distribution with two types or three.
      if (!applies(distribution, t) || number++ % 4 >= rounds()) continue;
      const uint64_t n = element_type(t).bytes == 2 ? 2 * kLength : kLength;
      const Array input = generate(distribution, t, n, ++turn);
      const uint32_t flags = kSortFlags[turn % kSortFlags.size()] & (element_type(t).is_float ? ~0u : GSORT_DESCENDING);
      SCOPED_TRACE(std::string(element_type(t).name) + ", " + distribution_name(distribution) + describe_flags(flags));
      const uint64_t eighth = n * element_type(t).bytes / 8;
      const Limited limited(eighth);
      const Where where = {limited.get(), Place::kDevice, Place::kDevice, turn % 40, turn % 2 == 0};
      ASSERT_TRUE(
          same_elements(run_sort({shared_handle(GSORT_BACKEND_CPU)}, input, flags), run_sort(where, input, flags)));
      EXPECT_TRUE(limited.sorted_in_place() || element_type(t).bytes == 1) << limited.text;
      EXPECT_GT(limited.held_bytes(), 0u);
      EXPECT_LE(limited.held_bytes(), eighth);
    }
}

TEST_F(cuda_LowMemory, UsualWorkspaceWhereItFits) {
  const Array input = generate(Distribution::kUniform, GSORT_U32, kLength, 1);
  const Array want = run_sort({shared_handle(GSORT_BACKEND_CPU)}, input, 0);
  const Limited limited(usual_bytes(GSORT_U32, kLength) + 4096);
  ASSERT_TRUE(same_elements(want, run_sort({limited.get(), Place::kDevice}, input, 0)));
  EXPECT_FALSE(limited.sorted_in_place());
}

TEST_F(cuda_LowMemory, RefusedWhereAnEighthIsTooMuch) {
  const Array input = generate(Distribution::kUniform, GSORT_U32, kLength, 1);
  const Limited limited(kLength * 4 / 16);
  Buffer keys(Place::kDevice, kLength * 4);
  keys.write(input.bytes());
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, gsort_sort(limited.get(), GSORT_U32, keys.data(), keys.data(), kLength, 0));
  EXPECT_NE(std::string(gsort_error_message(limited.get())).find("device_memory_limit_bytes"), std::string::npos);
  EXPECT_TRUE(same_bytes(input.bytes(), keys.read()));
}

TEST_F(cuda_LowMemory, SortsPairsWithAnEighth) {
  uint32_t turn = 0, number = 0;
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64})
    for (const Distribution distribution : kAllDistributions) {
      if (!applies(distribution, t) || number++ % 4 >= rounds()) continue;
      ++turn;
      const uint32_t value_bytes = turn % 3 == 0 ? 16 : turn % 3 == 1 ? 4 : 8, key_bytes = element_type(t).bytes;
      const uint64_t n = (value_bytes == 16 ? 6641 : 3321) * 1024 + 1;
      const Array input = generate(distribution, t, n, turn);
      const uint32_t flags = kSortFlags[turn % kSortFlags.size()] & (element_type(t).is_float ? ~0u : GSORT_DESCENDING);
      SCOPED_TRACE(std::string(element_type(t).name) + ", " + distribution_name(distribution) + describe_flags(flags) +
                   ", values of " + std::to_string(value_bytes));
      std::vector<uint8_t> values(n * value_bytes);
      for (uint64_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>((i / value_bytes) >> (i % 4 * 8));
      std::vector<uint8_t> want_keys(n * key_bytes), want_values(values.size());
      gsort *const cpu = shared_handle(GSORT_BACKEND_CPU);
      ASSERT_TRUE(succeeded(cpu, gsort_sort_pairs(cpu, t, input.bytes().data(), want_keys.data(), value_bytes,
                                                  values.data(), want_values.data(), n, flags)));
      const uint64_t eighth = n * (key_bytes + value_bytes) / 8;
      const Limited limited(eighth);
      Buffer keys(Place::kDevice, want_keys.size()), moved(Place::kDevice, values.size());
      keys.write(input.bytes());
      moved.write(values);
      ASSERT_TRUE(succeeded(limited.get(), gsort_sort_pairs(limited.get(), t, keys.data(), keys.data(), value_bytes,
                                                            moved.data(), moved.data(), n, flags)));
      EXPECT_TRUE(same_bytes(want_keys, keys.read()));
      EXPECT_TRUE(same_bytes(want_values, moved.read()));
      EXPECT_TRUE(keys.red_zones_intact() && moved.red_zones_intact());
      EXPECT_TRUE(limited.sorted_in_place()) << limited.text;
      EXPECT_LE(limited.held_bytes(), eighth);
      if (HasFailure()) return;
    }
}

// What has no way with so little memory.
TEST_F(cuda_LowMemory, OthersAreRefused) {
  const Limited limited(kLength * 4 / 8);
  const Buffer keys(Place::kDevice, kLength * 4), indices(Place::kDevice, kLength * 4);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY,
            gsort_argsort(limited.get(), GSORT_U32, keys.data(), kLength, GSORT_U32, indices.data(), 0));
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, gsort_sort_pairs(limited.get(), GSORT_U32, keys.data(), keys.data(), 3,
                                                        indices.data(), indices.data(), kLength, 0));
}

TEST_F(cuda_LowMemory, ValuesOf16BytesAreAligned) {
  constexpr uint64_t kMany = 6800001;
  const Limited limited(kMany * 20 / 8);
  const Buffer keys(Place::kDevice, kMany * 4), values(Place::kDevice, kMany * 16 + 8);
  char *const middle = static_cast<char *>(values.data()) + 8;
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY,
            gsort_sort_pairs(limited.get(), GSORT_U32, keys.data(), keys.data(), 16, middle, middle, kMany, 0));
  EXPECT_TRUE(succeeded(limited.get(), gsort_sort_pairs(limited.get(), GSORT_U32, keys.data(), keys.data(), 16,
                                                        values.data(), values.data(), kMany, 0)));
  EXPECT_TRUE(limited.sorted_in_place());
}

TEST_F(cuda_LowMemory, SortsInTheCallersWorkspace) {
  const Array input = generate(Distribution::kZipf, GSORT_F64, kLength, 3);
  const Array want = run_sort({shared_handle(GSORT_BACKEND_CPU)}, input, GSORT_DESCENDING);
  const Limited handle(0);
  Buffer workspace(Place::kDevice, kLength);
  for (int round = 0; round < 3; ++round) {
    workspace.poison();
    ASSERT_TRUE(succeeded(handle.get(), gsort_set_workspace(handle.get(), workspace.data(), kLength)));
    ASSERT_TRUE(same_elements(want, run_sort({handle.get(), Place::kDevice}, input, GSORT_DESCENDING)));
    EXPECT_TRUE(handle.sorted_in_place());
    EXPECT_TRUE(workspace.red_zones_intact());
    EXPECT_EQ(handle.held_bytes(), 0u);
  }
}

TEST_F(cuda_LowMemory, CapturedAndReplayed) {
  const Array input = generate(Distribution::kUniform, GSORT_U32, kLength, 5);
  const Array want = run_sort({shared_handle(GSORT_BACKEND_CPU)}, input, 0);
  const Limited limited(kLength * 4 / 8);
  Buffer in(Place::kDevice, kLength * 4), out(Place::kDevice, kLength * 4);
  in.write(input.bytes());
  DeviceStream stream;
  ASSERT_TRUE(succeeded(limited.get(), gsort_reserve(limited.get(), GSORT_OP_SORT, GSORT_U32, kLength, 0)));
  EXPECT_LE(limited.held_bytes(), kLength * 4 / 8);
  ASSERT_TRUE(succeeded(limited.get(), gsort_set_stream(limited.get(), stream.get())));
  stream.begin_capture();
  const gsort_status status = gsort_sort(limited.get(), GSORT_U32, in.data(), out.data(), kLength, 0);
  DeviceGraph graph(stream.end_capture());
  ASSERT_TRUE(succeeded(limited.get(), status));
  EXPECT_TRUE(limited.sorted_in_place());
  for (int round = 0; round < 10; ++round) {
    stream.fill_async(out.data(), 0xA5, out.bytes());
    graph.launch(stream);
    stream.synchronize();
    ASSERT_TRUE(same_bytes(want.bytes(), out.read())) << "replay " << round;
  }
}

TEST_F(cuda_LowMemory, CaptureThatNothingIsReservedFor) {
  const Limited limited(kLength * 4 / 8);
  const Buffer keys(Place::kDevice, kLength * 4);
  DeviceStream stream;
  ASSERT_TRUE(succeeded(limited.get(), gsort_set_stream(limited.get(), stream.get())));
  stream.begin_capture();
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, gsort_sort(limited.get(), GSORT_U32, keys.data(), keys.data(), kLength, 0));
  EXPECT_NE(std::string(gsort_error_message(limited.get())).find("gsort_reserve"), std::string::npos);
  DeviceGraph graph(stream.end_capture());
}

}  // namespace
}  // namespace gsort_test
