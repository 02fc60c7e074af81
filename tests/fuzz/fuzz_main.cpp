// SPDX-License-Identifier: MIT OR Apache-2.0
// The fuzzing entry without a fuzzer:
//   fuzz_main [COUNT [SEED]]          random inputs
//   fuzz_main FILE...                 the inputs in these files
//   fuzz_main --corpus LIST           the inputs in a list, a line of hexadecimal digits each
//   fuzz_main --unpack LIST FOLDER    writes these to files of their own, for a fuzzer to begin with
//   fuzz_main --pack FOLDER           prints such a list of a folder's files, the short ones first
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
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

std::vector<std::vector<uint8_t>> read_list(const char *path) {
  std::vector<std::vector<uint8_t>> inputs;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<uint8_t> &input = inputs.emplace_back();
    for (size_t i = 0; i + 1 < line.size(); i += 2)
      input.push_back(static_cast<uint8_t>(std::strtoul(line.substr(i, 2).c_str(), nullptr, 16)));
  }
  return inputs;
}

int run_list(const char *path) {
  const auto inputs = read_list(path);
  for (const std::vector<uint8_t> &input : inputs) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::printf("%zu inputs of %s\n", inputs.size(), path);
  return inputs.empty() ? 1 : 0;
}

int unpack_list(const char *path, const std::string &folder) {
  size_t number = 0;
  for (const std::vector<uint8_t> &input : read_list(path)) {
    std::ofstream file(folder + "/" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char *>(input.data()), static_cast<std::streamsize>(input.size()));
    if (!file) return 1;
  }
  return number == 0 ? 1 : 0;
}

int pack_folder(const std::string &folder) {
  std::set<std::pair<size_t, std::string>> inputs;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    inputs.emplace(input.size(), input);
  }
  std::printf("# Inputs that together reach every branch the fuzzer found, one a line, as hexadecimal digits.\n");
  for (const auto &[size, input] : inputs) {
    for (const char c : input) std::printf("%02x", static_cast<unsigned char>(c));
    if (size > 0) std::printf("\n");
  }
  return inputs.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::strcmp(argv[1], "--corpus") == 0) return run_list(argv[2]);
  if (argc == 4 && std::strcmp(argv[1], "--unpack") == 0) return unpack_list(argv[2], argv[3]);
  if (argc == 3 && std::strcmp(argv[1], "--pack") == 0) return pack_folder(argv[2]);
  char *end = nullptr;
  const unsigned long count = argc > 1 ? std::strtoul(argv[1], &end, 10) : 10000;
  if (argc < 2 || *end == '\0') return run_random(count, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (int i = 1; i < argc; i++) {
    if (run_file(argv[i]) != 0) return 1;
  }
  return 0;
}
