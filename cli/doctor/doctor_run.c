/* SPDX-License-Identifier: MIT */
/*
 * doctor: runs the program and reports which compilers it called
 *
 * The program runs with NVRTCCACHE_TRACE, NVRTCCACHE_LOG and LD_DEBUG_OUTPUT set to files in a new temporary directory.
 * The trace contains the outcome of each call. The log contains the library's warnings. The loader's files name the
 * libraries that the program and its children loaded.
 * Calls are counted in rows by compiler, outcome and reason; a report line joins the rows of one compiler and
 * outcome.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/request.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJECTS_MAX  4096 /* further libraries are not examined */
#define OBJECTS_NAME "objects"

/* Outcomes of calls, as in the trace. LIBRARY is not an outcome: its rows count the calls of each library file. */
enum kind { HIT_IN_MEMORY, HIT_ON_DISK, STORED, NOT_KEPT, VERIFIED, PASSED_THROUGH, LIBRARY };

static const struct {
	const char *category, *words;
	enum finding_level level;
} kinds[] = {
    [HIT_IN_MEMORY] = {"hit_memory", "hit in memory", FINDING_OK},
    [HIT_ON_DISK] = {"hit_disk", "hit on disk", FINDING_OK},
    [STORED] = {"miss", "stored", FINDING_OK},
    [NOT_KEPT] = {"not_kept", "not cached", FINDING_WARN},
    [VERIFIED] = {"verified", "compiled to verify a hit", FINDING_OK},
    [PASSED_THROUGH] = {"bypassed", "bypassed", FINDING_FAIL},
};

/* A library, or an outcome with its reason, and how often the trace has it. */
struct row {
	enum kind kind;
	char compiler[32], text[600];
	uint64_t count;
};

struct seen {
	struct row *rows;
	size_t count;
	enum doctor_calls calls[DOCTOR_COMPILERS];
};

static void count_row(struct seen *seen, const struct row *row)
{
	struct row *rows;
	size_t i = 0;

	while (i < seen->count && (seen->rows[i].kind != row->kind || strcmp(seen->rows[i].text, row->text) != 0 ||
	                           strcmp(seen->rows[i].compiler, row->compiler) != 0)) {
		i++;
	}
	if (i == seen->count) {
		/* grows by one element at a time, because the number of rows is that of reasons, not of calls */
		rows = realloc(seen->rows, (i + 1) * sizeof(*rows));
		if (!rows) {
			return;
		}
		seen->rows = rows;
		rows[seen->count++] = *row;
	}
	seen->rows[i].count++;
}

/* Calls `visit` for each line of a file, without its line break. */
static void each_line(const char *path, void (*visit)(void *context, const char *line), void *context)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 0;
	char *line = NULL;

	while (file && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		visit(context, line);
	}
	free(line);
	if (file) {
		fclose(file);
	}
}

/*
 * Returns a text of an event of the trace, as it is written there. An event is one line, and quotes within texts are
 * escaped, so `"name":"` occurs in no text.
 */
static struct span text_of(const char *event, const char *name)
{
	char mark[32];
	const char *at;
	int size = snprintf(mark, sizeof(mark), "\"%s\":\"", name);

	at = strstr(event, mark);
	return at ? (struct span){at + size, strcspn(at + size, "\"")} : (struct span){NULL, 0};
}

