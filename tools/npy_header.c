// SPDX-License-Identifier: MIT OR Apache-2.0
#include "npy.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char npy_magic[npy_magic_bytes] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { descr_bytes_max = 32, version_1_bytes = 10 };

// What the header's dictionary says.
typedef struct npy_header {
  char descr[descr_bytes_max];
  bool is_record;  // the type is a list of fields
  bool fortran_order;
  bool has_descr;
  bool has_order;
  bool has_shape;
  uint32_t dimensions;
  uint64_t extents[dimensions_max];
} npy_header;

typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) c->at++;
}

static bool take(cursor *c, char wanted) {
  skip_blanks(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  const size_t length = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

// A Python string without escapes; longer ones than fit are refused.
static bool take_string(cursor *c, char *text, size_t text_bytes) {
  const char quote = take(c, '\'') ? '\'' : '"';
  if (quote == '"' && !take(c, '"')) return false;
  size_t length = 0;
  while (c->at < c->end && *c->at != quote && *c->at != '\\') {
    if (length + 1 == text_bytes) return false;
    text[length++] = *c->at++;
  }
  text[length] = '\0';
  return take(c, quote);
}

static bool take_number(cursor *c, uint64_t *number) {
  skip_blanks(c);
  const char *start = c->at;
  *number = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
    const uint64_t digit = (uint64_t)(*c->at++ - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  return c->at != start;
}

// (), (3,), (3), (3, 4)
static bool take_shape(cursor *c, npy_header *header) {
  if (!take(c, '(')) return false;
  header->dimensions = 0;
  while (!take(c, ')')) {
    uint64_t extent;
    if (header->dimensions > 0 && !take(c, ',')) return false;
    if (header->dimensions > 0 && take(c, ')')) break;
    if (!take_number(c, &extent)) return false;
    if (header->dimensions == dimensions_max) return false;
    header->extents[header->dimensions++] = extent;
  }
  return true;
}

static bool take_entry(cursor *c, npy_header *header) {
  char key[16];
  if (!take_string(c, key, sizeof key) || !take(c, ':')) return false;
  if (strcmp(key, "descr") == 0) {
    header->has_descr = true;
    skip_blanks(c);
    header->is_record = c->at < c->end && *c->at == '[';
    return header->is_record || take_string(c, header->descr, sizeof header->descr);
  }
  if (strcmp(key, "fortran_order") == 0) {
    header->has_order = true;
    header->fortran_order = take_word(c, "True");
    return header->fortran_order || take_word(c, "False");
  }
  if (strcmp(key, "shape") == 0) {
    header->has_shape = true;
    return take_shape(c, header);
  }
  return false;
}

static bool parse_header(cursor c, npy_header *header) {
  memset(header, 0, sizeof *header);
  if (!take(&c, '{')) return false;
  while (!take(&c, '}')) {
    if (!take_entry(&c, header)) return false;
    if (header->is_record) return true;  // Refused anyway, so the list need not be understood.
    if (!take(&c, ',')) {
      if (!take(&c, '}')) return false;
      break;
    }
  }
  skip_blanks(&c);
  return c.at == c.end && header->has_descr && header->has_order && header->has_shape;
}

// Finds the header's text. `*begin` is where it begins, `*bytes` its length.
static bool locate_header(const char *file, size_t count, uint64_t *begin, uint64_t *bytes) {
  const unsigned char *at = (const unsigned char *)file;
  if (count < version_1_bytes || memcmp(at, npy_magic, sizeof npy_magic) != 0) return false;
  *begin = at[6] == 1 ? version_1_bytes : npy_prefix_bytes;
  *bytes = (uint64_t)at[8] | (uint64_t)at[9] << 8;
  if (at[6] == 1) return true;
  if (count < npy_prefix_bytes) return false;
  *bytes |= (uint64_t)at[10] << 16 | (uint64_t)at[11] << 24;
  return true;
}

uint64_t npy_header_bytes(const char *bytes, size_t count) {
  uint64_t begin, length;
  return locate_header(bytes, count, &begin, &length) ? begin + length : 0;
}

static int choose_type(const char *name, const npy_header *header, const type_info *wanted, npy_layout *out) {
  const type_info *stored = header->is_record ? NULL : type_by_npy_descr(header->descr, &out->swapped);
  if (stored == NULL) {
    return report_failure("%s: holds elements of type %s: only bool and %s can be read", name,
                          header->is_record ? "record" : header->descr, TYPE_NAMES);
  }
  if (stored->dtype == GSORT_BF16 && wanted == NULL) {
    return report_failure("%s: holds 2-byte elements without a type ('%s'): give --type bf16 if they are bfloat16",
                          name, header->descr);
  }
  const bool bf16_as_u16 = wanted != NULL && wanted->dtype == GSORT_BF16 && stored->dtype == GSORT_U16;
  const bool bool_as_u8 = wanted != NULL && wanted->dtype == GSORT_U8 && type_is_bool(stored);
  if (wanted != NULL && wanted != stored && !bf16_as_u16 && !bool_as_u8) {
    return report_failure("%s: holds %s numbers, not %s: leave out --type, the file names its own", name, stored->name,
                          wanted->name);
  }
  out->shape.type = wanted != NULL ? wanted : stored;
  return exit_ok;
}

// The number of elements. False if 64 bits do not hold their bytes.
static bool count_elements(array *shape) {
  shape->count = 1;
  uint64_t room = UINT64_MAX / shape->type->size_bytes;
  for (uint32_t i = 0; i < shape->dimensions; i++) {
    if (shape->extents[i] == 0) {
      shape->count = 0;
      return true;
    }
  }
  for (uint32_t i = 0; i < shape->dimensions; i++) {
    if (shape->extents[i] > room) return false;
    room /= shape->extents[i];
    shape->count *= shape->extents[i];
  }
  return true;
}

int npy_read_header(const char *name, const char *bytes, size_t count, const type_info *type, npy_layout *out) {
  memset(out, 0, sizeof *out);
  if (count < version_1_bytes || memcmp(bytes, npy_magic, sizeof npy_magic) != 0) {
    return report_failure("%s: is not a .npy file: its first bytes are not those of one", name);
  }
  const unsigned major = (unsigned char)bytes[6];
  if (major < 1 || major > 3) {
    return report_failure("%s: is a .npy file of version %u: versions 1 to 3 can be read", name, major);
  }
  uint64_t begin, length;
  if (!locate_header(bytes, count, &begin, &length) || length > count - begin) {
    return report_failure("%s: ends inside its .npy header", name);
  }
  npy_header header;
  if (!parse_header((cursor){bytes + begin, bytes + begin + length}, &header)) {
    return report_failure("%s: its .npy header cannot be understood", name);
  }
  const int code = choose_type(name, &header, type, out);
  if (code != exit_ok) return code;
  if (header.dimensions == 0) return report_failure("%s: has 0 dimensions: it is a number, not an array", name);
  out->header_bytes = begin + length;
  out->shape.dimensions = header.dimensions;
  memcpy(out->shape.extents, header.extents, sizeof header.extents);
  out->shape.fortran_order = header.fortran_order && header.dimensions > 1;
  if (!count_elements(&out->shape)) return report_failure("%s: its header announces too many elements", name);
  return exit_ok;
}
