// SPDX-License-Identifier: MIT OR Apache-2.0
// What the C examples share: reading COUNT from the command line, and numbers to work on.
#ifndef GSORT_EXAMPLES_EXAMPLE_ARGS_H_
#define GSORT_EXAMPLES_EXAMPLE_ARGS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { example_ok = 0, example_failed = 1, example_usage = 2, example_count_max = 100000000 };

// Takes one argument, a whole number from 1 to example_count_max, or none, which means `default_count`. Returns 0 after
// saying what is wrong.
static uint64_t count_from_args(int argc, char **argv, uint64_t default_count) {
  if (argc < 2) return default_count;
  char *end = argv[1];
  const unsigned long long count = argv[1][0] >= '0' && argv[1][0] <= '9' ? strtoull(argv[1], &end, 10) : 0;
  if (argc > 2 || *end != '\0' || count < 1 || count > example_count_max) {
    fprintf(stderr, "usage: %s [COUNT], COUNT from 1 to %d\n", argv[0], example_count_max);
    return 0;
  }
  return (uint64_t)count;
}

// The same numbers on every machine: a 64-bit linear congruential generator.
static uint32_t next_number(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 32);
}

#endif  // GSORT_EXAMPLES_EXAMPLE_ARGS_H_
