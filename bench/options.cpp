// SPDX-License-Identifier: MIT OR Apache-2.0
#include "options.h"

#include <cstdlib>

#include "option_fields.h"

namespace gsort_bench {
namespace {

bool parse_number(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && number >= 0;
}

constexpr OptionField<Options, bool> kSwitches[] = {{"--cold", &Options::cold},
                                                    {"--queued", &Options::queued},
                                                    {"--spoil", &Options::spoil},
                                                    {"--list", &Options::list},
                                                    {"--help", &Options::help}};
constexpr OptionField<Options, std::string> kTexts[] = {{"--suite", &Options::suite},
                                                        {"--filter", &Options::filter},
                                                        {"--csv", &Options::csv_path},
                                                        {"--json", &Options::json_path},
                                                        {"--commit", &Options::commit}};
constexpr OptionField<Options, uint32_t> kCounts[] = {{"--max-log2", &Options::max_log2}, {"--runs", &Options::runs}};
constexpr OptionField<Options, double> kTimes[] = {{"--row-ms", &Options::row_ms}, {"--budget-s", &Options::budget_s}};

bool set_number(const std::string &name, double value, Options &o) {
  if (name == "--seed") {
    o.seed = static_cast<uint64_t>(value);
    return true;
  }
  return set_field(kCounts, name, value, o) || set_field(kTimes, name, value, o);
}

}  // namespace

std::string parse_options(int argc, char **argv, Options &options) {
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (set_field(kSwitches, name, true, options)) continue;
    if (a + 1 >= argc) return name + " is unknown or lacks its value; see --help";
    const std::string value = argv[++a];
    double number = 0;
    if (set_field(kTexts, name, value, options)) continue;
    if (!parse_number(value, number)) return name + " is unknown or " + value + " is not a number; see --help";
    if (!set_number(name, number, options)) return name + " is unknown; see --help";
  }
  return "";
}

const char *usage() {
  return "gsort_bench: times gsort beside CUB on one GPU and checks every result\n"
         "  --suite NAME     quick (default), sort, sort-dist, data, merge, segments, select, sum, large, full\n"
         "  --filter TEXT    only rows whose name or distribution contains TEXT\n"
         "  --max-log2 N     only rows of at most 2^N elements\n"
         "  --csv FILE       write the rows as CSV\n"
         "  --json FILE      write the rows as JSON\n"
         "  --budget-s S     begin no new row after S seconds\n"
         "  --runs N         timed runs a row (default: what fits --row-ms, at least 5)\n"
         "  --row-ms MS      time for the timed runs of one side of a row (default 300)\n"
         "  --seed N         seed of the data\n"
         "  --cold           flush the L2 cache before every timed run\n"
         "  --queued         time what the device does, without the wait for the host's launches\n"
         "  --spoil          flip a bit of each result before its check, which must then fail: tests the checks\n"
         "  --commit TEXT    printed in the header\n"
         "  --list           print the rows and stop; needs no GPU\n"
         "Exit code: 0 all right, 1 a wrong or failed row, 2 wrong arguments, 3 no usable GPU.\n";
}

}  // namespace gsort_bench
