// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/engine/pool.h"

namespace gsort_internal {

Pool::Pool(uint32_t threads, uint32_t processors)
    : processors_(processors != 0 ? processors : allowed_processors()), threads_(threads != 0 ? threads : processors_) {
  if (threads_ > kThreadsMax) threads_ = kThreadsMax;
}

Pool::~Pool() {
  if (shared_ != nullptr) SharedThreads::leave(shared_);
}

void Pool::run(uint32_t workers, Step step, void *user) {
  if (workers > threads_) workers = threads_;
  if (workers > 1 && shared_ == nullptr) shared_ = SharedThreads::join(processors_);
  if (workers <= 1 || shared_ == nullptr) {
    while (step(user, 0)) {
    }
    return;
  }
  // Those that were refused are not asked for again in every run.
  if (workers - 1 > asked_) shared_->grow(asked_ = workers - 1);
  shared_->run(workers, step, user);
}

}  // namespace gsort_internal
