/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What someone writes who has only the installed package. */
#include <gsort.h>
#include <stdio.h>

int main(void) {
  float keys[4] = {2.5f, -1.0f, 7.0f, 0.0f};
  double sum = 0;
  gsort *g = NULL;
  if (gsort_version() != GSORT_VERSION) return 1;
  if (gsort_create(NULL, &g) != GSORT_OK) return 2;
  if (gsort_sort_f32(g, keys, 4, GSORT_DESCENDING) != GSORT_OK) return 3;
  if (gsort_sum(g, GSORT_F32, keys, 4, &sum, 0) != GSORT_OK) return 4;
  gsort_destroy(g);
  printf("%g %g %g %g, sum %g\n", keys[0], keys[1], keys[2], keys[3], sum);
  return keys[0] == 7.0f && keys[3] == -1.0f && sum == 8.5 ? 0 : 5;
}
