/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/library.h"

#include <stdlib.h>

enum form { FORM_LINES, FORM_JSON };
enum asked { ASKED_TO_LOOK, ASKED_TO_RUN };

static void examine(struct findings *findings, char **argv, enum asked asked, enum form form)
{
	struct settings settings;
	char *library = library_find();
	size_t shown;

	if (!doctor_settings(findings, &settings)) {
		free(library);
		return;
	}
	doctor_library(findings, library);
	doctor_directory(findings, &settings);
	doctor_agent(findings, &settings);
	if (argv[0] && doctor_program(findings, library, argv[0]) && asked == ASKED_TO_RUN && library) {
		shown = findings->count;
		if (form == FORM_LINES) { /* before the program's own words */
			findings_print(findings, 0);
			(void)fflush(stdout);
		}
		doctor_run(findings, library, argv, form == FORM_JSON ? DOCTOR_OUTPUT_ERROR : DOCTOR_OUTPUT_SAME);
		if (form == FORM_LINES) {
			findings_print(findings, shown);
		}
	} else if (form == FORM_LINES) {
		findings_print(findings, 0);
	}
	if (form == FORM_JSON) {
		findings_print_json(findings);
	}
	settings_free(&settings);
	free(library);
}

int command_doctor(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
	                                        {"run", no_argument, NULL, 'r'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	struct findings findings = {0};
	enum asked asked = ASKED_TO_LOOK;
	enum form form = FORM_LINES;
	int option, status;

	while ((option = console_getopt(argc, argv, "+jrh", options)) != -1) {
		switch (option) {
		case 'h':
			console_help("doctor");
			return EXIT_DONE;
		case 'j':
			form = FORM_JSON;
			break;
		case 'r':
			asked = ASKED_TO_RUN;
			break;
		default:
			return console_usage("doctor");
		}
	}
	if (asked == ASKED_TO_RUN && optind == argc) {
		console_error("doctor: --run needs a program");
		return console_usage("doctor");
	}
	examine(&findings, argv + optind, asked, form);
	status = findings.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
	findings_free(&findings);
	return status;
}
