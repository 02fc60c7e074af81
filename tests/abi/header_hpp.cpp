// SPDX-License-Identifier: MIT OR Apache-2.0
// The form of gsort.hpp that throws nothing, also where exceptions are switched off, after the C header.
#include <gsort.h>

#include <gsort.hpp>

int main() {
  auto made = gsort::nothrow_sorter::make();
  if (!made) return made.status();
  int keys[] = {3, 1, 2};
  const auto sorted = made->sort(keys, gsort::order::descending);
  const auto best = made->topk(keys, 2);
  const auto watched = made->set_progress([](uint64_t done, uint64_t total) { return done <= total; });
  return sorted && watched && best.status() == GSORT_OK && made->sum(keys) ? 0 : 1;
}
