/* SPDX-License-Identifier: MIT */
/*
 * show: prints all properties of the entries of one key, and the state of their dependencies
 *
 * Relative paths are resolved against the directory that --from names, else against the directory that the entry
 * depends on, else against the working directory. Only path-dependent entries record where they were compiled. A root
 * is looked up at the path that the entry recorded. The process changes its working directory to check the paths.
 */
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"
#include "keygen/dependencies_tell.h"
#include "keygen/directories.h"
#include "keygen/lowered.h"
#include "keygen/needles.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LABEL_WIDTH 10
#define STATE_WIDTH 14
#define LINE_WIDTH  100

static struct {
	bool json;
	const char *from;
} asked;

/* What relative paths are resolved against. NEVER: no path is relative, or the directory cannot be entered. */
enum from { FROM_NEVER, FROM_BOUND, FROM_NAMED, FROM_HERE };

struct shown {
	const struct entry *entry;
	struct listed_result result;
	struct request request;
	struct dependencies_told told;
	size_t count, paths; /* number of dependencies, and of those that are paths */
	bool is_relative;    /* a path is relative */
	enum from from;
	char *directory; /* that `from` means; NULL: none */
};

/* ---- which directory an entry depends on, and why ---- */

enum reason {
	REASON_REQUEST,  /* the request names the directory */
	REASON_ARTIFACT, /* an artifact contains the directory's name */
	REASON_TEXT      /* a text that was compiled can name its own file (__FILE__ and the like) */
};

/* A directory that the entry depends on, and why. `by`: the option or the artifact; size 0: unknown. */
struct bound {
	struct span directory, by;
	enum reason reason;
};

/*
 * Returns the number of directories that the entry depends on. Entries of earlier builds may be path-dependent by their
 * key without naming the directory; these count as one directory.
 */
static size_t count_bound(const struct shown *shown)
{
	size_t count = shown->request.counts[ABOUT_BOUND];

	return count == 0 && request_is_bound(&shown->request) ? 1 : count;
}

/*
 * Returns the name of the artifact that contains the text; size 0: none. The search is the one that made the entry
 * path-dependent when it was stored.
 */
static struct span find_artifact(const struct shown *shown, struct span text)
{
	const struct request *request = &shown->request;
	const struct needle needle = {text.bytes, text.size};
	struct section section;

	for (size_t i = 0; entry_section_at(shown->entry, i, &section); i++) {
		struct needles *needles;
		bool found;

		/* the about section is not an artifact, and always names the directory */
		if (section.tag == ABOUT_SECTION || needles_new(&needle, 1, &needles) != 0) {
			continue;
		}
		needles_search(needles, section.bytes, section.size);
		found = needles_found(needles, 0);
		needles_free(needles);
		for (size_t j = 0; found && j < request->counts[ABOUT_ARTIFACT]; j++) {
			if (request->facts[ABOUT_ARTIFACT][j].tag == section.tag) {
				return span_of(&request->facts[ABOUT_ARTIFACT][j]);
			}
		}
		if (found) {
			/* the only other section that can contain paths is that of the lowered names */
			return (struct span){"lowered names", strlen("lowered names")};
		}
	}
	return (struct span){NULL, 0};
}

static struct bound find_bound(const struct shown *shown, size_t number)
{
	const struct request *request = &shown->request;
	struct bound bound = {.reason = REASON_REQUEST};

	if (number < request->counts[ABOUT_BOUND]) {
		bound.directory = span_of(&request->facts[ABOUT_BOUND][number]);
	}
	if (number == 0 && request_is_bound(request)) {
		if (request_is(request, ABOUT_COMPILER, "nvrtc")) {
			/* request_binder() knows options of NVRTC only; for links the paths of files are the reason */
			bound.by = request_binder(request);
		}
		return bound;
	}
	bound.by = find_artifact(shown, bound.directory);
	bound.reason = bound.by.size ? REASON_ARTIFACT : REASON_TEXT;
	return bound;
}

/*
 * Returns the working directory of the request if the entry depends on it, else NULL. The caller frees it. The bound
 * directories are the working directory, if any, and then the roots that the dependencies name. So the first one is the
 * working directory if the key contains it, or if there are more bound directories than such roots.
 */
