/* SPDX-License-Identifier: MIT */
/*
 * report: turns traces (NVRTCCACHE_TRACE) into an HTML page
 *
 * All traces are read before the page is opened, so that a bad trace does not overwrite the page of an earlier run.
 * After a bad trace the others are still read, so that one run reports all bad traces.
 */
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"
#include "cli/report/page.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool take_trace(struct page *page, const struct page_source *source)
{
	struct json_reader_fault fault;
	bool is_whole = page_take(page, source, &fault);

	if (!is_whole && fault.what) {
		console_error("%s: not a trace, at byte %zu: %s", source->name, fault.offset, fault.what);
		return false;
	}
	if (!is_whole) {
		console_error("%s: cut within the event at byte %zu, which is left out", source->name, fault.offset);
	}
	return true;
}

/* Adds a trace file to the page. Returns false after a message if that fails. */
static bool take_file(struct page *page, const char *name, const char *target)
{
	bool is_input = strcmp(name, "-") == 0;
	FILE *file = is_input ? stdin : fopen(name, "re");
	struct page_source source = {.name = is_input ? "standard input" : name};
	struct stat found;
	char *text = NULL;
	int error = !file || fstat(fileno(file), &found) < 0 ? -errno : 0;
	bool is_taken = false;

	if (error == 0 && is_same_file(&found, target)) {
		console_error("%s: the page would replace the trace: name another file with -o", name);
		goto out;
	}
	error = error != 0 ? error : json_reader_load(file, &text, &source.size);
	if (error != 0) {
		console_error("%s: %s", source.name, strerror(-error));
		goto out;
	}
	source.text = text ? text : "";
	/* the page uses the time to tell traces apart; a pipe has no modification time */
	source.written = S_ISREG(found.st_mode) ? found.st_mtim.tv_sec : 0;
	is_taken = take_trace(page, &source);
out:
	free(text);
	if (file && !is_input) {
		fclose(file);
	}
	return is_taken;
}

static int write_page(struct page *page, const char *file)
{
	const char *name = strcmp(file, "-") == 0 ? "standard output" : file;
	struct target target;
	FILE *stream;
	int error = target_open(file, &target);

	if (error != 0) {
		console_error("%s: %s", name, strerror(-error));
		return EXIT_TROUBLE;
	}
	error = target_close(&target, DURABILITY_NONE, page_write(page, target_put, &target));
	if (error != 0) {
		console_error("%s: %s", name, interrupt_seen() != 0 ? "interrupted" : strerror(-error));
		return EXIT_TROUBLE;
	}
	/* the message must not get into a page on standard output */
	stream = target.fd == STDOUT_FILENO ? stderr : stdout;
	console_print(stream, "Wrote %s: %" PRIu64 " %s of %u %s", name, page->events,
	              page->events == 1 ? "event" : "events", page->file_count,
	              page->file_count == 1 ? "trace" : "traces");
	fputc('\n', stream);
	return EXIT_DONE;
}

static int write_report(char **traces, const char *file)
{
	struct page page;
	int status = EXIT_DONE;

	page_begin(&page);
	for (; *traces; traces++) {
		if (!take_file(&page, *traces, file)) {
			status = EXIT_TROUBLE;
		}
	}
	if (status == EXIT_DONE) {
		/* until now a signal could end the process at once; target_close() has to remove the temporary file */
		interrupt_hold();
		status = write_page(&page, file);
	}
	page_free(&page);
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
	if (!asked.file && isatty(STDOUT_FILENO) == 1) {
		console_error("report: a page is not written to a terminal: use -o FILE");
		return verb_usage(&verb_report);
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
    .options = (const struct verb_option[]){{"output", 'o', "FILE", "write to FILE (default: standard output)", NULL,
                                             &asked.file},
                                            {NULL, 0, NULL, NULL, NULL, NULL}},
    .operand = "TRACE",
    .most = INT_MAX,
    .run = run_report,
};
