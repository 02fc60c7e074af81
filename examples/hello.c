// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts five numbers.
#include <gsort.h>
#include <stdio.h>

int main(void) {
  float keys[] = {2.5f, -1.0f, 9.0f, 0.0f, 4.25f};
  gsort *g = NULL;
  if (gsort_create(NULL, &g) != GSORT_OK || gsort_sort_f32(g, keys, 5, 0) != GSORT_OK) {
    fprintf(stderr, "%s\n", gsort_error_message(g));
    return 1;
  }
  for (int i = 0; i < 5; i++) printf("%g\n", (double)keys[i]);
  gsort_destroy(g);
  return 0;
}
