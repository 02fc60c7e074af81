// SPDX-License-Identifier: MIT OR Apache-2.0
// Exit status 77 tells CTest that nothing failed because everything was skipped; a run that tested something and
// skipped the rest is a pass.
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const ::testing::UnitTest &run = *::testing::UnitTest::GetInstance();
  if (result == 0 && run.test_to_run_count() == 0) return 1;  // a filter that matches nothing tests nothing
  if (result == 0 && run.skipped_test_count() == run.test_to_run_count()) return 77;
  return result;
}
