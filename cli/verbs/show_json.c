/* SPDX-License-Identifier: MIT */
#include "cli/console/console.h"
#include "cli/verbs/shown.h"

#include <errno.h>

static void add_condition(struct json *json, const struct shown_condition *condition)
{
	static const char *const kinds[] = {
	    [CONDITION_CONTENT] = "content",       [CONDITION_PLACE] = "place",     [CONDITION_ABSENT] = "absent",
	    [CONDITION_ARITHMETIC] = "arithmetic", [CONDITION_MACHINE] = "machine",
	};
	bool asked = condition->kind == CONDITION_MACHINE;
	bool is_file =
	    condition->kind == CONDITION_CONTENT || (condition->kind == CONDITION_PLACE && !condition->directory);

	json_begin_object(json, NULL);
	json_string(json, "kind", kinds[condition->kind]);
	json_string(json, "state", condition_state_text(condition->state));
	json_string(json, "path", asked ? NULL : condition->path);
	json_bool(json, "relative", condition->relative);
	json_bool(json, "directory", condition->directory);
	if (condition->root != CONDITION_NO_ROOT) {
		json_number(json, "root", condition->root);
	} else {
		json_null(json, "root");
	}
	if (is_file) {
		json_number(json, "bytes", condition->size);
	} else {
		json_null(json, "bytes");
	}
	json_string(json, "question", asked ? condition->path : NULL);
	if (asked) {
		json_integer(json, "answer", condition->answer);
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
	json_begin_array(json, "conditions");
	for (size_t i = 0; i < shown->condition_count; i++) {
		add_condition(json, &shown->conditions[i]);
	}
	json_end(json);
	json_string(json, "conditions_error",
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
