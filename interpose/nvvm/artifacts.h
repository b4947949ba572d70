/* SPDX-License-Identifier: MIT */
/*
 * artifacts: what libNVVM makes
 *
 * The sections are those of compile/artifacts.h: RESULT of compiles alone, LOG of verifications too. PTX and log have
 * their NUL, LTO-IR has none, and there is one NUL where there is nothing.
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
