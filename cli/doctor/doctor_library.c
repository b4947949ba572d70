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
		finding_add(findings, is_ours ? FINDING_FAIL : FINDING_WARN,
		            "LD_PRELOAD: ld.so ignored '%s', which it cannot find or load%s", item,
		            is_ours ? ": 'nvrtccache env' prints a path that works" : "");
	} else if (!is_ours && is_active && is_first) {
		finding_add(findings, FINDING_WARN,
		            "LD_PRELOAD: %s comes before the library: functions that it replaces are called first",
		            item);
	} else if (!is_ours) {
		finding_add(findings, FINDING_OK, "LD_PRELOAD contains %s", item);
	}
	return is_ours;
}

/* The copies that are preloaded into this process are inherited by programs that it starts. */
static size_t note_preload(struct findings *findings)
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
		finding_add(findings, FINDING_OK,
		            "not preloaded: 'nvrtccache run' preloads it into the program that it runs");
	}
	for (size_t i = 0; i < count; i++) {
		finding_add(findings, i == 0 ? FINDING_OK : FINDING_WARN,
		            i == 0 ? "preloaded and active: %s (%s); 'nvrtccache run' adds no copy"
		                   : "another copy is preloaded and inactive: %s (%s)",
		            copies[i].path, copies[i].version);
	}
	findings->library = count > 0 ? copies[0].path : NULL;
	return count;
}

bool doctor_library(struct findings *findings)
{
	char fault[LIBRARY_FAULT_BYTES], *library = library_find();
	/* before the library is loaded into this process */
	size_t copies = note_preload(findings);
	bool loads = library_loads(library, fault);

	finding_add(findings, loads ? FINDING_OK : FINDING_FAIL, "library%s: %s", loads ? " loads" : "",
	            loads ? library : fault);
	if (loads && copies == 0) {
		loads = library_preload_file(library);
		findings->library = library;
	} else {
		free(library);
	}
	return loads;
}
