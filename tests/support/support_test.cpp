// SPDX-License-Identifier: MIT OR Apache-2.0
// The tests' own tools: red zones see what they should, and device memory, streams and graphs work without the library.
#include <gtest/gtest.h>

#include "support/backend.h"
#include "support/buffer.h"
#include "support/run.h"

namespace gsort_test {
namespace {

TEST(Buffers, RedZonesSeeEveryByte) {
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{15}}) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}}) {
      Buffer buffer(Place::kHost, bytes, offset);
      EXPECT_EQ(offset % 256, reinterpret_cast<uintptr_t>(buffer.data()) % 256);
      EXPECT_TRUE(buffer.red_zones_intact());
      EXPECT_TRUE(buffer.untouched());
      auto *data = static_cast<uint8_t *>(buffer.data());
      for (uint8_t *outside : {data - 1, data + bytes, data - kRedZoneBytes, data + bytes + kRedZoneBytes - 1}) {
        *outside ^= 1;
        EXPECT_FALSE(buffer.red_zones_intact());
        *outside ^= 1;
      }
      EXPECT_TRUE(buffer.red_zones_intact());
      if (bytes == 0) continue;
      data[bytes / 2] ^= 0x80;
      EXPECT_TRUE(buffer.red_zones_intact());
      EXPECT_FALSE(buffer.untouched());
      buffer.poison();
      EXPECT_TRUE(buffer.untouched());
    }
  }
}

TEST(Comparisons, NameTheFirstDifference) {
  const Array a = make_array(GSORT_U16, std::vector<uint16_t>{1, 2, 3});
  const Array b = make_array(GSORT_U16, std::vector<uint16_t>{1, 5, 4});
  const ::testing::AssertionResult result = same_elements(a, b);
  EXPECT_FALSE(result);
  EXPECT_STREQ("2 of 3 elements differ, the first at 1: expected 0x2, got 0x5", result.message());
  EXPECT_FALSE(same_elements(a, Array(GSORT_U16, 2)));
  EXPECT_TRUE(same_elements(a, a));
}

class cuda_Support : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_available() && gpu_is_required()) FAIL() << device_problem();
    if (!device_available()) GTEST_SKIP() << device_problem();
  }
};

TEST_F(cuda_Support, EveryPlaceKeepsBytesAndRedZones) {
  for (const Place place : {Place::kPinned, Place::kManaged, Place::kDevice}) {
    SCOPED_TRACE(place_name(place));
    Buffer buffer(place, 1000, 4);
    EXPECT_TRUE(buffer.untouched());
    const Bytes content(1000, 0x17);
    buffer.write(content);
    EXPECT_EQ(content, buffer.read());
    EXPECT_TRUE(buffer.red_zones_intact());
    EXPECT_FALSE(buffer.untouched());
    const uint8_t other = 0;
    copy_bytes(static_cast<uint8_t *>(buffer.data()) + 1000, &other, 1);
    EXPECT_FALSE(buffer.red_zones_intact());
  }
}

TEST_F(cuda_Support, StreamsAndGraphsCopy) {
  const Bytes content(4096, 0x42);
  Buffer from(Place::kPinned, 4096);
  const Buffer to(Place::kDevice, 4096);
  from.write(content);
  DeviceStream stream;
  stream.begin_capture();
  stream.copy_async(to.data(), from.data(), 4096);
  void *graph = stream.end_capture();
  ASSERT_NE(nullptr, graph);
  EXPECT_TRUE(to.untouched());
  DeviceGraph captured(graph);
  captured.launch(stream);
  stream.synchronize();
  EXPECT_EQ(content, to.read());
  EXPECT_GT(device_free_bytes(), 0u);
}

}  // namespace
}  // namespace gsort_test
