// SPDX-License-Identifier: MIT OR Apache-2.0
#include "options.h"

#include <cstdlib>

namespace gsort_bench {
namespace {

bool parse_number(const std::string &text, double &number) {
  char *end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && number >= 0;
}

bool set_text(const std::string &name, const std::string &value, Options &o) {
  if (name == "--suite") {
    o.suite = value;
  } else if (name == "--filter") {
    o.filter = value;
  } else if (name == "--csv") {
    o.csv_path = value;
  } else if (name == "--json") {
    o.json_path = value;
  } else if (name == "--commit") {
    o.commit = value;
  } else {
    return false;
  }
  return true;
}

bool set_number(const std::string &name, double value, Options &o) {
  if (name == "--max-log2") {
    o.max_log2 = static_cast<uint32_t>(value);
  } else if (name == "--runs") {
    o.runs = static_cast<uint32_t>(value);
  } else if (name == "--row-ms") {
    o.row_ms = value;
  } else if (name == "--budget-s") {
    o.budget_s = value;
  } else if (name == "--seed") {
    o.seed = static_cast<uint64_t>(value);
  } else {
    return false;
  }
  return true;
}

bool set_switch(const std::string &name, Options &o) {
  if (name == "--cold") {
    o.cold = true;
  } else if (name == "--queued") {
    o.queued = true;
  } else if (name == "--spoil") {
    o.spoil = true;
  } else if (name == "--list") {
    o.list = true;
  } else if (name == "--help") {
    o.help = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string parse_options(int argc, char **argv, Options &options) {
  for (int a = 1; a < argc; ++a) {
    const std::string name = argv[a];
    if (set_switch(name, options)) continue;
    if (a + 1 >= argc) return name + " is unknown or lacks its value; see --help";
    const std::string value = argv[++a];
    double number = 0;
    if (set_text(name, value, options)) continue;
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
