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
	json_number(json, "used", used_ns / 1000000000);
	json_number(json, "returned", results_return_code(entry));
	span_json(json, "made_by", request_text(request, ABOUT_COMMAND));
	add_texts(json, "bound", request, ABOUT_BOUND);
}

/* ---- the states of the dependencies ---- */

struct states {
	struct json *json; /* NULL: for people */
	size_t count;
	bool is_relative; /* a path is relative */
};

static void print_dependency(const struct dependency *dependency, const char *label)
{
	char root[32] = "", size[CONSOLE_NUMBER_BYTES] = "", question[MACHINE_WORDS_MAX];

	printf(RESULTS_LABEL "%-14s", label, dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_COMPANION) {
		puts("the library that the compiler loads by itself");
		return;
	}
	if (dependency->kind == DEPENDENCY_ARITHMETIC) {
		puts("the mathematics functions that constants were folded with");
		return;
	}
	if (dependency->kind == DEPENDENCY_MACHINE) {
		printf("the %s was %" PRId64 "\n", machine_words(dependency->question, question), dependency->answer);
		return;
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
}

static void add_dependency(const struct dependency *dependency, struct json *json)
{
	static const char *const kinds[] = {
	    [DEPENDENCY_CONTENT] = "content",     [DEPENDENCY_PLACE] = "place",
	    [DEPENDENCY_ABSENT] = "absent",       [DEPENDENCY_ARITHMETIC] = "arithmetic",
	    [DEPENDENCY_COMPANION] = "companion", [DEPENDENCY_MACHINE] = "machine",
	};
	char question[MACHINE_WORDS_MAX];

	json_begin_object(json, NULL);
	json_string(json, "kind", kinds[dependency->kind]);
	json_string(json, "state", dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_MACHINE) {
		json_string(json, "question", machine_words(dependency->question, question));
		json_number(json, "answer", dependency->answer);
	} else {
		json_string(json, "path", dependency->path);
		json_number(json, "bytes", dependency->size);
	}
	json_end(json);
}

static int tell_dependency(const struct dependency *dependency, void *context)
{
	struct states *states = context;

	if (states->json) {
		add_dependency(dependency, states->json);
	} else {
		print_dependency(dependency, states->count == 0 ? "depends" : "");
	}
	states->count++;
	states->is_relative |= dependency->relative;
	return 0;
}

/* Relative paths are looked up in the working directory, and roots at the paths that the entry recorded. */
static int tell_dependencies(const struct entry *entry, const struct request *request, struct states *states)
{
	size_t size, count = request->counts[ABOUT_ROOT];
	const void *dependencies = entry_dependencies(entry, &size);
	struct roots roots = {.root = calloc(count + 1, sizeof(*roots.root))};
	int error;

	roots.count = roots.root ? count : 0;
	for (size_t i = 0; i < roots.count; i++) {
		const struct about_fact *fact = &request->facts[ABOUT_ROOT][i];

		/* copied, because the texts of facts are not NUL-terminated */
		roots.root[i] = (struct root){strndup(fact->text, fact->size), fact->size};
	}
	error = dependencies_tell(dependencies, size, &roots, true, tell_dependency, states);
	roots_free(&roots);
	return error;
}

static void print_end(const struct states *states, int error)
{
	char *here = states->is_relative ? getcwd(NULL, 0) : NULL;

	if (states->count == 0) {
		printf(RESULTS_LABEL "on no file\n", "depends");
	}
	if (here) {
		console_line(RESULTS_LABEL "relative paths are relative to %s, the working directory", "", here);
	}
	if (error != 0) {
		printf(RESULTS_LABEL "the rest cannot be read: %s\n", "", console_reason(error));
	}
	free(here);
}

void results_states(const struct entry *entry, const struct request *request, struct json *json)
{
	struct states states = {.json = json};
	int error;

	if (json) {
		json_begin_array(json, "dependencies");
	}
	error = tell_dependencies(entry, request, &states);
	if (json) {
		json_end(json);
		json_string(json, "dependencies_error", error ? console_reason(error) : NULL);
	} else {
		print_end(&states, error);
	}
}
