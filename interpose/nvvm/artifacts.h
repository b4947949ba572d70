/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what libNVVM makes, as sections of a result, and the getters' answers from an entry
 *
 * RESULT is of compiles alone, LOG of both. value: return code of the size getter, of the other one << 8; bytes: as the
 * getter gives them: PTX and log with their NUL, LTO-IR without, one NUL where there is nothing.
 *
 * Calling sequence: the first four are the compiler's functions for results; handlers ask the others.
 * Threads, fork: no state. Signals: the getters' answers may be asked for in a handler. Ownership: none is given.
 */
#ifndef INTERPOSE_NVVM_ARTIFACTS_H
#define INTERPOSE_NVVM_ARTIFACTS_H

#include "interpose/compile/result.h"
#include "interpose/nvvm/types.h"

int nvvm_artifacts_collect(const struct handle *handle, struct result *result);
bool nvvm_artifacts_explain_failure(const struct handle *handle, const struct result *result);
const char *nvvm_artifact_name(uint32_t tag);
bool nvvm_artifacts_alike(const struct section *left, const struct section *right);

int nvvm_artifact_size(const struct entry *entry, enum nvvm_artifact artifact, size_t *size);
int nvvm_artifact_bytes(const struct entry *entry, enum nvvm_artifact artifact, char *bytes);

#endif
