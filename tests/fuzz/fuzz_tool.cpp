// SPDX-License-Identifier: MIT OR Apache-2.0
// The parsers of the command-line tool on any bytes: numbers, elements, lines, .npy headers, the command line. Nothing
// may crash, and what they understand must hold together: the order of numbers with that of strtod(), keys with the
// order, printed elements with read ones, sorted lines with each other. The first byte says which parser, the second
// how the others are read: as they are, or as characters of which numbers are made, so that random inputs are often
// numbers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "element.h"
#include "lines.h"
#include "npy.h"
#include "number.h"
#include "number_units.h"
#include "options.h"
#include "order.h"
#include "report.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

void check(bool condition, const char *what, const std::string &input) {
  if (condition) return;
  dprintf(STDERR_FILENO, "%s: \"%s\"\n", what, input.c_str());
  std::abort();
}

int sign(double x) { return (x > 0) - (x < 0); }

bool scan(const std::string &text, number *out) {
  return number_scan(text.data(), text.data() + text.size(), false, out) == scan_ok;
}

void check_elements(const std::string &text) {
  for (gsort_dtype t = GSORT_U8; t <= GSORT_F64; t++) {
    const type_info *type = type_by_dtype(t);
    uint64_t element = 0, again = 0;
    if (element_parse(text.data(), text.data() + text.size(), true, type, &element) != scan_ok) continue;
    char printed[element_text_bytes_max];
    const size_t length = element_print(printed, type, &element);
    check(element_parse(printed, printed + length, false, type, &again) == scan_ok, "cannot be read back", text);
    check(element == again, "is read back as another element", text);
    order_element(type, order_key(type, 0, &element), &again);
    check(std::memcmp(&element, &again, type->size_bytes) == 0, "a key is that of another element", text);
  }
}

void check_pair(const std::string &a, const std::string &b) {
  number x, y;
  if (!scan(a, &x) || !scan(b, &y)) return;
  const std::string both = a + "\" and \"" + b;
  const int order = number_compare(&x, &y);
  check(sign(order) == -sign(number_compare(&y, &x)), "an order that is not the same from both sides", both);
  const uint64_t x_key = number_key(&x), y_key = number_key(&y);
  check(order == 0 ? x_key == y_key : (order < 0) == (x_key < y_key) || x_key == y_key, "keys against the order", both);
  check(x_key != y_key || order == 0 || !number_key_is_exact(x_key), "a cut key that is called exact", both);
  if (x.kind == number_nan || y.kind == number_nan) return;
  const double u = std::strtod(a.c_str(), nullptr), v = std::strtod(b.c_str(), nullptr);
  check(u == v || (u < v) == (order < 0), "an order that is not strtod's", both);
  char mean[units_text_bytes_max];
  number middle;
  if (!number_mean(&x, &y, mean)) return;
  const std::string printed = mean;  // which the number points into
  check(scan(printed, &middle), "a mean that is not a number", both);
  check(number_compare(&middle, order < 0 ? &x : &y) >= 0 && number_compare(&middle, order < 0 ? &y : &x) <= 0,
        "a mean that is not between", both);
}

void fuzz_numbers(const std::string &text) {
  const size_t middle = std::min(text.find('\n'), text.size());
  const std::string a = text.substr(0, middle), b = text.substr(std::min(middle + 1, text.size()));
  check_elements(a);
  check_pair(a, b);
  check_pair(a, a);
  number n;
  // strtod() takes blanks before a number, hexadecimal floats and "nan(...)" of any kind; all else it must agree on.
  char *end;
  std::strtod(a.c_str(), &end);
  if (scan(a, &n)) check(*end == '\0' && end != a.c_str(), "a number that strtod does not know", a);
}

gsort *handle() {
  static gsort *const kHandle = [] {
    gsort_options options = {};
    options.struct_size = sizeof options;
    options.backend = GSORT_BACKEND_CPU;
    options.device = -1;
    options.threads = 1;
    gsort *g = nullptr;
    if (gsort_create(&options, &g) != GSORT_OK) std::abort();
    return g;
  }();
  return kHandle;
}

