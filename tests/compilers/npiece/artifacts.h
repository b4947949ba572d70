/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what npiece makes (interpose/compile/artifacts.h)
 *
 * Calling sequence: compiler functions for results. Threads, fork, signals: no state.
 */
#ifndef TESTS_COMPILERS_NPIECE_ARTIFACTS_H
#define TESTS_COMPILERS_NPIECE_ARTIFACTS_H

#include "interpose/compile/artifacts.h"

enum npiece_artifact { ARTIFACT_OUTPUT, ARTIFACT_LOG, ARTIFACT_COUNT };

extern const struct compiler_artifact npiece_artifacts[ARTIFACT_COUNT];

const struct entry *npiece_answer_from(const struct handle *handle, size_t artifact);
int npiece_no_room(const struct handle *handle);
bool npiece_explains_failure(const struct handle *handle, const struct result *result);

#endif
