/* SPDX-License-Identifier: MIT */
/* show: prints all properties of the entries of one key, and the states of their dependencies (cli/verbs/results.h) */
#include "cache/recency.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"
#include "keygen/about.h"

#include <errno.h>
#include <string.h>

static struct {
	bool json;
} asked;

struct shown {
	const struct entry *entry;
	struct request request;
	int64_t used_ns; /* all entries under a key have that of their file */
};

/* ---- for people ---- */

static void print_line(const char *label, struct span text)
{
	if (text.bytes) {
		console_line(RESULTS_LABEL "%.*s", label, SPAN(text));
	}
}

static void print_compiler(const struct request *request)
{
	struct span title = request_text(request, ABOUT_TITLE), release = request_text(request, ABOUT_RELEASE),
	            step = request_text(request, ABOUT_STEP);

	console_line(RESULTS_LABEL "%.*s %.*s%s%.*s", "compiler", SPAN(title), SPAN(release), step.size ? ", " : "",
	             SPAN(step));
}

static void print_options(const struct request *request)
{
	for (size_t i = 0; i < request->counts[ABOUT_OPTION]; i++) {
		if (i == 0) {
			printf(RESULTS_LABEL, "options");
		}
		console_print(stdout, "%s%.*s", i ? " " : "", SPAN(span_of(&request->facts[ABOUT_OPTION][i])));
	}
	fputs(request->counts[ABOUT_OPTION] > 0 ? "\n" : "", stdout);
}

/*
 * Prints name expressions with their lowered names, which only entries of NVRTC have. They are in a section of their
 * own, because the about section contains only the expressions.
 */
static void print_names(const struct shown *shown)
{
	const char *label = "names";
	struct section section;
	struct lowered lowered;
	struct cursor cursor;

	if (!request_is(&shown->request, ABOUT_COMPILER, "nvrtc") ||
	    !entry_section(shown->entry, LOWERED_SECTION, &section)) {
		return;
	}
	cursor = cursor_over(section.bytes, section.size);
	while (lowered_next(&cursor, &lowered)) {
		console_line(RESULTS_LABEL "%s  %s", label, lowered.expression,
		             lowered.name ? lowered.name : "no name");
		label = "";
	}
}

static void print_made(const struct shown *shown)
{
	const struct entry_info *info = entry_info(shown->entry);
	struct span command = request_text(&shown->request, ABOUT_COMMAND);
	char when[CONSOLE_NUMBER_BYTES], number[CONSOLE_NUMBER_BYTES];

	console_moment((int64_t)(info->created_ns / 1000000000), "%Y-%m-%d %H:%M:%S ", when);
	console_line(RESULTS_LABEL "%s%s%.*s%sin %s", "made", when, command.size ? "by " : "", SPAN(command),
	             command.size ? " " : "", console_time(info->cost_ns, number));
	printf(RESULTS_LABEL "%s ago\n", "used", console_span(recency_now() - shown->used_ns, number));
	printf(RESULTS_LABEL "%s\n", "size", console_bytes(info->total_size, number));
	if (results_return_code(shown->entry) != 0) {
		printf(RESULTS_LABEL "%d, a cached failure\n", "returned", results_return_code(shown->entry));
	}
}

static void print_artifacts(const struct shown *shown)
{
	char size[CONSOLE_NUMBER_BYTES];

	for (size_t i = 0; i < shown->request.counts[ABOUT_ARTIFACT]; i++) {
		const struct about_fact *artifact = &shown->request.facts[ABOUT_ARTIFACT][i];

		console_line(RESULTS_LABEL "%.*s  %s", i ? "" : "holds", (int)artifact->size, artifact->text,
		             console_bytes(results_artifact(shown->entry, artifact).size, size));
	}
}

/*
 * Prints why the entry depends on a directory: the option or the path of the request by which its key contains the
 * working directory; for other directories, that the result can contain the path.
 */
static void print_bound(const struct request *request)
{
	/* request_binder() knows options of NVRTC only; for links the paths of files are the reason */
	struct span option =
	    request_is(request, ABOUT_COMPILER, "nvrtc") ? request_binder(request) : (struct span){NULL, 0};

	for (size_t i = 0; i < request->counts[ABOUT_BOUND]; i++) {
		bool is_in_key = i == 0 && request_part(request, span_text("working directory"));
		struct span by = !is_in_key ? span_text("__FILE__ and the like: the path is in the result, or can be")
		                 : option.size ? option
		                               : span_text("options or paths of the request");

		console_line(RESULTS_LABEL "%.*s  by %.*s", i ? "" : "bound to",
		             SPAN(span_of(&request->facts[ABOUT_BOUND][i])), SPAN(by));
	}
	if (request->counts[ABOUT_COMPILER] > 0 && request->counts[ABOUT_BOUND] == 0) {
		printf(RESULTS_LABEL "nothing\n", "bound to");
	}
}

static void print_shown(struct shown *shown)
{
	char key[KEY_TEXT_BYTES];

	print_line("key", span_text(key_spell(entry_info(shown->entry)->key, key)));
	print_line("program", request_text(&shown->request, ABOUT_PROGRAM));
	print_compiler(&shown->request);
	print_line("arch", request_arch(&shown->request));
	print_options(&shown->request);
	print_names(shown);
	print_made(shown);
	print_artifacts(shown);
	print_bound(&shown->request);
	results_states(shown->entry, &shown->request, NULL);
}

/* ---- as JSON ---- */

static void add_shown(struct json *json, struct shown *shown)
{
	json_begin_object(json, NULL);
	results_json(json, shown->entry, shown->used_ns, &shown->request);
	results_states(shown->entry, &shown->request, json);
	json_end(json);
}

/* ---- the verb ---- */

/* Shows an entry as JSON, or as text if `json` is NULL. */
static void show_entry(const struct entry *entry, int64_t used_ns, struct json *json)
{
	struct shown shown = {.entry = entry, .used_ns = used_ns, .request = results_request(entry)};

	if (json) {
		add_shown(json, &shown);
	} else {
		print_shown(&shown);
	}
	request_free(&shown.request);
}

static void show_all(const struct key_entries *entries, int64_t used_ns)
{
	struct json json = {.bytes = NULL};

	if (asked.json) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < entries->count; i++) {
		if (!asked.json && entries->count > 1) {
			printf("%sentry %zu of %zu under this key%s\n", i ? "\n" : "", i + 1, entries->count,
			       i ? "" : ", the newest");
		}
		show_entry(entries->list[entries->count - 1 - i], used_ns, asked.json ? &json : NULL);
	}
	if (asked.json) {
		json_end(&json);
		console_json_end(&json);
	}
}

static int run_show(struct settings *settings, char **operands)
{
	struct key_entries entries;
	int status = key_open(settings, operands[0], &entries);

	if (entries.count > 0) {
		show_all(&entries, entries.record.used);
	}
	key_release(&entries);
	return status;
}

const struct verb verb_show = {
    .name = "show",
    .arguments = "[--json] KEY",
    .summary = "show what an entry contains and depends on",
    .more = "KEY is a key or its beginning, as 'nvrtccache ls' shows it.",
    .example = "nvrtccache show 5addf761",
    .options = VERB_OPTIONS(VERB_FLAG("json", 'j', "print JSON", &asked.json)),
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .least = 1,
    .most = 1,
    .run = run_show,
};
