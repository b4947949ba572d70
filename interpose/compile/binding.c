/* SPDX-License-Identifier: MIT */
#include "interpose/compile/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_wholly_bound(const struct trace *trace)
{
	return (atomic_load(&trace->tainted) & (TAINT_PATH_MACRO | TAINT_PLACE)) != 0;
}

/* Searches the result for the roots and, as the last needle, the working directory. */
static int search_result(const struct roots *roots, const char *cwd, const struct result *result,
                         struct needles **ret_needles)
{
	struct needle *list = calloc(roots->count + 1, sizeof(*list));
	int error = -ENOMEM;

	if (!list) {
		return error;
	}
	for (size_t i = 0; i < roots->count; i++) {
		list[i] = (struct needle){roots->root[i].text, roots->root[i].size};
	}
	if (cwd && strlen(cwd) > 1) {
		list[roots->count] = (struct needle){cwd, strlen(cwd)};
	}
	error = needles_new(list, roots->count + 1, ret_needles);
	free(list);
	if (error == 0) {
		result_search(result, *ret_needles);
	}
	return error;
}

/* Returns true if the compiler put the working directory in front of every path. */
static bool spells_cwd(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const char *path = trace->events[i].path;

		if (path[0] != '/' && strcmp(path, ".") != 0) {
			return false;
		}
	}
	return true;
}

static bool add_directory(struct trace *trace, const char *path)
{
	struct trace_event event = {.kind = TRACE_PROBE, .path = path};
	struct stat status;

	if (stat(path, &status) != 0) {
		return false;
	}
	file_stamp_from(&status, &event.stamp);
	return trace_add(trace, &event) != NULL;
}

int binding_decide(const struct request *request, struct observed *observed, const struct result *result,
                   struct binding *ret_binding)
{
	const struct compiler *compiler = request->library->compiler;
	const struct roots *roots = &request->roots;
	const char *cwd = observed->cwd;
	struct trace *trace = &observed->trace;
	bool all = is_wholly_bound(trace);
	struct needles *needles;
	bool cwd_is_literal;
	struct binding binding = {
	    .literal = calloc(roots->count + 1, 1),
	    .input =
	        {
	            .trace = trace,
	            .roots = roots,
	            .exact = (request->traits & REQUEST_EXACT) != 0,
	            .has_memory_headers = (request->traits & REQUEST_LOOKS_COUNT) != 0,
	            .pwd = observed->told->pwd,
	        },
	};

	if (!binding.literal || search_result(roots, cwd, result, &needles) != 0) {
		binding_free(&binding);
		return -ENOMEM;
	}
	for (size_t i = 0; i < roots->count; i++) {
		binding.literal[i] = all || needles_found(needles, i);
	}
	/* A directory that a text may spell in several ways cannot be searched for, so it counts as found. */
	cwd_is_literal = all || !cwd || !compiler->spells_plainly || !compiler->spells_plainly(cwd, strlen(cwd)) ||
	                 needles_found(needles, roots->count);
	needles_free(needles);
	binding.input.root_is_literal = binding.literal;
	if (!cwd_is_literal) {
		binding.input.cwd = cwd;
		binding.input.cwd_spelled = spells_cwd(trace);
	} else if (!(request->traits & REQUEST_BOUND) && trace_opened_any(trace)) {
		/* "." and cwd must be one file at look-up too. Path-dependent requests have cwd in their key. */
		if (!cwd || !add_directory(trace, ".") || !add_directory(trace, cwd)) {
			binding_free(&binding);
			return -EINVAL;
		}
	}
	binding.input.arithmetic = (atomic_load(&trace->tainted) & TAINT_ARITHMETIC) != 0;
	atomic_fetch_and(&trace->tainted, ~TAINTS_SOFT);
	*ret_binding = binding;
	return 0;
}

void binding_free(struct binding *binding)
{
	free(binding->literal);
	binding->literal = NULL;
}