static char *find_bound_directory(const struct shown *shown)
{
	struct span first = request_text(&shown->request, ABOUT_BOUND);

	return first.size && (request_is_bound(&shown->request) ||
	                      shown->request.counts[ABOUT_BOUND] > shown->told.bound_roots)
	           ? strndup(first.bytes, first.size)
	           : NULL;
}

/* ---- dependencies ---- */

static void count_dependency(const struct dependency *dependency, void *context)
{
	struct shown *shown = context;

	shown->count++;
	shown->paths += dependency->kind != DEPENDENCY_ARITHMETIC && dependency->kind != DEPENDENCY_MACHINE;
	shown->is_relative |= dependency->relative;
}

/* Enters the directory against which relative paths are resolved. Returns false after a message if --from fails. */
static bool enter_directory(struct shown *shown)
{
	char *bound = shown->is_relative && !asked.from ? find_bound_directory(shown) : NULL;

	if (asked.from && chdir(asked.from) < 0) {
		console_error("%s: %s", asked.from, strerror(errno));
		return false;
	}
	/* the order is: --from, then the directory that the entry depends on, then the working directory */
	if (bound && chdir(bound) == 0) {
		shown->from = FROM_BOUND;
	} else if (shown->is_relative && !bound) {
		shown->from = asked.from ? FROM_NAMED : FROM_HERE;
	}
	shown->directory = shown->from == FROM_BOUND ? bound : shown->from != FROM_NEVER ? getcwd(NULL, 0) : NULL;
	if (shown->directory != bound) {
		free(bound);
	}
	return true;
}

/* Checks all dependencies and calls `each` with every one and its state. Returns 0 or a negative errno value. */
static int walk_dependencies(struct shown *shown, void (*each)(const struct dependency *dependency, void *context),
                             void *context)
{
	const struct request *request = &shown->request;
	size_t size, count = request->counts[ABOUT_ROOT];
	const void *dependencies = entry_dependencies(shown->entry, &size);
	struct root *roots = calloc(count + 1, sizeof(*roots));
	/* if the number of roots differs from that in the dependencies, no root is used */
	const struct dependency_places places = {
	    .root = roots,
	    .root_count = roots && count == shown->told.roots ? count : 0,
	    .here = shown->from != FROM_NEVER,
	};
	int error;

	for (size_t i = 0; i < places.root_count; i++) {
		const struct about_fact *fact = &request->facts[ABOUT_ROOT][i];

		/* copied, because the texts of facts are not NUL-terminated */
		roots[i] = (struct root){strndup(fact->text, fact->size), fact->size};
	}
	error = dependencies_tell(dependencies, size, &places, each, context, &shown->told);
	for (size_t i = 0; i < places.root_count; i++) {
		free(roots[i].text);
	}
	free(roots);
	return error;
}

/* ---- for people ---- */

static void print_label(const char *label)
{
	printf("%-*s", LABEL_WIDTH, label);
}

static void print_span(struct span span)
{
	console_print(stdout, "%.*s", SPAN(span));
}

static void print_line(const char *label, struct span text)
{
	if (text.bytes) {
		print_label(label);
		print_span(text);
		putchar('\n');
	}
}

static void print_compiler(const struct request *request)
{
	struct span title = request_text(request, ABOUT_TITLE), step = request_text(request, ABOUT_STEP);

	print_label("compiler");
	console_print(stdout, "%.*s %.*s%s%.*s", SPAN(title), SPAN(request_text(request, ABOUT_RELEASE)),
	              step.size ? ", " : "", SPAN(step));
	puts(title.bytes ? "" : "not known: an earlier build made this entry");
}

/* Returns whether a shell takes the text without quotes. */
static bool is_plain(const struct about_fact *fact)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/%@";

	for (size_t i = 0; i < fact->size; i++) {
		if (!memchr(plain, fact->text[i], sizeof(plain) - 1)) {
			return false;
		}
	}
	return fact->size > 0;
}

