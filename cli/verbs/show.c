/* SPDX-License-Identifier: MIT */
/* show: everything that the results of one key say of themselves, and what has become of what they depend on */
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/options.h"
#include "cli/verbs/shown.h"
#include "keygen/lowered.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABEL_WIDTH 10
#define STATE_WIDTH 14
#define LINE_WIDTH  100

static void print_label(const char *label)
{
	printf("%-*s", LABEL_WIDTH, label);
}

/* Whatever could command a terminal shows as '?'. */
static void print_text(const char *text, size_t size)
{
	char *copy = strndup(text, size);

	if (copy) {
		console_disarm(copy);
		fputs(copy, stdout);
	}
	free(copy);
}

static void print_fact(const char *label, const struct listed_result *result, enum about_kind kind)
{
	struct about_fact fact;

	if (results_fact(result, kind, &fact)) {
		print_label(label);
		print_text(fact.text, fact.size);
		putchar('\n');
	}
}

static void print_compiler(const struct listed_result *result)
{
	static const enum about_kind kinds[] = {ABOUT_TITLE, ABOUT_RELEASE, ABOUT_STEP};
	const char *separators[] = {"", " ", ", "};
	struct about_fact fact;

	print_label("compiler");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (results_fact(result, kinds[i], &fact)) {
			fputs(separators[i], stdout);
			print_text(fact.text, fact.size);
		} else if (kinds[i] == ABOUT_TITLE) {
			fputs("not said: an earlier build made this result", stdout);
		}
	}
	putchar('\n');
}

struct wrapping {
	size_t column; /* 0: nothing printed yet */
};

/* An option as it would be typed in a shell. */
static int print_option(const struct about_fact *fact, void *context)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/%@";
	struct wrapping *wrapping = context;
	bool quoted = fact->size == 0;

	if (fact->kind != ABOUT_OPTION) {
		return 0;
	}
	for (size_t i = 0; i < fact->size; i++) {
		quoted |= strchr(plain, fact->text[i]) == NULL;
	}
	if (wrapping->column == 0) {
		print_label("options");
	} else if (wrapping->column + fact->size > LINE_WIDTH) {
		printf("\n%-*s", LABEL_WIDTH, "");
		wrapping->column = 0;
	} else {
		putchar(' ');
	}
	fputs(quoted ? "'" : "", stdout);
	print_text(fact->text, fact->size);
	fputs(quoted ? "'" : "", stdout);
	wrapping->column += fact->size + 1;
	return 0;
}

static void print_options(const struct listed_result *result)
{
	struct wrapping wrapping = {.column = 0};

	if (result->about) {
		(void)about_read(result->about, result->about_size, print_option, &wrapping);
	}
	if (wrapping.column > 0) {
		putchar('\n');
	}
}

static void print_names(const struct shown *shown)
{
	struct about_fact compiler;
	struct section section;
	struct lowered lowered;
	struct cursor cursor;
	const char *label = "names";

	if (!results_fact(&shown->result, ABOUT_COMPILER, &compiler) || compiler.size != strlen("nvrtc") ||
	    memcmp(compiler.text, "nvrtc", compiler.size) != 0 ||
	    !entry_section(shown->entry, LOWERED_SECTION, &section)) {
		return;
	}
	cursor = cursor_over(section.bytes, section.size);
	while (lowered_next(&cursor, &lowered)) {
		print_label(label);
		print_text(lowered.expression, strlen(lowered.expression));
		fputs("  ", stdout);
		print_text(lowered.name ? lowered.name : "no name", lowered.name ? strlen(lowered.name) : 7);
		putchar('\n');
		label = "";
	}
}

