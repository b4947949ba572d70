/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what NVRTC makes, as sections of a result, and the getters' answers from an entry (docs/DESIGN.md B13)
 *
 * Sections of an entry: one for each product (compile/artifacts.h); NAMES (expression, return code, lowered name);
 * NO_NAME (value: what an unknown expression gets); PCH_STATUS (value) and PCH_HEAP (value, eight bytes).
 *
 * Calling sequence: artifacts_collect() and the rest up to artifacts_no_room() are the compiler's functions for results
 * (interpose/compiler.h); the handlers ask the others. Ownership: answers point into the entry.
 */
#ifndef INTERPOSE_NVRTC_ARTIFACTS_H
#define INTERPOSE_NVRTC_ARTIFACTS_H

#include "interpose/compile/artifacts.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/program.h"

_Static_assert(RESULT_SECTIONS >= PRODUCT_COUNT + 8, "a result has room for all that NVRTC gives, and our marks");

extern const struct compiler_artifact nvrtc_products[PRODUCT_COUNT];

int artifacts_collect(const struct handle *handle, struct result *result);
/*
 * Does a failure explain itself by the program? Short of memory, ptxas gives up with the return code of an error in the
 * program: 13.0 with nothing but warnings in the log (its message goes to stderr), others may say it in the log.
 */
bool artifacts_explain_failure(const struct handle *handle, const struct result *result);
bool artifacts_comparable(const struct section *section);
const struct entry *artifacts_product_from(const struct handle *handle, size_t product);
int artifacts_no_room(const struct handle *handle);

/* The same as artifacts_product_from() for lowered names; NULL is fine for a program. */
const struct entry *artifacts_names_from(const struct program *program);

/* `program`: keeps an index of the names, so that many of them are found in linear time. */
int artifacts_lowered_name(struct program *program, const struct entry *entry, const char *expression,
                           const char **name);
int artifacts_pch_status(const struct entry *entry);
int artifacts_pch_heap(const struct entry *entry, size_t *size);

#endif
