/* SPDX-License-Identifier: MIT */
/* doctor: the library that a program is to be run with, and what else is preloaded. */
#include "cli/doctor.h"

#include "cli/child.h"
#include "cli/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY_NAME "libnvrtccache.so"

static const char *base_name(const char *path, size_t size, size_t *ret_size)
{
	size_t at = size;

	while (at > 0 && path[at - 1] != '/') {
		at--;
	}
	*ret_size = size - at;
	return path + at;
}

/* What LD_PRELOAD holds already: ours, others before it. */
static void note_preload(struct findings *findings)
{
	const char *list = getenv("LD_PRELOAD");
	char others[512] = "";
	bool found = false;

	for (list = list ? list : ""; *list;) {
		size_t size = strcspn(list, ": "), name_size;
		const char *name = base_name(list, size, &name_size);

		if (name_size == strlen(LIBRARY_NAME) && memcmp(name, LIBRARY_NAME, name_size) == 0) {
			found = true;
			break;
		}
		if (size && strlen(others) + size + 3 < sizeof(others)) {
			sprintf(others + strlen(others), "%s%.*s", others[0] ? ", " : "", (int)size, list);
		}
		list += size;
		list += strspn(list, ": ");
	}
	if (others[0] && found) {
		finding_add(findings, FINDING_WARN, "preload",
		            "LD_PRELOAD: %s before the library: what it replaces is asked first", others);
	} else if (others[0]) {
		finding_add(findings, FINDING_OK, "preload",
		            "LD_PRELOAD holds %s, and 'nvrtccache run' puts the library first", others);
	} else if (found) {
		finding_add(findings, FINDING_OK, "preload", "LD_PRELOAD holds the library");
	} else {
		finding_add(findings, FINDING_OK, "preload",
		            "LD_PRELOAD is empty: 'nvrtccache run' sets it for the program that it runs");
	}
}

struct trial {
	struct child child;
	int error;
};

static int run_true(void *context)
{
	static const char *const places[] = {"/bin/true", "/usr/bin/true"};
	struct trial *trial = context;
	const char *argv[] = {places[access(places[0], X_OK) != 0], NULL};

	trial->error = child_run(argv, NULL, 20, &trial->child);
	return 0;
}

/* A program that does nothing is run with it: what its loader says about that shows. */
static void try_library(struct findings *findings, const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list;
	struct trial trial = {0};
	int result;

	if (asprintf(&list, "%s%s%s", library, others && others[0] ? ":" : "", others ? others : "") < 0) {
		return;
	}
	if (!loader_with_preload(list, run_true, &trial, &result) || trial.error != 0) {
		finding_add(findings, FINDING_WARN, "library", "library: 'true' could not be run with it: %s",
		            strerror(-trial.error));
		free(list);
		return;
	}
	trial.child.err[strcspn(trial.child.err, "\n")] = '\0';
	if (trial.child.late) {
		finding_add(findings, FINDING_FAIL, "library", "library: %s: 'true' did not end with it", library);
	} else if (trial.child.status != 0 || trial.child.err[0]) {
		finding_add(findings, FINDING_FAIL, "library", "library: %s: %s", library,
		            trial.child.err[0] ? trial.child.err : "a program that does nothing fails with it");
	} else {
		finding_add(findings, FINDING_OK, "library", "library loads: %s", library);
	}
	child_free(&trial.child);
	free(list);
}

void doctor_library(struct findings *findings, const char *library)
{
	if (!library) {
		const char *asked = getenv("NVRTCCACHE_LIBRARY");

		if (asked && asked[0]) {
			finding_add(findings, FINDING_FAIL, "library",
			            "library: NVRTCCACHE_LIBRARY: '%s' is no file that can be read", asked);
		} else {
			finding_add(findings, FINDING_FAIL, "library",
			            "library: " LIBRARY_NAME " is not found; NVRTCCACHE_LIBRARY may say where it is");
		}
		return;
	}
	if (strpbrk(library, ": ")) {
		finding_add(findings, FINDING_FAIL, "library",
		            "library: '%s' cannot be preloaded: its path has a blank or a colon; "
		            "NVRTCCACHE_LIBRARY can name a copy whose path has none",
		            library);
		return;
	}
	try_library(findings, library);
	note_preload(findings);
}
