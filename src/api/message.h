// SPDX-License-Identifier: MIT OR Apache-2.0
// The calling thread's last error sentence.
#ifndef GSORT_API_MESSAGE_H_
#define GSORT_API_MESSAGE_H_

#include <cstdint>

namespace gsort_internal {

// handle_id 0: a call that had no handle.
void remember_message(uint64_t handle_id, const char *text);
// "" if the thread's last failed call was on another handle, or none failed.
const char *remembered_message(uint64_t handle_id);

}  // namespace gsort_internal

#endif  // GSORT_API_MESSAGE_H_
