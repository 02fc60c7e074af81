// SPDX-License-Identifier: MIT OR Apache-2.0
// What the CUDA engine asks of the runtime, against a kept description, kept_calls.txt: for every kind of call a line
// that tells all launches, clears, copies and waits of many sizes on several devices from others, and for one device
// the kernels' names. On the stand-in, so that no GPU is needed. Other tests ask for results whatever the launches are;
// this one shows that a change reaches the launches that it was meant for, and no other. GSORT_TESTS_UPDATE=1 writes
// the description anew; the difference belongs into the change.
#include <cxxabi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "faults/cuda_calls.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

struct Device {
  const char *name;
  StandInDevice like;
};
constexpr Device kDevices[] = {{"sm_75", {7, 5, 40, 64 << 10}},
                               {"sm_80", {8, 0, 108, 163 << 10}},
                               {"sm_90", {9, 0, 132, 227 << 10}},
                               {"sm_120", {12, 0, 188, 99 << 10}}};
constexpr uint32_t kShown = 2;

// Arrays of any length of which nobody writes more than a little: pages that are not touched take no memory.
class Arrays {
 public:
  static constexpr uint64_t kBytes = uint64_t{1} << 30;
  Arrays() {
    void *const memory =
        mmap(nullptr, 5 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(MAP_FAILED, memory);
    base_ = static_cast<char *>(memory);
  }
  ~Arrays() { munmap(base_, 5 * kBytes); }
  Arrays(const Arrays &) = delete;
  Arrays &operator=(const Arrays &) = delete;

  void *in() const { return base_; }
  void *out() const { return base_ + kBytes; }
  void *values_in() const { return base_ + 2 * kBytes; }
  void *values_out() const { return base_ + 3 * kBytes; }
  uint64_t *offsets() const { return reinterpret_cast<uint64_t *>(base_ + 4 * kBytes); }
  // The array and the place in it; nothing in memory that is not one of these.
  std::string name_of(const void *address) const {
    const char *const at = static_cast<const char *>(address);
    if (address == nullptr) return "none";
    if (at < base_ || at >= base_ + 5 * kBytes) return "";
    const auto offset = static_cast<uint64_t>(at - base_);
    return "array " + std::to_string(offset / kBytes) + "+" + std::to_string(offset % kBytes);
  }

 private:
  char *base_;
};

// The handle's device memory is one block that never moves, so that places in it have numbers.
class Block {
 public:
  static constexpr uint64_t kBytes = uint64_t{5} << 30;
  Block() {
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(MAP_FAILED, memory_);
  }
  ~Block() { munmap(memory_, kBytes); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  gsort_options options() {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.threads = 1;  // calls come in one order
    o.allocator_user = this;
    o.device_allocate = [](void *user, uint64_t bytes, uint64_t) -> void * {
      auto *const self = static_cast<Block *>(user);
      if (self->taken_ || bytes > kBytes) return nullptr;
      self->taken_ = true;
      return self->memory_;
    };
    o.device_deallocate = [](void *user, void *, uint64_t) { static_cast<Block *>(user)->taken_ = false; };
    return o;
  }
  std::string name_of(const void *address) const {
    const auto offset = static_cast<uint64_t>(static_cast<const char *>(address) - static_cast<char *>(memory_));
    return offset < kBytes ? "block+" + std::to_string(offset) : "elsewhere";
  }

 private:
  void *memory_;
  bool taken_ = false;
};

using Call = std::function<gsort_status(gsort *, const Arrays &, uint64_t n)>;

// A kind of call, of which one size is free.
struct Kind {
  std::string name;
  std::vector<uint64_t> sizes;
  Call call;
  ArrayPlace arrays = ArrayPlace::kDevice;
  uint64_t device_limit_bytes = 0;
  bool shown() const { return arrays == ArrayPlace::kDevice && name.find(" of i32") != std::string::npos; }
};

const std::vector<uint64_t> kSizes = {1,     33,     64,     65,      1000,    4097,    8193,     20000,
                                      65537, 150000, 300001, 1 << 20, 3000000, 1 << 24, 100000000};
const std::vector<uint64_t> kShortSizes = {1, 65, 3000, 8193, 40000, 300001, 2000000};

constexpr struct {
  gsort_dtype type;
  const char *name;
} kTypes[] = {{GSORT_U8, "u8"}, {GSORT_F16, "f16"}, {GSORT_I32, "i32"}, {GSORT_F64, "f64"}};

void add_sorts(std::vector<Kind> &kinds) {
  for (const auto &type : kTypes) {
    const gsort_dtype t = type.type;
    const std::string of = std::string(" of ") + type.name;
    kinds.push_back({"sort" + of, kSizes,
                     [t](gsort *g, const Arrays &a, uint64_t n) { return gsort_sort(g, t, a.in(), a.out(), n, 0); }});
    kinds.push_back({"sort in place, downwards," + of, kSizes, [t](gsort *g, const Arrays &a, uint64_t n) {
                       return gsort_sort(g, t, a.in(), a.in(), n, GSORT_DESCENDING);
                     }});
    for (const gsort_dtype index : {GSORT_U32, GSORT_I64}) {
      const std::string wide = index == GSORT_U32 ? " in 4 bytes" : " in 8 bytes";
      kinds.push_back({"argsort" + wide + of, kSizes, [t, index](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_argsort(g, t, a.in(), n, index, a.out(), 0);
                       }});
      kinds.push_back({"rank" + wide + of, kSizes, [t, index](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_rank(g, t, a.in(), n, index, a.out(), 0);
                       }});
    }
  }
}

void add_pairs(std::vector<Kind> &kinds) {
  const std::vector<uint64_t> sizes = {1, 65, 1000, 8193, 40000, 300001, 1500000};
  for (const auto &type : kTypes)
    for (const uint32_t value_bytes : {1, 2, 3, 4, 8, 12, 16, 20, 72, 600}) {
      const gsort_dtype t = type.type;
      const std::string of = " with " + std::to_string(value_bytes) + " bytes of " + type.name;
      kinds.push_back({"pairs" + of, sizes, [t, value_bytes](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_sort_pairs(g, t, a.in(), a.out(), value_bytes, a.values_in(), a.values_out(), n,
                                                 0);
                       }});
      kinds.push_back({"pairs in place" + of, sizes, [t, value_bytes](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_sort_pairs(g, t, a.in(), a.in(), value_bytes, a.values_in(), a.values_in(), n, 0);
                       }});
    }
}

// With an eighth of the arrays' bytes.
void add_little_memory(std::vector<Kind> &kinds) {
  constexpr uint64_t kBytes = uint64_t{160} << 20;
  for (const auto &type : kTypes)
    for (const uint32_t value_bytes : {0, 4, 8, 16}) {
      const gsort_dtype t = type.type;
      if (value_bytes != 0 && (t == GSORT_U8 || t == GSORT_F16)) continue;
      const Call call = [t, value_bytes](gsort *g, const Arrays &a, uint64_t n) {
        if (value_bytes == 0) return gsort_sort(g, t, a.in(), a.out(), n, 0);
        return gsort_sort_pairs(g, t, a.in(), a.in(), value_bytes, a.values_in(), a.values_in(), n, 0);
      };
      kinds.push_back({"sort in little memory with " + std::to_string(value_bytes) + " bytes of " + type.name,
                       {kBytes / (element_type(t).bytes + value_bytes)},
                       call,
                       ArrayPlace::kDevice,
                       kBytes / 8});
    }
}

void add_merges(std::vector<Kind> &kinds) {
  for (const auto &type : kTypes) {
    const gsort_dtype t = type.type;
    const std::string of = std::string(" of ") + type.name;
    kinds.push_back({"merge" + of, kSizes, [t](gsort *g, const Arrays &a, uint64_t n) {
                       return gsort_merge(g, t, a.in(), n / 3, a.values_in(), n - n / 3, a.out(), 0);
                     }});
    kinds.push_back({"scan" + of, kSizes,
                     [t](gsort *g, const Arrays &a, uint64_t n) { return gsort_scan(g, t, a.in(), a.out(), n, 0); }});
    kinds.push_back({"exclusive scan in place" + of, kSizes, [t](gsort *g, const Arrays &a, uint64_t n) {
                       return gsort_scan(g, t, a.in(), a.in(), n, GSORT_EXCLUSIVE);
                     }});
    kinds.push_back({"sum" + of, kSizes,
                     [t](gsort *g, const Arrays &a, uint64_t n) { return gsort_sum(g, t, a.in(), n, a.out(), 0); }});
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN})
      kinds.push_back({"reduction " + std::to_string(op) + of, kSizes, [t, op](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_reduce(g, op, t, a.in(), n, a.out(), 0);
                       }});
  }
}

