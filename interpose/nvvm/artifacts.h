/* SPDX-License-Identifier: MIT */
/*
 * artifacts: libNVVM's outputs as sections of a result
 *
 * The sections are those of compile/artifacts.h: RESULT for compilations, LOG for verifications too. PTX and log
 * include their NUL, LTO-IR has none, and an empty artifact is a single NUL.
 *
 * Calling sequence: compiler functions for results (interpose/compiler.h). Threads, fork, signals: no state.
 */
#ifndef INTERPOSE_NVVM_ARTIFACTS_H
#define INTERPOSE_NVVM_ARTIFACTS_H

#include "interpose/compile/artifacts.h"
#include "interpose/nvvm/types.h"

extern const struct compiler_artifact nvvm_artifacts[ARTIFACT_COUNT];

int nvvm_artifacts_collect(const struct handle *handle, struct result *result);
bool nvvm_artifacts_explain_failure(const struct handle *handle, const struct result *result);

#endif
