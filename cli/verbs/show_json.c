/* SPDX-License-Identifier: MIT */
#include "cli/console/console.h"
#include "cli/verbs/shown.h"

#include <errno.h>

static void add_dependency(struct json *json, const struct shown_dependency *dependency)
{
	static const char *const kinds[] = {
	    [DEPENDENCY_CONTENT] = "content",       [DEPENDENCY_PLACE] = "place",     [DEPENDENCY_ABSENT] = "absent",
	    [DEPENDENCY_ARITHMETIC] = "arithmetic", [DEPENDENCY_MACHINE] = "machine",
	};
	bool asked = dependency->kind == DEPENDENCY_MACHINE;
	bool is_file =
	    dependency->kind == DEPENDENCY_CONTENT || (dependency->kind == DEPENDENCY_PLACE && !dependency->directory);

	json_begin_object(json, NULL);
	json_string(json, "kind", kinds[dependency->kind]);
	json_string(json, "state", dependency_state_text(dependency->state));
	json_string(json, "path", asked ? NULL : dependency->path);
	json_bool(json, "relative", dependency->relative);
	json_bool(json, "directory", dependency->directory);
	if (dependency->root != DEPENDENCY_NO_ROOT) {
		json_number(json, "root", dependency->root);
	} else {
		json_null(json, "root");
	}
	if (is_file) {
		json_number(json, "bytes", dependency->size);
	} else {
		json_null(json, "bytes");
	}
	json_string(json, "question", asked ? dependency->path : NULL);
	if (asked) {
		json_integer(json, "answer", dependency->answer);
	} else {
		json_null(json, "answer");
	}
	json_end(json);
}

static void add_bound(struct json *json, const struct shown_bound *bound)
{
	static const char *const reasons[] = {
	    [SHOWN_KEY] = "request", [SHOWN_FOUND] = "artifact", [SHOWN_TEXT] = "text"};

	json_begin_object(json, NULL);
	json_string(json, "directory", *bound->directory ? bound->directory : NULL);
	json_string(json, "reason", reasons[bound->reason]);
	json_string(json, "by", bound->text);
	json_end(json);
}

static void add_shown(struct json *json, const struct shown *shown)
{
	static const char *const froms[] = {
	    [SHOWN_NEVER] = NULL, [SHOWN_BOUND] = "bound", [SHOWN_NAMED] = "named", [SHOWN_HERE] = "here"};

	json_begin_object(json, NULL);
	results_json(json, &shown->result);
	json_begin_array(json, "bound_why");
	for (size_t i = 0; i < shown->bound_count; i++) {
		add_bound(json, &shown->bound[i]);
	}
	json_end(json);
	json_string(json, "from", froms[shown->from]);
	json_string(json, "from_directory", shown->from_directory);
	json_bool(json, "exact", shown->told.exact);
	json_bool(json, "joined", shown->told.joined);
	json_begin_array(json, "dependencies");
	for (size_t i = 0; i < shown->dependency_count; i++) {
		add_dependency(json, &shown->dependencies[i]);
	}
	json_end(json);
	json_string(json, "dependencies_error",
	            shown->error == 0                  ? NULL
	            : shown->error == -EPROTONOSUPPORT ? "version"
	            : shown->error == -EBADMSG         ? "damaged"
	                                               : console_reason(shown->error));
	json_end(json);
}

void show_json(const struct shown_list *list)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 3);

	json_begin_array(&json, NULL);
	for (size_t i = 0; i < list->count; i++) {
		add_shown(&json, &list->list[i]);
	}
	json_end(&json);
	console_json_end(&json);
}
