// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/message.h"

#include <cstdio>

namespace gsort_internal {
namespace {

// Plain data, so that a thread's end runs nothing of ours.
struct Slot {
  uint64_t handle_id;
  char text[512];
};
thread_local Slot slot = {0, ""};

}  // namespace

void remember_message(uint64_t handle_id, const char *text) {
  slot.handle_id = handle_id;
  std::snprintf(slot.text, sizeof slot.text, "%s", text);
}

const char *remembered_message(uint64_t handle_id) { return slot.handle_id == handle_id ? slot.text : ""; }

}  // namespace gsort_internal
