/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what a result holds, by the names that people have for it, as the files that tools read
 *
 * Purpose: each compiler calls its artifacts otherwise; a form ("ptx") is the same for all. The bytes are those that the
 * getter gave the program, but for one: the NUL that ends PTX and logs in memory is none of a file's (ptxas refuses it).
 * Lowered names are lines: the lowered name, a tab, the expression.
 *
 * Calling sequence: artifacts_each() of an entry, artifact_free() of whatever is kept. Errors: -ENOMEM; -ENODATA: it does
 * not say what its parts are (an earlier build made it); -EBADMSG: what it says cannot be read. Ownership: bytes point into
 * the entry, or are `owned`.
 */
#ifndef CLI_ARTIFACTS_H
#define CLI_ARTIFACTS_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>

/* X(name, option, suffix, is it text?) */
#define ARTIFACT_FORMS(X)                             \
	X(PTX, "ptx", ".ptx", true)                   \
	X(CUBIN, "cubin", ".cubin", false)            \
	X(LTOIR, "ltoir", ".ltoir", false)            \
	X(OPTIXIR, "optixir", ".optixir", false)      \
	X(TILEIR, "tileir", ".tileir", false)         \
	X(NVVM, "nvvm", ".nvvm", false)               \
	X(LOG, "log", ".log", true)                   \
	X(INFO_LOG, "info-log", ".info.log", true)    \
	X(ERROR_LOG, "error-log", ".error.log", true) \
	X(NAMES, "lowered-names", ".names", true)

enum artifact_form {
#define ARTIFACT_FORM(name, option, suffix, text) ARTIFACT_##name,
	ARTIFACT_FORMS(ARTIFACT_FORM)
#undef ARTIFACT_FORM
	    ARTIFACT_FORM_COUNT
};

struct artifact {
	enum artifact_form form;
	const void *bytes;
	size_t size;
	void *owned;
};

const char *artifact_option(enum artifact_form form);
const char *artifact_suffix(enum artifact_form form);

/* `each` returns non-zero to end it, which is given back; it owns what it is given. */
int artifacts_each(const struct entry *entry, int (*each)(const struct artifact *artifact, void *context),
                   void *context);
void artifact_free(struct artifact *artifact);

/* May it go to a terminal: text, with nothing in it that commands one? */
bool artifact_is_harmless(const struct artifact *artifact);

/* "add" of "/src/add.cu", and of whatever else a program is called, without what a file's name should not have. */
#define ARTIFACT_BASE_BYTES 128
void artifact_base(const struct entry *entry, char ret_base[ARTIFACT_BASE_BYTES]);

#endif
