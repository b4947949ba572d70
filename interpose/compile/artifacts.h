/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what the getters of a compiler give, as sections of a result, and their answers from an entry
 *
 * Each artifact has two getters: int size(handle, size_t *) and int bytes(handle, void *); 0 is success with every
 * compiler. Its section has the tag RESULT_TAG_OWN and its number in the compiler's table (struct compiler, `artifacts`).
 * value: return code of the size getter, of the other one << 8. bytes: what the second getter wrote. Where the compiler
 * has an artifact head (ARTIFACT_HEAD bytes), the size that the first getter told stands in front, because the second
 * does not always write as much.
 *
 * Calling sequence: artifact_collect() from the compiler's collect(); the others from host_call_size() and
 * host_call_bytes() (compile/host_call.h). Threads, signals: as of getters (compile/handle.h). Errors: see each; a section that is damaged
 * or missing is the compiler's internal error. Ownership: none is given.
 */
#ifndef INTERPOSE_COMPILE_ARTIFACTS_H
#define INTERPOSE_COMPILE_ARTIFACTS_H

#include "interpose/compile/result.h"

#define ARTIFACT_HEAD sizeof(uint64_t)

/*
 * Asks the real getters of an artifact, and adds its section; a release that lacks them has no such section. -ENOMEM;
 * -EFBIG: too large; -EPROTO: with a head, the getter wrote more than was told, or other bytes the second time.
 */
int artifact_collect(const struct handle *handle, size_t artifact, struct result *result);
/* The same for all artifacts of the compiler. */
int artifact_collect_all(const struct handle *handle, struct result *result);

/* A getter's return code, and its answer where it succeeded. `size` and `bytes` are not NULL. */
int artifact_size(const struct compiler *compiler, const struct entry *entry, size_t artifact, size_t *size);
int artifact_bytes(const struct compiler *compiler, const struct entry *entry, size_t artifact, void *bytes);

#endif
