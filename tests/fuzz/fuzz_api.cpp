// SPDX-License-Identifier: MIT OR Apache-2.0
// The C API driven by arbitrary bytes on the CPU backend: valid calls must match the reference, wrong ones must be
// refused without a write, nothing may crash. LLVMFuzzerTestOneInput is libFuzzer's entry; fuzz_main.cpp runs it on
// random inputs without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "reference/float_scan.h"
#include "reference/sorting.h"
#include "reference/sums.h"
#include "support/buffer.h"

namespace gsort_test {
namespace {

constexpr uint64_t kItemsMax = 3000;
// Some arrays are so many times as long: several chunks of work for each thread.
constexpr uint64_t kSortsManyTimes = 25, kSumsManyTimes = 100;

// Reads numbers off the input; zeros when it is used up.
class Input {
 public:
  Input(const uint8_t *data, size_t size) : data_(data), size_(size) {}
  uint64_t number(uint32_t bytes) {
    uint64_t value = 0;
    const size_t count = std::min<size_t>(bytes, size_ - at_);
    if (count > 0) std::memcpy(&value, data_ + at_, count);
    at_ += count;
    return value;
  }
  // Fills the array with what is left, over and over, varied a little by place.
  Array rest(gsort_dtype t, uint64_t n) {
    Array array(t, n);
    const size_t left = size_ - at_;
    for (size_t i = 0; i < array.bytes().size(); i++) {
      array.bytes()[i] = static_cast<uint8_t>(left == 0 ? 0 : data_[at_ + i % left] + i / left);
    }
    return array;
  }

 private:
  const uint8_t *data_;
  size_t size_;
  size_t at_ = 0;
};

struct Shape {
  uint32_t operation;
  gsort_dtype t;  // may be no type
  gsort_dtype index_t;
  uint32_t flags;  // may have any bit
  uint64_t n;
  uint64_t k;      // or value bytes, segments, columns, reduction; may be too large
  uint32_t spoil;  // which pointer to make wrong, if any
  bool in_place;
};

Shape read_shape(Input *input) {
  Shape s = {};
  s.operation = static_cast<uint32_t>(input->number(1)) % 13;
  const uint64_t types = input->number(1);
  s.t = static_cast<gsort_dtype>(types < 8 ? types * 100 : types % 12 + 1);
  const uint64_t index_types = input->number(1);
  s.index_t = index_types < 16 ? static_cast<gsort_dtype>(index_types) : kIndexTypes[index_types % 4];
  const uint64_t flags = input->number(1);
  s.flags = static_cast<uint32_t>(flags < 16 ? flags << 3 : flags % 8);
  s.n = input->number(2) % (kItemsMax + 1);
  const uint64_t k = input->number(2);
  s.spoil = static_cast<uint32_t>(input->number(1));
  const uint64_t place = input->number(1);
  s.in_place = place % 3 == 0;
  if (place > 253) s.n *= s.operation < 7 || s.operation > 9 ? kSortsManyTimes : kSumsManyTimes;
  s.k = k > 65000 ? ~k : k % (s.n + 2);
  return s;
}

void check(bool condition, const Shape &s, const char *what) {
  if (condition) return;
  std::fprintf(stderr, "%s: operation %u, type %u, index type %u, flags 0x%x, n %llu, k %llu, spoil %u%s\n", what,
               s.operation, s.t, s.index_t, s.flags, static_cast<unsigned long long>(s.n),
               static_cast<unsigned long long>(s.k), s.spoil, s.in_place ? ", in place" : "");
  std::abort();
}

// The arrays of a call, and the result that it should have if it succeeds.
struct Work {
  Work(const Shape &shape, Input *input)
      : s(shape),
        type_known(s.t >= GSORT_U8 && s.t <= GSORT_F64),
        keys(input->rest(type_known ? s.t : GSORT_U64, s.n)),
        in(Place::kHost, keys.bytes().size()),
        values(Place::kHost, s.n * 4),
        out(Place::kHost, keys.bytes().size()),
        values_out(Place::kHost, std::max<uint64_t>(s.n * 4, 8)),
        indices_out(Place::kHost, s.n * 8) {
    in.write(keys.bytes());
    Bytes content(s.n * 4);
    for (size_t i = 0; i < content.size(); i++) content[i] = static_cast<uint8_t>(i / 4 >> 8 * (i % 4));
    values.write(content);
  }
  void *spoiled(uint32_t which, void *pointer) const {
    if (s.spoil != which) return pointer;
    // NULL or misaligned; one-byte elements cannot be misaligned.
    return s.spoil % 2 == 0 || keys.element_bytes() == 1 ? nullptr : static_cast<uint8_t *>(pointer) + 1;
  }
  const void *in_data() const { return spoiled(1, spoiled(2, in.data())); }
  void *out_data() const { return spoiled(3, spoiled(4, s.in_place ? in.data() : out.data())); }
  void *indices_data() const { return spoiled(5, spoiled(6, indices_out.data())); }

