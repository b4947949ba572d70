/* SPDX-License-Identifier: MIT */
/*
 * doctor: runs the program and reports which compilers it called
 *
 * The program runs with NVRTCCACHE_TRACE, NVRTCCACHE_LOG and LD_DEBUG_OUTPUT set to files in a new temporary directory.
 * The trace contains the outcome of each call. The log contains the library's warnings. The loader's files name the
 * libraries that the program and its children loaded; the program's own also shows whether the library was preloaded.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_MAX     100  /* outcomes with a reason, and libraries; further ones are not reported */
#define OBJECTS_MAX  4096 /* further libraries are not examined */
#define OBJECTS_NAME "objects"

/* Outcomes of calls, as in the trace. */
static const struct {
	const char *category, *words;
	enum finding_level level;
} kinds[] = {
    {"hit_memory", "hit in memory", FINDING_OK},
    {"hit_disk", "hit on disk", FINDING_OK},
    {"miss", "stored", FINDING_OK},
    {"not_kept", "not cached", FINDING_WARN},
    {"verified", "compiled to verify a hit", FINDING_OK},
    {"bypassed", "bypassed", FINDING_FAIL},
};

#define LIBRARY (sizeof(kinds) / sizeof(kinds[0])) /* no outcome: these rows count the calls of each library file */

/* Calls of one compiler with the same outcome and reason, or of the same library. */
struct row {
	size_t kind;
	char compiler[32], text[600], detail[600]; /* `detail`: that of the first call */
	uint64_t count;
};

struct seen {
	struct findings *findings;
	struct row rows[ROWS_MAX + 1]; /* the last one counts calls for which there is no row */
	size_t count;
	char before[400]; /* the last message of the log */
	char *objects[OBJECTS_MAX];
	size_t object_count;
};

/* Texts are truncated to the sizes of the fields, because they are only printed or compared with short names. */
static void count_row(struct seen *seen, const struct row *row)
{
	struct row *known = seen->rows;

	while (known < seen->rows + seen->count && (known->kind != row->kind || strcmp(known->text, row->text) != 0 ||
	                                            strcmp(known->compiler, row->compiler) != 0)) {
		known++;
	}
	if (known == seen->rows + seen->count && seen->count < ROWS_MAX) {
		*known = *row;
		seen->count++;
	}
	known->count++;
}

void doctor_lines(const char *path, void (*visit)(void *context, const char *line), void *context)
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

/* An event is one line, and quotes within texts are escaped, so `"name":"` occurs in no text. */
struct span doctor_text_of(const char *event, const char *name)
{
	char mark[32];
	const char *at;
	int size = snprintf(mark, sizeof(mark), "\"%s\":\"", name);

	at = strstr(event, mark);
	return at ? (struct span){at + size, strcspn(at + size, "\"")} : (struct span){NULL, 0};
}

static void count_call(void *context, const char *event)
{
	struct seen *seen = context;
	struct span category = doctor_text_of(event, "cat"), library = doctor_text_of(event, "library"),
	            version = doctor_text_of(event, "version");
	struct row row = {.kind = 0};

	while (row.kind < LIBRARY && !span_is(category, kinds[row.kind].category)) {
		row.kind++;
	}
	if (row.kind == LIBRARY) {
		return; /* events of other categories are not calls */
	}
	snprintf(row.compiler, sizeof(row.compiler), "%.*s", SPAN(doctor_text_of(event, "compiler")));
	snprintf(row.text, sizeof(row.text), "%.*s", SPAN(doctor_text_of(event, "reason")));
	if (row.text[0]) {
		snprintf(row.detail, sizeof(row.detail), "%.*s", SPAN(doctor_text_of(event, "detail")));
	}
	count_row(seen, &row);
	/* counts the same call a second time, by library */
	if (library.size > 0) {
		row.kind = LIBRARY;
		snprintf(row.text, sizeof(row.text), "%.*s%s%.*s, %s", SPAN(version), version.size ? ", " : "",
		         SPAN(library),
		         span_is(doctor_text_of(event, "reached"), "linked") ? "linked" : "through dlopen and dlsym");
		count_row(seen, &row);
	}
}

/* Adds the libraries first, because the outcomes are read better when the reader knows which compilers there are. */
static void tell_calls(const struct seen *seen)
{
	for (size_t i = 0; i < 2 * seen->count; i++) {
		const struct row *row = &seen->rows[i % seen->count];

		if (row->kind == LIBRARY && i < seen->count) {
			finding_add(seen->findings, FINDING_OK, "%s %s", row->compiler, row->text);
		} else if (row->kind != LIBRARY && i >= seen->count) {
			finding_add(seen->findings, kinds[row->kind].level, "%s: %" PRIu64 " %s%s%s%s%s", row->compiler,
			            row->count, kinds[row->kind].words, row->text[0] ? ": " : "", row->text,
			            row->detail[0] ? ": " : "", row->detail);
		}
	}
}

