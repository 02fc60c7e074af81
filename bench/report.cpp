// SPDX-License-Identifier: MIT OR Apache-2.0
#include "report.h"

#include <cstdio>

namespace gsort_bench {
namespace {

std::string format(const char *pattern, double x) {
  char text[64];
  snprintf(text, sizeof text, pattern, x);
  return text;
}

const char *outcome_name(Outcome outcome) {
  static const char *const names[] = {"ok", "WRONG", "FAILED", "skipped"};
  return names[static_cast<int>(outcome)];
}

std::string goal_text(const Goal &goal) {
  if (goal.ratio_min > 0) return format(">=%.2fx", goal.ratio_min);
  if (goal.ms_max > 0) return format("<=%.3fms", goal.ms_max);
  return "-";
}

// "met" or "missed"; "-" where there is no goal or nothing to hold against it.
const char *goal_verdict(const Result &r) {
  if (r.outcome != Outcome::kRight) return "-";
  if (r.row.goal.ratio_min > 0) {
    if (r.peer.runs == 0) return "-";
    return r.ratio() >= r.row.goal.ratio_min ? "met" : "missed";
  }
  if (r.row.goal.ms_max > 0) return r.gsort.median_ms <= r.row.goal.ms_max ? "met" : "missed";
  return "-";
}

std::string count_text(uint64_t n) {
  for (int log2 = 10; log2 < 64; ++log2) {
    if (n == uint64_t{1} << log2) return "2^" + std::to_string(log2);
  }
  return std::to_string(n);
}

// A field of CSV: quoted if it must be.
std::string csv_field(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string json_text(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

struct Field {
  const char *name;
  std::string value;
  bool is_number;
};

std::vector<Field> fields_of(const Result &r) {
  const auto number = [](double x) { return format("%.6g", x); };
  const auto whole = [](uint64_t x) { return std::to_string(x); };
  return {{"suite", r.row.suite, false},
          {"work", row_name(r.row), false},
          {"type", dtype_name(r.row.t), false},
          {"n", whole(r.row.n), true},
          {"distribution", distribution_name(r.row.distribution), false},
          {"gsort_ms", number(r.gsort.median_ms), true},
          {"gsort_least_ms", number(r.gsort.least_ms), true},
          {"runs", whole(r.gsort.runs), true},
          {"gkey_s", number(r.gkey_s()), true},
          {"gb_s", number(r.gb_s()), true},
          {"peer", r.peer_name, false},
          {"peers", r.others, false},
          {"peer_ms", number(r.peer.median_ms), true},
          {"peer_least_ms", number(r.peer.least_ms), true},
          {"ratio", number(r.ratio()), true},
          {"goal", goal_text(r.row.goal), false},
          {"goal_met", goal_verdict(r), false},
          {"gsort_extra_bytes", whole(r.gsort_extra_bytes), true},
          {"peer_extra_bytes", whole(r.peer_extra_bytes), true},
          {"outcome", outcome_name(r.outcome), false},
          {"note", r.note, false}};
}

std::vector<Field> fields_of(const Facts &f) {
  return {{"date", f.date, false},     {"device", f.device, false},    {"driver", f.driver, false},
          {"cuda", f.cuda, false},     {"cub", f.cub, false},          {"gsort", f.gsort, false},
          {"commit", f.commit, false}, {"settings", f.settings, false}};
}

std::string json_object(const std::vector<Field> &fields) {
  std::string text = "{";
  for (const Field &f : fields) {
    if (text.size() > 1) text += ", ";
    text += json_text(f.name) + ": " + (f.is_number ? f.value : json_text(f.value));
  }
  return text + "}";
}

std::string write_text(const std::string &path, const std::string &text) {
  FILE *const file = fopen(path.c_str(), "w");
  if (file == nullptr) return path + " cannot be opened for writing";
  const bool written = fwrite(text.data(), 1, text.size(), file) == text.size();
  return fclose(file) == 0 && written ? "" : path + " could not be written wholly";
}

}  // namespace

void print_facts(const Facts &facts) {
  for (const Field &f : fields_of(facts))
    printf("%s%s: %s", f.name == std::string("date") ? "" : " | ", f.name, f.value.c_str());
  printf("\n");
}

void print_head() {
  printf("%-32s %12s %-15s %10s %8s %8s %10s %7s %10s %-7s %-7s %s\n", "work", "n", "distribution", "gsort ms",
         "Gkey/s", "GB/s", "peer ms", "ratio", "goal", "", "result", "note");
}

void print_result(const Result &r) {
  const bool timed = r.gsort.runs > 0;
  const bool has_peer = r.peer.runs > 0;
  const std::string note = r.note.empty() ? r.peer_name : r.note;
  printf("%-32s %12s %-15s %10s %8s %8s %10s %7s %10s %-7s %-7s %s\n", row_name(r.row).c_str(),
         count_text(r.row.n).c_str(), distribution_name(r.row.distribution),
         timed ? format("%.4f", r.gsort.median_ms).c_str() : "-", timed ? format("%.2f", r.gkey_s()).c_str() : "-",
         timed ? format("%.0f", r.gb_s()).c_str() : "-", has_peer ? format("%.4f", r.peer.median_ms).c_str() : "-",
         has_peer ? format("%.2f", r.ratio()).c_str() : "-", goal_text(r.row.goal).c_str(), goal_verdict(r),
         outcome_name(r.outcome), note.c_str());
  fflush(stdout);
}

std::string write_csv(const std::string &path, const Facts &facts, const std::vector<Result> &results) {
  std::string text;
  for (const Field &f : fields_of(facts)) text += std::string("# ") + f.name + ": " + f.value + "\n";
  bool first = true;
  for (const Field &f : fields_of(Result())) text += (first ? first = false, "" : ",") + std::string(f.name);
  text += "\n";
  for (const Result &r : results) {
    first = true;
    for (const Field &f : fields_of(r)) text += (first ? first = false, "" : ",") + csv_field(f.value);
    text += "\n";
  }
  return write_text(path, text);
}

std::string write_json(const std::string &path, const Facts &facts, const std::vector<Result> &results) {
  std::string text = "{\"facts\": " + json_object(fields_of(facts)) + ",\n\"rows\": [\n";
  for (size_t r = 0; r < results.size(); ++r) {
    text += json_object(fields_of(results[r])) + (r + 1 < results.size() ? ",\n" : "\n");
  }
  return write_text(path, text + "]}\n");
}

}  // namespace gsort_bench
