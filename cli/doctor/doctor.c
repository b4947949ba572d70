/* SPDX-License-Identifier: MIT */
/*
 * The checks are ordered by their dependencies: the settings name the directory and the agent, and a program is run
 * only if the library loads.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/console.h"
#include "cli/console/verb.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *colour;
} levels[] = {
    [FINDING_OK] = {"ok", "\033[32m"}, [FINDING_WARN] = {"warn", "\033[33m"}, [FINDING_FAIL] = {"FAIL", "\033[31m"}};

/* Returns whether to print colours: on a terminal, unless NO_COLOR is set and not empty (no-color.org). */
static bool has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) == 1 && terminal && strcmp(terminal, "dumb") != 0 && !(none && none[0]);
}

/* Printed at once, so that the findings before the run come before the output of the program. */
void finding_add(struct findings *findings, enum finding_level level, const char *format, ...)
{
	bool colours = has_colours();
	va_list arguments;

	printf("%s%-4s%s  ", colours ? levels[level].colour : "", levels[level].name, colours ? "\033[0m" : "");
	va_start(arguments, format);
	console_vprint(stdout, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	putchar('\n');
	findings->failures += level == FINDING_FAIL;
}

/* Adds warnings about valid settings that prevent hits, or that have no effect. */
static void note_modes(struct findings *findings, const struct settings *settings)
{
	const struct {
		bool set;
		const char *text;
	} modes[] = {
	    {settings->disable, "NVRTCCACHE_DISABLE is set: every call goes to the real compiler"},
	    {settings->recache, "NVRTCCACHE_RECACHE is set: every call is compiled, and its result stored again"},
	    {settings->verify, "NVRTCCACHE_VERIFY is set: every hit is compiled as well, as slow as without a cache"},
	    /* a level of 2 is not reported, because it may be the default */
	    {settings->log_level != 2 && !settings->log, "NVRTCCACHE_LOG_LEVEL has no effect without NVRTCCACHE_LOG"},
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (modes[i].set) {
			finding_add(findings, FINDING_WARN, "%s", modes[i].text);
		}
	}
}

static int run_doctor(struct settings *settings, char **operands)
{
	struct findings findings = {.failures = 0};
	bool loads;

	note_modes(&findings, settings);
	console_places(settings);
	loads = doctor_library(&findings);
	doctor_directory(&findings, settings);
	doctor_agent(&findings, settings);
	if (operands[0] && loads) {
		doctor_run(&findings, operands);
	}
	return findings.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "[--] [program [argument...]]",
    .summary = "find out why a program's compilations are not cached",
    .more =
        "Checks the library, the cache directory, the settings and the agent. If a program is given, runs it with the\n"
        "cache and reports which compilers it called and the outcome of each call.",
    .exits = "0: no failures; 1: a check failed or could not be made; 2: unknown option.",
    .example = "nvrtccache doctor -- python3 train.py",
    .needs = VERB_SETTINGS,
    .kind = VERB_OPERANDS_COMMAND,
    .operand = "program",
    .most = INT_MAX,
    .run = run_doctor,
};
