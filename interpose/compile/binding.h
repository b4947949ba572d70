/* SPDX-License-Identifier: MIT */
/*
 * binding: how far a result is bound to the places where it was made (docs/DESIGN.md B5, B6)
 *
 * Purpose: gives dependencies_build() its input. A root (the program's directory, an absolute -I directory) or the
 * working directory is literal, so that the result holds only where it is spelled the same, when
 *   - its text is in a product, the log or a lowered name;
 *   - a text of this compile (the compiler's read_texts(), files that were read) names __FILE__ or its kin, or spells a
 *     path inside a place: what the compiler computes from that need not show as text;
 *   - it is the working directory, and a text might spell it in a way that would not be found.
 *
 * Calling sequence: binding_decide(), dependencies_build(&binding.input), binding_free().
 * Errors: -ENOMEM; -EINVAL where the working directory cannot be looked at.
 * Ownership: input points into what was asked and observed, and into the binding.
 */
#ifndef INTERPOSE_COMPILE_BINDING_H
#define INTERPOSE_COMPILE_BINDING_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/result.h"
#include "keygen/dependencies.h"

struct binding {
	uint8_t *literal;
	struct dependencies_input input;
};

/* Clears the taints that only bind from the trace, and adds to it what binds the working directory. */
int binding_decide(const struct request *request, struct observed *observed, const struct result *result,
                   struct binding *ret_binding);
void binding_free(struct binding *binding);

#endif
