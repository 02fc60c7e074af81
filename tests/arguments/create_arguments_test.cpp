// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_create(), gsort_info_get() and what they make of options, sizes of structs and the environment.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "arguments/fixture.h"

namespace gsort_test {
namespace {

// An options struct with room behind it, as a newer header would have.
struct LongOptions {
  gsort_options options;
  uint8_t tail[16];
};

void expect_refused(const gsort_options *options, const Words &words) {
  gsort *g = reinterpret_cast<gsort *>(uintptr_t{16});
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_create(options, &g));
  EXPECT_EQ(nullptr, g) << "the handle must be NULL after a failure";
  EXPECT_TRUE(has_words(gsort_error_message(nullptr), words));
}

class Environment {
 public:
  explicit Environment(const char *value) {
    const char *old = std::getenv("GSORT_BACKEND");
    if (old != nullptr) old_ = old;
    had_ = old != nullptr;
    if (value == nullptr) {
      unsetenv("GSORT_BACKEND");
    } else {
      setenv("GSORT_BACKEND", value, 1);
    }
  }
  ~Environment() {
    if (had_) {
      setenv("GSORT_BACKEND", old_.c_str(), 1);
    } else {
      unsetenv("GSORT_BACKEND");
    }
  }

 private:
  std::string old_;
  bool had_;
};

gsort_info info_of(gsort *g) {
  gsort_info info = {};
  info.struct_size = sizeof info;
  EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
  return info;
}

TEST(CreateArguments, InitialOptionsAreZerosWithTheirSize) {
  const gsort_options initial = GSORT_OPTIONS_INIT;
  gsort_options zeros;
  std::memset(&zeros, 0, sizeof zeros);
  zeros.struct_size = sizeof zeros;
  EXPECT_EQ(zeros.struct_size, initial.struct_size);
  EXPECT_EQ(zeros.backend, initial.backend);
  EXPECT_EQ(zeros.device, initial.device);
  EXPECT_EQ(zeros.threads, initial.threads);
  EXPECT_EQ(zeros.device_memory_limit_bytes, initial.device_memory_limit_bytes);
  EXPECT_EQ(zeros.host_memory_limit_bytes, initial.host_memory_limit_bytes);
  EXPECT_EQ(nullptr, initial.host_allocate);
  EXPECT_EQ(nullptr, initial.device_deallocate);
  EXPECT_EQ(nullptr, initial.log_user);
  gsort *g = nullptr;
  ASSERT_EQ(GSORT_OK, gsort_create(&initial, &g));
  gsort_destroy(g);
}

TEST(CreateArguments, OutIsNull) {
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_create(nullptr, nullptr));
  EXPECT_TRUE(has_words(gsort_error_message(nullptr), {"out", "NULL"}));
}

TEST(CreateArguments, StructSizeTooSmall) {
  for (uint32_t size = 0; size < offsetof(gsort_options, device_memory_limit_bytes); size++) {
    gsort_options options = default_options(GSORT_BACKEND_CPU);
    options.struct_size = size;
    expect_refused(&options, {"struct_size", as_text(uint64_t{size})});
  }
}

// What lies behind the struct is not read, however many zeros there are.
TEST(CreateArguments, StructSizeTooLarge) {
  std::vector<gsort_options> options(200);
  options[0] = default_options(GSORT_BACKEND_CPU);
  for (const uint32_t size : {4097u, 0x7fffffffu, 0xffffffffu}) {
    options[0].struct_size = size;
    expect_refused(options.data(), {"struct_size", as_text(uint64_t{size})});
  }
  options[0].struct_size = 4096;
  gsort *g = nullptr;
  EXPECT_EQ(GSORT_OK, gsort_create(options.data(), &g)) << gsort_error_message(nullptr);
  gsort_destroy(g);
}

TEST(CreateArguments, LongerStructWithZeroTail) {
  LongOptions longer = {};
  longer.options = default_options(GSORT_BACKEND_CPU);
  longer.options.struct_size = sizeof longer;
  gsort *g = nullptr;
  EXPECT_EQ(GSORT_OK, gsort_create(&longer.options, &g)) << gsort_error_message(nullptr);
  gsort_destroy(g);
}

TEST(CreateArguments, LongerStructWithOtherTail) {
  LongOptions longer = {};
  longer.options = default_options(GSORT_BACKEND_CPU);
  longer.options.struct_size = sizeof longer;
  for (const size_t place : {size_t{0}, sizeof longer.tail - 1}) {
    std::memset(longer.tail, 0, sizeof longer.tail);
    longer.tail[place] = 1;
    expect_refused(&longer.options, {as_text(sizeof(gsort_options) + place)});
  }
}

