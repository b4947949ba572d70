/* SPDX-License-Identifier: MIT */
/*
 * result: everything that a program can be asked for after a compile (docs/DESIGN.md B13)
 *
 * Purpose: result_collect() asks the real library for all of it, by the very getters that the host would call, so that
 * what was sticky, empty or failing is kept as it was observed; result_*() answer the same questions from an entry.
 *
 * Sections of an entry: RETURN_CODE (value); PRODUCT + n per product (value: return codes of the size call and the
 * getter; bytes); NAMES (expression, return code, lowered name); NO_NAME (value: what an unknown expression gets);
 * PCH_STATUS (value) and PCH_HEAP (value, eight bytes). Where there is need: UNSET (names of variables, each with its
 * NUL, that no key holds, that the compiler asked for and that were not set), SLOPPY (kept by NVRTCCACHE_SLOPPINESS).
 *
 * Calling sequence: result_collect(), look at the sections (root texts), entry_build(), result_free().
 * Errors: -ENOMEM; -EPROTO where a getter does what no getter should.
 * Threads, fork, signals: no state. Ownership: collected bytes belong to the struct; answers point into the entry.
 */
#ifndef INTERPOSE_COMPILE_RESULT_H
#define INTERPOSE_COMPILE_RESULT_H

#include "cache/entry.h"
#include "interpose/compile/handle.h"
#include "keygen/needles.h"

#define RESULT_SECTIONS (PRODUCT_COUNT + 8)

struct result {
	struct section sections[RESULT_SECTIONS];
	void *owned[RESULT_SECTIONS];
	size_t count;
};

int result_collect(const struct program *program, int return_code, struct result *ret_result);
void result_free(struct result *result);
/* Looks for the needles in every product and name. */
void result_search(const struct result *result, struct needles *needles);

/*
 * A digest of all that the program answers now, from its entry or from the real library. What a later compile of the
 * handle leaves behind (cubin, lowered names) is part of it. Errors as of result_collect().
 */
int result_state(const struct program *program, struct key *ret_state);

/* Adds to what was collected: the names of variables, NUL behind each (copied; may be empty), and that it is sloppy. */
int result_mark(struct result *result, const char *unset, size_t unset_size, bool sloppy);
bool result_is_sloppy(const struct entry *entry);
/* May this process be given it: are those variables still not set, and is sloppiness allowed where there is some? */
bool result_applies(const struct entry *entry, bool sloppy_allowed);

/*
 * Does a failure explain itself by the program? Short of memory, ptxas gives up with the return code of an error in the
 * program: 13.0 with nothing but warnings in the log (its message goes to stderr), others may say it in the log.
 */
bool result_explains_failure(const struct result *result);

/*
 * The entry that answers for a product, or for lowered names, of this program; NULL: the real library does. NULL is
 * fine for a program.
 */
const struct entry *result_product_from(const struct program *program, enum nvrtc_product product);
const struct entry *result_names_from(const struct program *program);

int result_return_code(const struct entry *entry);
/* Can this entry answer for that product at all? */
bool result_has_product(const struct entry *entry, enum nvrtc_product product, size_t *ret_size);
int result_product_size(const struct entry *entry, enum nvrtc_product product, size_t *size);
int result_product(const struct entry *entry, enum nvrtc_product product, char *bytes);
int result_lowered_name(const struct entry *entry, const char *expression, const char **name);
int result_pch_status(const struct entry *entry);
int result_pch_heap(const struct entry *entry, size_t *size);

/*
 * Are two results the same to a host? Module ids (_<8 hex>_<pid>), which NVRTC makes anew in every process, and call
 * numbers in comments of PTX, which go on counting through a process, count as equal; `ret_what` names a difference.
 * Hidden: they differ in LTO-IR, OptiX IR or what has debug information alone, where nobody can say whether it is more
 * than a module id.
 */
enum results { RESULTS_ALIKE, RESULTS_DIFFER, RESULTS_HIDDEN };
enum results result_compare(const struct entry *a, const struct entry *b, const char **ret_what);

#endif