void add_selections(std::vector<Kind> &kinds) {
  for (const auto &type : kTypes) {
    const gsort_dtype t = type.type;
    const std::string of = std::string(" of ") + type.name;
    for (const uint64_t k : {1, 8, 100, 1000, 5000, 100000, 1000000})
      kinds.push_back({"top-k of " + std::to_string(k) + of, kSizes, [t, k](gsort *g, const Arrays &a, uint64_t n) {
                         return gsort_topk(g, t, a.in(), n, std::min(k, n), a.out(), GSORT_U32, a.values_out(), 0);
                       }});
    for (const gsort_dtype index : {GSORT_U32, GSORT_I64})
      for (const bool values : {false, true})
        kinds.push_back({"top-k of a third" + of, kShortSizes, [=](gsort *g, const Arrays &a, uint64_t n) {
                           return gsort_topk(g, t, a.in(), n, n / 3 + 1, values ? a.out() : nullptr, index,
                                             values && index == GSORT_I64 ? nullptr : a.values_out(), 0);
                         }});
    for (const uint64_t columns : {20, 200, 3000, 40000, 700000})
      for (const uint64_t k : {1, 9, 100, 2500, 300000})
        kinds.push_back({"top-k of " + std::to_string(k) + " in rows of " + std::to_string(columns) + of,
                         {1, 2, 7, 130, 1200},
                         [=](gsort *g, const Arrays &a, uint64_t n) {
                           if (n * columns > 100000000) return GSORT_OK;
                           return gsort_topk_rows(g, t, a.in(), n, columns, columns + 1, std::min(k, columns), a.out(),
                                                  GSORT_U32, a.values_out(), GSORT_SMALLEST);
                         }});
  }
}

