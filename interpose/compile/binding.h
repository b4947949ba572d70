/* SPDX-License-Identifier: MIT */
/*
 * binding: which paths a result depends on literally (docs/DESIGN.md B5, B6)
 *
 * Purpose: gives dependencies_build() its input. A root (the program's directory, an absolute -I directory) or the
 * working directory is literal, so that the result is valid only where it has the same text, if
 *   - its text is in a product, the log or a lowered name;
 *   - a text of this compilation (the compiler's read_texts(), files that were read) contains __FILE__ or a similar
 *   macro, or
 *     a path inside a place: what the compiler computes from those need not show as text;
 *   - it is the working directory, and a text may spell it in a way that a search does not find.
 *
 * With NVRTCCACHE_SLOPPINESS=debug_paths (B24), paths in logs and in debug information do not count, and a result that
 * is less path-dependent because of that is marked. An output that cannot be searched (REQUEST_SEALED) depends on all
 * roots if a file contains a macro that would show in it.
 *
 * Calling sequence: binding_decide(), dependencies_build(&binding.input), binding_free(). Errors: -ENOMEM; -EINVAL if
 * the working directory cannot be stat'ed. Ownership: input points into the request, into what was observed, and into
 * the binding.
 */
#ifndef INTERPOSE_COMPILE_BINDING_H
#define INTERPOSE_COMPILE_BINDING_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/result.h"
#include "keygen/dependencies.h"

struct binding {
	uint8_t *literal;
	bool loosened;    /* only who allows SLOPPINESS_DEBUG_PATHS may be given the result */
	bool short_lived; /* it depends on a path below a directory for temporary files */
	struct dependencies_input input;
};

/*
 * Removes from the trace the taints that only make a result path-dependent, and adds probes of the working directory.
 */
int binding_decide(const struct request *request, struct observed *observed, const struct result *result,
                   struct binding *ret_binding);
void binding_free(struct binding *binding);

#endif