/* Returns whether the trace has a call of that compiler, even one that was bypassed. */
static bool is_called(const struct seen *seen, const char *compiler)
{
	for (size_t i = 0; i < seen->count; i++) {
		if (strcmp(seen->rows[i].compiler, compiler) == 0) {
			return true;
		}
	}
	return false;
}

/* Each line of the log is a warning, because that log level is set. The text follows "nvrtccache[4711]: ". */
static void tell_message(void *context, const char *line)
{
	struct seen *seen = context;
	const char *words = strstr(line, "]: ");

	words = words ? words + 3 : line;
	/* repeated messages are skipped, because each process of a pool logs the same */
	if (strncmp(seen->before, words, sizeof(seen->before) - 1) != 0 &&
	    !(seen->findings->refused && strstr(words, seen->findings->refused))) {
		finding_add(seen->findings, FINDING_WARN, "%s", words);
	}
	snprintf(seen->before, sizeof(seen->before), "%s", words);
}

/* Adds a path once: each process of a pool loads the same libraries, and a file is searched only once. */
static void add_object(struct seen *seen, const char *path)
{
	for (size_t i = 0; i < seen->object_count; i++) {
		if (strcmp(seen->objects[i], path) == 0) {
			return;
		}
	}
	if (seen->object_count < OBJECTS_MAX) {
		seen->objects[seen->object_count] = strdup(path);
		seen->object_count += seen->objects[seen->object_count] != NULL;
	}
}

/* Reads "     4711:\tcalling init: /lib/libm.so.6" and "     4711:\tinitialize program: /usr/bin/python3". */
static void note_object(void *context, const char *line)
{
	struct seen *seen = context;
	const char *at = strstr(line, "calling init: ");

	at = at ? at : strstr(line, "initialize program: ");
	at = at ? strstr(at, ": ") + 2 : "";
	if (strchr(at, '/')) {
		add_object(seen, at);
	}
}

/* Reads the loader's files, of which each process has one, and removes all files in the directory. */
static void take_objects(struct seen *seen, const char *place)
{
	DIR *directory = opendir(place);
	struct dirent *one;

	while (directory && (one = readdir(directory)) != NULL) {
		char *path;

		if (one->d_name[0] != '.' && asprintf(&path, "%s/%s", place, one->d_name) >= 0) {
			if (strncmp(one->d_name, OBJECTS_NAME, strlen(OBJECTS_NAME)) == 0) {
				doctor_lines(path, note_object, seen);
			}
			(void)unlink(path);
			free(path);
		}
	}
	if (directory) {
		closedir(directory);
	}
}

/*
 * Returns whether the library is among the files that were loaded so far. Files are compared and not paths, because
 * ld.so prints the path as LD_PRELOAD spells it.
 */
static bool is_library_loaded(const struct seen *seen)
{
	struct stat library, found;

	for (size_t i = 0; i < seen->object_count && stat(seen->findings->library, &library) == 0; i++) {
		if (stat(seen->objects[i], &found) == 0 && found.st_dev == library.st_dev &&
		    found.st_ino == library.st_ino) {
			return true;
		}
	}
	return false;
}

/*
 * ---- compilers among and inside the files that the run loaded
 *
 * Calls of a statically linked compiler cannot be intercepted, so the trace does not show them. Every copy of one has
 * the texts of its messages, also where its symbols are hidden or removed, as in Warp and cuDNN.
 */

/* Returns the content of a file, mapped, because libraries of a gigabyte are common. NULL: no file, or not readable. */
static struct span map_file(const char *path)
{
	/* open() must neither wait for the writer of a FIFO nor acquire a controlling terminal */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct span content = {NULL, 0};
	struct stat found;

	if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, file, 0);

		content = bytes == MAP_FAILED ? content : (struct span){bytes, (size_t)found.st_size};
	}
	if (file >= 0) {
		close(file);
	}
	return content;
}

/* Searches the whole file: the texts of a stripped library are in no table that names their place. */
static bool has_text(struct span content, const char *text)
{
	return content.bytes && memmem(content.bytes, content.size, text, strlen(text)) != NULL;
}

