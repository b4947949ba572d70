/* SPDX-License-Identifier: MIT */
/*
 * report: turns traces (NVRTCCACHE_TRACE) into one self-contained HTML page (cli/report/page/)
 *
 * The page contains the text of each trace as a JSON string, and its own script parses it. In these strings every
 * character that could end the element is escaped. The page's Content-Security-Policy allows nothing from elsewhere,
 * and no text to become markup. The same traces give the same page. All traces are read before the page is opened, so
 * that a missing trace does not overwrite the page of an earlier run. The parts of the page are embedded with .incbin,
 * so the command needs no files at run time.
 */
#include "cache/json.h"
#include "cache/version.h"
#include "cli/console/console.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The makefile lists the files of cli/report/page/ as prerequisites of this object, because the compiler's dependency
 * output does not contain files of .incbin.
 */
#define FILE_OF(name) ".incbin \"cli/report/page/" name "\"\n"
#define PART(name, files)         \
	extern const char name[]; \
	__asm__(".pushsection .rodata\n" #name ":\n" files ".byte 0\n.popsection")

PART(page_begin, FILE_OF("head.html") FILE_OF("style.css") FILE_OF("body.html"));
PART(page_end, FILE_OF("script.html") FILE_OF("format.js") FILE_OF("model.js") FILE_OF("band.js") FILE_OF("tables.js")
                   FILE_OF("main.js") FILE_OF("end.html"));

static struct {
	const char *file;
} asked;

/* Returns whether the page would replace the trace, as in `report trace.json -o trace.json`. */
static bool is_same_file(const struct stat *trace, const char *target)
{
	struct stat found;

	return S_ISREG(trace->st_mode) && stat(target, &found) == 0 && found.st_dev == trace->st_dev &&
	       found.st_ino == trace->st_ino;
}

/* Returns what is wrong with a trace that was opened and read into `text`, or NULL. */
static const char *find_fault(const struct stat *found, const char *text, const char *target)
{
	const char *first = text + strspn(text, " \t\r\n");

	if (is_same_file(found, target)) {
		return "the page would replace the trace: name another file with -o";
	}
	return *first == '\0' || strchr("[{", *first) ? NULL : "not a trace";
}

/*
 * Adds a trace, which contains no NUL, to the data. The page uses the time to tell traces apart; a pipe has none.
 * Returns false after a message if that fails.
 */
static bool take_file(struct json *json, const char *name, const char *target)
{
	FILE *file = fopen(strcmp(name, "-") == 0 ? "/dev/stdin" : name, "re");
	struct stat found;
	const char *fault;
	char *text = NULL;
	size_t capacity = 0;
	ssize_t size = -1;

	if (!file || fstat(fileno(file), &found) < 0 ||
	    ((size = getdelim(&text, &capacity, '\0', file)) < 0 && !feof(file))) {
		fault = strerror(errno);
	} else {
		fault = find_fault(&found, size > 0 ? text : "", target);
	}
	if (fault) {
		console_error("%s: %s", name, fault);
	} else {
		json_begin_object(json, NULL);
		json_string(json, "name", name);
		json_number(json, "written", S_ISREG(found.st_mode) ? found.st_mtim.tv_sec : 0);
		json_text(json, "text", text, size > 0 ? (size_t)size : 0);
		json_end(json);
	}
	free(text);
	if (file) {
		fclose(file);
	}
	return !fault;
}

static int put_page(struct target *target, const struct json *json)
{
	int error = json->failed ? -ENOMEM : target_put(target, page_begin, strlen(page_begin));

	error = error ? error : target_put(target, json->bytes, json->size);
	return error ? error : target_put(target, page_end, strlen(page_end));
}

static int write_page(const struct json *json, const char *file)
{
	struct target target;

	if (!target_open(file, "a page", &target) || !target_close(&target, put_page(&target, json))) {
		return EXIT_TROUBLE;
	}
	if (strcmp(file, "-") != 0) {
		console_line("Wrote %s", file);
	}
	return EXIT_DONE;
}

static int write_report(char **traces, const char *file)
{
	struct json json = {.bytes = NULL};
	int status = EXIT_DONE;

	json_begin_object(&json, NULL);
	json_string(&json, "version", NVRTCCACHE_VERSION);
	json_begin_array(&json, "files");
	for (; *traces; traces++) {
		if (!take_file(&json, *traces, file)) {
			status = EXIT_TROUBLE;
		}
	}
	json_end(&json);
	json_end(&json);
	if (status == EXIT_DONE) {
		status = write_page(&json, file);
	}
	json_free(&json);
	return status;
}

static int run_report(struct settings *settings, char **operands)
{
	char *set[] = {getenv("NVRTCCACHE_TRACE"), NULL};

	(void)settings;
	if (!operands[0] && (!set[0] || *set[0] == '\0')) {
		console_error("report: TRACE is missing: run the program with NVRTCCACHE_TRACE=trace.json set, then "
		              "'nvrtccache report trace.json -o report.html'");
		return EXIT_USAGE;
	}
	return write_report(operands[0] ? operands : set, asked.file ? asked.file : "-");
}

const struct verb verb_report = {
    .name = "report",
    .arguments = "[TRACE...] [-o FILE]",
    .summary = "turn traces (NVRTCCACHE_TRACE) into an HTML page",
    .more = "TRACE is a file written by programs run with NVRTCCACHE_TRACE, or '-' for standard input (default: the "
            "file\n"
            "that the variable names now). The page is self-contained and shows several traces one below the other.",
    .example = "nvrtccache report trace.json -o report.html",
    .options = VERB_OPTIONS(VERB_VALUE("output", 'o', "FILE", "write to FILE (default: standard output)", &asked.file)),
    .operand = "TRACE",
    .most = INT_MAX,
    .run = run_report,
};
