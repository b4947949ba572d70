/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what nvJitLink makes, as sections of a result, and the getters' answers from an entry
 *
 * A section for each: value: return codes of the size call and of the getter; bytes: the size that was told (eight
 * bytes), then what the getter wrote, which need not be as much: 12.0 leaves out the NUL of a log, and of an empty log
 * others write one all the same. Logs are part of a step's result too, as they may be read between steps.
 *
 * Calling sequence: the first five are the compiler's functions for results (interpose/compiler.h); the handlers ask the
 * others. Threads, fork, signals: no state. Ownership: answers point into the entry.
 */
#ifndef INTERPOSE_NVJITLINK_ARTIFACTS_H
#define INTERPOSE_NVJITLINK_ARTIFACTS_H

#include "interpose/compile/result.h"
#include "interpose/nvjitlink/functions.h"

/* Bytes in front of what the getter wrote. */
#define LINK_ARTIFACT_HEAD sizeof(uint64_t)

int link_artifacts_collect(const struct handle *handle, struct result *result);
/* Does the log say what is wrong with the input? Not where there was no memory. */
bool link_artifacts_explain_failure(const struct handle *handle, const struct result *result);
/* May a log of the real handle have the name of an earlier input in it? */
bool link_artifacts_may_name_inputs(const struct handle *handle);
bool link_artifacts_alike(const struct section *left, const struct section *right);
const char *link_artifacts_name(uint32_t tag);

/* `missing`: the code for a pointer that is NULL. */
int link_artifact_size(const struct entry *entry, enum nvjitlink_artifact artifact, size_t *size, int missing);
int link_artifact_bytes(const struct entry *entry, enum nvjitlink_artifact artifact, void *bytes, int missing);

#endif
