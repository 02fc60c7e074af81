// SPDX-License-Identifier: MIT OR Apache-2.0
#define GSORT_SORT_KEY uint64_t
#define GSORT_SORT_KERNELS kSort64
#include "cpu/vector/sort_frame-inl.h"