static void print_made(const struct listed_result *result)
{
	const time_t seconds = (time_t)(result->created_ns / 1000000000);
	char when[64], took[CONSOLE_NUMBER_BYTES], used[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES];
	struct about_fact command;
	struct tm local;

	print_label("made");
	if (localtime_r(&seconds, &local) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local) > 0) {
		printf("%s ", when);
	}
	if (results_fact(result, ABOUT_COMMAND, &command)) {
		fputs("by ", stdout);
		print_text(command.text, command.size);
		putchar(' ');
	}
	printf("in %s\n", console_time(result->cost_ns, took));
	print_label("used");
	puts(console_age(result->used_ns, used));
	print_label("size");
	puts(console_bytes(result->bytes, size));
}

struct holding {
	const struct listed_result *result;
	const char *label;
};

static int print_artifact(const struct about_fact *fact, void *context)
{
	struct holding *holding = context;
	char size[CONSOLE_NUMBER_BYTES];

	if (fact->kind == ABOUT_ARTIFACT) {
		print_label(holding->label);
		print_text(fact->text, fact->size);
		printf("  %s\n", console_bytes(results_artifact_size(holding->result, fact), size));
		holding->label = "";
	}
	return 0;
}

static void print_holds(const struct listed_result *result)
{
	struct holding holding = {result, "holds"};

	if (result->about) {
		(void)about_read(result->about, result->about_size, print_artifact, &holding);
	}
}

static void print_reason(const struct shown_bound *bound)
{
	switch (bound->reason) {
	case SHOWN_KEY:
		printf("  by %s", bound->text ? bound->text : "how it was asked for: options, or names of directories");
		break;
	case SHOWN_FOUND:
		printf("  its name is in the ");
		print_text(bound->text, strlen(bound->text));
		break;
	default:
		printf("  what was compiled may tell where it lies (__FILE__ and its like)");
	}
}

static void print_bound(const struct shown *shown)
{
	const char *label = "bound to";

	if (!shown->result.about) {
		return;
	}
	if (shown->bound_count == 0) {
		print_label(label);
		puts("nothing");
	}
	for (size_t i = 0; i < shown->bound_count; i++) {
		const struct shown_bound *bound = &shown->bound[i];

		print_label(label);
		if (*bound->directory) {
			print_text(bound->directory, strlen(bound->directory));
		} else {
			fputs("a directory that is not stored", stdout);
		}
		print_reason(bound);
		putchar('\n');
		label = "";
	}
}

static void print_dependency(const struct shown_dependency *dependency)
{
	char size[CONSOLE_NUMBER_BYTES];

	printf("%-*s%-*s", LABEL_WIDTH, "", STATE_WIDTH, dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_ARITHMETIC) {
		puts("the functions that constants were folded with, which only the compiler knows");
		return;
	}
	if (dependency->kind == DEPENDENCY_MACHINE) {
		printf("the %s, which was %" PRId64 "\n", dependency->path, dependency->answer);
		return;
	}
	if (dependency->root != DEPENDENCY_NO_ROOT) {
		printf("(directory %" PRIu32 ")", dependency->root + 1);
	}
	print_text(dependency->path, strlen(dependency->path));
	if (dependency->kind == DEPENDENCY_ABSENT) {
		puts("  was not there");
	} else if (dependency->directory) {
		puts("  a directory");
	} else {
		printf("  %s%s\n", console_bytes(dependency->size, size),
		       dependency->kind == DEPENDENCY_PLACE ? ", not read" : "");
	}
}

static void print_from(const struct shown *shown)
{
	static const char *const why[] = {
	    [SHOWN_BOUND] = "to which the result is bound",
	    [SHOWN_NAMED] = "as asked for",
	    [SHOWN_HERE] = "the present directory; where it was compiled is not stored",
	};

	if (shown->from != SHOWN_NEVER && shown->from_directory) {
		printf("%-*srelative paths as seen from ", LABEL_WIDTH, "");
		print_text(shown->from_directory, strlen(shown->from_directory));
		printf(", %s\n", why[shown->from]);
	}
}

