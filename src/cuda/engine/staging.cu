// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/staging.h"

#include "core/error.h"
#include "cuda/engine/check.h"
#include "cuda/engine/device.h"
#include "cuda/engine/workspace.h"

namespace gsort_internal {
namespace {

// Copies of the driver's: small enough that a cancel is heard soon (about 3 ms at the pageable copy's 10 GB/s), large
// enough to hide a call.
constexpr uint64_t kChunkBytes = uint64_t{32} << 20;
// Registered arrays are copied while the call goes on. So much of them is enqueued before the copies are waited for: 5
// ms of the bus, so that the wait takes nothing to speak of.
constexpr uint64_t kEnqueuedBytesMax = uint64_t{256} << 20;

// The driver's copies of one array.
void copy_in_chunks(cudaStream_t stream, char *to, const char *from, uint64_t bytes, cudaMemcpyKind kind,
                    PieceProgress &progress) {
  uint64_t enqueued = 0;
  for (uint64_t offset = 0; offset < bytes; offset += kChunkBytes) {
    progress.tell();
    const uint64_t rest = bytes - offset, chunk = rest < kChunkBytes ? rest : kChunkBytes;
    cuda_check(enqueue_copy(to + offset, from + offset, chunk, kind, stream),
               kind == cudaMemcpyHostToDevice ? "copying to the device" : "copying from the device");
    progress.done = progress.reached(chunk);
    enqueued += chunk;
    if (enqueued < kEnqueuedBytesMax) continue;
    cuda_check(cudaStreamSynchronize(stream), "waiting for copies");
    enqueued = 0;
  }
}

// The part of the copy from byte `begin` to `end` - 1.
PieceCopy part_of_copy(const PieceCopy &copy, uint64_t begin, uint64_t end) {
  return {copy.device + begin, copy.host + begin, end - begin};
}

bool writes_whole_keys(const Request &request) {
  return request.operation == Operation::kSort || request.operation == Operation::kSortPairs ||
         request.operation == Operation::kSortSegments || request.operation == Operation::kScan;
}

// Kernels move values of 2, 4, 8 and 16 bytes as words.
uint32_t value_alignment(uint32_t value_bytes) {
  if (value_bytes > 16 || (value_bytes & (value_bytes - 1)) != 0) return 1;
  return value_bytes < 8 ? value_bytes : 8;
}

void check_value_alignment(const char *name, const void *values, uint32_t value_bytes) {
  const uint32_t alignment = value_alignment(value_bytes);
  if (reinterpret_cast<uintptr_t>(values) % alignment != 0)
    throw Error(GSORT_ERROR_INVALID_ARGUMENT, "%s = %p in device memory is not aligned to %u bytes", name, values,
                alignment);
}

template <class T>
T *at(void *memory, uint64_t offset) {
  return reinterpret_cast<T *>(static_cast<char *>(memory) + offset);
}

}  // namespace

cudaError_t enqueue_copy(char *to, const char *from, uint64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t whole = cudaMemcpyAsync(to, from, bytes, kind, stream);
  if (whole != cudaErrorInvalidValue || bytes < 2) return whole;
  (void)cudaGetLastError();
  const uint64_t half = bytes / 2;
  const cudaError_t first = enqueue_copy(to, from, half, kind, stream);
  return first != cudaSuccess ? first : enqueue_copy(to + half, from + half, bytes - half, kind, stream);
}

void copy_by_driver(cudaStream_t stream, const std::vector<PieceCopy> &copies, cudaMemcpyKind kind,
                    PieceProgress &progress) {
  for (const PieceCopy &copy : copies) {
    const bool to_device = kind == cudaMemcpyHostToDevice;
    copy_in_chunks(stream, to_device ? copy.device : copy.host, to_device ? copy.host : copy.device, copy.bytes, kind,
                   progress);
  }
}

RequestBytes request_bytes(const Request &request) {
  const uint64_t element = dtype_bytes(request.order.dtype), n = request.n;
  switch (request.operation) {
    case Operation::kArgsort:
    case Operation::kRank:
      return {n * element, n * dtype_bytes(request.index_t), 0};
    case Operation::kMerge:
      return {n * element, (n + request.b_n) * element, 0};
    case Operation::kTopk:
    case Operation::kTopkRows: {
      const uint64_t selected = request.rows * request.k;
      return {((request.rows - 1) * request.row_stride + request.columns) * element, selected * element,
              selected * dtype_bytes(request.index_t)};
    }
    case Operation::kTopkSegments: {
      const uint64_t entries = request.segments * request.k;
      return {n * element, entries * element, entries * dtype_bytes(request.index_t)};
    }
    case Operation::kSum:
      return {n * element, 8, 0};
    case Operation::kReduce:
      return {n * element, request.reduce_op == GSORT_MIN || request.reduce_op == GSORT_MAX ? element : 8, 0};
    default:
      return {n * element, n * element, 0};
  }
}

int Staging::add(const void *from_host, void *to_host, uint64_t bytes, const ByteRange &registered) {
  copies_[count_] = {from_host, to_host, bytes, bytes_, registered, registered};
  bytes_ += slice_bytes(bytes);
  return count_++;
}

int Staging::add_if_host(const char *name, const void *from, void *to, uint64_t bytes) {
  const void *const array = from != nullptr ? from : to;
  if (array == nullptr || bytes == 0) return kNone;
  if (kind(name, array) != MemoryKind::kDevice)
    return add(from, to, bytes, kinds_->registered_part(name, array, bytes, device_));
  all_ = false;
  return kNone;
}

void Staging::add_in_out(const char *in_name, const void *in, int &in_copy, const char *out_name, void *out,
                         int &out_copy, uint64_t bytes) {
  in_copy = add_if_host(in_name, in, nullptr, bytes);
  if (in_copy == kNone) {
    out_copy = add_if_host(out_name, nullptr, out, bytes);
    return;
  }
  if (kind(out_name, out) == MemoryKind::kDevice) {
    all_ = false;
    return;
  }
  copies_[in_copy].to_host = out;
  copies_[in_copy].to_registered =
      out == in ? copies_[in_copy].from_registered : kinds_->registered_part(out_name, out, bytes, device_);
  out_copy = in_copy;
}

void Staging::collect(const Request &request, MemoryKinds &kinds, int device) {
  kinds_ = &kinds, device_ = device;
  const RequestBytes bytes = request_bytes(request);
  if (writes_whole_keys(request)) {
    add_in_out("keys_in", request.in, in_, "keys_out", request.out, out_, bytes.in);
  } else {
    in_ = add_if_host("in", request.in, nullptr, bytes.in);
    out_ = add_if_host("out", nullptr, request.out, bytes.out);
    indices_ = add_if_host("indices_out", nullptr, request.indices_out, bytes.indices);
  }
  b_ = add_if_host("b", request.b, nullptr, request.b_n * dtype_bytes(request.order.dtype));
  if (request.segments != 0)
    offsets_ = add_if_host("offsets", request.offsets, nullptr, (request.segments + 1) * sizeof(uint64_t));
  if (request.operation == Operation::kSortPairs) {
    add_in_out("values_in", request.values_in, values_in_, "values_out", request.values_out, values_out_,
               request.n * request.value_bytes);
    if (values_in_ == kNone) check_value_alignment("values_in", request.values_in, request.value_bytes);
    if (values_out_ == kNone) check_value_alignment("values_out", request.values_out, request.value_bytes);
  }
}

Request Staging::bind(const Request &request, void *memory) const {
  Request bound = request;
  if (in_ != kNone) bound.in = at<void>(memory, copies_[in_].offset);
  if (out_ != kNone) bound.out = at<void>(memory, copies_[out_].offset);
  if (values_in_ != kNone) bound.values_in = at<void>(memory, copies_[values_in_].offset);
  if (values_out_ != kNone) bound.values_out = at<void>(memory, copies_[values_out_].offset);
  if (b_ != kNone) bound.b = at<void>(memory, copies_[b_].offset);
  if (offsets_ != kNone) bound.offsets = at<uint64_t>(memory, copies_[offsets_].offset);
  if (indices_ != kNone) bound.indices_out = at<void>(memory, copies_[indices_].offset);
  return bound;
}

uint64_t Staging::bytes_in() const {
  uint64_t total = 0;
  for (int i = 0; i < count_; ++i) total += copies_[i].from_host != nullptr ? copies_[i].bytes : 0;
  return total;
}

uint64_t Staging::bytes_out() const {
  uint64_t total = 0;
  for (int i = 0; i < count_; ++i) total += copies_[i].to_host != nullptr ? copies_[i].bytes : 0;
  return total;
}

uint64_t Staging::registered_in() const {
  uint64_t total = 0;
  for (int i = 0; i < count_; ++i) total += copies_[i].from_host != nullptr ? copies_[i].from_registered.bytes() : 0;
  return total;
}

uint64_t Staging::registered_out() const {
  uint64_t total = 0;
  for (int i = 0; i < count_; ++i) total += copies_[i].to_host != nullptr ? copies_[i].to_registered.bytes() : 0;
  return total;
}

Staging::Apart Staging::tell_apart(const PieceCopy &copy) const {
  const auto clamped = [&](uint64_t at, uint64_t offset) {
    return at < offset ? 0 : at - offset < copy.bytes ? at - offset : copy.bytes;
  };
  ByteRange registered = {0, 0};
  const auto find = [&](const void *array, uint64_t bytes, const ByteRange &part) {
    const auto address = reinterpret_cast<uintptr_t>(copy.host), begin = reinterpret_cast<uintptr_t>(array);
    if (array == nullptr || address < begin || address - begin >= bytes) return false;
    registered = {clamped(part.begin, address - begin), clamped(part.end, address - begin)};
    return true;
  };
  for (int i = 0; i < count_; ++i)
    if (find(copies_[i].from_host, copies_[i].bytes, copies_[i].from_registered) ||
        find(copies_[i].to_host, copies_[i].bytes, copies_[i].to_registered))
      break;
  return {part_of_copy(copy, registered.begin, registered.end),
          {part_of_copy(copy, 0, registered.begin), part_of_copy(copy, registered.end, copy.bytes)}};
}

void Staging::copy_in(cudaStream_t stream, PieceProgress &progress, PinnedRing &ring, char *memory) const {
  const std::vector<PieceCopy> none;
  for (int i = 0; i < count_; ++i) {
    const Copy &copy = copies_[i];
    if (copy.from_host == nullptr) continue;
    progress.tell();
    char *const from = static_cast<char *>(const_cast<void *>(copy.from_host));
    const Apart apart = tell_apart({memory + copy.offset, from, copy.bytes});
    const auto by_driver = [&](const PieceCopy &part) {
      copy_in_chunks(stream, part.device, part.host, part.bytes, cudaMemcpyHostToDevice, progress);
    };
    by_driver(apart.registered);
    for (const PieceCopy &part : apart.pageable)
      if (part.bytes < PinnedRing::kBytesMin || !ring.exchange({stream, {part}}, {stream, none}, progress))
        by_driver(part);
  }
  progress.tell();
}

void Staging::copy_out(cudaStream_t stream, PieceProgress &progress, PinnedRing &ring, char *memory) const {
  const std::vector<PieceCopy> none;
  for (int i = 0; i < count_; ++i) {
    const Copy &copy = copies_[i];
    if (copy.to_host == nullptr) continue;
    // What is written over an input must be finished.
    progress.on_cancel = copy.from_host == copy.to_host ? OnCancel::kGoOn : OnCancel::kStop;
    progress.tell();
    const Apart apart = tell_apart({memory + copy.offset, static_cast<char *>(copy.to_host), copy.bytes});
    const auto by_driver = [&](const PieceCopy &part) {
      copy_in_chunks(stream, part.host, part.device, part.bytes, cudaMemcpyDeviceToHost, progress);
    };
    const auto by_ring = [&](const PieceCopy &part) {
      if (part.bytes < PinnedRing::kBytesMin) return false;
      // One thread waits for the work before, not all.
      cuda_check(cudaStreamSynchronize(stream), "waiting for the result");
      return ring.exchange({stream, none}, {stream, {part}}, progress);
    };
    by_driver(apart.registered);
    for (const PieceCopy &part : apart.pageable)
      if (!by_ring(part)) by_driver(part);
  }
}

}  // namespace gsort_internal