  Shape s;
  bool type_known;
  Array keys;
  Buffer in;
  Buffer values;
  Buffer out;
  Buffer values_out;
  Buffer indices_out;
};

Bytes prefix(const Buffer &buffer, uint64_t bytes) {
  Bytes content = buffer.read();
  content.resize(std::min<uint64_t>(bytes, content.size()));
  return content;
}

bool equal_arrays(const Array &expected, const Buffer &actual) {
  return expected.bytes() == prefix(actual, expected.bytes().size());
}

gsort_status call_sorts(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const Buffer &sorted = s.in_place ? w.in : w.out;
  gsort_status status = GSORT_OK;
  if (s.operation == 0) {
    status = gsort_sort(g, s.t, w.in_data(), w.out_data(), s.n, s.flags);
  } else {
    status = gsort_sort_pairs(g, s.t, w.in_data(), w.out_data(), 4, w.values.data(), w.values_out.data(), s.n, s.flags);
  }
  if (status != GSORT_OK) return status;
  const Indices order = reference_argsort(w.keys, s.flags);
  check(equal_arrays(gather(w.keys, order), sorted), s, "wrong order");
  if (s.operation == 1) {
    const Bytes want = gather_values(w.values.read(), 4, order);
    check(want == prefix(w.values_out, s.n * 4), s, "wrong values");
  }
  return status;
}

gsort_status call_indices(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const bool rank = s.operation == 3;
  const gsort_status status =
      (rank ? gsort_rank : gsort_argsort)(g, s.t, w.in_data(), s.n, s.index_t, w.indices_data(), s.flags);
  if (status != GSORT_OK) return status;
  const Indices want = rank ? reference_rank(w.keys, s.flags) : reference_argsort(w.keys, s.flags);
  check(equal_arrays(make_indices(s.index_t, want), w.indices_out), s, "wrong indices");
  return status;
}

gsort_status call_segments(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const uint64_t middle = s.n / 2;
  const uint64_t offsets[] = {s.n / 5, middle, s.k, s.n};
  const gsort_status status = gsort_sort_segments(g, s.t, w.in_data(), w.out_data(), s.n, offsets, 3, s.flags);
  if (status != GSORT_OK) return status;
  const Array want = reference_sort_segments(w.keys, {offsets[0], middle, s.k, s.n}, s.flags);
  check(equal_arrays(want, s.in_place ? w.in : w.out), s, "wrong segments");
  return status;
}

gsort_status call_selection(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const uint64_t rows = s.operation == 5 ? 1 : 3;
  const uint64_t columns = s.n / rows;
  gsort_status status = GSORT_OK;
  if (s.operation == 5) {
    status = gsort_topk(g, s.t, w.in_data(), s.n, s.k, w.out.data(), s.index_t, w.indices_data(), s.flags);
  } else {
    status = gsort_topk_rows(g, s.t, w.in_data(), rows, columns, columns, s.k, w.out.data(), s.index_t,
                             w.indices_data(), s.flags);
  }
  if (status != GSORT_OK || s.k == 0) return status;
  const Indices want = reference_topk_rows(w.keys, {rows, columns, columns}, s.k, s.flags);
  Indices flat = want;
  for (uint64_t i = 0; i < flat.size(); i++) flat[i] += i / s.k * columns;
  check(equal_arrays(gather(w.keys, flat), w.out), s, "wrong elements");
  if (w.indices_data() != nullptr) {
    check(equal_arrays(make_indices(s.index_t, want), w.indices_out), s, "wrong indices");
  }
  return status;
}

// Three segments: to a place in the middle, to k, to the end; the lengths of some are below the k entries.
gsort_status call_topk_segments(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const uint64_t bound = s.k <= s.n ? s.k : s.n + 1, middle = bound / 2, k = s.n == 0 ? 0 : s.k % (s.n / 3 + 1);
  const uint64_t offsets[4] = {0, middle, bound, s.n};
  const gsort_status status =
      gsort_topk_segments(g, s.t, w.in_data(), s.n, offsets, 3, k, w.out.data(), s.index_t, w.indices_data(), s.flags);
  if (status != GSORT_OK || k == 0) return status;
  const Indices want = reference_topk_segments(w.keys, {0, middle, bound, s.n}, k, s.flags);
  Array values(s.t, want.size());
  for (uint64_t i = 0; i < want.size(); i++)
    if (want[i] != kNoElement) values.set(i, w.keys.get(offsets[i / k] + want[i]));
  check(equal_arrays(values, w.out), s, "wrong elements of segments");
  if (w.indices_data() != nullptr)
    check(equal_arrays(make_indices(s.index_t, want), w.indices_out), s, "wrong indices of segments");
  return status;
}

gsort_status call_sums(gsort *g, const Work &w) {
  const Shape &s = w.s;
  void *const result = w.spoiled(7, w.spoiled(8, w.values_out.data()));
  const auto op = static_cast<uint32_t>(s.k);
  if (s.operation == 7) {
    const gsort_status status = gsort_sum(g, s.t, w.in_data(), s.n, result, s.flags);
    if (status == GSORT_OK) {
      check(load_bits(w.values_out.read().data(), 8) == reference_sum(w.keys), s, "wrong sum");
    }
    return status;
  }
  if (s.operation == 8) {
    const gsort_status status = gsort_reduce(g, op, s.t, w.in_data(), s.n, result, s.flags);
    if (status == GSORT_OK && s.n > 0) {
      const uint32_t bytes = op == GSORT_MIN || op == GSORT_MAX ? w.keys.element_bytes() : 8;
      check(load_bits(w.values_out.read().data(), bytes) == reference_reduce(op, w.keys, s.flags), s, "wrong result");
    }
    return status;
  }
  const gsort_status status = gsort_scan(g, s.t, w.in_data(), w.out_data(), s.n, s.flags);
  if (status != GSORT_OK) return status;
  const Array want =
      element_type(s.t).is_float ? reference_float_scan(w.keys, s.flags) : reference_integer_scan(w.keys, s.flags);
  check(equal_arrays(want, s.in_place ? w.in : w.out), s, "wrong running sums");
  return status;
}

// What lies before element k and what lies behind, in order or as it is: then no result is promised, but where it goes.
gsort_status call_merge(gsort *g, const Work &w) {
  const Shape &s = w.s;
  const uint64_t a_n = std::min(s.k, s.n);
  const bool in_order = s.spoil % 2 == 0 && w.type_known;
  Array a, b;
  Bytes content = w.keys.bytes();
  if (in_order) {
    const uint64_t cut = a_n * w.keys.element_bytes();
    const auto &bytes = w.keys.bytes();
    a = reference_sort(Array(s.t, Bytes(bytes.begin(), bytes.begin() + static_cast<int64_t>(cut))), s.flags);
    b = reference_sort(Array(s.t, Bytes(bytes.begin() + static_cast<int64_t>(cut), bytes.end())), s.flags);
    Bytes both = a.bytes();
    both.insert(both.end(), b.bytes().begin(), b.bytes().end());
    content = std::move(both);
  }
  Buffer in(Place::kHost, content.size());
  in.write(content);
  const auto *const data = static_cast<const uint8_t *>(in.data());
  const gsort_status status = gsort_merge(g, s.t, data, a_n, data + a_n * w.keys.element_bytes(), s.n - a_n,
                                          w.spoiled(3, w.out.data()), s.flags);
  if (status == GSORT_OK && in_order) check(equal_arrays(reference_merge(a, b, s.flags), w.out), s, "wrong merge");
  check(in.red_zones_intact() && in.read() == content, s, "a merge wrote its input");
  return status;
}

// Counts that no memory can hold, with real pointers: they must be refused by arithmetic alone.
gsort_status call_with_wild_counts(gsort *g, const Work &w) {
  const Shape &s = w.s;
  uint64_t bytes = 0;
  const gsort_status status = gsort_workspace_bytes(s.flags, s.t, s.k, s.n, &bytes);
  if (s.k > UINT64_MAX / 2) {
    check(gsort_sort(g, s.t, w.in.data(), w.out.data(), s.k, 0) != GSORT_OK, s, "a wild count was accepted");
    check(gsort_merge(g, s.t, w.in.data(), s.k, w.in.data(), s.n, w.out.data(), 0) != GSORT_OK, s, "wild a_n");
  }
  return status;
}

gsort_status call(gsort *g, const Work &w) {
  switch (w.s.operation) {
    case 0:
    case 1:
      return call_sorts(g, w);
    case 2:
    case 3:
      return call_indices(g, w);
    case 4:
      return call_segments(g, w);
    case 5:
    case 6:
      return call_selection(g, w);
    case 7:
    case 8:
    case 9:
      return call_sums(g, w);
    case 11:
      return call_topk_segments(g, w);
    case 12:
      return call_merge(g, w);
    default:
      return call_with_wild_counts(g, w);
  }
}

gsort *make_handle(uint32_t threads) {
  gsort_options options = {};
  options.struct_size = sizeof options;
  options.backend = GSORT_BACKEND_CPU;
  options.device = -1;
  options.threads = threads;
  gsort *g = nullptr;
  if (gsort_create(&options, &g) != GSORT_OK) std::abort();
  return g;
}

// Threads where there is work for them: waking them costs more than a short call.
gsort *fuzz_handle(uint64_t n) {
  static gsort *const kOne = make_handle(1), *const kTwo = make_handle(2);
  return n > kItemsMax ? kTwo : kOne;
}

}  // namespace

void fuzz_one(const uint8_t *data, size_t size) {
  Input input(data, size);
  const Work work(read_shape(&input), &input);
  const gsort_status status = call(fuzz_handle(work.s.n), work);
  check(status == GSORT_OK || status == GSORT_ERROR_INVALID_ARGUMENT, work.s, gsort_status_name(status));
  check(status != GSORT_OK || work.type_known, work.s, "an unknown type was accepted");
  for (const Buffer *buffer : {&work.in, &work.values, &work.out, &work.values_out, &work.indices_out}) {
    check(static_cast<bool>(buffer->red_zones_intact()), work.s, "a write outside an array");
  }
  if (status == GSORT_OK) return;
  check(work.in.read() == work.keys.bytes(), work.s, "a refused call wrote its input");
  for (const Buffer *buffer : {&work.out, &work.values_out, &work.indices_out}) {
    check(static_cast<bool>(buffer->untouched()), work.s, "a refused call wrote an output");
  }
}

}  // namespace gsort_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gsort_test::fuzz_one(data, size);
  return 0;
}