TEST(CreateArguments, WrongFields) {
  gsort_options options = default_options(3);
  expect_refused(&options, {"backend", "3"});
  options = default_options(GSORT_BACKEND_CPU);
  options.device = -2;
  expect_refused(&options, {"device", "-2"});
  options = default_options(GSORT_BACKEND_CPU);
  options.threads = 4097;
  expect_refused(&options, {"threads", "4097"});
}

TEST(CreateArguments, ReasonNamesWhoChose) {
  const auto reason = [](uint32_t backend) {
    const Handle handle(backend);
    EXPECT_EQ(GSORT_OK, handle.status());
    return std::string(info_of(handle.get()).reason);
  };
  const Environment environment("cpu");
  EXPECT_EQ("options->backend asks for the CPU", reason(GSORT_BACKEND_CPU));
  EXPECT_EQ("the environment variable GSORT_BACKEND asks for the CPU", reason(GSORT_BACKEND_AUTO));
}

void *never_allocate(void *, uint64_t, uint64_t) { return nullptr; }
void never_deallocate(void *, void *, uint64_t) {}

TEST(CreateArguments, HalfAnAllocator) {
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.host_allocate = never_allocate;
  expect_refused(&options, {"host_allocate", "host_deallocate"});
  options = default_options(GSORT_BACKEND_CPU);
  options.host_deallocate = never_deallocate;
  expect_refused(&options, {"host_allocate", "host_deallocate"});
  options = default_options(GSORT_BACKEND_CPU);
  options.device_allocate = never_allocate;
  expect_refused(&options, {"device_allocate", "device_deallocate"});
  options = default_options(GSORT_BACKEND_CPU);
  options.device_deallocate = never_deallocate;
  expect_refused(&options, {"device_allocate", "device_deallocate"});
}

TEST(CreateArguments, EnvironmentDecidesAuto) {
  const Environment environment("cpu");
  const Handle handle(GSORT_BACKEND_AUTO);
  ASSERT_EQ(GSORT_OK, handle.status());
  const gsort_info info = info_of(handle.get());
  EXPECT_EQ(GSORT_BACKEND_CPU, info.backend);
  EXPECT_EQ(-1, info.device);
  EXPECT_EQ(0u, info.compute_capability);
  EXPECT_EQ(0u, info.device_memory_bytes);
  EXPECT_NE(std::string(), info.device_name) << "the processor's name";
  EXPECT_NE(std::string(), info.reason);
}

TEST(CreateArguments, EnvironmentThatSaysNothing) {
  for (const char *value : {"", "auto"}) {
    const Environment environment(value);
    const Handle handle(GSORT_BACKEND_AUTO);
    EXPECT_EQ(GSORT_OK, handle.status()) << "GSORT_BACKEND=" << value << ": " << gsort_error_message(nullptr);
  }
}

TEST(CreateArguments, EnvironmentWithNonsense) {
  for (const char *value : {"gpu", "CPU", "cuda ", "0"}) {
    const Environment environment(value);
    const gsort_options options = default_options(GSORT_BACKEND_AUTO);
    expect_refused(&options, {"GSORT_BACKEND"});
    EXPECT_NE(std::string::npos, std::string(gsort_error_message(nullptr)).find(value));
    const Handle handle(GSORT_BACKEND_CPU);
    EXPECT_EQ(GSORT_OK, handle.status()) << "the environment has no say over an explicit backend";
  }
}

TEST(CreateArguments, CudaWithoutADevice) {
  if (!backend_problem(GSORT_BACKEND_CUDA).empty()) {
    gsort_options options = default_options(GSORT_BACKEND_CUDA);
    gsort *g = nullptr;
    EXPECT_EQ(GSORT_ERROR_NO_DEVICE, gsort_create(&options, &g));
    EXPECT_EQ(nullptr, g);
    EXPECT_GT(std::strlen(gsort_error_message(nullptr)), 20u) << "the reason";
    const Environment environment("cuda");
    EXPECT_EQ(GSORT_ERROR_NO_DEVICE, gsort_create(nullptr, &g));
    EXPECT_EQ(nullptr, g);
  } else {
    GTEST_SKIP() << "there is a device";
  }
}

