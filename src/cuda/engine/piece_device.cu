// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/piece_device.h"

#include <cstring>
#include <new>

#include "core/dtype.h"
#include "core/error.h"
#include "cuda/engine/check.h"
#include "cuda/engine/piece_cuts.cuh"
#include "cuda/engine/piece_deal.cuh"
#include "engine.h"

namespace gsort_internal {
namespace {

template <class Index>
__global__ void raise_indices_kernel(Index *indices, uint64_t count, Index base) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) indices[i] += base;
}

template <class Index>
void launch_raise(cudaStream_t stream, void *indices, uint64_t count, uint64_t base) {
  constexpr uint32_t kThreads = 256, kItems = 16, kBlocksMax = 65536;
  const uint64_t blocks = (count + kThreads * kItems - 1) / (kThreads * kItems);
  raise_indices_kernel<<<static_cast<uint32_t>(blocks < kBlocksMax ? blocks : kBlocksMax), kThreads, 0, stream>>>(
      static_cast<Index *>(indices), count, static_cast<Index>(base));
  check_launch("raise_indices_kernel");
}

// Two threads for each bound: one counts the keys before it, the other those that do not come behind it.
template <class U>
__global__ void search_kernel(const U *keys, uint64_t n, KeyCodec<U> codec, const U *bounds, uint32_t count,
                              uint64_t *found) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * count) return;
  const U bound = codec.encode(bounds[i / 2]);
  uint64_t begin = 0, end = n;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    const U key = codec.encode(keys[middle]);
    if (i % 2 == 0 ? key < bound : key <= bound)
      begin = middle + 1;
    else
      end = middle;
  }
  found[i] = begin;
}

template <class U>
void launch_search(cudaStream_t stream, const Request &sorted, const PieceSearch &search) {
  constexpr uint32_t kThreads = 64;
  const auto count = static_cast<uint32_t>(search.count);
  search_kernel<<<(2 * count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      static_cast<const U *>(sorted.out), sorted.n, make_codec<U>(sorted.order),
      reinterpret_cast<const U *>(search.bounds), count, search.found);
  check_launch("search_kernel");
}

template <class U>
void launch_deal(cudaStream_t stream, const PieceDeal &deal) {
  constexpr uint64_t kBlockItems = kDealThreads * kDealItems, kBlocksMax = 65536;
  const uint64_t blocks = (deal.items + kBlockItems - 1) / kBlockItems;
  deal_kernel<<<static_cast<uint32_t>(blocks < kBlocksMax ? blocks : kBlocksMax), kDealThreads, 0, stream>>>(
      DealParams<U>{static_cast<const U *>(deal.keys), deal.items, deal.first_place, deal.stripes,
                    make_codec<U>(deal.order), static_cast<const U *>(deal.bounds), deal.places, deal.count,
                    deal.buckets});
  check_launch("deal_kernel");
}

void launch_places(cudaStream_t stream, const PiecePlaces &places) {
  const PlaceParams params = {places.buckets, places.n, places.bucket, places.chunks, places.items};
  const auto chunks = static_cast<uint32_t>(place_chunks(places.n));
  count_places_kernel<<<chunks, kPlaceThreads, 0, stream>>>(params);
  check_launch("count_places_kernel");
  sum_places_kernel<<<1, kPlaceSumThreads, 0, stream>>>(places.chunks, chunks);
  check_launch("sum_places_kernel");
  if (places.index_bytes == 1)
    list_turns_kernel<<<chunks, kPlaceThreads, 0, stream>>>(params, places.stripes,
                                                            static_cast<uint8_t *>(places.places));
  else if (places.index_bytes == 4)
    list_places_kernel<<<chunks, kPlaceThreads, 0, stream>>>(params, static_cast<uint32_t *>(places.places));
  else
    list_places_kernel<<<chunks, kPlaceThreads, 0, stream>>>(params, static_cast<unsigned long long *>(places.places));
  check_launch("list_places_kernel");
}

void launch_scatter(cudaStream_t stream, const PieceScatter &scatter) {
  constexpr uint64_t kBlockItems = kDealThreads * kDealItems, kBlocksMax = 65536;
  const uint64_t wanted = (scatter.items + kBlockItems - 1) / kBlockItems;
  const auto blocks = static_cast<uint32_t>(wanted < kBlocksMax ? wanted : kBlocksMax);
  const auto *const places = static_cast<const uint32_t *>(scatter.places);
  const auto launch = [&](auto tag) {
    using Item = typename decltype(tag)::type;
    scatter_kernel<<<blocks, kDealThreads, 0, stream>>>(places, static_cast<const Item *>(scatter.from),
                                                        static_cast<Item>(scatter.first),
                                                        static_cast<Item *>(scatter.to), scatter.items);
  };
  scatter.item_bytes == 4 ? launch(TypeTag<uint32_t>{}) : launch(TypeTag<uint64_t>{});
  check_launch("scatter_kernel");
}

