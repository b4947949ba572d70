/* SPDX-License-Identifier: MIT */
/*
 * The checks are ordered by their dependencies: the settings name the directory and the agent, and a program is run
 * only if the library loads and can be preloaded into that program.
 * With --json, stdout holds one JSON value and nothing else, so the program's standard output goes to stderr.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"

#include <stdlib.h>

static struct {
	bool json;
} asked;

enum form { FORM_LINES, FORM_JSON };

/* Makes all checks and prints the findings. `argv` is the program to run; argv[0] NULL: no program was given. */
static void examine(struct findings *findings, char **argv, enum form form)
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
	examine(&findings, operands, asked.json ? FORM_JSON : FORM_LINES);
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
