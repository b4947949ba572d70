/* SPDX-License-Identifier: MIT */
#include "interpose/compile/binding.h"

#include "interpose/compile/runtime.h"
#include "interpose/watch/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_taint(const struct trace *trace, uint32_t taint)
{
	return (atomic_load(&trace->tainted) & taint) != 0;
}

/* Returns true if the output cannot be searched and a text may have put a path into it. */
static bool may_hide_path(const struct request *request, const struct trace *trace)
{
	return (request->traits & REQUEST_SEALED) && has_taint(trace, TAINT_KNOWN_MACRO);
}

static bool lies_in_root(const struct roots *roots, const char *path)
{
	for (size_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->root[i];

		if (strncmp(path, root->text, root->size) == 0 && path[root->size] == '/') {
			return true;
		}
	}
	return false;
}

static bool reads_outside_roots(const struct trace *trace, const struct roots *roots)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_event *event = &trace->events[i];

		if (event->kind == TRACE_OPEN && event->error == 0 && !lies_in_root(roots, event->path)) {
			return true;
		}
	}
	return false;
}

/* Searches the result for the roots and for the working directory, whose needle comes last. */
static int search_result(const struct roots *roots, const char *cwd, const struct result *result,
                         void (*search)(const struct result *, struct needles *), uint8_t *ret_found)
{
	struct needle *list = calloc(roots->count + 1, sizeof(*list));
	struct needles needles = {list, roots->count + 1};

	if (!list) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < roots->count; i++) {
		list[i] = (struct needle){.text = roots->root[i].text, .size = roots->root[i].size};
	}
	if (cwd && strlen(cwd) > 1) {
		list[roots->count] = (struct needle){.text = cwd, .size = strlen(cwd)};
	}
	search(result, &needles);
	for (size_t i = 0; i <= roots->count; i++) {
		ret_found[i] = list[i].found;
	}
	free(list);
	return 0;
}

/*
 * Searches the result for the paths. If the user allows SLOPPINESS_DEBUG_PATHS, only paths that are found in code
 * count.
 */
static int find_places(const struct request *request, const char *cwd, const struct result *result,
                       struct binding *binding)
{
	const struct compiler *compiler = request->library->compiler;
	const size_t count = request->roots.count + 1;
	uint8_t *in_code = binding->literal + count;
	int error = search_result(&request->roots, cwd, result, result_search, binding->literal);

	if (error != 0 || !compiler->search_code || !(runtime_get()->settings.tolerated & SLOPPINESS_DEBUG_PATHS)) {
		return error;
	}
	error = search_result(&request->roots, cwd, result, compiler->search_code, in_code);
	if ((request->traits & REQUEST_LOOSE) || memcmp(in_code, binding->literal, count) != 0) {
		binding->sloppiness |= SLOPPINESS_DEBUG_PATHS;
	}
	memcpy(binding->literal, in_code, count);
	return error;
}

/* Returns true if every path of the compiler was absolute, because it put the working directory in front of it. */
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

/* Adds a probe of the directory to the trace. Returns false if it cannot be stat'ed, or there is no memory. */
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

bool binding_temporary(const char *path, size_t size)
{
	const char *const directories[] = {"/tmp", "/var/tmp", environment_get("TMPDIR")};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		size_t length = directories[i] ? strlen(directories[i]) : 0;

		while (length > 1 && directories[i][length - 1] == '/') {
			length--;
		}
		if (length > 1 && length <= size && memcmp(path, directories[i], length) == 0 &&
		    (length == size || path[length] == '/')) {
			return true;
		}
	}
	return false;
}

/* Returns true if the result depends on a temporary path. Path-dependent requests have all their paths in the key. */
static bool is_short_lived(const struct request *request, const struct binding *binding, const char *cwd)
{
	bool all = (request->traits & REQUEST_BOUND) != 0;

	for (size_t i = 0; i < request->roots.count; i++) {
		if ((all || binding->literal[i]) &&
		    binding_temporary(request->roots.root[i].text, request->roots.root[i].size)) {
			return true;
		}
	}
	return cwd && (all || binding->binds_cwd) && binding_temporary(cwd, strlen(cwd));
}