/* Prints the options, wrapped at LINE_WIDTH and quoted for a shell, so that they can be pasted into a command. */
static void print_options(const struct request *request)
{
	size_t column = 0;

	for (size_t i = 0; i < request->counts[ABOUT_OPTION]; i++) {
		const struct about_fact *option = &request->facts[ABOUT_OPTION][i];
		const char *quote = is_plain(option) ? "" : "'";

		if (column == 0) {
			print_label("options");
		} else if (column + option->size > LINE_WIDTH) {
			printf("\n%-*s", LABEL_WIDTH, "");
			column = 0;
		} else {
			putchar(' ');
		}
		console_print(stdout, "%s%.*s%s", quote, (int)option->size, option->text, quote);
		column += option->size + 1;
	}
	fputs(column > 0 ? "\n" : "", stdout);
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
		print_label(label);
		console_print(stdout, "%s  %s", lowered.expression, lowered.name ? lowered.name : "no name");
		putchar('\n');
		label = "";
	}
}

static void print_made(const struct shown *shown)
{
	const struct listed_result *result = &shown->result;
	const time_t seconds = (time_t)(result->created_ns / 1000000000);
	struct span command = request_text(&shown->request, ABOUT_COMMAND);
	char when[64], number[CONSOLE_NUMBER_BYTES];
	struct tm local;

	print_label("made");
	if (localtime_r(&seconds, &local) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local) > 0) {
		printf("%s ", when);
	}
	console_print(stdout, "%s%.*s%sin %s", command.size ? "by " : "", SPAN(command), command.size ? " " : "",
	              console_time(result->cost_ns, number));
	printf("\n%-*s%s\n", LABEL_WIDTH, "used", console_age(result->used_ns, number));
	printf("%-*s%s\n", LABEL_WIDTH, "size", console_bytes(result->bytes, number));
	if (result->return_code != 0) {
		printf("%-*s%d, a cached failure\n", LABEL_WIDTH, "returned", result->return_code);
	}
}

static void print_artifacts(const struct shown *shown)
{
	char size[CONSOLE_NUMBER_BYTES];

	for (size_t i = 0; i < shown->request.counts[ABOUT_ARTIFACT]; i++) {
		const struct about_fact *artifact = &shown->request.facts[ABOUT_ARTIFACT][i];

		print_label(i ? "" : "holds");
		print_span(span_of(artifact));
		printf("  %s\n", console_bytes(results_artifact_size(&shown->result, artifact), size));
	}
}

static void print_bound(const struct shown *shown)
{
	size_t count = count_bound(shown);

	if (shown->result.about && count == 0) {
		printf("%-*s%s\n", LABEL_WIDTH, "bound to", "nothing");
	}
	for (size_t i = 0; i < count; i++) {
		struct bound bound = find_bound(shown, i);

		print_label(i ? "" : "bound to");
		console_print(stdout, "%.*s", SPAN(bound.directory));
		fputs(bound.directory.size ? "  " : "a directory whose path is not stored  ", stdout);
		if (bound.reason == REASON_ARTIFACT) {
			console_print(stdout, "the path is in the %.*s", SPAN(bound.by));
		} else if (bound.reason == REASON_TEXT) {
			fputs("the source or a header can name its own file (__FILE__ and the like)", stdout);
		} else if (bound.by.size) {
			console_print(stdout, "by %.*s", SPAN(bound.by));
		} else {
			fputs("by options or paths of the request", stdout);
		}
		putchar('\n');
	}
}

/* Prints one dependency. dependency_state_text() names the states for JSON too. */
static void print_dependency(const struct dependency *dependency, void *context)
{
	char size[CONSOLE_NUMBER_BYTES];
	bool *has_unknown_root = context;

	printf("%-*s%-*s", LABEL_WIDTH, "", STATE_WIDTH, dependency_state_text(dependency->state));
	if (dependency->kind == DEPENDENCY_ARITHMETIC) {
		puts("the mathematics functions that constants were folded with");
		return;
	}
	if (dependency->kind == DEPENDENCY_MACHINE) {
		printf("the %s was %" PRId64 "\n", dependency->question, dependency->answer);
		return;
	}
	if (dependency->root != DEPENDENCY_NO_ROOT) {
		*has_unknown_root = true;
		/* entries of earlier builds have only the numbers of their roots, not the paths */
		printf("(directory %" PRIu32 ")", dependency->root + 1);
	}
	console_print(stdout, "%s", dependency->path);
	if (dependency->kind == DEPENDENCY_ABSENT) {
		puts("  did not exist");
	} else if (dependency->directory) {
		puts("  a directory");
	} else {
		printf("  %s%s\n", console_bytes(dependency->size, size),
		       dependency->kind == DEPENDENCY_PLACE ? ", not read" : "");
	}
}

