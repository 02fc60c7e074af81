// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands between the library and the system: makes a chosen request for memory, a thread or a file fail.
#ifndef GSORT_TESTS_FAULTS_HOST_CALLS_H_
#define GSORT_TESTS_FAULTS_HOST_CALLS_H_

#include <cstdint>
#include <set>
#include <string>

namespace gsort_test {

// The request with the number `at`, counted from 0, fails, and all after it if `for_good`. Any thread.
void arm_host(uint64_t at, bool for_good);
// The first function that was made to fail since then; empty: none.
std::string disarm_host();

// Since the program began: requests that were made to fail, and their functions.
uint64_t host_failures_made();
const std::set<std::string> &failed_host_functions();

// Scratch memory that the library holds.
int64_t live_host_blocks();

}  // namespace gsort_test

#endif  // GSORT_TESTS_FAULTS_HOST_CALLS_H_
