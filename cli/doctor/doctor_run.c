/* SPDX-License-Identifier: MIT */
/*
 * doctor: runs the program and reports which compilers it called
 *
 * The program runs with NVRTCCACHE_TRACE, NVRTCCACHE_LOG and LD_DEBUG_OUTPUT set to files in a new temporary directory.
 * The trace contains the outcome of each call. The log contains the library's warnings. The loader's files name the
 * libraries that the program and its children loaded; the program's own also shows whether the library was preloaded.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/request.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	struct row *rows;
	size_t count;
	char before[400]; /* the last message of the log */
	char *objects[OBJECTS_MAX];
	size_t object_count;
};

/* Texts are truncated to the sizes of the fields, because they are only printed or compared with short names. */
static void count_row(struct seen *seen, const struct row *row)
{
	struct row *rows;
	size_t i = 0;

	/* a linear search, because there are only a few dozen rows */
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
	for (size_t i = 0; i < seen->count; i++) {
		const struct row *row = &seen->rows[i];

		if (row->kind == LIBRARY) {
			finding_add(seen->findings, FINDING_OK, "%s %s", row->compiler, row->text);
		}
	}
	for (size_t i = 0; i < seen->count; i++) {
		const struct row *row = &seen->rows[i];

		if (row->kind != LIBRARY) {
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
	static const char *const heads[] = {"calling init: ", "initialize program: "};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *at = strstr(line, heads[i]);

		if (at && strchr(at + strlen(heads[i]), '/')) {
			add_object(seen, at + strlen(heads[i]));
		}
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

static void tell_objects(const struct seen *seen)
{
	const struct doctor_calls calls = {is_called(seen, "nvrtc"), is_called(seen, "nvjitlink"),
	                                   is_called(seen, "nvvm")};

	for (size_t i = 0; i < seen->object_count; i++) {
		doctor_object(seen->findings, seen->objects[i], &calls);
	}
}

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
	tell_objects(seen);
}

int doctor_execute(char **argv, pid_t *ret_pid, int *ret_status)
{
	static const int numbers[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	posix_spawnattr_t attributes;
	sigset_t waited_for, before;
	siginfo_t info;
	int error, status = 0;

	(void)fflush(stdout);           /* what was printed so far comes before the program's output */
	(void)signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child's status is lost */
	(void)sigemptyset(&waited_for);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		(void)sigaddset(&waited_for, numbers[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &waited_for, &before);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attributes, &before);
	/* reports a program that cannot be executed, which fork() and execvp() would show by a status only */
	error = posix_spawnp(ret_pid, argv[0], NULL, &attributes, argv, environ);
	while (error == 0 && waitpid(*ret_pid, &status, WNOHANG) == 0) {
		/* the terminal and the kernel signal the program too; what a process sends is for this process alone */
		if (sigwaitinfo(&waited_for, &info) > 0 && info.si_signo != SIGCHLD && info.si_code <= 0) {
			(void)kill(*ret_pid, info.si_signo);
		}
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return error;
}

int doctor_place(const char *verb, char *ret_place, size_t size)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(ret_place, size, "%s/nvrtccache-%s.XXXXXX", base && base[0] == '/' ? base : "/tmp", verb);
	return mkdtemp(ret_place) ? 0 : -errno;
}

void doctor_run(struct findings *findings, char **argv)
{
	static const char *const variables[][2] = {
	    {"NVRTCCACHE_TRACE", "trace"}, {"NVRTCCACHE_LOG", "log"}, {"LD_DEBUG_OUTPUT", OBJECTS_NAME}};
	struct seen seen = {.findings = findings};
	char place[200], path[256];
	pid_t pid;
	int status, error;

	error = doctor_place("doctor", place, sizeof(place));
	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "%s: %s", place, strerror(-error));
		return;
	}
	/* set in this process, which starts nothing else and ends after the report */
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", place, variables[i][1]);
		(void)setenv(variables[i][0], path, 1);
	}
	/* the library's file names appear in "files" alone; other words of LD_DEBUG print a line for each symbol */
	(void)setenv("NVRTCCACHE_LOG_LEVEL", "warning", 1);
	(void)setenv("LD_DEBUG", "files", 1);
	error = doctor_execute(argv, &pid, &status);
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
	for (size_t i = 0; i < seen.object_count; i++) {
		free(seen.objects[i]);
	}
	free(seen.rows);
}
