// SPDX-License-Identifier: MIT OR Apache-2.0
#include "npy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum { descr_bytes_max = 32, header_alignment = 64 };

// What the header's dictionary says.
typedef struct npy_header {
  char descr[descr_bytes_max];
  bool is_record;  // the type is a list of fields
  bool fortran_order;
  bool has_descr;
  bool has_order;
  bool has_shape;
  uint64_t dimensions;
  uint64_t count;  // of the first dimension
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
    if (header->dimensions++ == 0) header->count = extent;
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

// Finds the header's text and where the data begins.
static int locate_header(const file_bytes *file, cursor *header, size_t *data_offset) {
  enum { version_1_bytes = 10, version_2_bytes = 12 };
  const unsigned char *bytes = (const unsigned char *)file->memory;
  if (file->size_bytes < version_1_bytes || memcmp(bytes, magic, sizeof magic) != 0) {
    return report_failure("%s: is not a .npy file: its first bytes are not those of one", file->name);
  }
  const unsigned major = bytes[6];
  if (major != 1 && major != 2) {
    return report_failure("%s: is a .npy file of version %u: versions 1 and 2 can be read", file->name, major);
  }
  const size_t prefix_bytes = major == 1 ? version_1_bytes : version_2_bytes;
  if (file->size_bytes < prefix_bytes) return report_failure("%s: ends inside its .npy header", file->name);
  uint64_t header_bytes = (uint64_t)bytes[8] | (uint64_t)bytes[9] << 8;
  if (major == 2) header_bytes |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
  if (header_bytes > file->size_bytes - prefix_bytes) {
    return report_failure("%s: ends inside its .npy header", file->name);
  }
  header->at = file->memory + prefix_bytes;
  header->end = header->at + header_bytes;
  *data_offset = prefix_bytes + (size_t)header_bytes;
  return exit_ok;
}

static int choose_type(const char *name, const npy_header *header, const type_info *wanted, const type_info **type) {
  const type_info *stored = header->is_record ? NULL : type_by_npy_descr(header->descr);
  if (stored == NULL) {
    if (!header->is_record && header->descr[0] == '>') {
      return report_failure("%s: holds big-endian numbers ('%s'): only little-endian ones can be read", name,
                            header->descr);
    }
    return report_failure("%s: holds elements of type %s: only %s can be read", name,
                          header->is_record ? "record" : header->descr, TYPE_NAMES);
  }
  if (stored->dtype == GSORT_BF16 && wanted == NULL) {
    return report_failure("%s: holds 2-byte elements without a type ('%s'): give --type bf16 if they are bfloat16",
                          name, header->descr);
  }
  const bool bf16_as_u16 = wanted != NULL && wanted->dtype == GSORT_BF16 && stored->dtype == GSORT_U16;
  if (wanted != NULL && wanted != stored && !bf16_as_u16) {
    return report_failure("%s: holds %s numbers, not %s: leave out --type, the file names its own", name, stored->name,
                          wanted->name);
  }
  *type = wanted != NULL ? wanted : stored;
  return exit_ok;
}

static int check_header(const char *name, const npy_header *header) {
  if (header->is_record) return exit_ok;  // choose_type() has the sentence.
  if (header->fortran_order) {
    return report_failure("%s: is stored in Fortran order: only C order can be read", name);
  }
  if (header->dimensions != 1) {
    return report_failure("%s: has %" PRIu64 " dimensions: only arrays of one can be read", name, header->dimensions);
  }
  return exit_ok;
}

int npy_adopt(file_bytes *file, const type_info *type, array *out) {
  cursor text = {NULL, NULL};
  size_t data_offset = 0;
  npy_header header;
  int code = locate_header(file, &text, &data_offset);
  if (code != exit_ok) return code;
  if (!parse_header(text, &header)) return report_failure("%s: its .npy header cannot be understood", file->name);
  code = check_header(file->name, &header);
  if (code == exit_ok) code = choose_type(file->name, &header, type, &out->type);
  if (code != exit_ok) return code;

  const size_t held_bytes = file->size_bytes - data_offset;
  const uint32_t size_bytes = out->type->size_bytes;
  if (header.count > UINT64_MAX / size_bytes || header.count * size_bytes != held_bytes) {
    return report_failure("%s: its header announces %" PRIu64 " %s elements of %" PRIu32
                          " bytes, but %zu bytes follow it",
                          file->name, header.count, out->type->name, size_bytes, held_bytes);
  }
  // Headers are padded so that the data is aligned; one that is not costs a move.
  if (data_offset % size_bytes != 0) {
    memmove(file->memory, file->memory + data_offset, held_bytes);
    data_offset = 0;
  }
  out->count = header.count;
  out->data = file->memory + data_offset;
  out->memory = file->memory;
  file->memory = NULL;
  return exit_ok;
}

static int write_header(output *out, const char *descr, uint64_t count) {
  enum { prefix_bytes = 10, file_header_bytes = 2 * header_alignment };
  unsigned char header[file_header_bytes];
  char text[file_header_bytes];
  const int length =
      snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (%" PRIu64 ",), }", descr, count);
  if (length < 0 || length + prefix_bytes >= file_header_bytes) return report_failure("%s: header too long", out->name);
  memset(header, ' ', sizeof header);
  memcpy(header, magic, sizeof magic);
  header[6] = 1;
  header[7] = 0;
  header[8] = file_header_bytes - prefix_bytes;
  header[9] = 0;
  memcpy(header + prefix_bytes, text, (size_t)length);
  header[file_header_bytes - 1] = '\n';
  return output_write(out, header, sizeof header);
}

int npy_write_header(output *out, const type_info *type, uint64_t count) {
  char descr[descr_bytes_max];
  snprintf(descr, sizeof descr, "'%s'", type->npy_descr);
  return write_header(out, descr, count);
}

int npy_write_pair_header(output *out, const type_info *value_type, uint64_t count) {
  char descr[64];
  snprintf(descr, sizeof descr, "[('index', '<u8'), ('value', '%s')]", value_type->npy_descr);
  return write_header(out, descr, count);
}
