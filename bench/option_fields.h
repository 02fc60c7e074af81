// SPDX-License-Identifier: MIT OR Apache-2.0
// Options of a benchmark's command line, each the name of a field.
#ifndef GSORT_BENCH_OPTION_FIELDS_H_
#define GSORT_BENCH_OPTION_FIELDS_H_

#include <string>

namespace gsort_bench {

template <class Options, class T>
struct OptionField {
  const char *name;
  T Options::*field;
};

// Whether one of the fields has the name; it then has the value.
template <class Options, class T, size_t kCount, class V>
bool set_field(const OptionField<Options, T> (&fields)[kCount], const std::string &name, const V &value,
               Options &options) {
  for (const OptionField<Options, T> &each : fields) {
    if (name != each.name) continue;
    options.*each.field = static_cast<T>(value);
    return true;
  }
  return false;
}

}  // namespace gsort_bench

#endif  // GSORT_BENCH_OPTION_FIELDS_H_
