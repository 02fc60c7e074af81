// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What gsort is for, in a minute, on the data of this machine: the 32-bit words that the files below a folder hold are
// sorted, ordered, cut to their 10 greatest and added up, by the C++ standard library and by gsort, then as lines of
// text by sort(1) and by the gsort command. Every result of gsort's is compared with the other's.
//
// usage: demo [FOLDER [WORDS]]     default: / and 67108864
// GSORT_TOOL in the environment names the gsort command; without it the lines of text are left out.
#include <fcntl.h>
#include <ftw.h>
#include <langinfo.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "gsort.h"

namespace {

using Words = std::vector<uint32_t>;

[[noreturn]] void die(const char *text) {
  std::fprintf(stderr, "demo: %s\n", text);
  std::exit(1);
}

void must(gsort *g, gsort_status status) {
  if (status == GSORT_OK) return;
  std::fprintf(stderr, "demo: %s: %s\n", gsort_status_name(status), gsort_error_message(g));
  std::exit(1);
}

template <typename F>
double seconds(F work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of short work the least of three times, for both sides: the first call makes the threads.
template <typename F>
double least_seconds(F work) {
  const double first_s = seconds(work), second_s = seconds(work);
  return std::min({first_s, second_s, seconds(work)});
}

// ---- the picture ----

bool draws_blocks = false;  // the terminal shows more than ASCII

void print_bar(const char *name, double time_s, double longest_s) {
  constexpr int kCells = 46;
  const int eighths = std::max(1, static_cast<int>(time_s / longest_s * kCells * 8 + 0.5));
  std::string bar;
  int cells = eighths / 8;
  for (int i = 0; i < cells; i++) bar += draws_blocks ? "\u2588" : "#";
  if (eighths % 8 != 0) {
    static const char *const kParts[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    bar += draws_blocks ? kParts[eighths % 8] : "#";
    cells++;
  }
  bar.append(static_cast<size_t>(std::max(0, kCells - cells)), ' ');
  std::printf("  %-18s %s %9.1f ms", name, bar.c_str(), time_s * 1e3);
}

void compare(const std::string &what, const char *other, double other_s, double ours_s) {
  const double longest = std::max(other_s, ours_s);
  std::printf("\n%s\n", what.c_str());
  print_bar(other, other_s, longest);
  std::printf("\n");
  print_bar("gsort", ours_s, longest);
  std::printf("   %.1f x as fast\n", other_s / ours_s);
  std::fflush(stdout);
}

// ---- the machine's own words ----

Words words;
size_t words_wanted = 0, files_read = 0;

int take_file(const char *path, const struct stat *status, int type, struct FTW *) {
  constexpr size_t kWordsAFile = size_t{1} << 22;  // so that one large file is not all there is
  if (type != FTW_F || !S_ISREG(status->st_mode) || status->st_size < 4) return 0;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const size_t before = words.size();
  const size_t room = std::min({words_wanted - before, kWordsAFile, static_cast<size_t>(status->st_size) / 4});
  words.resize(before + room);
  size_t have = 0;
  for (ssize_t got = 1; got > 0 && have < room * 4; have += static_cast<size_t>(std::max<ssize_t>(got, 0))) {
    got = read(fd, reinterpret_cast<char *>(words.data() + before) + have, room * 4 - have);
  }
  close(fd);
  words.resize(before + have / 4);
  files_read += have / 4 > 0;
  return words.size() == words_wanted ? 1 : 0;
}

void read_words(const char *folder) {
  words.reserve(words_wanted);
  if (nftw(folder, take_file, 64, FTW_PHYS | FTW_MOUNT) < 0) {
    std::fprintf(stderr, "demo: the folder '%s' could not be read; name one that exists\n", folder);
    std::exit(1);
  }
  if (words.empty()) die("there are no files to read below the folder");
  std::printf("%zu words of 32 bits (%.0f MB) from %zu files below %s\n", words.size(),
              static_cast<double>(words.size()) * 4e-6, files_read, folder);
}

// ---- arrays ----

std::string count_of(size_t n, const char *what) { return std::to_string(n) + " " + what; }

void sort_words(gsort *g) {
  Words theirs = words, ours = words;
  const double theirs_s = seconds([&] { std::sort(theirs.begin(), theirs.end()); });
  const double ours_s = seconds([&] { must(g, gsort_sort_u32(g, ours.data(), ours.size(), 0)); });
  if (theirs != ours) die("the sorted words are not those of std::sort");
  compare("sort " + count_of(words.size(), "words"), "std::sort", theirs_s, ours_s);
}

void order_words(gsort *g) {
  // The standard library takes a minute for all of them.
  const size_t n = std::min<size_t>(words.size(), size_t{1} << 23);
  std::vector<uint32_t> theirs(n), ours(n);
  std::iota(theirs.begin(), theirs.end(), 0);
  const auto less = [](uint32_t a, uint32_t b) { return words[a] < words[b]; };
  const double theirs_s = seconds([&] { std::stable_sort(theirs.begin(), theirs.end(), less); });
  const double ours_s =
      seconds([&] { must(g, gsort_argsort(g, GSORT_U32, words.data(), n, GSORT_U32, ours.data(), 0)); });
  if (theirs != ours) die("the order of the words is not that of std::stable_sort");
  compare("order " + count_of(n, "words, stable, as indices (argsort)"), "std::stable_sort", theirs_s, ours_s);
}

void best_words(gsort *g) {
  const size_t k = std::min<size_t>(10, words.size());
  Words theirs(k), ours(k);
  const double theirs_s = least_seconds([&] {
    std::partial_sort_copy(words.begin(), words.end(), theirs.begin(), theirs.end(), std::greater<uint32_t>());
  });
  const double ours_s = least_seconds(
      [&] { must(g, gsort_topk(g, GSORT_U32, words.data(), words.size(), k, ours.data(), GSORT_U64, nullptr, 0)); });
  if (theirs != ours) die("the greatest words are not those of std::partial_sort");
  compare("the " + count_of(k, "greatest"), "std::partial_sort", theirs_s, ours_s);
}

void add_words(gsort *g) {
  uint64_t theirs = 0, ours = 0;
  const double theirs_s = least_seconds([&] { theirs = std::accumulate(words.begin(), words.end(), uint64_t{0}); });
  const double ours_s = least_seconds([&] { must(g, gsort_sum(g, GSORT_U32, words.data(), words.size(), &ours, 0)); });
  if (theirs != ours) die("the sum is not that of std::accumulate");
  compare("add them up", "std::accumulate", theirs_s, ours_s);
}

// ---- lines of text ----

struct Folder {
  Folder() {
    const char *base = std::getenv("TMPDIR");
    path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/gsort-demo-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) die("no temporary folder could be made");
  }
  ~Folder() {
    for (const char *name : {"/lines", "/theirs", "/ours"}) unlink((path + name).c_str());
    rmdir(path.c_str());
  }
  std::string path;
};

void run(const std::string &command) {
  if (std::system(command.c_str()) != 0) std::fprintf(stderr, "demo: failed: %s\n", command.c_str());
}

bool same_files(const std::string &a, const std::string &b) {
  return std::system(("cmp -s '" + a + "' '" + b + "'").c_str()) == 0;
}

bool sort_lines(const char *tool) {
  const size_t n = std::min<size_t>(words.size(), 4000000);
  const Folder folder;
  const std::string lines = folder.path + "/lines", theirs = folder.path + "/theirs", ours = folder.path + "/ours";
  std::FILE *file = std::fopen(lines.c_str(), "w");
  if (file == nullptr) return false;
  // As signed words with two decimals, as prices have.
  for (size_t i = 0; i < n; i++) {
    const int64_t value = static_cast<int32_t>(words[i]);
    std::fprintf(file, "%s%" PRId64 ".%02d\n", value < 0 ? "-" : "", std::abs(value) / 100,
                 static_cast<int>(std::abs(value) % 100));
  }
  if (std::fclose(file) != 0) return false;
  // -s: equal lines stay in order, which gsort promises anyway.
  const double theirs_s = seconds([&] { run("LC_ALL=C sort -s -n '" + lines + "' -o '" + theirs + "'"); });
  const double ours_s = seconds([&] { run("'" + std::string(tool) + "' sort '" + lines + "' -o '" + ours + "'"); });
  if (!same_files(theirs, ours)) return false;
  compare("sort " + count_of(n, "lines of text, files read and written"), "sort -n", theirs_s, ours_s);
  return true;
}

bool parse(int argc, char **argv) {
  words_wanted = size_t{1} << 26;
  if (argc <= 2) return true;
  char *end;
  words_wanted = static_cast<size_t>(std::strtoull(argv[2], &end, 10));
  return argc == 3 && *end == '\0' && argv[2][0] != '-' && words_wanted > 0 && words_wanted < UINT32_MAX;
}

}  // namespace

int main(int argc, char **argv) {
  if (!parse(argc, argv)) {
    std::fprintf(stderr, "usage: demo [FOLDER [WORDS]], WORDS from 1 to 4294967294\n");
    return 2;
  }
  std::setlocale(LC_CTYPE, "");
  draws_blocks = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  gsort *g = nullptr;
  must(nullptr, gsort_create(nullptr, &g));
  gsort_info info = {};
  info.struct_size = sizeof info;
  must(g, gsort_info_get(g, &info));
  std::printf("gsort %s on the %s: %s, %" PRIu32 " threads\n", gsort_version_string(),
              info.backend == GSORT_BACKEND_CUDA ? "GPU" : "CPU", info.device_name, info.threads);
  read_words(argc > 1 ? argv[1] : "/");
  sort_words(g);
  order_words(g);
  best_words(g);
  add_words(g);
  gsort_destroy(g);
  const char *tool = std::getenv("GSORT_TOOL");
  if (tool != nullptr && !sort_lines(tool)) die("the sorted lines are not those of sort -n");
  std::printf("\nevery result of gsort's agrees with the other's, bit for bit\n");
  return 0;
}