/* Texts are truncated to the sizes of the fields, because they are only printed or compared with short names. */
static void count_call(struct seen *seen, enum kind kind, const char *event)
{
	struct span library = text_of(event, "library"), version = text_of(event, "version");
	struct row row = {.kind = kind};
	int compiler;

	snprintf(row.compiler, sizeof(row.compiler), "%.*s", SPAN(text_of(event, "compiler")));
	snprintf(row.text, sizeof(row.text), "%.*s", SPAN(text_of(event, "reason")));
	count_row(seen, &row);
	compiler = doctor_compiler(row.compiler);
	/* a single call that bypasses the cache sets PASS_BY, and later calls do not change that */
	if (compiler >= 0 && seen->calls[compiler] != DOCTOR_CALLS_PASS_BY) {
		seen->calls[compiler] = strcmp(row.text, "exports") == 0 ? DOCTOR_CALLS_PASS_BY : DOCTOR_CALLS_SEEN;
	}
	/* counts the same call a second time, by library */
	if (library.size > 0) {
		row.kind = LIBRARY;
		snprintf(row.text, sizeof(row.text), "%.*s%s%.*s, %s", SPAN(version), version.size ? ", " : "",
		         SPAN(library),
		         span_is(text_of(event, "reached"), "linked") ? "linked" : "through dlopen and dlsym");
		count_row(seen, &row);
	}
}

static void count_event(void *context, const char *event)
{
	struct span category = text_of(event, "cat");

	for (enum kind kind = 0; kind < LIBRARY; kind++) {
		/* events of other categories are not calls */
		if (span_is(category, kinds[kind].category)) {
			count_call(context, kind, event);
		}
	}
}

/*
 * Adds "nvrtc: 2 not cached (time_macros 2)": one finding for all rows with this compiler and outcome. Does nothing if
 * `first` is not the first of these rows.
 */
static void tell_kind(struct findings *findings, const struct seen *seen, size_t first)
{
	const struct row *head = &seen->rows[first];
	char reasons[512] = "";
	uint64_t count = 0;
	size_t size = 0;

	for (size_t i = 0; i < seen->count; i++) {
		const struct row *row = &seen->rows[i];

		if (row->kind != head->kind || strcmp(row->compiler, head->compiler) != 0) {
			continue;
		}
		if (i < first) {
			return;
		}
		count += row->count;
		if (row->text[0] && size < sizeof(reasons) - 100) {
			size += (size_t)snprintf(reasons + size, sizeof(reasons) - size, "%s%s %" PRIu64,
			                         size ? ", " : " (", row->text, row->count);
		}
	}
	finding_add(findings, kinds[head->kind].level, "run", "%s: %" PRIu64 " %s%s%s", head->compiler, count,
	            kinds[head->kind].words, reasons, size ? ")" : "");
}

static void tell_seen(struct findings *findings, const struct seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->rows[i].kind == LIBRARY) {
			finding_add(findings, FINDING_OK, "compiler", "%s %s", seen->rows[i].compiler,
			            seen->rows[i].text);
		}
	}
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->rows[i].kind != LIBRARY) {
			tell_kind(findings, seen, i);
		}
	}
	if (seen->count == 0) {
		finding_add(findings, FINDING_WARN, "run", "no compilation reached the library");
	}
}

struct log {
	struct findings *findings;
	char before[400]; /* the last message */
};

/* Each line of the log is a warning, because run_in() sets that log level. The text follows "nvrtccache[4711]: ". */
static void tell_message(void *context, const char *line)
{
	struct log *log = context;
	const char *words = strstr(line, "]: ");

	words = words ? words + 3 : line;
	/* repeated messages are skipped, because each process of a pool logs the same */
	if (strncmp(log->before, words, sizeof(log->before) - 1) != 0 &&
	    !(log->findings->refused && strstr(words, log->findings->refused))) {
		finding_add(log->findings, FINDING_WARN, "log", "%s", words);
	}
	snprintf(log->before, sizeof(log->before), "%s", words);
}

struct objects {
	char *paths[OBJECTS_MAX];
	size_t count;
};

static void add_object(struct objects *objects, const char *path)
{
	for (size_t i = 0; i < objects->count; i++) {
		if (strcmp(objects->paths[i], path) == 0) {
			return;
		}
	}
	if (objects->count < OBJECTS_MAX) {
		objects->paths[objects->count] = strdup(path);
		objects->count += objects->paths[objects->count] != NULL;
	}
}

