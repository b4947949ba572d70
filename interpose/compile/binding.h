/* SPDX-License-Identifier: MIT */
/*
 * binding: decides on which paths a result depends literally (docs/DESIGN.md)
 *
 * Purpose: prepares the input of dependencies_build(). A root (the program's directory, an absolute -I directory) or
 * the working directory is literal, so that the result is valid only where the path has the same text, if
 *   - its text is in a product, the log or a lowered name;
 *   - a text of this compilation (the compiler's unwatched(), files that were read) contains __FILE__ or a similar
 *     macro, or a path inside a place: what the compiler computes from those need not show as text;
 *   - it is the working directory, and texts may contain it in a spelling that a search does not find.
 *
 * With NVRTCCACHE_SLOPPINESS=debug_paths, paths in logs and in debug information do not count, and a result that is
 * less path-dependent because of that is marked. An output that cannot be searched (REQUEST_SEALED) depends on all
 * roots if a file contains a macro that would show in the output.
 *
 * Calling sequence: binding_decide(), binding_enter(), dependencies_build(&binding.input), free(literal). Errors:
 * -ENOMEM; -EINVAL if the working directory cannot be stat'ed. Ownership: `input` points into the request, the observed
 * compilation and the binding.
 */
#ifndef INTERPOSE_COMPILE_BINDING_H
#define INTERPOSE_COMPILE_BINDING_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/result.h"
#include "keygen/dependencies_build.h"

struct binding {
	uint8_t *literal; /* per root, then that of the working directory; has room for a second search; for free() */
	bool binds_cwd;   /* files were opened, and the text of the working directory is literal */
	unsigned sloppiness; /* only a process that sets these bits of enum sloppiness may be served the result */
	bool short_lived;    /* the result depends on a path below a directory for temporary files */
	struct dependencies_input input;
};

/* Fills in the binding; nothing else changes. */
int binding_decide(const struct request *request, const struct observed *observed, const struct result *result,
                   struct binding *ret_binding);
/*
 * Writes the decision into the trace: adds probes of the working directory if that is literal, and removes the soft
 * taints (TAINTS_SOFT), which have had their effect.
 */
int binding_enter(struct binding *binding, const struct request *request, struct observed *observed);
/* Returns true for paths where mkdtemp() and the like create names, which are never used again. */
bool binding_temporary(const char *path, size_t size);

#endif