static void print_note(const char *text)
{
	printf("%-*s%s\n", LABEL_WIDTH, "", text);
}

static void print_dependencies(struct shown *shown)
{
	static const char *const whys[] = {
	    [FROM_NEVER] = "",
	    [FROM_BOUND] = "to which the entry is bound",
	    [FROM_NAMED] = "as --from says",
	    [FROM_HERE] = "the working directory; the entry does not say where it was compiled",
	};
	bool has_unknown_root = false;
	int error;

	print_label("depends");
	if (shown->count == 0) {
		puts("on no file");
	} else {
		printf("on %zu %s%s\n", shown->paths, shown->paths == 1 ? "path" : "paths",
		       shown->told.exact ? ", sizes and times of files included" : "");
	}
	error = walk_dependencies(shown, print_dependency, &has_unknown_root);
	if (shown->told.joined) {
		print_note("two of these paths were different files, and are the same file now");
	}
	if (has_unknown_root) {
		print_note("the paths of the numbered directories are not stored");
	}
	if (shown->is_relative && shown->from == FROM_NEVER) {
		print_note(
		    "relative paths were not checked: the directory that the entry is bound to cannot be opened");
	}
	if (shown->directory) {
		console_print(stdout, "%-*srelative paths are relative to %s, %s", LABEL_WIDTH, "", shown->directory,
		              whys[shown->from]);
		putchar('\n');
	}
	if (error != 0) {
		print_label("");
		printf("the rest cannot be read: %s\n",
		       error == -EPROTONOSUPPORT ? "it has another version" : console_reason(error));
	}
}

static void print_shown(struct shown *shown)
{
	char key[KEY_TEXT_BYTES];

	key_spell(shown->result.key, key);
	print_line("key", (struct span){key, strlen(key)});
	print_line("program", request_text(&shown->request, ABOUT_PROGRAM));
	print_compiler(&shown->request);
	print_line("arch", request_arch(&shown->request));
	print_options(&shown->request);
	print_names(shown);
	print_made(shown);
	print_artifacts(shown);
	print_bound(shown);
	print_dependencies(shown);
}

/* ---- as JSON ---- */

static void add_dependency(const struct dependency *dependency, void *context)
{
	static const char *const kinds[] = {
	    [DEPENDENCY_CONTENT] = "content",       [DEPENDENCY_PLACE] = "place",     [DEPENDENCY_ABSENT] = "absent",
	    [DEPENDENCY_ARITHMETIC] = "arithmetic", [DEPENDENCY_MACHINE] = "machine",
	};
	bool is_question = dependency->kind == DEPENDENCY_MACHINE;
	struct json *json = context;

	json_begin_object(json, NULL);
	json_string(json, "kind", kinds[dependency->kind]);
	json_string(json, "state", dependency_state_text(dependency->state));
	/* every object has all members; those without a meaning are null */
	json_string(json, "path", is_question ? NULL : dependency->path);
	json_bool(json, "relative", dependency->relative);
	json_bool(json, "directory", dependency->directory);
	if (dependency->root != DEPENDENCY_NO_ROOT) {
		json_number(json, "root", dependency->root);
	} else {
		json_null(json, "root");
	}
	if (dependency->kind == DEPENDENCY_CONTENT ||
	    (dependency->kind == DEPENDENCY_PLACE && !dependency->directory)) {
		json_number(json, "bytes", dependency->size);
	} else {
		json_null(json, "bytes");
	}
	json_string(json, "question", is_question ? dependency->question : NULL);
	if (is_question) {
		json_integer(json, "answer", dependency->answer);
	} else {
		json_null(json, "answer");
	}
	json_end(json);
}

static void add_text(struct json *json, const char *name, struct span text)
{
	if (text.size) {
		json_text(json, name, text.bytes, text.size);
	} else {
		json_null(json, name);
	}
}