/* Reads "     4711:\tcalling init: /lib/libm.so.6" and "     4711:\tinitialize program: /usr/bin/python3". */
static void note_object(void *context, const char *line)
{
	static const char *const heads[] = {"calling init: ", "initialize program: "};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *at = strstr(line, heads[i]);

		if (at && at[strlen(heads[i])] == '/') {
			add_object(context, at + strlen(heads[i]));
		}
	}
}

/* Reads the loader's files and removes all files in the directory. The loader writes one file per process. */
static void take_objects(struct objects *objects, const char *place)
{
	DIR *directory = opendir(place);
	struct dirent *one;

	while (directory && (one = readdir(directory)) != NULL) {
		char *path;

		if (one->d_name[0] != '.' && asprintf(&path, "%s/%s", place, one->d_name) >= 0) {
			if (strncmp(one->d_name, OBJECTS_NAME, strlen(OBJECTS_NAME)) == 0) {
				each_line(path, note_object, objects);
			}
			(void)unlink(path);
			free(path);
		}
	}
	if (directory) {
		closedir(directory);
	}
}

static void tell_objects(struct findings *findings, struct objects *objects, const char *library,
                         const struct seen *seen)
{
	for (size_t i = 0; i < objects->count; i++) {
		/* the library is skipped, because it exports the compilers' functions itself */
		if (strcmp(objects->paths[i], library) != 0) {
			doctor_object(findings, objects->paths[i], seen->calls);
		}
		free(objects->paths[i]);
	}
}

static void tell_end(struct findings *findings, const char *name, int status)
{
	if (status < 0) {
		finding_add(findings, FINDING_FAIL, "run", "%s cannot be run: %s", name, strerror(-status));
	} else if (status != 0) {
		finding_add(findings, FINDING_WARN, "run", "the program ended with status %d", status);
	}
}

/* Runs the program with its files in the directory `place`, which is empty again afterwards. */
static void run_in(struct findings *findings, const char *place, const char *library, const char *path,
                   struct doctor_start *start)
{
	char trace[256], log[256], list[256];
	const char *more[][2] = {{"NVRTCCACHE_TRACE", trace},         {"NVRTCCACHE_LOG", log},
	                         {"NVRTCCACHE_LOG_LEVEL", "warning"}, {"LD_DEBUG", "files"},
	                         {"LD_DEBUG_OUTPUT", list},           {NULL, NULL}};
	struct objects objects = {.count = 0};
	struct seen seen = {.count = 0};
	int status;

	snprintf(trace, sizeof(trace), "%s/trace", place);
	snprintf(log, sizeof(log), "%s/log", place);
	snprintf(list, sizeof(list), "%s/" OBJECTS_NAME, place);
	start->more = more;
	/* doctor waits only for the program: the files of a child that outlives it may be incomplete */
	status = doctor_start(start);
	if (status >= 0) {
		each_line(trace, count_event, &seen);
		tell_seen(findings, &seen);
		each_line(log, tell_message, &(struct log){.findings = findings});
		add_object(&objects, path);
	}
	take_objects(&objects, place);
	tell_objects(findings, &objects, library, &seen);
	tell_end(findings, start->argv[0], status);
	free(seen.rows);
}

void doctor_run(struct findings *findings, const char *library, const char *path, char **argv,
                enum doctor_output output)
{
	const char *base = getenv("TMPDIR"), *others = getenv("LD_PRELOAD");
	struct doctor_start start = {.argv = argv, .output = output == DOCTOR_OUTPUT_ERROR ? STDERR_FILENO : -1};
	char place[200], *preload;

	snprintf(place, sizeof(place), "%s/nvrtccache-doctor.XXXXXX", base && base[0] == '/' ? base : "/tmp");
	if (!mkdtemp(place)) {
		finding_add(findings, FINDING_FAIL, "run", "%s: %s", place, strerror(errno));
		return;
	}
	if (asprintf(&preload, "%s%s%s", library, others && others[0] ? ":" : "", others ? others : "") >= 0) {
		start.preload = preload;
		run_in(findings, place, library, path, &start);
		free(preload);
	}
	(void)rmdir(place);
}
