/* SPDX-License-Identifier: MIT */
#include "cli/show_json.h"

#include "cli/console.h"
#include "cli/results_json.h"

#include <errno.h>
#include <inttypes.h>

static void print_condition(const struct shown_condition *condition)
{
	static const char *const kinds[] = {
	    [CONDITION_CONTENT] = "content",
	    [CONDITION_PLACE] = "place",
	    [CONDITION_ABSENT] = "absent",
	    [CONDITION_ARITHMETIC] = "arithmetic",
	};
	bool is_file =
	    condition->kind == CONDITION_CONTENT || (condition->kind == CONDITION_PLACE && !condition->directory);

	printf("{\"kind\": \"%s\", \"state\": \"%s\", \"path\": ", kinds[condition->kind],
	       condition_state_text(condition->state));
	console_json_string(stdout, condition->path);
	printf(", \"relative\": %s, \"directory\": %s, \"root\": ", condition->relative ? "true" : "false",
	       condition->directory ? "true" : "false");
	if (condition->root != CONDITION_NO_ROOT) {
		printf("%" PRIu32, condition->root);
	} else {
		fputs("null", stdout);
	}
	if (is_file) {
		printf(", \"bytes\": %" PRIu64 "}", condition->size);
	} else {
		fputs(", \"bytes\": null}", stdout);
	}
}

static void print_bound(const struct shown_bound *bound)
{
	static const char *const reasons[] = {
	    [SHOWN_KEY] = "request", [SHOWN_FOUND] = "artifact", [SHOWN_TEXT] = "text"};

	fputs("{\"directory\": ", stdout);
	console_json_string(stdout, *bound->directory ? bound->directory : NULL);
	printf(", \"reason\": \"%s\", \"by\": ", reasons[bound->reason]);
	console_json_string(stdout, bound->text);
	putchar('}');
}

static void print_shown(const struct shown *shown)
{
	static const char *const froms[] = {
	    [SHOWN_NEVER] = NULL, [SHOWN_BOUND] = "bound", [SHOWN_NAMED] = "named", [SHOWN_HERE] = "here"};

	putchar('{');
	results_json(&shown->result);
	fputs(", \"bound_why\": [", stdout);
	for (size_t i = 0; i < shown->bound_count; i++) {
		fputs(i ? ", " : "", stdout);
		print_bound(&shown->bound[i]);
	}
	fputs("], \"from\": ", stdout);
	console_json_string(stdout, froms[shown->from]);
	fputs(", \"from_directory\": ", stdout);
	console_json_string(stdout, shown->from_directory);
	printf(", \"exact\": %s, \"joined\": %s, \"conditions\": [", shown->told.exact ? "true" : "false",
	       shown->told.joined ? "true" : "false");
	for (size_t i = 0; i < shown->condition_count; i++) {
		fputs(i ? ",\n  " : "\n  ", stdout);
		print_condition(&shown->conditions[i]);
	}
	fputs("], \"conditions_error\": ", stdout);
	console_json_string(stdout, shown->error == 0                  ? NULL
	                            : shown->error == -EPROTONOSUPPORT ? "version"
	                            : shown->error == -EBADMSG         ? "damaged"
	                                                               : console_reason(shown->error));
	putchar('}');
}

void show_json(const struct shown_list *list)
{
	putchar('[');
	for (size_t i = 0; i < list->count; i++) {
		fputs(i ? ",\n " : "\n ", stdout);
		print_shown(&list->list[i]);
	}
	puts(list->count ? "\n]" : "]");
}