void add_segments(std::vector<Kind> &kinds) {
  for (const auto &type : kTypes)
    for (const uint64_t segments : {1, 3, 200, 30000}) {
      const gsort_dtype t = type.type;
      const std::string of = std::string(" of ") + type.name;
      const auto offsets = [segments](const Arrays &a, uint64_t n) {
        for (uint64_t i = 0; i <= segments; ++i) a.offsets()[i] = n / segments * i;
        return a.offsets();
      };
      kinds.push_back(
          {std::to_string(segments) + " segments" + of, kShortSizes, [=](gsort *g, const Arrays &a, uint64_t n) {
             return gsort_sort_segments(g, t, a.in(), a.out(), n, offsets(a, n), segments, 0);
           }});
      for (const uint64_t k : {1, 40, 3000})
        kinds.push_back({"top-k of " + std::to_string(k) + " in " + std::to_string(segments) + " segments" + of,
                         kShortSizes, [=](gsort *g, const Arrays &a, uint64_t n) {
                           return gsort_topk_segments(g, t, a.in(), n, offsets(a, n), segments, k, a.out(), GSORT_U32,
                                                      a.values_out(), 0);
                         }});
    }
}

// The same calls on a few sizes of host arrays: copied to the device at once, and in pieces.
void add_host_arrays(std::vector<Kind> &kinds) {
  const std::vector<std::string> wanted = {"sort of i32",
                                           "sort in place, downwards, of f64",
                                           "argsort in 8 bytes of i32",
                                           "rank in 4 bytes of f64",
                                           "pairs with 4 bytes of i32",
                                           "pairs in place with 12 bytes of f64",
                                           "merge of i32",
                                           "scan of i32",
                                           "exclusive scan in place of i32",
                                           "sum of f64",
                                           "reduction 1 of i32",
                                           "reduction 3 of f64",
                                           "top-k of 100 of i32",
                                           "top-k of 9 in rows of 3000 of i32",
                                           "200 segments of i32",
                                           "top-k of 40 in 200 segments of f64"};
  const std::vector<Kind> all = kinds;
  for (const Kind &kind : all) {
    if (std::find(wanted.begin(), wanted.end(), kind.name) == wanted.end()) continue;
    const bool rows = kind.name.find(" in rows ") != std::string::npos;
    for (const ArrayPlace place : {ArrayPlace::kHost, ArrayPlace::kRegistered}) {
      const std::string from = place == ArrayPlace::kHost ? ", host arrays" : ", registered arrays";
      const std::vector<uint64_t> sizes =
          rows ? std::vector<uint64_t>{1, 130, 600} : std::vector<uint64_t>{70, 9000, 400000, 1200000};
      kinds.push_back({kind.name + from, sizes, kind.call, place});
      kinds.push_back({kind.name + from + " in pieces", {sizes.back()}, kind.call, place, uint64_t{3} << 20});
    }
  }
  // Of floats pieces are whole groups, of which one hands its sum on to the next.
  const Call scan = [](gsort *g, const Arrays &a, uint64_t n) {
    return gsort_scan(g, GSORT_F16, a.in(), a.out(), n, 0);
  };
  kinds.push_back({"scan of f16, host arrays in pieces", {20000000}, scan, ArrayPlace::kHost, uint64_t{24} << 20});
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  add_sorts(kinds);
  add_pairs(kinds);
  add_little_memory(kinds);
  add_merges(kinds);
  add_selections(kinds);
  add_segments(kinds);
  add_host_arrays(kinds);
  return kinds;
}