template <class U>
void launch_cuts(cudaStream_t stream, const PieceCuts &cuts) {
  CutParams<U> params = {static_cast<const U *>(cuts.keys), make_codec<U>(cuts.order), cuts.runs, {}, {}, cuts.found};
  std::memcpy(params.ends, cuts.ends, sizeof params.ends);
  std::memcpy(params.ranks, cuts.ranks, sizeof params.ranks);
  cut_kernel<<<cuts.cuts, kCutThreads, 0, stream>>>(params);
  check_launch("cut_kernel");
}

uint64_t bytes_of(const std::vector<PieceCopy> &copies) {
  uint64_t bytes = 0;
  for (const PieceCopy &copy : copies) bytes += copy.bytes;
  return bytes;
}

void note(cudaError_t result) {
  if (result != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace

void CopyStreams::open() {
  for (cudaStream_t *stream : {&in_, &out_, &ring_in_, &ring_out_})
    if (*stream == nullptr)
      cuda_check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

void CopyStreams::close() noexcept {
  for (cudaStream_t *stream : {&in_, &out_, &ring_in_, &ring_out_}) {
    if (*stream != nullptr) note(cudaStreamDestroy(*stream));
    *stream = nullptr;
  }
}

uint64_t CudaPieceDevice::workspace_bytes(const Request &shape) { return cuda_workspace_bytes(shape); }

// Most of what travels.
bool CudaPieceDevice::is_pageable() const {
  const uint64_t registered = staging_.registered_in() + staging_.registered_out();
  return registered < (staging_.bytes_in() + staging_.bytes_out()) / 2;
}

uint64_t CudaPieceDevice::pieces_wanted() const { return is_pageable() ? kPageablePiecesWanted : kPiecesWanted; }

PieceDevice::ArrivingSizes CudaPieceDevice::arriving_sizes() const {
  return {kArrivingBytesMin, is_pageable() ? kPageableArrivingPieceBytesMin : kArrivingPieceBytesMin};
}

void CudaPieceDevice::begin(const PieceWork &work) {
  for (const PieceMove &move : work.moves)
    cuda_check(cudaMemcpyAsync(move.to, move.from, move.bytes, cudaMemcpyDeviceToDevice, stream_),
               "copying between pieces");
  if (work.deal.buckets != nullptr)
    with_width(dtype_bytes(work.deal.order.dtype),
               [&](auto tag) { launch_deal<typename decltype(tag)::type>(stream_, work.deal); });
  if (work.places.places != nullptr) launch_places(stream_, work.places);
  for (const Request &before : work.before) services_.launch(before, work.workspace);
  if (has_no_elements(work.request)) return;
  services_.launch(work.request, work.workspace);
  if (work.index_base != 0) raise_indices(work);
  if (work.scatter.to != nullptr) launch_scatter(stream_, work.scatter);
  if (work.search.count != 0)
    with_width(dtype_bytes(work.request.order.dtype),
               [&](auto tag) { launch_search<typename decltype(tag)::type>(stream_, work.request, work.search); });
  if (work.cuts.cuts != 0)
    with_width(dtype_bytes(work.cuts.order.dtype),
               [&](auto tag) { launch_cuts<typename decltype(tag)::type>(stream_, work.cuts); });
}

void CudaPieceDevice::raise_indices(const PieceWork &work) {
  const Request &request = work.request;
  const bool pairs = request.operation == Operation::kSortPairs;
  void *const indices = pairs ? request.values_out : request.indices_out;
  const uint64_t count = pairs ? request.n : request.k;
  if ((pairs ? request.value_bytes : dtype_bytes(request.index_t)) == 4)
    launch_raise<uint32_t>(stream_, indices, count, work.index_base);
  else
    launch_raise<unsigned long long>(stream_, indices, count, work.index_base);
}

CudaPieceDevice::Copies CudaPieceDevice::tell_apart(const std::vector<PieceCopy> &copies) const {
  Copies apart;
  const auto add = [](std::vector<PieceCopy> &to, const PieceCopy &copy) {
    if (copy.bytes != 0) to.push_back(copy);
  };
  for (const PieceCopy &copy : copies) {
    const Staging::Apart parts = staging_.tell_apart(copy);
    add(apart.registered, parts.registered);
    for (const PieceCopy &part : parts.pageable) add(apart.pageable, part);
  }
  return apart;
}

// All copies of one direction by one call, in any order among themselves: one by one, each slice of a bucket takes the
// bus some microseconds more. False: the driver has no such call or refuses it, or there is no memory to list them in.
bool enqueue_together(const std::vector<PieceCopy> &copies, cudaMemcpyKind kind, cudaStream_t stream) {
  const bool to_device = kind == cudaMemcpyHostToDevice;
  std::vector<void *> to;
  std::vector<const void *> from;
  std::vector<size_t> bytes;
  try {
    for (const PieceCopy &copy : copies) {
      to.push_back(to_device ? copy.device : copy.host);
      from.push_back(to_device ? copy.host : copy.device);
      bytes.push_back(copy.bytes);
    }
  } catch (const std::bad_alloc &) {
    return false;
  }
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t first = 0;
  const cudaError_t result =
      cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), copies.size(), &attributes, &first, 1, stream);
  const bool is_mixed = result == cudaErrorInvalidValue;  // registered memory and other, as enqueue_copy() takes it
  if (is_mixed || result == cudaErrorNotSupported || result == cudaErrorCallRequiresNewerDriver) {
    (void)cudaGetLastError();
    return false;
  }
  cuda_check(result, to_device ? "copying to the device" : "copying from the device");
  return true;
}

void enqueue_all(const std::vector<PieceCopy> &copies, cudaMemcpyKind kind, cudaStream_t stream) {
  if (copies.size() > 1 && enqueue_together(copies, kind, stream)) return;
  const bool to_device = kind == cudaMemcpyHostToDevice;
  for (const PieceCopy &copy : copies)
    cuda_check(enqueue_copy(to_device ? copy.device : copy.host, to_device ? copy.host : copy.device, copy.bytes, kind,
                            stream),
               to_device ? "copying to the device" : "copying from the device");
}

// What leaves first: it has left then, whatever fails. The kernels' launches, last, have the time of all copies.
void CudaPieceDevice::enqueue(const std::vector<PieceCopy> &in, const std::vector<PieceCopy> &out,
                              const PieceWork *work) {
  enqueue_all(out, cudaMemcpyDeviceToHost, streams_.out());
  enqueue_all(in, cudaMemcpyHostToDevice, streams_.in());
  if (work != nullptr) begin(*work);
}

// The ring's other threads copy while this one enqueues.
void CudaPieceDevice::run(const Copies &in, const Copies &out, const PieceWork *work, PieceProgress &progress) {
  const auto rest = [&] { enqueue(in.registered, out.registered, work); };
  if (bytes_of(in.pageable) + bytes_of(out.pageable) >= PinnedRing::kBytesMin &&
      ring_.exchange({streams_.ring_in(), in.pageable}, {streams_.ring_out(), out.pageable}, progress, rest,
                     ring_threads_))
    return;
  progress.writes = true;
  enqueue(in.registered, out.registered, nullptr);
  const OnCancel on_cancel = progress.on_cancel;
  if (on_cancel == OnCancel::kFinishOut) progress.on_cancel = OnCancel::kGoOn;
  copy_by_driver(streams_.out(), out.pageable, cudaMemcpyDeviceToHost, progress);
  progress.on_cancel = on_cancel;
  if (work != nullptr) begin(*work);
  copy_by_driver(streams_.in(), in.pageable, cudaMemcpyHostToDevice, progress);
}

// Enqueued last: a copy to ordinary memory may keep the host until it has ended.
void CudaPieceDevice::tell(const PieceWork &work) {
  const auto copy = [&](uint64_t *told, const uint64_t *found, uint64_t count) {
    if (count != 0)
      cuda_check(cudaMemcpyAsync(told, found, count * sizeof(uint64_t), cudaMemcpyDeviceToHost, stream_),
                 "copying what was found");
  };
  copy(work.search.told, work.search.found, 2 * work.search.count);
  copy(work.cuts.told, work.cuts.found, uint64_t{work.cuts.cuts} * work.cuts.runs);
}

void CudaPieceDevice::wait() {
  for (cudaStream_t stream : {streams_.in(), streams_.out(), streams_.ring_in(), streams_.ring_out()})
    cuda_check(cudaStreamSynchronize(stream), "waiting for copies");
  cuda_check(cudaStreamSynchronize(stream_), "waiting for a piece");
}

void CudaPieceDevice::step(const std::vector<PieceCopy> &in, const PieceWork *work, const std::vector<PieceCopy> &out,
                           PieceProgress &progress) {
  progress.tell();
  if (in.empty() && work == nullptr && out.empty()) return;
  try {
    const Copies in_apart = tell_apart(in), out_apart = tell_apart(out);
    run(in_apart, out_apart, work, progress);
    if (work != nullptr) tell(*work);
    progress.done = progress.reached(bytes_of(in_apart.registered) + bytes_of(out_apart.registered));
  } catch (...) {
    for (cudaStream_t stream : {streams_.in(), streams_.out(), streams_.ring_in(), streams_.ring_out(), stream_})
      note(cudaStreamSynchronize(stream));
    throw;
  }
  wait();
}

}  // namespace gsort_internal
