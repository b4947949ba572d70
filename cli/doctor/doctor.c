/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/options.h"

#include <stdlib.h>

enum form { FORM_LINES, FORM_JSON };

/* `argv`: of the program to run; empty: none. */
static void examine(struct findings *findings, char **argv, enum form form)
{
	char path[PATH_MAX], *library = library_find();
	struct settings settings;
	size_t shown = 0;
	bool loads;

	if (!doctor_settings(findings, &settings)) {
		free(library);
		return;
	}
	loads = doctor_library(findings, library);
	doctor_directory(findings, &settings);
	doctor_agent(findings, &settings);
	if (argv[0] && doctor_program(findings, argv[0], path) && loads) {
		if (form == FORM_LINES) { /* before the program's own words */
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

int command_doctor(int argc, char **argv)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct findings findings = {0};
	enum form form = FORM_LINES;
	int option, status;

	while ((option = options_getopt(argc, argv, "+jh", options)) != -1) {
		switch (option) {
		case 'h':
			options_help("doctor");
			return EXIT_DONE;
		case 'j':
			form = FORM_JSON;
			break;
		default:
			return options_usage("doctor");
		}
	}
	examine(&findings, argv + optind, form);
	status = findings.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
	findings_free(&findings);
	return status;
}