static void print_dependencies(const struct shown *shown)
{
	bool unknown_root = false, relative = false;
	size_t paths = 0;

	print_label("depends");
	if (shown->dependency_count == 0 && shown->error == 0) {
		puts("on no file");
		return;
	}
	for (size_t i = 0; i < shown->dependency_count; i++) {
		paths += shown->dependencies[i].kind != DEPENDENCY_ARITHMETIC &&
		         shown->dependencies[i].kind != DEPENDENCY_MACHINE;
	}
	printf("on %zu %s%s\n", paths, paths == 1 ? "path" : "paths",
	       shown->told.exact ? ", sizes and times of files included" : "");
	for (size_t i = 0; i < shown->dependency_count; i++) {
		print_dependency(&shown->dependencies[i]);
		unknown_root |= shown->dependencies[i].root != DEPENDENCY_NO_ROOT;
		relative |= shown->dependencies[i].relative;
	}
	if (shown->told.joined) {
		printf("%-*stwo of these that were different files are one by now\n", LABEL_WIDTH, "");
	}
	if (unknown_root) {
		printf("%-*swhich directories the numbered ones were is not stored\n", LABEL_WIDTH, "");
	}
	if (relative && shown->from == SHOWN_NEVER) {
		printf("%-*srelative paths were not looked at: the directory that it is bound to cannot be entered\n",
		       LABEL_WIDTH, "");
	}
	print_from(shown);
	if (shown->error != 0) {
		printf("%-*sthe rest cannot be read: %s\n", LABEL_WIDTH, "",
		       shown->error == -EPROTONOSUPPORT ? "it is of another version" : console_reason(shown->error));
	}
}

static void print_shown(const struct shown *shown)
{
	const struct listed_result *result = &shown->result;
	char key[KEY_TEXT_BYTES];
	struct about_fact arch;

	key_spell(result->key, key);
	print_label("key");
	puts(key);
	print_fact("program", result, ABOUT_PROGRAM);
	print_compiler(result);
	if (results_arch(result, &arch)) {
		print_label("arch");
		print_text(arch.text, arch.size);
		putchar('\n');
	}
	print_options(result);
	print_names(shown);
	print_made(result);
	if (result->return_code != 0) {
		print_label("returned");
		printf("%d, a failure that is kept\n", result->return_code);
	}
	print_holds(result);
	print_bound(shown);
	print_dependencies(shown);
}

static void print_all(const struct shown_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->count > 1) {
			printf("%sresult %zu of %zu under this key%s\n", i ? "\n" : "", i + 1, list->count,
			       i ? "" : ", the newest");
		}
		print_shown(&list->list[i]);
	}
}

enum form { FORM_TEXT, FORM_JSON };

static int show(const struct settings *settings, const char *text, const char *from, enum form form)
{
	struct inventory_record record;
	struct shown_list list;
	int status = key_find(settings, text, &record);

	if (status != EXIT_DONE) {
		return status;
	}
	status = shown_read(settings, &record, from, &list) ? EXIT_DONE : EXIT_TROUBLE;
	if (form == FORM_JSON) {
		show_json(&list);
	} else {
		print_all(&list);
	}
	shown_free(&list);
	return status;
}

int command_show(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"from", required_argument, NULL, 'f'},
	                                        {NULL, 0, NULL, 0}};
	enum form form = FORM_TEXT;
	const char *from = NULL;
	struct settings settings;
	int option, status;

	while ((option = options_getopt(argc, argv, "hj", options)) != -1) {
		if (option == 'h') {
			options_help("show");
			return EXIT_DONE;
		}
		if (option == 'j') {
			form = FORM_JSON;
		} else if (option == 'f') {
			from = optarg;
		} else {
			return options_usage("show");
		}
	}
	if (optind + 1 != argc) {
		console_error("show takes one key");
		return options_usage("show");
	}
	if (from && from[0] == '\0') {
		console_error("--from takes the name of a directory");
		return options_usage("show");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = console_directory(&settings) ? show(&settings, argv[optind], from, form) : EXIT_TROUBLE;
	settings_free(&settings);
	return status;
}
