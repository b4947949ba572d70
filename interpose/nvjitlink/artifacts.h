/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what nvJitLink makes, and what its logs say
 *
 * The sections are those of compile/artifacts.h, with a head: 12.0 leaves out the NUL of a log, and of an empty log other
 * releases write one all the same. Logs are part of a step's result too, as they may be read between steps.
 *
 * Calling sequence: compiler functions for results (interpose/compiler.h). Threads, fork, signals: no state.
 */
#ifndef INTERPOSE_NVJITLINK_ARTIFACTS_H
#define INTERPOSE_NVJITLINK_ARTIFACTS_H

#include "interpose/compile/artifacts.h"
#include "interpose/nvjitlink/functions.h"

extern const struct compiler_artifact nvjitlink_artifacts[NVJITLINK_ARTIFACT_COUNT];

const struct entry *link_artifacts_from(const struct handle *handle, size_t artifact);
int link_artifacts_no_room(const struct handle *handle);
/* Does the log say what is wrong with the input? Not where there was no memory. */
bool link_artifacts_explain_failure(const struct handle *handle, const struct result *result);
/* May a log of the real handle have the name of an earlier input in it? */
bool link_artifacts_may_name_inputs(const struct handle *handle);

#endif
