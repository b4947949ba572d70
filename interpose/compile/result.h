/* SPDX-License-Identifier: MIT */
/*
 * result: everything that a handle's getters return after a compilation, as sections of an entry (docs/DESIGN.md)
 *
 * Purpose: a compiler's collect() calls the getters that the host would call, so that empty, failing and left-over
 * artifacts are stored as they were observed. This file contains the common part of all compilers' results.
 *
 * Sections of an entry: RETURN_CODE (value); the compiler's own; if necessary UNSET (names of variables, each with its
 * NUL, that the compiler read and found unset and that are not in the key), SLOPPY (cached because of
 * NVRTCCACHE_SLOPPINESS), ABOUT (the description for people).
 *
 * Calling sequence: result_collect(), search the sections for roots, entry_build(), result_free(). Errors: as for the
 * compiler's collect(). Ownership: collected bytes belong to the struct; answers point into the entry.
 */
#ifndef INTERPOSE_COMPILE_RESULT_H
#define INTERPOSE_COMPILE_RESULT_H

#include "cache/entry.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/runtime.h"
#include "keygen/about.h"
#include "keygen/needles.h"

#define RESULT_SECTIONS 24

/* 2 to 5, and numbers from 0x100 on, belong to the compilers. */
enum result_tag {
	RESULT_TAG_RETURN_CODE = ABOUT_CODE_SECTION,
	RESULT_TAG_UNSET = 6,
	RESULT_TAG_SLOPPY = ABOUT_SLOPPY_SECTION,
	RESULT_TAG_ABOUT = ABOUT_SECTION,
	RESULT_TAG_OWN = 0x100 /* first tag of a compiler; 2 to 5 are a compiler's too */
};

struct result {
	struct section sections[RESULT_SECTIONS]; /* their bytes are blocks for free() */
	size_t count;
};

int result_collect(const struct handle *handle, int return_code, struct result *ret_result);
void result_free(struct result *result);
/*
 * Adds a section. Takes ownership of `owned`, the section's bytes, which are freed with free(). There is room for the
 * sections of every compiler.
 */
void result_add(struct result *result, uint32_t tag, int value, void *owned, size_t size);
/* Searches every artifact and name for the needles. */
void result_search(const struct result *result, struct needles *needles);

/*
 * Computes a digest of everything that the handle's getters return now, from its entry or from the real library. That
 * includes artifacts that a later compilation does not replace (cubin, lowered names). Errors as for result_collect().
 */
int result_state(const struct handle *handle, struct key *ret_state);

/* Returns a section's name. Works for artifacts of later versions, which this one does not know. */
const char *result_section_name(const struct compiler *compiler, uint32_t tag);
/* Returns the section of that tag, or NULL. */
const struct section *result_section(const struct result *result, uint32_t tag);
#define RESULT_SAYS(section, texts) result_says_one_of(section, texts, sizeof(texts) / sizeof((texts)[0]))
/* Returns true if the log contains one of the texts. */
bool result_says_one_of(const struct section *log, const char *const *texts, size_t count);
/* Returns true if the log says that the compiler ran out of memory, which is a temporary failure. */
bool result_says_shortage(const struct section *log);

/* Returns the bits of enum sloppiness that a process must allow to be served the result. */
unsigned result_sloppiness(const struct entry *entry);

/* Returns true if the entry's dependencies hold. */
bool result_holds(const struct entry *entry, const struct roots *roots);
/* Returns true if any dependency of the entry is a path. */
bool result_names_files(const struct entry *entry);

/*
 * Returns true if this process may be served the entry. `ret_variable`: one of the variables of UNSET that is set; it
 * points into the entry; NULL: none. False without one: the entry needs more NVRTCCACHE_SLOPPINESS than `allowed`.
 */
bool result_applies(const struct entry *entry, unsigned allowed, const char **ret_variable);

/* Returns the value of a section, or `otherwise` if the entry lacks it. */
int result_value(const struct entry *entry, uint32_t tag, int otherwise);

/*
 * Compares two results, except for texts that the compiler generates anew each time (docs/DESIGN.md). `ret_what` names
 * a section that differs. RESULTS_HIDDEN: the difference may come only from such texts, or not.
 */
enum results { RESULTS_ALIKE, RESULTS_DIFFER, RESULTS_HIDDEN };
enum results result_compare(const struct compiler *compiler, const struct entry *a, const struct entry *b,
                            const char **ret_what);

#endif
