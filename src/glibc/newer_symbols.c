/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the compiler's runtimes ask of a newer glibc than 2.28, said again with what every glibc has. Linked into the
   shared library alone, where the linker prefers these to libc's; the version script keeps them inside. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define GSORT_INSIDE __attribute__((visibility("hidden")))

/* glibc 2.32: whether the process has one thread. libstdc++ counts references without atomics while it is true; false
   is always safe. */
extern char __libc_single_threaded;
GSORT_INSIDE char __libc_single_threaded = 0;

/* glibc 2.38: what its headers make of strtol and its kin, in libstdc++ as it was built there. They differ in one
   thing, binary numbers such as 0b1, which nothing here reads. The labels are the names' own, past those headers. */
#define GSORT_PARSE(type, name)                                              \
  extern type plain_##name(const char *, char **, int) __asm__(#name);       \
  GSORT_INSIDE type __isoc23_##name(const char *text, char **end, int base); \
  GSORT_INSIDE type __isoc23_##name(const char *text, char **end, int base) { return plain_##name(text, end, base); }
GSORT_PARSE(long, strtol)
GSORT_PARSE(unsigned long, strtoul)
GSORT_PARSE(long long, strtoll)
GSORT_PARSE(unsigned long long, strtoull)

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/* glibc 2.35: the loaded object that holds an address, for the unwinder of exceptions. Its predecessor is
   dl_iterate_phdr, which unwinders used before. */
struct search {
  ElfW(Addr) address;
  struct dl_find_object *found;
};

static void describe(const struct dl_phdr_info *object, struct dl_find_object *found) {
  ElfW(Addr) first = UINTPTR_MAX, end = 0;
  int i;
  found->dlfo_eh_frame = NULL;
  for (i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    ElfW(Addr) begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) found->dlfo_eh_frame = (void *)begin;
    if (part->p_type != PT_LOAD) continue;
    if (begin < first) first = begin;
    if (begin + part->p_memsz > end) end = begin + part->p_memsz;
  }
  found->dlfo_flags = 0;
  found->dlfo_map_start = (void *)first;
  found->dlfo_map_end = (void *)end;
  found->dlfo_link_map = NULL; /* Unwinders do not look at it. */
}

static int holds(const struct dl_phdr_info *object, ElfW(Addr) address) {
  int i;
  for (i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    /* An address below the part wraps to a number beyond its size. */
    if (part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz) return 1;
  }
  return 0;
}

static int visit(struct dl_phdr_info *object, size_t size, void *user) {
  struct search *search = user;
  (void)size;
  if (!holds(object, search->address)) return 0;
  describe(object, search->found);
  return 1;
}

/* The library's own headers, where the linker puts them. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* What the library throws passes through it alone, so that it is found here without a lock as a rule: in a child of
   fork() the lock of dl_iterate_phdr may be held for ever. (A compiler's runtime of before GCC 12 asks dl_iterate_phdr
   itself: there a child's failing call may hang.) */
static int find_here(ElfW(Addr) address, struct dl_find_object *found) {
  struct dl_phdr_info here = {0};
  int i;
  here.dlpi_phdr = (const ElfW(Phdr) *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
  here.dlpi_phnum = __ehdr_start.e_phnum;
  here.dlpi_addr = (ElfW(Addr)) & __ehdr_start;
  for (i = 0; i < here.dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &here.dlpi_phdr[i];
    if (part->p_type == PT_LOAD && part->p_offset == 0) here.dlpi_addr -= part->p_vaddr;
  }
  if (!holds(&here, address)) return 0;
  describe(&here, found);
  return found->dlfo_eh_frame != NULL;
}

GSORT_INSIDE int _dl_find_object(void *address, struct dl_find_object *found) {
  struct search search;
  if (find_here((ElfW(Addr))address, found)) return 0;
  search.address = (ElfW(Addr))address;
  search.found = found;
  return dl_iterate_phdr(visit, &search) == 1 && found->dlfo_eh_frame != NULL ? 0 : -1;
}
#endif
