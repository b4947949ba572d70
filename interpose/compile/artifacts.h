/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what a compiler's getters return, as sections of a result, and their answers from an entry
 *
 * Each artifact has two getters: int size(handle, size_t *) and int bytes(handle, void *); every compiler returns 0 for
 * success. The artifact's section has the tag RESULT_TAG_OWN plus its number in the compiler's table (`artifacts` of
 * struct compiler). Its `bytes` are those that the bytes getter wrote. Its `value` holds the return code of the size
 * getter, plus that of the bytes getter << 8, plus how the size differs from the number of bytes: by one at most.
 *
 * Calling sequence: artifact_collect() from the compiler's collect(); artifact_get() from host_call_get()
 * (compile/host_call.h). Threads, signals: as for getters (compile/handle.h). Errors: see each function; for a damaged
 * or missing section they return the compiler's internal error.
 */
#ifndef INTERPOSE_COMPILE_ARTIFACTS_H
#define INTERPOSE_COMPILE_ARTIFACTS_H

#include "interpose/compile/result.h"

/*
 * Calls the real getters of an artifact and adds its section. Adds nothing if the release lacks the getters. -ENOMEM;
 * -EFBIG: the artifact is too large; -EPROTO: the getter wrote more or less than that, or other bytes the second time.
 */
int artifact_collect(const struct handle *handle, size_t artifact, struct result *result);
/* Calls artifact_collect() for each artifact of the compiler. */
int artifact_collect_all(const struct handle *handle, struct result *result);

/* The two getters of an artifact. Their answers are a size_t, and bytes. */
enum getter { GETTER_SIZE, GETTER_BYTES };
/* Returns a getter's return code, and its answer if it succeeded. `answer` is not NULL. */
int artifact_get(const struct compiler *compiler, const struct entry *entry, size_t artifact, enum getter getter,
                 void *answer);

#endif