TEST(CreateArguments, AutoFallsBackAndSaysWhy) {
  const Environment environment(nullptr);
  gsort *g = nullptr;
  ASSERT_EQ(GSORT_OK, gsort_create(nullptr, &g)) << gsort_error_message(nullptr);
  const gsort_info info = info_of(g);
  const bool cuda_usable = backend_problem(GSORT_BACKEND_CUDA).empty();
  EXPECT_EQ(cuda_usable ? GSORT_BACKEND_CUDA : GSORT_BACKEND_CPU, info.backend) << info.reason;
  EXPECT_EQ(cuda_usable ? 0u : std::string::npos, std::string(info.reason).find("a usable CUDA device"));
  EXPECT_EQ(cuda_usable ? std::string::npos : 0u, std::string(info.reason).find("on the CPU because"));
  gsort_destroy(g);
}

TEST(CreateArguments, DeviceThatIsNotThere) {
  GSORT_SKIP_WITHOUT(GSORT_BACKEND_CUDA);
  gsort_options options = default_options(GSORT_BACKEND_CUDA);
  options.device = 1000;
  gsort *g = nullptr;
  const gsort_status status = gsort_create(&options, &g);
  EXPECT_TRUE(status == GSORT_ERROR_NO_DEVICE || status == GSORT_ERROR_INVALID_ARGUMENT) << status;
  EXPECT_TRUE(has_words(gsort_error_message(nullptr), {"1000"}));
}

TEST(CreateArguments, InfoWritesNoFieldPastStructSize) {
  const Handle handle(GSORT_BACKEND_CPU, 4);
  gsort_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(gsort_info, compute_capability);
  ASSERT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
  EXPECT_EQ(offsetof(gsort_info, compute_capability), info.struct_size);
  EXPECT_EQ(4u, info.threads);
  EXPECT_EQ(0x5a5a5a5au, info.compute_capability);
  EXPECT_EQ(0x5a, info.reason[255]);
}

// Every size that a version of the struct may have, and nothing behind it is written.
TEST(CreateArguments, InfoOfEverySize) {
  const Handle handle(GSORT_BACKEND_CPU, 4);
  const gsort_info whole = info_of(handle.get());
  for (uint32_t size = 0; size <= sizeof(gsort_info); size++) {
    gsort_info info;
    std::memset(&info, 0x5a, sizeof info);
    info.struct_size = size;
    gsort_info expected = info;
    const bool enough = size >= offsetof(gsort_info, device);
    if (enough) std::memcpy(&expected, &whole, size);
    expected.struct_size = size;
    ASSERT_EQ(enough ? GSORT_OK : GSORT_ERROR_INVALID_ARGUMENT, gsort_info_get(handle.get(), &info)) << size;
    ASSERT_EQ(0, std::memcmp(&expected, &info, sizeof info)) << size;
  }
}

// Scratch memory of a large call stays for the next one and is told; with a limit none stays.
TEST(CreateArguments, InfoTellsWhatIsHeld) {
  const uint64_t n = 1000000;
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; i++) keys[i] = i * 0x9e3779b97f4a7c15u;
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  const Handle handle(options);
  EXPECT_EQ(0u, info_of(handle.get()).host_held_bytes);
  std::vector<uint32_t> indices(n);
  ASSERT_TRUE(succeeded(handle.get(), gsort_argsort(handle.get(), GSORT_U64, keys.data(), n, GSORT_U32, indices.data(),
                                                    GSORT_DESCENDING)));
  ASSERT_TRUE(succeeded(handle.get(), gsort_sort_u64(handle.get(), keys.data(), n, 0)));
  EXPECT_GE(info_of(handle.get()).host_held_bytes, n * 8);
  EXPECT_LE(info_of(handle.get()).host_held_bytes, uint64_t{256} << 20);
  options.host_memory_limit_bytes = uint64_t{1} << 40;
  const Handle limited(options);
  ASSERT_TRUE(succeeded(limited.get(), gsort_argsort(limited.get(), GSORT_U64, keys.data(), n, GSORT_U32,
                                                     indices.data(), GSORT_DESCENDING)));
  EXPECT_EQ(0u, info_of(limited.get()).host_held_bytes);
}

TEST(CreateArguments, InfoArguments) {
  const Handle handle(GSORT_BACKEND_CPU);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_info_get(handle.get(), nullptr));
  EXPECT_TRUE(has_words(gsort_error_message(handle.get()), {"info", "NULL"}));
  gsort_info info = {};
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_info_get(handle.get(), &info));
  EXPECT_TRUE(has_words(gsort_error_message(handle.get()), {"struct_size", "0"}));
}

}  // namespace
}  // namespace gsort_test
