/* SPDX-License-Identifier: MIT */
#include "cli/verbs/results.h"

#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request results_request(const struct entry *entry)
{
	struct request request = {.is_cut = false};
	struct section about;

	if (entry_section(entry, ABOUT_SECTION, &about)) {
		(void)request_read(about.bytes, about.size, &request);
	}
	return request;
}

/* The first `skip` bytes of the section do not belong to the artifact. */
struct span results_artifact(const struct entry *entry, const struct about_fact *artifact)
{
	struct section section;

	return entry_section(entry, artifact->tag, &section) && section.size >= artifact->skip
	           ? (struct span){(const char *)section.bytes + artifact->skip, section.size - artifact->skip}
	           : (struct span){NULL, 0};
}

int results_return_code(const struct entry *entry)
{
	struct section code;

	return entry_section(entry, ABOUT_CODE_SECTION, &code) ? code.value : 0;
}

static void add_texts(struct json *json, const char *name, const struct request *request, enum about_kind kind)
{
	json_begin_array(json, name);
	for (size_t i = 0; i < request->counts[kind]; i++) {
		span_json(json, NULL, span_of(&request->facts[kind][i]));
	}
	json_end(json);
}

static void add_artifacts(struct json *json, const struct entry *entry, const struct request *request)
{
	json_begin_object(json, "artifacts");
	for (size_t i = 0; i < request->counts[ABOUT_ARTIFACT]; i++) {
		const struct about_fact *artifact = &request->facts[ABOUT_ARTIFACT][i];
		char *name = strndup(artifact->text, artifact->size);

		json_number(json, name ? name : "", results_artifact(entry, artifact).size);
		free(name);
	}
	json_end(json);
}

void results_json(struct json *json, const struct entry *entry, int64_t used_ns, const struct request *request)
{
	const struct entry_info *info = entry_info(entry);
	char key[KEY_TEXT_BYTES];

	json_string(json, "key", key_spell(info->key, key));
	span_json(json, "program", request_text(request, ABOUT_PROGRAM));
	span_json(json, "compiler", request_text(request, ABOUT_COMPILER));
	span_json(json, "version", request_text(request, ABOUT_RELEASE));
	span_json(json, "step", request_text(request, ABOUT_STEP));
	span_json(json, "arch", request_arch(request));
	add_texts(json, "options", request, ABOUT_OPTION);
	add_texts(json, "expressions", request, ABOUT_EXPRESSION);
	add_artifacts(json, entry, request);
	json_number(json, "bytes", info->total_size);
	json_number(json, "cost_ns", info->cost_ns);
	json_number(json, "made", info->created_ns / 1000000000);
	json_integer(json, "used", used_ns / 1000000000);
	json_integer(json, "returned", results_return_code(entry));
	span_json(json, "made_by", request_text(request, ABOUT_COMMAND));
	add_texts(json, "bound", request, ABOUT_BOUND);
}

/* ---- the states of the dependencies */

/*
 * Relative paths are resolved against the working directory, unless the entry depends on another one. Only
 * path-dependent entries record where they were compiled. A root is looked up at the path that the entry recorded.
 * The dependencies are read twice. The first pass counts them and looks at nothing; the second checks them.
 */
struct states {
	const struct entry *entry;
	const struct request *request;
	struct dependencies_told told;
	size_t paths;     /* number of dependencies that are paths */
	bool is_relative; /* a path is relative */
	char *here;       /* the working directory */
	char *bound;      /* the only one in which relative paths are checked; NULL: any */
};

/*
 * Returns the working directory of the request if the entry depends on it, else NULL. The caller frees it. The bound
 * directories are the working directory, if any, and then the roots that the dependencies name. So the first one is the
 * working directory if the key contains it, or if there are more bound directories than such roots.
 */
static char *find_bound_directory(const struct states *states)
{
	const struct request *request = states->request;
	struct span first = request_text(request, ABOUT_BOUND);
	bool is_bound = request_is_bound(request) || request->counts[ABOUT_BOUND] > states->told.bound_roots;

	return first.size > 0 && is_bound ? strndup(first.bytes, first.size) : NULL;
}

static int count_dependency(const struct dependency *dependency, void *context)
{
	struct states *states = context;

	states->paths += dependency->path != NULL;
	states->is_relative |= dependency->relative;
	return 0;
}

static bool is_checked_here(const struct states *states)
{
	return states->here && (!states->bound || strcmp(states->here, states->bound) == 0);
}

