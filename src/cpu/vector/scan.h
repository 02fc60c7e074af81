// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels for running sums. Those of floats follow core/scan_order.h: chunks go side by side, one a lane, so
// that each is added up from the left as that order says.
#ifndef GSORT_CPU_VECTOR_SCAN_H_
#define GSORT_CPU_VECTOR_SCAN_H_

#include <cstdint>

namespace gsort_internal {

// F: float or double.
template <class F>
struct ScanKernels {
  // The total of a row of kScanRowItems elements.
  double (*row_total)(const F *in);

  // Writes the results of a row, which `prefix` comes before, and returns the row's total. `in` may be `out`.
  // `in_memory`: the rows behind it are not in a cache, most likely, and worth asking for now.
  double (*scan_row)(const F *in, F *out, double prefix, bool in_memory);

  // The same of the array's last row, which has `count` elements, 1 to kScanRowItems; its total is nobody's prefix.
  void (*scan_last_row)(const F *in, F *out, uint32_t count, double prefix);
};

// Of 2-byte floats.
struct SmallFloatScan {
  // Writes the results of a row of `count` elements, 1 to kScanRowItems, which `prefix` comes before, and returns the
  // row's total if it is whole. `in` may be `out`; without `out` nothing is written.
  double (*scan_row)(const uint16_t *in, uint16_t *out, uint32_t count, double prefix);
};

// T: unsigned, which wraps, so that signed integers are the same.
template <class T>
struct IntegerScanKernels {
  // Writes the running sums of n integers, which `before` comes before, and returns the last; exclusive: without each
  // one's own. `in` may be `out`.
  T (*scan)(const T *in, T *out, uint64_t n, T before, bool exclusive);
};

// NULL if there are no vectors.
const IntegerScanKernels<uint8_t> *integer_scan_kernels(uint8_t);
const IntegerScanKernels<uint16_t> *integer_scan_kernels(uint16_t);
const IntegerScanKernels<uint32_t> *integer_scan_kernels(uint32_t);
const IntegerScanKernels<uint64_t> *integer_scan_kernels(uint64_t);
const ScanKernels<float> *scan_kernels(float);
const ScanKernels<double> *scan_kernels(double);
const SmallFloatScan *half_scan();
const SmallFloatScan *bfloat16_scan();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SCAN_H_
