// SPDX-License-Identifier: MIT OR Apache-2.0
// is_last_block(): exactly one block is the last, and it sees what every thread of every block wrote before. Warps are
// held up at random between their writes and the question, so that a ticket taken too early shows.
#include "cuda/primitive/last_block.cuh"
#include "launch_harness.h"

namespace gsort_test {
namespace {

using gsort_internal::is_last_block;

struct Meeting {
  uint32_t *tickets;  // 0 before and after
  uint32_t *parts;    // one a thread of the grid
  uint32_t *last_blocks, *wrong_parts;
  uint32_t round;
};

__device__ uint32_t part_of(uint32_t round, uint32_t thread) {
  return static_cast<uint32_t>(mixed(uint64_t{round} << 32 | thread));
}

// The first warp of a block, whose thread takes the ticket, is never late; in every second block all others may be.
__device__ void hold_up(uint32_t round) {
  const uint32_t warp = threadIdx.x / 32, chance = part_of(~round, blockIdx.x * 64 + warp);
  if (warp != 0 && (blockIdx.x + round) % 2 != 0) __nanosleep(chance % 4096);
}

__global__ void meeting_kernel(Meeting meeting) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  hold_up(meeting.round);
  meeting.parts[thread] = part_of(meeting.round, thread);
  if (!is_last_block(meeting.tickets, gridDim.x)) return;
  if (threadIdx.x == 0) {
    atomicAdd(meeting.last_blocks, 1u);
    *meeting.tickets = 0;
  }
  for (uint32_t i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
    if (__ldcg(&meeting.parts[i]) != part_of(meeting.round, i)) atomicAdd(meeting.wrong_parts, 1u);
}

class LastBlockTest : public DeviceTest {};

TEST_F(LastBlockTest, SeesWhatAllThreadsWrote) {
  constexpr uint32_t kThreadsMax = 1024, kBlocksMax = 264;
  const std::vector<uint32_t> zeros(3, 0);
  const DeviceArray counters(zeros, 0);
  const DeviceArray parts(uint64_t{kThreadsMax} * kBlocksMax * sizeof(uint32_t), 0);
  uint32_t round = 0;
  for (const uint32_t threads : {64u, 256u, kThreadsMax}) {
    for (const uint32_t blocks : {1u, 2u, 3u, 32u, 131u, kBlocksMax}) {
      for (uint32_t repeat = 0; repeat < 50; ++repeat) {
        ++round;
        auto *const words = counters.as<uint32_t>();
        const Meeting meeting{words, parts.as<uint32_t>(), words + 1, words + 2, round};
        meeting_kernel<<<blocks, threads>>>(meeting);
        ASSERT_EQ(cudaSuccess, cudaGetLastError());
      }
      ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
      const std::vector<uint32_t> now = counters.read_as<uint32_t>();
      ASSERT_EQ(0u, now[0]) << "tickets";
      ASSERT_EQ(round, now[1]) << "one last block a launch";
      ASSERT_EQ(0u, now[2]) << "parts that the last of " << blocks << " blocks of " << threads << " threads missed";
    }
  }
}

}  // namespace
}  // namespace gsort_test