static void add_shown(struct json *json, struct shown *shown)
{
	static const char *const froms[] = {
	    [FROM_NEVER] = NULL, [FROM_BOUND] = "bound", [FROM_NAMED] = "named", [FROM_HERE] = "here"};
	static const char *const reasons[] = {
	    [REASON_REQUEST] = "request", [REASON_ARTIFACT] = "artifact", [REASON_TEXT] = "text"};
	int error;

	json_begin_object(json, NULL);
	results_json(json, &shown->result, &shown->request);
	json_begin_array(json, "bound_why");
	for (size_t i = 0; i < count_bound(shown); i++) {
		struct bound bound = find_bound(shown, i);

		json_begin_object(json, NULL);
		add_text(json, "directory", bound.directory);
		json_string(json, "reason", reasons[bound.reason]);
		add_text(json, "by", bound.by);
		json_end(json);
	}
	json_end(json);
	json_string(json, "from", froms[shown->from]);
	json_string(json, "from_directory", shown->directory);
	json_begin_array(json, "dependencies");
	error = walk_dependencies(shown, add_dependency, json);
	json_end(json);
	json_bool(json, "exact", shown->told.exact);
	json_bool(json, "joined", shown->told.joined);
	json_string(json, "dependencies_error",
	            error == 0                  ? NULL
	            : error == -EPROTONOSUPPORT ? "version"
	            : error == -EBADMSG         ? "damaged"
	                                        : console_reason(error));
	json_end(json);
}

/* ---- the verb ---- */

/* Shows an entry as JSON, or as text if `json` is NULL. `home` is the working directory, which is restored. */
static int show_entry(const struct entry *entry, int64_t used_ns, int home, struct json *json)
{
	struct shown shown = {.entry = entry};
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	int status = EXIT_TROUBLE;

	/* all entries under the key have the time of use of their file */
	if (results_copy(entry, used_ns, &shown.result) != 0) {
		console_error("%s", strerror(ENOMEM));
		return EXIT_TROUBLE;
	}
	/* the first pass finds out whether a path is relative and how many roots there are, for the second pass */
	shown.request = results_request(&shown.result);
	(void)dependencies_tell(dependencies, size, NULL, count_dependency, &shown, &shown.told);
	if (enter_directory(&shown)) {
		if (json) {
			add_shown(json, &shown);
		} else {
			print_shown(&shown);
		}
		status = EXIT_DONE;
	}
	/* restored for the next entry, whose relative paths, or a relative --from, start from here */
	if (fchdir(home) < 0) {
		console_error("the working directory: %s", strerror(errno));
		status = EXIT_TROUBLE;
	}
	free(shown.directory);
	request_free(&shown.request);
	results_free(&shown.result);
	return status;
}

static int show_all(const struct key_entries *entries, int64_t used_ns, int home)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 3);
	int status = EXIT_DONE;

	if (asked.json) {
		json_begin_array(&json, NULL);
	}
	for (size_t i = 0; i < entries->count && status == EXIT_DONE; i++) {
		if (!asked.json && entries->count > 1) {
			printf("%sentry %zu of %zu under this key%s\n", i ? "\n" : "", i + 1, entries->count,
			       i ? "" : ", the newest");
		}
		status = show_entry(entries->list[i], used_ns, home, asked.json ? &json : NULL);
	}
	if (asked.json) {
		json_end(&json);
		console_json_end(&json);
	}
	return status;
}

static int run_show(struct settings *settings, char **operands)
{
	struct inventory_record record;
	struct key_entries entries;
	/* a descriptor and not a path, because the directory may have been removed or be unreachable by path */
	int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int status = key_find(settings, operands[0], &record), shown;

	if (status == EXIT_DONE && home < 0) {
		console_error("the working directory: %s", strerror(errno));
		status = EXIT_TROUBLE;
	}
	if (status == EXIT_DONE) {
		status = key_read(settings, record.key, &entries);
		shown = show_all(&entries, record.used, home);
		status = status ? status : shown;
		key_release(&entries);
	}
	if (home >= 0) {
		close(home);
	}
	return status;
}

const struct verb verb_show = {
    .name = "show",
    .arguments = "[--json] [--from DIR] KEY",
    .summary = "show what an entry contains and depends on",
    .more = "KEY is a key or its beginning, as 'nvrtccache ls' shows it.",
    .example = "nvrtccache show 5addf761",
    .options =
        (const struct verb_option[]){
            {"json", 'j', NULL, "print JSON", &asked.json, NULL},
            {"from", 0, "DIR", "resolve relative paths against DIR (default: working directory)", NULL, &asked.from},
            {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .least = 1,
    .most = 1,
    .run = run_show,
};
