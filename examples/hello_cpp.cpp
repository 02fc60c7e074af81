// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts, selects and adds up five numbers.
#include <gsort.hpp>
#include <iostream>
#include <vector>

int main() try {
  const gsort::sorter sorter;  // the GPU if there is one, all processors otherwise
  std::vector<float> scores = {0.25f, 7.5f, -1.0f, 3.0f, 7.5f};
  const auto best = sorter.topk(scores, 2);
  const double total = sorter.sum(scores);  // exact, rounded once
  sorter.sort(scores, gsort::order::descending);
  std::cout << "best " << best.values[0] << " at " << best.indices[0] << ", least " << scores.back() << ", sum "
            << total << '\n';
} catch (const gsort::error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
