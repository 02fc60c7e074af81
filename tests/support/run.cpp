// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/run.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace gsort_test {
namespace {

// The arrays of one call.
class Call {
 public:
  explicit Call(const Where &where) : where_(where) {}

  void *input(const Bytes &content, uint32_t element_bytes) {
    inputs_.push_back({std::make_unique<Buffer>(where_.place, content.size(), offset(element_bytes)), &content});
    inputs_.back().buffer->write(content);
    return inputs_.back().buffer->data();
  }

  Buffer *output(uint64_t bytes, uint32_t element_bytes) {
    outputs_.push_back(std::make_unique<Buffer>(where_.place_out, bytes, offset(element_bytes)));
    return outputs_.back().get();
  }

  // An output that is the input of the same role when the call is in place.
  Buffer *output_for(void **input_data, const Bytes &content, uint32_t element_bytes) {
    Buffer *buffer = output(content.size(), element_bytes);
    if (where_.in_place) {
      buffer->write(content);
      *input_data = buffer->data();
    } else {
      *input_data = input(content, element_bytes);
    }
    return buffer;
  }

  void finish(gsort_status status) {
    EXPECT_TRUE(succeeded(where_.g, status));
    EXPECT_TRUE(succeeded(where_.g, gsort_synchronize(where_.g)));
    for (const Input &input : inputs_) {
      EXPECT_TRUE(input.buffer->red_zones_intact()) << "around an input";
      EXPECT_TRUE(same_bytes(*input.content, input.buffer->read())) << "an input was changed";
    }
    for (const auto &output : outputs_) EXPECT_TRUE(output->red_zones_intact()) << "around an output";
  }

 private:
  struct Input {
    std::unique_ptr<Buffer> buffer;
    const Bytes *content;
  };
  size_t offset(uint32_t element_bytes) const { return size_t{where_.offset_elements} * element_bytes; }

  Where where_;
  std::vector<Input> inputs_;
  std::vector<std::unique_ptr<Buffer>> outputs_;
};

// How many outputs were compared; added as a line to the file that GSORT_TESTS_COMPARISONS names when the program ends.
struct Comparisons {
  std::atomic<uint64_t> count{0};

  ~Comparisons() {
    const char *path = std::getenv("GSORT_TESTS_COMPARISONS");
    if (path == nullptr || count == 0) return;
    std::ofstream(path, std::ios::app) << std::to_string(count) + '\n' << std::flush;
  }
} comparisons;

}  // namespace

::testing::AssertionResult succeeded(gsort *g, gsort_status status) {
  if (status == GSORT_OK) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << gsort_status_name(status) << ": " << gsort_error_message(g);
}

::testing::AssertionResult same_elements(const Array &expected, const Array &actual) {
  comparisons.count++;
  if (expected.size() != actual.size()) {
    return ::testing::AssertionFailure() << actual.size() << " elements instead of " << expected.size();
  }
  if (expected.bytes() == actual.bytes()) return ::testing::AssertionSuccess();
  uint64_t differing = 0;
  uint64_t first = 0;
  for (uint64_t i = expected.size(); i-- > 0;) {
    if (expected.get(i) == actual.get(i)) continue;
    differing++;
    first = i;
  }
  return ::testing::AssertionFailure() << differing << " of " << expected.size() << " elements differ, the first at "
                                       << first << std::hex << ": expected 0x" << expected.get(first) << ", got 0x"
                                       << actual.get(first);
}

::testing::AssertionResult same_bytes(const Bytes &expected, const Bytes &actual) {
  return same_elements(Array(GSORT_U8, expected), Array(GSORT_U8, actual));
}

Array run_sort(const Where &where, const Array &keys, uint32_t flags) {
  Call call(where);
  void *keys_in = nullptr;
  Buffer *out = call.output_for(&keys_in, keys.bytes(), keys.element_bytes());
  call.finish(gsort_sort(where.g, keys.type(), keys_in, out->data(), keys.size(), flags));
  return Array(keys.type(), out->read());
}

Pairs run_sort_pairs(const Where &where, const Pairs &in, uint32_t value_bytes, uint32_t flags) {
  Call call(where);
  void *keys_in = nullptr;
  void *values_in = nullptr;
  Buffer *keys_out = call.output_for(&keys_in, in.keys.bytes(), in.keys.element_bytes());
  Buffer *values_out = call.output_for(&values_in, in.values, value_bytes);
  call.finish(gsort_sort_pairs(where.g, in.keys.type(), keys_in, keys_out->data(), value_bytes, values_in,
                               values_out->data(), in.keys.size(), flags));
  return {Array(in.keys.type(), keys_out->read()), values_out->read()};
}

Array run_argsort(const Where &where, const Array &keys, gsort_dtype index_t, uint32_t flags) {
  Call call(where);
  const uint32_t index_bytes = element_type(index_t).bytes;
  const void *in = call.input(keys.bytes(), keys.element_bytes());
  const Buffer *out = call.output(keys.size() * index_bytes, index_bytes);
  call.finish(gsort_argsort(where.g, keys.type(), in, keys.size(), index_t, out->data(), flags));
  return Array(index_t, out->read());
}

Array run_rank(const Where &where, const Array &keys, gsort_dtype index_t, uint32_t flags) {
  Call call(where);
  const uint32_t index_bytes = element_type(index_t).bytes;
  const void *in = call.input(keys.bytes(), keys.element_bytes());
  const Buffer *out = call.output(keys.size() * index_bytes, index_bytes);
  call.finish(gsort_rank(where.g, keys.type(), in, keys.size(), index_t, out->data(), flags));
  return Array(index_t, out->read());
}

