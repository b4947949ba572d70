/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the file that a program's name stands for
 *
 * executable_find() makes the checks. This file has the text for each trouble.
 */
#include "cli/doctor/doctor.h"

#include "cli/doctor/executable.h"

#include <string.h>

/* Texts that follow the path of the file. The troubles without a text have messages of their own below. */
static const char *const troubles[] = {
    [EXECUTABLE_NOT_EXECUTABLE] = "cannot be executed: no permission, or not a regular file",
    [EXECUTABLE_UNKNOWN] = "is neither a script nor an ELF program",
    [EXECUTABLE_OTHER_MACHINE] = "is a program for another machine than the library, or of 32 bits",
    [EXECUTABLE_STATIC] = "is linked statically: LD_PRELOAD does nothing",
    [EXECUTABLE_NOT_GLIBC] = "has musl's loader; the library needs glibc",
    [EXECUTABLE_PRIVILEGED] = "is setuid, setgid or has capabilities: such programs bypass the cache",
};

bool doctor_program(struct findings *findings, const char *name, char ret_path[PATH_MAX])
{
	struct executable program;

	executable_find(name, &program);
	if (program.trouble == EXECUTABLE_NOT_FOUND) {
		finding_add(findings, FINDING_FAIL, "program", "%s: program not found%s", name,
		            strchr(name, '/') ? "" : " in PATH");
	} else if (program.trouble == EXECUTABLE_NO_INTERPRETER) {
		finding_add(findings, FINDING_FAIL, "program", "%s cannot start: its interpreter '%s' is missing", name,
		            program.path);
	} else if (program.trouble != EXECUTABLE_FINE) {
		finding_add(findings, FINDING_FAIL, "program", "%s %s", program.path, troubles[program.trouble]);
	} else if (strcmp(program.script, "") != 0) {
		finding_add(findings, FINDING_OK, "program", "%s is a script that %s runs", program.script,
		            program.path);
	} else {
		finding_add(findings, FINDING_OK, "program", "program: %s", program.path);
	}
	strcpy(ret_path, program.path);
	return program.trouble == EXECUTABLE_FINE;
}
