// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the fuzzing entry on random inputs, or on the files that are named: fuzz_main [COUNT [SEED]] | FILE...
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "inputs/distributions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

int run_file(const char *path) {
  std::FILE *file = std::fopen(path, "rb");
  if (file == nullptr) return 1;
  std::vector<uint8_t> content(1 << 20);
  content.resize(std::fread(content.data(), 1, content.size(), file));
  std::fclose(file);
  return LLVMFuzzerTestOneInput(content.data(), content.size());
}

int run_random(unsigned long count, uint64_t seed) {
  gsort_test::Random random(seed);
  for (unsigned long i = 0; i < count; i++) {
    std::vector<uint8_t> input(10 + random.below(200));
    for (uint8_t &byte : input) byte = static_cast<uint8_t>(random.next());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%lu random inputs, seed %llu\n", count, static_cast<unsigned long long>(seed));
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  char *end = nullptr;
  const unsigned long count = argc > 1 ? std::strtoul(argv[1], &end, 10) : 10000;
  if (argc < 2 || *end == '\0') return run_random(count, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (int i = 1; i < argc; i++) {
    if (run_file(argv[i]) != 0) return 1;
  }
  return 0;
}
