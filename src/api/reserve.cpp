// SPDX-License-Identifier: MIT OR Apache-2.0
// Entry points that speak of calls to come: gsort_reserve() and gsort_workspace_bytes().
#include "api/check.h"
#include "api/handle.h"
#include "core/request.h"

using namespace gsort_internal;

namespace {

using ull = unsigned long long;

uint32_t checked_value_bytes(uint64_t value_bytes, bool index) {
  if (index && value_bytes != 4 && value_bytes != 8)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "parameter = %llu; an index has 4 or 8 bytes",
                static_cast<ull>(value_bytes));
  if (value_bytes == 0 || value_bytes > 65536)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "parameter = %llu; a value has 1 to 65536 bytes",
                static_cast<ull>(value_bytes));
  return static_cast<uint32_t>(value_bytes);
}

void check_operation(uint32_t op) {
  if (op < GSORT_OP_SORT || op > GSORT_OP_TOPK_SEGMENTS)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "op = %u is not an operation; use GSORT_OP_SORT (1) to GSORT_OP_TOPK_SEGMENTS (12)", op);
}

// More than any address space holds, and far from where sizes of a workspace wrap: it is a few copies of the elements,
// of their values, and an index of 8 bytes for each.
constexpr uint64_t kArrayBytesMax = uint64_t{1} << 57;

void check_size(uint64_t n, uint64_t element_bytes, const char *what) {
  if (n > kArrayBytesMax / element_bytes)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT,
                "n = %llu %s of %llu bytes are more than memory can hold; pass a smaller n", static_cast<ull>(n), what,
                static_cast<ull>(element_bytes));
}

// The request without its arrays. Flags do not change what is needed.
Request make_shape(uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter) {
  check_operation(op);
  check_dtype(t);
  check_size(n, dtype_bytes(t), "elements");
  Request shape = {};
  shape.operation = static_cast<Operation>(op);
  shape.order = {t, false, false};
  shape.n = n;
  shape.index_t = GSORT_U64;
  switch (op) {
    case GSORT_OP_SORT_PAIRS:
      shape.value_bytes = checked_value_bytes(parameter, false);
      check_size(n, shape.value_bytes, "values");
      break;
    case GSORT_OP_ARGSORT:
    case GSORT_OP_RANK:
      shape.index_t = checked_value_bytes(parameter, true) == 4 ? GSORT_U32 : GSORT_U64;
      break;
    case GSORT_OP_SORT_SEGMENTS:
      shape.segments = parameter;
      break;
    case GSORT_OP_TOPK:
    case GSORT_OP_TOPK_ROWS:
      // Of no rows, however long they were, there is nothing to select.
      if (parameter > n && (op == GSORT_OP_TOPK || n > 0))
        throw Error(GSORT_ERROR_INVALID_ARGUMENT, "parameter = %llu, which is k, is above n = %llu",
                    static_cast<ull>(parameter), static_cast<ull>(n));
      shape.k = n == 0 ? 0 : parameter;
      shape.rows = 1, shape.columns = n, shape.row_stride = n;
      break;
    case GSORT_OP_TOPK_SEGMENTS:
      shape.k = parameter;
      shape.segments = n;  // more are partly empty and need no more room
      break;
    default:
      if (parameter != 0)
        throw Error(GSORT_ERROR_INVALID_ARGUMENT, "parameter = %llu; this operation takes 0",
                    static_cast<ull>(parameter));
  }
  return shape;
}

}  // namespace

gsort_status gsort_reserve(gsort *g, uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter) {
  return with_handle(g, [&](Handle &handle) { handle.engine->reserve(make_shape(op, t, n, parameter)); });
}

gsort_status gsort_workspace_bytes(uint32_t op, gsort_dtype t, uint64_t n, uint64_t parameter, uint64_t *bytes) {
  return caught(nullptr, [&] {
    if (bytes == nullptr) throw Error(GSORT_ERROR_INVALID_ARGUMENT, "bytes is NULL; pass the address of a uint64_t");
    *bytes = cuda_workspace_bytes(make_shape(op, t, n, parameter));
  });
}
