/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what npiece makes, as sections of a result, and the getters' answers from an entry
 *
 * OUTPUT and LOG: value: the getter's return code, which the size call shares; bytes.
 *
 * Calling sequence: the first three are the compiler's functions for results; the handlers ask
 * the others. Threads, fork, signals: no state. Ownership: answers point into the entry.
 */
#ifndef TESTS_COMPILERS_NPIECE_ARTIFACTS_H
#define TESTS_COMPILERS_NPIECE_ARTIFACTS_H

#include "interpose/compile/result.h"

enum npiece_artifact { ARTIFACT_OUTPUT = 0x100, ARTIFACT_LOG = 0x101 };

int npiece_collect(const struct handle *handle, struct result *result);
bool npiece_explains_failure(const struct handle *handle, const struct result *result);
const char *npiece_artifact_name(uint32_t tag);

int npiece_artifact_size(const struct entry *entry, enum npiece_artifact artifact, size_t *size);
int npiece_artifact_bytes(const struct entry *entry, enum npiece_artifact artifact, void *bytes);

#endif
