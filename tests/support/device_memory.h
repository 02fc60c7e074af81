// SPDX-License-Identifier: MIT OR Apache-2.0
// Device, managed and pinned memory, streams and graphs through the CUDA driver, found with dlopen(): the tests build
// and run without a CUDA toolkit, and skip where there is no device.
#ifndef GSORT_TESTS_SUPPORT_DEVICE_MEMORY_H_
#define GSORT_TESTS_SUPPORT_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace gsort_test {

// Empty if device 0 can be used (its primary context is then current on this thread), otherwise why not.
const std::string &device_problem();
inline bool device_available() { return device_problem().empty(); }
int device_count();

enum class Place { kHost, kPinned, kManaged, kDevice };
const char *place_name(Place place);

// NULL if there is not enough memory. Aligned to 256 bytes or more.
void *place_allocate(Place place, size_t bytes);
void place_free(Place place, void *memory);

// Copies between any two places and waits; aborts the program on failure.
void copy_bytes(void *to, const void *from, size_t bytes);
size_t device_free_bytes();

class DeviceStream {
 public:
  // A non-blocking stream: work on it is not ordered with the legacy default stream. With `blocking` it is.
  explicit DeviceStream(bool blocking = false);
  ~DeviceStream();
  DeviceStream(const DeviceStream &) = delete;
  DeviceStream &operator=(const DeviceStream &) = delete;
  void *get() const { return stream_; }
  void synchronize();
  // These enqueue and do not wait.
  void copy_async(void *to, const void *from, size_t bytes);
  void fill_async(void *to, uint8_t byte, size_t bytes);
  void begin_capture();
  // The graph that was captured, or NULL if the capture was invalidated.
  void *end_capture();

 private:
  void *stream_ = nullptr;
};

class DeviceGraph {
 public:
  explicit DeviceGraph(void *graph);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph &) = delete;
  DeviceGraph &operator=(const DeviceGraph &) = delete;
  void launch(const DeviceStream &stream);

 private:
  void *graph_;
  void *exec_ = nullptr;
};

// Makes the primary context of a device current on the calling thread.
void use_device(int ordinal);

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_DEVICE_MEMORY_H_
