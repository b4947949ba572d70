/* SPDX-License-Identifier: MIT */
/*
 * The checks are ordered by their dependencies: the settings name the directory and the agent, and a program is run
 * only if the library loads and can be preloaded into that program.
 * With --json, stdout holds one JSON value and nothing else, so the program's standard output goes to stderr.
 */
#include "cli/doctor/doctor.h"

#include "cache/harmless.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Findings are collected before they are printed, because the JSON begins with the number of failures, and because the
 * output of a program that is run has to appear between the findings before and after the run.
 */
static const struct {
	const char *name, *colour;
} levels[] = {
    [FINDING_OK] = {"ok", "\033[32m"}, [FINDING_WARN] = {"warn", "\033[33m"}, [FINDING_FAIL] = {"FAIL", "\033[31m"}};

static void end_without_memory(void)
{
	console_error("out of memory");
	exit(EXIT_TROUBLE);
}

void finding_add(struct findings *findings, enum finding_level level, const char *about, const char *format, ...)
{
	/* grows by one element at a time, because there are only a few dozen findings */
	struct finding *list = realloc(findings->list, (findings->count + 1) * sizeof(*list));
	va_list arguments;
	char *text;
	int size;

	if (list == NULL) {
		end_without_memory();
	}
	findings->list = list;
	va_start(arguments, format);
	size = vasprintf(&text, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	if (size < 0) {
		end_without_memory();
	}
	list[findings->count++] = (struct finding){level, about, text};
	findings->failures += level == FINDING_FAIL;
}

/* Returns whether to print colours: on a terminal, unless NO_COLOR is set and not empty (no-color.org). */
static bool has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) == 1 && terminal && strcmp(terminal, "dumb") != 0 && !(none && none[0]);
}

void findings_print(const struct findings *findings, size_t first)
{
	bool colours = has_colours();

	for (size_t i = first; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		harmless_text(finding->text);
		printf("%s%-4s%s  %s\n", colours ? levels[finding->level].colour : "", levels[finding->level].name,
		       colours ? "\033[0m" : "", finding->text);
	}
}

void findings_print_json(const struct findings *findings)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 2);

	json_begin_object(&json, NULL);
	json_number(&json, "failures", findings->failures);
	json_begin_array(&json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		json_begin_object(&json, NULL);
		json_string(&json, "level", levels[findings->list[i].level].name);
		json_string(&json, "about", findings->list[i].about);
		/* harmless_text() is not needed, because json_string() escapes harmful characters */
		json_string(&json, "text", findings->list[i].text);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
	console_json_end(&json);
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->list[i].text);
	}
	free(findings->list);
	*findings = (struct findings){0};
}

/* ---- the verb */

static struct {
	bool json;
} asked;

enum form { FORM_LINES, FORM_JSON };

/* Makes all checks and prints the findings. `argv` is the program to run; argv[0] NULL: no program was given. */
static void examine_program(struct findings *findings, char **argv, enum form form)
{
	char path[PATH_MAX], *library = library_find();
	struct settings settings;
	size_t shown = 0;
	bool loads;

	/* every other check needs the settings */
	if (!doctor_settings(findings, &settings)) {
		free(library);
		return;
	}
	loads = doctor_library(findings, library);
	doctor_directory(findings, &settings);
	doctor_agent(findings, &settings);
	if (argv[0] && doctor_program(findings, argv[0], path) && loads) {
		if (form == FORM_LINES) { /* printed before the program's own output */
			findings_print(findings, 0);
			(void)fflush(stdout);
			shown = findings->count;
		}
		doctor_run(findings, library, path, argv, form == FORM_JSON ? DOCTOR_OUTPUT_ERROR : DOCTOR_OUTPUT_SAME);
	}
	if (form == FORM_JSON) {
		findings_print_json(findings);
	} else {
		findings_print(findings, shown);
	}
	settings_free(&settings);
	free(library);
}

static int run_doctor(struct settings *settings, char **operands)
{
	struct findings findings = {0};
	int status;

	/* doctor reads the settings itself, because verb_main() would print bad values on stderr, not as findings */
	(void)settings;
	examine_program(&findings, operands, asked.json ? FORM_JSON : FORM_LINES);
	status = findings.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
	findings_free(&findings);
	return status;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "[--json] [--] [program [argument...]]",
    .summary = "find out why a program's compilations are not cached",
    .more =
        "Checks the library, the cache directory, the settings and the agent. If a program is given, runs it with the\n"
        "cache and reports which compilers it called and the outcome of each call.",
    .exits = "0: no failures; 1: a check failed or could not be made; 2: unknown option.",
    .example = "nvrtccache doctor -- python3 train.py",
    .options = (const struct verb_option[]){{"json", 'j', NULL, "print JSON", &asked.json, NULL},
                                            {NULL, 0, NULL, NULL, NULL, NULL}},
    .kind = VERB_OPERANDS_COMMAND,
    .operand = "program",
    .most = INT_MAX,
    .run = run_doctor,
};
