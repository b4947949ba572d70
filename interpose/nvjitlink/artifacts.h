/* SPDX-License-Identifier: MIT */
/*
 * artifacts: nvJitLink's outputs and logs as sections of a result
 *
 * The sections are those of compile/artifacts.h, with an artifact head, because 12.0 does not write the NUL of a log,
 * while other releases write one even for an empty log. Logs are part of the result of each step, because a host may
 * read them between steps.
 *
 * Calling sequence: these are the compiler's functions for results (interpose/compiler.h). Threads, fork, signals: no
 * state.
 */
#ifndef INTERPOSE_NVJITLINK_ARTIFACTS_H
#define INTERPOSE_NVJITLINK_ARTIFACTS_H

#include "interpose/compile/artifacts.h"
#include "interpose/nvjitlink/functions.h"

extern const struct compiler_artifact nvjitlink_artifacts[NVJITLINK_ARTIFACT_COUNT];

int link_artifacts_no_room(const struct handle *handle);
/*
 * Returns true if the log names an error in the input; false if the library ran out of memory, or if an earlier input
 * failed.
 */
bool link_artifacts_explain_failure(const struct handle *handle, const struct result *result);
/* Returns true if a log of the real handle may contain the name of an earlier input. */
bool link_artifacts_may_name_inputs(const struct handle *handle);

#endif