Array run_merge(const Where &where, const Array &a, const Array &b, uint32_t flags) {
  Call call(where);
  const void *a_in = call.input(a.bytes(), a.element_bytes());
  const void *b_in = call.input(b.bytes(), a.element_bytes());
  const Buffer *out = call.output(a.bytes().size() + b.bytes().size(), a.element_bytes());
  call.finish(gsort_merge(where.g, a.type(), a_in, a.size(), b_in, b.size(), out->data(), flags));
  return Array(a.type(), out->read());
}

Array run_sort_segments(const Where &where, const Array &keys, const Indices &offsets, uint32_t flags) {
  Call call(where);
  void *keys_in = nullptr;
  const Array offsets_array = make_array(GSORT_U64, offsets);
  Buffer *out = call.output_for(&keys_in, keys.bytes(), keys.element_bytes());
  const auto *offsets_in = static_cast<const uint64_t *>(call.input(offsets_array.bytes(), 8));
  const uint64_t segments = offsets.empty() ? 0 : offsets.size() - 1;
  call.finish(
      gsort_sort_segments(where.g, keys.type(), keys_in, out->data(), keys.size(), offsets_in, segments, flags));
  return Array(keys.type(), out->read());
}

Selection run_topk(const Where &where, const Array &in, const TopkArguments &arguments) {
  Call call(where);
  const uint32_t index_bytes = element_type(arguments.index_t).bytes;
  const void *data = call.input(in.bytes(), in.element_bytes());
  const Buffer *values = call.output(arguments.k * in.element_bytes(), in.element_bytes());
  const Buffer *indices = call.output(arguments.k * index_bytes, index_bytes);
  void *values_out = arguments.wanted == Wanted::kIndices ? nullptr : values->data();
  void *indices_out = arguments.wanted == Wanted::kValues ? nullptr : indices->data();
  call.finish(gsort_topk(where.g, in.type(), data, in.size(), arguments.k, values_out, arguments.index_t, indices_out,
                         arguments.flags));
  return {Array(in.type(), values->read()), Array(arguments.index_t, indices->read())};
}

Selection run_topk_rows(const Where &where, const Array &in, const Matrix &matrix, const TopkArguments &arguments) {
  Call call(where);
  const uint32_t index_bytes = element_type(arguments.index_t).bytes;
  const uint64_t count = matrix.rows * arguments.k;
  const void *data = call.input(in.bytes(), in.element_bytes());
  const Buffer *values = call.output(count * in.element_bytes(), in.element_bytes());
  const Buffer *indices = call.output(count * index_bytes, index_bytes);
  void *values_out = arguments.wanted == Wanted::kIndices ? nullptr : values->data();
  void *indices_out = arguments.wanted == Wanted::kValues ? nullptr : indices->data();
  call.finish(gsort_topk_rows(where.g, in.type(), data, matrix.rows, matrix.columns, matrix.row_stride, arguments.k,
                              values_out, arguments.index_t, indices_out, arguments.flags));
  return {Array(in.type(), values->read()), Array(arguments.index_t, indices->read())};
}

Selection run_topk_segments(const Where &where, const Array &in, const Indices &offsets,
                            const TopkArguments &arguments) {
  Call call(where);
  const uint32_t index_bytes = element_type(arguments.index_t).bytes;
  const uint64_t segments = offsets.empty() ? 0 : offsets.size() - 1, count = segments * arguments.k;
  const Array offsets_array = make_array(GSORT_U64, offsets);
  const void *data = call.input(in.bytes(), in.element_bytes());
  const auto *offsets_in = static_cast<const uint64_t *>(call.input(offsets_array.bytes(), 8));
  const Buffer *values = call.output(count * in.element_bytes(), in.element_bytes());
  const Buffer *indices = call.output(count * index_bytes, index_bytes);
  void *values_out = arguments.wanted == Wanted::kIndices ? nullptr : values->data();
  void *indices_out = arguments.wanted == Wanted::kValues ? nullptr : indices->data();
  call.finish(gsort_topk_segments(where.g, in.type(), data, in.size(), offsets_in, segments, arguments.k, values_out,
                                  arguments.index_t, indices_out, arguments.flags));
  return {Array(in.type(), values->read()), Array(arguments.index_t, indices->read())};
}

uint64_t run_sum(const Where &where, const Array &in) {
  Call call(where);
  const void *data = call.input(in.bytes(), in.element_bytes());
  const Buffer *out = call.output(8, 8);
  call.finish(gsort_sum(where.g, in.type(), data, in.size(), out->data(), 0));
  return load_bits(out->read().data(), 8);
}

uint64_t run_reduce(const Where &where, uint32_t op, const Array &in, uint32_t flags) {
  Call call(where);
  const void *data = call.input(in.bytes(), in.element_bytes());
  const uint32_t out_bytes = op == GSORT_MIN || op == GSORT_MAX ? in.element_bytes() : 8;
  const Buffer *out = call.output(out_bytes, out_bytes);
  call.finish(gsort_reduce(where.g, op, in.type(), data, in.size(), out->data(), flags));
  return load_bits(out->read().data(), out_bytes);
}

Array run_scan(const Where &where, const Array &in, uint32_t flags) {
  Call call(where);
  void *data = nullptr;
  Buffer *out = call.output_for(&data, in.bytes(), in.element_bytes());
  call.finish(gsort_scan(where.g, in.type(), data, out->data(), in.size(), flags));
  return Array(in.type(), out->read());
}

}  // namespace gsort_test
