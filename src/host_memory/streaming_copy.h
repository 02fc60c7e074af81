// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies to memory that is not read again soon.
#ifndef GSORT_HOST_MEMORY_STREAMING_COPY_H_
#define GSORT_HOST_MEMORY_STREAMING_COPY_H_

#include <cstdint>

namespace gsort_internal {

// As memcpy(), by stores that go past the caches where the processor has such: memory is not read before it is written,
// and what lies in the caches stays there. Other threads see all of it when it returns, as after any store.
void copy_past_caches(void *to, const void *from, uint64_t bytes) noexcept;

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_STREAMING_COPY_H_
