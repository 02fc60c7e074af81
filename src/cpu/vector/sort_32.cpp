// SPDX-License-Identifier: MIT OR Apache-2.0
#define GSORT_SORT_KEY uint32_t
#define GSORT_SORT_KERNELS kSort32
#include "cpu/vector/sort_frame-inl.h"
