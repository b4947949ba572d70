/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the library that programs are run with, and what else is preloaded
 *
 * ld.so read LD_PRELOAD when it started this process. A library of the list that this process does not have was ignored
 * by ld.so, and will be in every program with this environment.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Reports one library of LD_PRELOAD. `is_first`: no copy of ours is before it. Returns whether it is a copy of ours. */
static bool note_item(struct findings *findings, const char *item, bool is_active, bool is_first)
{
	bool is_ours = strcmp(basename(item), LIBRARY_NAME) == 0;

	if (!dlopen(item, RTLD_LAZY | RTLD_NOLOAD)) {
		finding_add(findings, is_ours ? FINDING_FAIL : FINDING_WARN, "preload",
		            "LD_PRELOAD: ld.so ignored '%s', which it cannot find or load%s", item,
		            is_ours ? ": 'nvrtccache env' prints a path that works" : "");
	} else if (!is_ours && is_active && is_first) {
		finding_add(findings, FINDING_WARN, "preload",
		            "LD_PRELOAD: %s comes before the library: functions that it replaces are called first",
		            item);
	} else if (!is_ours) {
		finding_add(findings, FINDING_OK, "preload", "LD_PRELOAD contains %s", item);
	}
	return is_ours;
}

/* The copies that are preloaded into this process are inherited by programs that it starts. */
static void note_preload(struct findings *findings)
{
	struct library_copy copies[8];
	size_t count = library_preloaded(copies, sizeof(copies) / sizeof(copies[0]));
	const char *value = getenv("LD_PRELOAD");
	char *list = strdup(value ? value : ""), *rest;
	bool is_first = true;

	for (char *item = list ? strtok_r(list, ": ", &rest) : NULL; item; item = strtok_r(NULL, ": ", &rest)) {
		is_first &= !note_item(findings, item, count > 0, is_first);
	}
	free(list);
	if (count == 0) {
		finding_add(findings, FINDING_OK, "preload",
		            "not preloaded: 'nvrtccache run' preloads it into the program that it runs");
	} else {
		finding_add(findings, FINDING_OK, "copy",
		            "preloaded and active: %s (%s); 'nvrtccache run' adds no copy", copies[0].path,
		            copies[0].version);
	}
	for (size_t i = 1; i < count; i++) {
		finding_add(findings, FINDING_WARN, "copy", "another copy is preloaded and inactive: %s (%s)",
		            copies[i].path, copies[i].version);
	}
}

bool doctor_library(struct findings *findings, const char *library)
{
	char fault[LIBRARY_FAULT_BYTES];
	bool loads;

	note_preload(findings);
	loads = library_loads(library, fault);
	finding_add(findings, loads ? FINDING_OK : FINDING_FAIL, "library", "library%s: %s", loads ? " loads" : "",
	            loads ? library : fault);
	return loads;
}