// Names of kernels without what a compiler makes of the file that they stand in.
const std::string &demangled(const std::string &mangled) {
  static std::map<std::string, std::string> known;
  const auto found = known.find(mangled);
  if (found != known.end()) return found->second;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  const std::string name = status == 0 ? text.get() : mangled;
  static const std::regex file("\\(anonymous namespace\\)::|_GLOBAL__N__\\w+::|_INTERNAL_\\w+");
  return known[mangled] = std::regex_replace(name, file, "");
}

std::string short_name(const std::string &name) {
  const size_t end = std::min(name.find('<'), name.find('('));
  const std::string path = name.substr(0, end);
  const size_t begin = path.find_last_of(": ");
  return begin == std::string::npos ? path : path.substr(begin + 1);
}

class Description {
 public:
  Description(const Arrays &arrays, const Block &block) : arrays_(arrays), block_(block) {}
  void add(const std::vector<Work> &all, gsort_status status) {
    add_text(gsort_status_name(status));
    std::string before;
    uint32_t times = 0;
    const auto tell = [&] {
      if (times != 0) shown_ += (shown_.empty() ? "" : ", ") + before + (times > 1 ? " x" + std::to_string(times) : "");
    };
    shown_.clear();
    for (const Work &work : all) {
      const std::string name = work.kernel.empty() ? work.function.substr(4) : short_name(demangled(work.kernel));
      digest(work);
      if (name != before) tell(), times = 0;
      before = name, ++times;
    }
    tell();
    if (status != GSORT_OK) shown_ += gsort_status_name(status);
  }
  uint32_t value() const { return static_cast<uint32_t>(hash_ ^ hash_ >> 32); }
  const std::string &shown() const { return shown_; }

 private:
  std::string place_of(const void *address) const {
    const std::string name = arrays_.name_of(address);
    return name.empty() ? block_.name_of(address) : name;
  }
  void digest(const Work &work) {
    std::ostringstream text;
    text << work.function << ' ' << demangled(work.kernel) << ' ' << work.blocks << ' ' << work.threads << ' '
         << work.shared_bytes << ' ' << work.cluster_blocks << ' ' << work.together_grid << ' ' << work.dependent << ' '
         << place_of(work.from) << ' ' << place_of(work.to) << ' ' << work.bytes << ' ' << work.value << '\n';
    add_text(text.str());
  }
  void add_text(const std::string &text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }

  const Arrays &arrays_;
  const Block &block_;
  uint64_t hash_ = 0xcbf29ce484222325u;
  std::string shown_;
};

// From the largest size down, so that the workspace is never made larger.
std::string describe(const Kind &kind, const Arrays &arrays) {
  std::string text = kind.name + "\n ";
  std::vector<std::string> shown;
  for (const Device &device : kDevices) {
    use_stand_in(kind.arrays, device.like);
    Block block;
    gsort_options options = block.options();
    options.device_memory_limit_bytes = kind.device_limit_bytes;
    const Handle handle(options);
    EXPECT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    Description description(arrays, block);
    for (auto size = kind.sizes.rbegin(); size != kind.sizes.rend(); ++size) {
      const uint64_t n = *size;
      SCOPED_TRACE(kind.name + ", " + std::to_string(n) + ", " + device.name);
      record_work();
      const gsort_status status = kind.call(handle.get(), arrays, n);
      description.add(recorded_work(), status);
      if (&device == &kDevices[kShown] && kind.shown()) shown.push_back(std::to_string(n) + ": " + description.shown());
    }
    char digest[64];
    std::snprintf(digest, sizeof digest, " %s %08x", device.name, description.value());
    text += digest;
  }
  std::string before;
  for (auto line = shown.rbegin(); line != shown.rend(); ++line) {
    const std::string work = line->substr(line->find(':'));
    if (work != before) text += "\n  from " + *line;
    before = work;
  }
  return text + "\n";
}

TEST(KeptCalls, AreThoseOfTheDescription) {
  std::string now;
  {
    const Arrays arrays;
    for (const Kind &kind : all_kinds()) now += describe(kind, arrays);
  }
  use_real_device();
  if (std::getenv("GSORT_TESTS_UPDATE") != nullptr) {
    std::ofstream(GSORT_KEPT_CALLS) << now;
    return;
  }
  std::ifstream file(GSORT_KEPT_CALLS);
  std::istringstream here(now);
  std::string kept_line, line, kind;
  uint32_t differences = 0;
  while (std::getline(here, line)) {
    if (line[0] != ' ') kind = line;
    if (!std::getline(file, kept_line) || kept_line != line) {
      ADD_FAILURE() << kind << "\nkept: " << kept_line << "\nnow:  " << line;
      if (++differences == 5) break;
    }
  }
  EXPECT_TRUE(differences != 0 || !std::getline(file, kept_line)) << "kept, but not made: " << kept_line;
}

}  // namespace
}  // namespace gsort_test