/* Checks all dependencies and calls `each` with every one and its state. Returns 0 or a negative errno value. */
static int walk_dependencies(struct states *states, int (*each)(const struct dependency *dependency, void *context),
                             void *context)
{
	const struct request *request = states->request;
	size_t size, count = request->counts[ABOUT_ROOT];
	const void *dependencies = entry_dependencies(states->entry, &size);
	struct roots roots = {.root = calloc(count + 1, sizeof(*roots.root))};
	int error;

	/* if the number of roots differs from that in the dependencies, no root is used */
	roots.count = roots.root && count == states->told.roots ? count : 0;
	for (size_t i = 0; i < roots.count; i++) {
		const struct about_fact *fact = &request->facts[ABOUT_ROOT][i];

		/* copied, because the texts of facts are not NUL-terminated */
		roots.root[i] = (struct root){strndup(fact->text, fact->size), fact->size};
	}
	error = dependencies_tell(dependencies, size, &roots, is_checked_here(states), each, context, &states->told);
	roots_free(&roots);
	return error;
}

/* ---- for people ---- */

/* Prints one dependency. dependency_state_text() names the states for JSON too. */
static int print_dependency(const struct dependency *dependency, void *context)
{
	char root[32] = "", size[CONSOLE_NUMBER_BYTES] = "", question[MACHINE_WORDS_MAX];

	(void)context;
	printf(RESULTS_LABEL "%-14s", "", dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_COMPANION) {
		puts("the library that the compiler loads by itself");
		return 0;
	}
	if (dependency->kind == DEPENDENCY_ARITHMETIC) {
		puts("the mathematics functions that constants were folded with");
		return 0;
	}
	if (dependency->kind == DEPENDENCY_MACHINE) {
		printf("the %s was %" PRId64 "\n", machine_words(dependency->question, question), dependency->answer);
		return 0;
	}
	if (dependency->root != DEPENDENCY_NO_ROOT) {
		/* an entry whose description is missing has only the numbers of its roots */
		snprintf(root, sizeof(root), "(directory %" PRIu32 ")", dependency->root + 1);
	}
	console_line("%s%s  %s%s", root, dependency->path,
	             dependency->kind == DEPENDENCY_ABSENT ? "did not exist"
	             : dependency->directory               ? "a directory"
	                                                   : console_bytes(dependency->size, size),
	             dependency->kind == DEPENDENCY_PLACE && !dependency->directory ? ", not read" : "");
	return 0;
}

static void print_states(struct states *states)
{
	int error;

	if (states->paths == 0) {
		printf(RESULTS_LABEL "on no file\n", "depends");
	} else {
		printf(RESULTS_LABEL "on %zu %s%s\n", "depends", states->paths, states->paths == 1 ? "path" : "paths",
		       states->told.exact ? ", sizes and times of files included" : "");
	}
	error = walk_dependencies(states, print_dependency, NULL);
	if (states->told.joined) {
		printf(RESULTS_LABEL "two of these paths were different files, and are the same file now\n", "");
	}
	if (states->is_relative && is_checked_here(states)) {
		console_line(RESULTS_LABEL "relative paths are relative to %s, the working directory", "",
		             states->here);
	} else if (states->is_relative) {
		console_line(RESULTS_LABEL "relative paths were not checked: they are relative to %s", "",
		             states->bound ? states->bound : "a directory that is gone");
	}
	if (error != 0) {
		printf(RESULTS_LABEL "the rest cannot be read: %s\n", "", console_reason(error));
	}
}

/* ---- as JSON ---- */

static int add_dependency(const struct dependency *dependency, void *context)
{
	static const char *const kinds[] = {
	    [DEPENDENCY_CONTENT] = "content",     [DEPENDENCY_PLACE] = "place",
	    [DEPENDENCY_ABSENT] = "absent",       [DEPENDENCY_ARITHMETIC] = "arithmetic",
	    [DEPENDENCY_COMPANION] = "companion", [DEPENDENCY_MACHINE] = "machine",
	};
	char question[MACHINE_WORDS_MAX];
	struct json *json = context;

	json_begin_object(json, NULL);
	json_string(json, "kind", kinds[dependency->kind]);
	json_string(json, "state", dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_MACHINE) {
		json_string(json, "question", machine_words(dependency->question, question));
		json_integer(json, "answer", dependency->answer);
	} else {
		json_string(json, "path", dependency->path);
		json_number(json, "bytes", dependency->size);
	}
	json_end(json);
	return 0;
}

static void add_states(struct json *json, struct states *states)
{
	int error;

	json_string(json, "from_directory", states->is_relative && is_checked_here(states) ? states->here : NULL);
	json_begin_array(json, "dependencies");
	error = walk_dependencies(states, add_dependency, json);
	json_end(json);
	json_string(json, "dependencies_error", error ? console_reason(error) : NULL);
}

void results_states(const struct entry *entry, const struct request *request, struct json *json)
{
	struct states states = {.entry = entry, .request = request};
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	(void)dependencies_tell(dependencies, size, NULL, false, count_dependency, &states, &states.told);
	states.here = getcwd(NULL, 0);
	states.bound = find_bound_directory(&states);
	if (json) {
		add_states(json, &states);
	} else {
		print_states(&states);
	}
	free(states.here);
	free(states.bound);
}