void check_lines(const lines &l, const std::string &text) {
  for (uint64_t i = 1; i < l.count; i++) {
    const char *before = lines_at(&l, i - 1), *here = lines_at(&l, i);
    const int order = lines_compare_text(&l, before, here);
    check(order < 0 || (order == 0 && before < here), "lines out of order", text);
    check(sign(order) == sign(lines_compare(&l, i - 1, &l, i)), "two orders of the same lines", text);
  }
}

// The bytes as a file that is read in small pieces.
void fuzz_lines(const std::string &text, uint8_t how) {
  line_rules rules = {};
  rules.column = how & 1 ? 2 : 0;
  rules.separator = how & 2 ? ',' : 0;
  rules.skip_blank = (how & 4) != 0;
  rules.comment = how & 8 ? '#' : 0;
  rules.hexadecimal = (how & 16) != 0;
  rules.flags = (how & 32 ? GSORT_DESCENDING : 0) | (how & 64 ? GSORT_NAN_LAST : 0);
  rules.type = how & 128 ? type_by_dtype(static_cast<gsort_dtype>(1 + text.size() % 12)) : nullptr;
  rules.threads = 1;
  const int fd = memfd_create("text", 0);
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  source s;
  uint64_t lines_seen = 0;
  int code = source_open_region(&s, "text", fd, 0, text.size());
  while (code == exit_ok && !(lines_seen > 0 && source_ended(&s))) {
    code = source_fill(&s, 1 + text.size() / 3, 8);
    if (code == exit_ok && s.lines_bytes == 0) break;
    lines l = {};
    if (code == exit_ok) code = lines_parse(&s, &rules, keys_signed, &l);
    lines_seen += s.line_ends;
    if (code == exit_ok && lines_sort(handle(), &l) != exit_ok) std::abort();
    if (code == exit_ok) check_lines(l, text);
    lines_free(&l);
  }
  source_close(&s);
  close(fd);
}

void fuzz_npy(const std::string &bytes) {
  std::string file(npy_magic, npy_magic_bytes);
  file += bytes;
  npy_layout layout;
  const uint64_t header = npy_header_bytes(file.data(), file.size());
  if (npy_read_header("fuzz", file.data(), file.size(), nullptr, &layout) != exit_ok) return;
  check(layout.header_bytes == header && header <= file.size(), "a header longer than the file", bytes);
  uint64_t count = 1;
  for (uint32_t i = 0; i < layout.shape.dimensions; i++) count *= layout.shape.extents[i];
  check(count == layout.shape.count, "a count that is not the extents' product", bytes);
}

void fuzz_options(const std::string &text) {
  static const char *const kCommands[] = {"sort", "topk", "merge", "percentile", "sum"};
  std::vector<std::string> words = {"gsort", kCommands[text.size() % 5]};
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min({text.find('\0', at), text.find('\n', at), text.size()});
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  options parsed;
  const int code = options_parse(static_cast<int>(arguments.size()), arguments.data(), &parsed);
  check(code == exit_ok || code == exit_usage, "neither right nor wrong usage", text);
  check(code != exit_ok || parsed.path_count <= static_cast<int>(words.size()) - 2, "more files than words", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The tool's sentences go to stderr; a sanitizer's words go past it, to the descriptor.
  static const bool kQuiet = (stderr = std::fopen("/dev/null", "w")) != nullptr;
  if (!kQuiet || size < 3) return 0;
  static const char *const kAlphabets[] = {"", "0123456789012345.e-+\n\n\n ,#xXinfaNAN(){}:'",
                                           "01234567890123456789\n\n\n\n", "0011223344559999\n\n\n\n.-e"};
  std::string text(reinterpret_cast<const char *>(data) + 3, size - 3);
  const std::string alphabet = kAlphabets[data[1] % 4];
  for (char &c : text) c = alphabet.empty() ? c : alphabet[static_cast<uint8_t>(c) % alphabet.size()];
  switch (data[0] % 4) {
    case 0:
      fuzz_numbers(text);
      break;
    case 1:
      fuzz_lines(text, data[2]);
      break;
    case 2:
      fuzz_npy(text);
      break;
    default:
      fuzz_options(text);
  }
  return 0;
}
