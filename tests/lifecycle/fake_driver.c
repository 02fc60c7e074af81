/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Stands for the CUDA driver in a process without one: says of one range that it is a device's or managed memory. */
#include <stdint.h>

uintptr_t fake_begin, fake_end;
unsigned fake_managed, fake_queries;

int cuPointerGetAttributes(unsigned count, int *attributes, void **data, uint64_t pointer);
int cuPointerGetAttributes(unsigned count, int *attributes, void **data, uint64_t pointer) {
  const int ours = pointer >= fake_begin && pointer < fake_end;
  ++fake_queries;
  for (unsigned i = 0; i < count; i++) {
    if (attributes[i] == 2) *(unsigned *)data[i] = ours ? 2 : 0;            /* the memory's type: a device's */
    if (attributes[i] == 8) *(unsigned *)data[i] = ours ? fake_managed : 0; /* whether it is managed */
  }
  return 0;
}
