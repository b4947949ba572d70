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

/* How a program that does nothing fares with these preloaded; false: it could not be run, which was said. */
static bool try_preload(struct findings *findings, const char *list, struct child *ret_child)
{
	struct trial trial = {0};
	int result;

	if (!loader_with_preload(list, run_true, &trial, &result) || trial.error != 0) {
		finding_add(findings, FINDING_WARN, "library", "library: 'true' could not be run with it: %s",
		            strerror(-trial.error));
		return false;
	}
	*ret_child = trial.child;
	return true;
}

/* In place, the line that names the library, or the first one. */
static const char *one_line(char *text)
{
	char *named = strstr(text, LIBRARY_NAME);

	while (named && named > text && named[-1] != '\n') {
		named--;
	}
	text = named ? named : text;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* What the loader says about it shows. */
static bool try_library(struct findings *findings, const char *library)
{
	struct child child;
	const char *said;
	bool loads = false;

	if (!try_preload(findings, library, &child)) {
		return false;
	}
	said = one_line(child.err);
	if (child.late) {
		finding_add(findings, FINDING_FAIL, "library", "library: %s: 'true' did not end with it", library);
	} else if (child.status != 0 || said[0]) {
		finding_add(findings, FINDING_FAIL, "library", "library: %s: %s", library,
		            said[0] ? said : "a program that does nothing fails with it");
	} else {
		finding_add(findings, FINDING_OK, "library", "library loads: %s", library);
		loads = true;
	}
	child_free(&child);
	return loads;
}

/*
 * The library by itself is fine: whatever is amiss is of the others, and a program that runs all the same is cached by
 * it. False: what is not there is the library as LD_PRELOAD spells it.
 */
static bool try_others(struct findings *findings, const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	struct child child;
	bool there = true;
	char *list;

	if (!others || !others[0] || asprintf(&list, "%s:%s", library, others) < 0) {
		return true;
	}
	if (try_preload(findings, list, &child)) {
		const char *said = one_line(child.err);

		if (child.late || child.status != 0) {
			finding_add(findings, FINDING_FAIL, "preload",
			            "LD_PRELOAD: a program that does nothing %s with what it holds%s%s",
			            child.late ? "does not end" : "fails", said[0] ? ": " : "", said);
		} else if (said[0]) {
			there = !strstr(said, LIBRARY_NAME);
			finding_add(findings, there ? FINDING_WARN : FINDING_FAIL, "preload", "LD_PRELOAD: %s", said);
		}
		child_free(&child);
	}
	free(list);
	return there;
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
	if (!try_library(findings, library) || try_others(findings, library)) {
		note_preload(findings);
	}
}