/* Returns whether a file is the library of a compiler: "libnvrtc.so.13", or "libnvrtc-672ee683.so.11.2" in a wheel. */
static bool is_library(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *end = base + strlen(name);

	return strncmp(base, name, strlen(name)) == 0 && (*end == '.' || *end == '-') && !strstr(end, "builtins");
}

static void tell_object(const struct seen *seen, const char *path)
{
	/* `message` NULL: libNVVM is not delivered as a static library */
	static const struct {
		const char *title, *name, *called, *message;
	} compilers[] = {
	    {"NVRTC", "libnvrtc", "nvrtc", "nvrtc: error: invalid value for --gpu-architecture"},
	    {"nvJitLink", "libnvJitLink", "nvjitlink", "bad input: does not match type NVJITLINK_INPUT"},
	    {"libNVVM", "libnvvm", "nvvm", NULL},
	};
	/* a program that cannot be read, or has gone, contains nothing */
	struct span content = map_file(path);

	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		if (is_library(path, compilers[i].name)) {
			if (!is_called(seen, compilers[i].called)) {
				finding_add(seen->findings, FINDING_WARN,
				            "loaded: %s, and no call reached the cache: none was made, or by private "
				            "functions, as cuTile does",
				            path);
			}
		} else if (compilers[i].message && has_text(content, compilers[i].message)) {
			finding_add(seen->findings, FINDING_FAIL,
			            "inside: %s is linked statically into %s, where the cache cannot intercept it: not "
			            "cached%s",
			            compilers[i].title, path,
			            has_text(content, "CUDNN_NVRTC_RUNTIME_LINKING")
			                ? "; nvrtccache run --cudnn makes it load libnvrtc"
			                : "");
		}
	}
	if (content.bytes) {
		munmap((void *)content.bytes, content.size);
	}
}

/* ---- the run */

/* Adds what the files in `place` show, which is empty again afterwards. `pid` is that of the program. */
static void tell_run(struct seen *seen, const char *place, const char *name, pid_t pid)
{
	char file[300];
	bool is_loaded;

	/* doctor has waited only for the program: the files of a child that outlives it may be incomplete */
	snprintf(file, sizeof(file), "%s/" OBJECTS_NAME ".%ld", place, (long)pid);
	doctor_lines(file, note_object, seen);
	is_loaded = is_library_loaded(seen);
	doctor_lines(getenv("NVRTCCACHE_TRACE"), count_call, seen);
	tell_calls(seen);
	/* a fact that the run shows; which of its causes applies, `file` and `ls -l` say */
	if (!is_loaded) {
		finding_add(seen->findings, seen->count == 0 ? FINDING_FAIL : FINDING_WARN,
		            "%s did not load the library%s: it is linked statically, setuid or setgid, has "
		            "capabilities, is for another machine, or has a loader other than glibc's",
		            name, seen->count == 0 ? "" : ", but a program that it started did");
	} else if (seen->count == 0) {
		finding_add(seen->findings, FINDING_WARN, "no compilation reached the library");
	}
	doctor_lines(getenv("NVRTCCACHE_LOG"), tell_message, seen);
	/* the loader names the program as it was started, and only in a linked one */
	if (strchr(name, '/')) {
		add_object(seen, name);
	}
	take_objects(seen, place);
	for (size_t i = 0; i < seen->object_count; i++) {
		tell_object(seen, seen->objects[i]);
	}
}

void doctor_run(struct findings *findings, char **argv)
{
	static const char *const variables[][2] = {
	    {"NVRTCCACHE_TRACE", "trace"}, {"NVRTCCACHE_LOG", "log"}, {"LD_DEBUG_OUTPUT", OBJECTS_NAME}};
	static struct seen seen;
	char place[200], path[256];
	pid_t pid;
	int status, error;

	error = library_place("doctor", place, sizeof(place));
	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "%s: %s", place, strerror(-error));
		return;
	}
	seen.findings = findings;
	/* set in this process, which starts nothing else and ends after the report */
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", place, variables[i][1]);
		(void)setenv(variables[i][0], path, 1);
	}
	/* the library's file names appear in "files" alone; other words of LD_DEBUG print a line for each symbol */
	(void)setenv("NVRTCCACHE_LOG_LEVEL", "warning", 1);
	(void)setenv("LD_DEBUG", "files", 1);
	error = library_execute(argv, &pid, &status);
	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "%s cannot be run: %s", argv[0], strerror(error));
	} else {
		tell_run(&seen, place, argv[0], pid);
		if (status != 0) {
			finding_add(findings, FINDING_WARN, "the program ended with status %d", status);
		}
	}
	/* fails if a child that outlives the program has written meanwhile; nothing else uses the directory */
	(void)rmdir(place);
}
