/* SPDX-License-Identifier: MIT */
/*
 * artifacts: NVRTC's outputs as sections of a result, and the getters' answers from an entry (docs/DESIGN.md)
 *
 * Sections of an entry: one for each product (compile/artifacts.h); NAMES (expression, return code, lowered name);
 * NO_NAME (value: the return code for an unknown expression); PCH_STATUS (value) and PCH_HEAP (value, eight bytes).
 *
 * Calling sequence: the functions up to artifacts_no_room() are the compiler's functions for results
 * (interpose/compiler.h); the handlers call the others. Ownership: answers point into the entry.
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
 * Returns true if the log names an error in the program. If memory runs out, ptxas fails with the return code of an
 * error in the program. Then the log of 13.0 has only warnings (the message goes to stderr); other releases may report
 * the shortage in the log. So does a file system without room for a precompiled header.
 */
bool artifacts_explain_failure(const struct handle *handle, const struct result *result);
/*
 * Searches everything except the log and the debug information of the PTX. The CUBIN is made from the PTX, so it is
 * searched only if there is no PTX.
 */
void artifacts_search_code(const struct result *result, struct needles *needles);
bool artifacts_comparable(const struct section *section);
const struct entry *artifacts_product_from(const struct handle *handle, size_t product);
/*
 * Returns what a compile that has begun leaves of the products until it ends: PTX and log are empty, and the others are
 * those of earlier compiles. The caller gets a reference. NULL: no memory.
 */
struct entry *artifacts_while_compiling(void);
/*
 * Returns true if results of the program do not have the product: texts that the host decodes must not leave the
 * process, nor PTX and other products in which people could read them.
 */
bool artifacts_omit(const struct handle *handle, size_t product);
int artifacts_no_room(const struct handle *handle);

/* Like artifacts_product_from(), for lowered names; `program` may be NULL. */
const struct entry *artifacts_names_from(const struct program *program);

/* Answers nvrtcGetLoweredName. Look-ups in the order of the names take linear time in total. */
int artifacts_lowered_name(struct program *program, const struct entry *entry, const char *expression,
                           const char **name);
int artifacts_pch_status(const struct entry *entry);
int artifacts_pch_heap(const struct entry *entry, size_t *size);

#endif
