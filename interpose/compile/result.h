/* SPDX-License-Identifier: MIT */
/*
 * result: everything that a handle can be asked for after a compile, as sections of an entry (docs/DESIGN.md B13)
 *
 * Purpose: a compiler's collect() asks the real library for all of it, by the very getters that the host would call, so
 * that what was sticky, empty or failing is kept as it was observed; here is what all compilers' results have in
 * common.
 *
 * Sections of an entry: RETURN_CODE (value); the compiler's own. Where there is need: UNSET (names of variables, each
 * with its NUL, that no key holds, that the compiler asked for and that were not set), SLOPPY (kept by
 * NVRTCCACHE_SLOPPINESS), ABOUT (what it is of, for people).
 *
 * Calling sequence: result_collect(), look at the sections (root texts), entry_build(), result_free().
 * Errors: as of the compiler's collect(). Ownership: collected bytes belong to the
 * struct; answers point into the entry.
 */
#ifndef INTERPOSE_COMPILE_RESULT_H
#define INTERPOSE_COMPILE_RESULT_H

#include "cache/entry.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/runtime.h"
#include "keygen/about.h"
#include "keygen/needles.h"

#define RESULT_SECTIONS 24

/* 2 to 5 and from 0x100 on are the compiler's own. */
enum result_tag {
	RESULT_TAG_RETURN_CODE = ABOUT_CODE_SECTION,
	RESULT_TAG_UNSET = 6,
	RESULT_TAG_SLOPPY = ABOUT_SLOPPY_SECTION,
	RESULT_TAG_ABOUT = ABOUT_SECTION,
	RESULT_TAG_OWN = 0x100 /* from here on; 2 to 5 are the compiler's too */
};

struct result {
	struct section sections[RESULT_SECTIONS];
	void *owned[RESULT_SECTIONS];
	size_t count;
};

int result_collect(const struct handle *handle, int return_code, struct result *ret_result);
void result_free(struct result *result);
/* For collect(): takes `owned`, the section's bytes, which free() can free. There is room for all sections of a result.
 */
void result_add(struct result *result, uint32_t tag, int value, void *owned, size_t size);
/* Looks for the needles in every artifact and name. */
void result_search(const struct result *result, struct needles *needles);

/*
 * A digest of all that the handle answers now, from its entry or from the real library. What a later compile leaves
 * behind (cubin, lowered names) is part of it. Errors as of result_collect().
 */
int result_state(const struct handle *handle, struct key *ret_state);

/* A section's name, for people. A later version of this library may have stored artifacts that this one lacks. */
const char *result_section_name(const struct compiler *compiler, uint32_t tag);
/* The section of that tag, or NULL. */
const struct section *result_section(const struct result *result, uint32_t tag);
#define RESULT_SAYS(section, texts) result_says_one_of(section, texts, sizeof(texts) / sizeof((texts)[0]))
bool result_says_one_of(const struct section *log, const char *const *texts, size_t count);
/* That the compiler had too little memory, which passes. */
bool result_says_shortage(const struct section *log);

/* Adds to what was collected the names of variables, NUL behind each (copied; may be empty). -ENOMEM. */
int result_add_unset(struct result *result, const char *unset, size_t unset_size);
void result_add_sloppy(struct result *result);
void result_add_about(struct result *result, struct stream *about); /* takes its bytes */
bool result_is_sloppy(const struct entry *entry);

enum result_fitness {
	RESULT_FITS,
	RESULT_TOO_SLOPPY,  /* than is allowed */
	RESULT_VARIABLE_SET /* one of those that were not */
};

/* May this process be given it? `ret_variable`: which one is set; the entry's text. */
enum result_fitness result_applies(const struct entry *entry, enum sloppiness allowed, const char **ret_variable);

/* The value of a section, `otherwise` where it is not there. */
int result_value(const struct entry *entry, uint32_t tag, int otherwise);

/*
 * Are two results the same to a host, but for what the compiler makes anew each time? `ret_what` names a difference.
 * Hidden: they differ where nobody can say whether it is more than that.
 */
enum results { RESULTS_ALIKE, RESULTS_DIFFER, RESULTS_HIDDEN };
enum results result_compare(const struct compiler *compiler, const struct entry *a, const struct entry *b,
                            const char **ret_what);

#endif