/*
 * Decides whether the result depends on the text of the working directory. `computed`, `hidden`: the output may depend
 * on paths without showing them.
 *
 * A directory that texts can spell in several ways cannot be searched for, so it counts as found. __FILE__ has the
 * working directory in it only for a header that was found there: the program and headers in memory have the names that
 * the caller gave them.
 */
static bool binds_cwd(const struct request *request, const struct observed *observed, const struct binding *binding,
                      bool computed, bool hidden)
{
	const struct compiler *compiler = request->library->compiler;
	const struct roots *roots = &request->roots;
	const struct trace *trace = &observed->trace;
	const char *cwd = observed->places.cwd;

	return has_taint(trace, TAINT_PLACE) || !cwd || !compiler->spells_plainly ||
	       !compiler->spells_plainly(cwd, strlen(cwd)) || binding->literal[roots->count] ||
	       ((computed || hidden) && reads_outside_roots(trace, roots));
}

int binding_decide(const struct request *request, const struct observed *observed, const struct result *result,
                   struct binding *ret_binding)
{
	const struct roots *roots = &request->roots;
	const struct trace *trace = &observed->trace;
	bool computed = has_taint(trace, TAINT_PATH_MACRO | TAINT_PLACE), hidden = may_hide_path(request, trace);
	struct binding binding = {
	    .literal = calloc(2, roots->count + 1),
	    .sloppiness = has_taint(trace, TAINT_TIME_MACRO) ? SLOPPINESS_TIME_MACROS : 0,
	    .input =
	        {
	            .trace = trace,
	            .roots = roots,
	            .companion = roots_companion(roots),
	            .arithmetic = has_taint(trace, TAINT_ARITHMETIC),
	            .exact = (request->traits & REQUEST_EXACT) != 0,
	            .has_memory_headers = (request->traits & REQUEST_LOOKS_COUNT) != 0,
	            .pwd = observed->told->pwd,
	        },
	};

	if (!binding.literal || find_places(request, observed->places.cwd, result, &binding) != 0) {
		free(binding.literal);
		return -ENOMEM;
	}
	for (size_t i = 0; i < roots->count; i++) {
		binding.literal[i] |= computed || hidden;
	}
	binding.input.root_is_literal = binding.literal;
	if (!binds_cwd(request, observed, &binding, computed, hidden)) {
		binding.input.cwd = observed->places.cwd;
		binding.input.cwd_spelled = spells_cwd(trace);
		binding.input.cwd_looked_at = (request->traits & REQUEST_LOOSE) != 0;
	}
	binding.binds_cwd = !binding.input.cwd && trace_has(trace, TRACE_OPEN);
	binding.short_lived = is_short_lived(request, &binding, observed->places.cwd);
	*ret_binding = binding;
	return 0;
}

/*
 * Where the working directory is literal, "." and cwd must be the same file again at the next look-up. Path-dependent
 * requests have cwd in their key. The probe of cwd is then a dependency even if $PWD names it.
 */
int binding_enter(struct binding *binding, const struct request *request, struct observed *observed)
{
	struct trace *trace = &observed->trace;
	const char *cwd = observed->places.cwd;

	if (binding->binds_cwd && !(request->traits & REQUEST_BOUND)) {
		if (cwd && binding->input.pwd && strcmp(binding->input.pwd, cwd) == 0) {
			binding->input.pwd = NULL;
		}
		if (!cwd || !add_directory(trace, ".") || !add_directory(trace, cwd)) {
			return -EINVAL;
		}
	}
	atomic_fetch_and(&trace->tainted, ~TAINTS_SOFT);
	return 0;
}
