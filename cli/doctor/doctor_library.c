/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the library that programs are run with, and what else is preloaded
 *
 * The check runs `true` with the LD_PRELOAD that a program would get, and makes each line that ld.so prints on stderr a
 * finding.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/library.h"

#include <errno.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

/*
 * Lists the libraries that precede ours in LD_PRELOAD, because their symbols are found first. Lists all libraries if
 * ours is not in it.
 */
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
		/* names that do not fit into the message are left out */
		if (size && strlen(others) + size + 3 < sizeof(others)) {
			sprintf(others + strlen(others), "%s%.*s", others[0] ? ", " : "", (int)size, list);
		}
		list += size;
		list += strspn(list, ": ");
	}
	if (others[0] && found) {
		finding_add(findings, FINDING_WARN, "preload",
		            "LD_PRELOAD: %s comes before the library: functions that it replaces are called first",
		            others);
	} else if (others[0]) {
		finding_add(findings, FINDING_OK, "preload",
		            "LD_PRELOAD contains %s; 'nvrtccache run' puts the library first", others);
	} else if (found) {
		finding_add(findings, FINDING_OK, "preload", "LD_PRELOAD contains the library");
	} else {
		finding_add(findings, FINDING_OK, "preload",
		            "LD_PRELOAD is empty: 'nvrtccache run' sets it for the program that it runs");
	}
}

/* Lists the copies that are preloaded into this process, because programs that it starts inherit them. */
static void note_copies(struct findings *findings)
{
	struct library_copy copies[8];
	size_t count = library_preloaded(copies, sizeof(copies) / sizeof(copies[0]));

	if (count > 0) {
		finding_add(findings, FINDING_OK, "copy",
		            "preloaded and active: %s (%s); 'nvrtccache run' adds no copy", copies[0].path,
		            copies[0].version);
	}
	for (size_t i = 1; i < count; i++) {
		finding_add(findings, FINDING_WARN, "copy", "another copy is preloaded and inactive: %s (%s)",
		            copies[i].path, copies[i].version);
	}
}

/*
 * Runs `true` with the libraries in `list` preloaded, and copies the messages of its loader to `ret_said`. Returns its
 * exit status, or -errno if it could not be run.
 */
static int run_nothing(const char *list, char *ret_said, size_t capacity)
{
	char *const argv[] = {(char *)"true", NULL};
	int said = (int)syscall(SYS_memfd_create, "said", MFD_CLOEXEC); /* glibc has memfd_create() since 2.27 only */
	const struct doctor_start start = {.argv = argv, .preload = list, .output = -1, .error = said};
	int status = said < 0 ? -errno : doctor_start(&start);
	ssize_t size = said < 0 ? 0 : pread(said, ret_said, capacity - 1, 0);

	ret_said[size > 0 ? size : 0] = '\0';
	if (said >= 0) {
		close(said);
	}
	return status;
}

/*
 * Tries the library together with all libraries in LD_PRELOAD, as programs will be run. A message about another library
 * is a warning, because the loader skips that library and the program still runs with the cache. Returns false if the
 * library itself is not loaded. Sets *ret_misspelled if LD_PRELOAD names a copy of it that cannot be loaded.
 */
static bool try_preload(struct findings *findings, const char *library, bool *ret_misspelled)
{
	const char *others = getenv("LD_PRELOAD");
	bool has_others = others && others[0], loads = true;
	char said[2000], *list, *line, *rest;
	int status;

	if (asprintf(&list, "%s%s%s", library, has_others ? ":" : "", has_others ? others : "") < 0) {
		return false;
	}
	status = run_nothing(list, said, sizeof(said));
	free(list);
	for (line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, library)) {
			loads = false;
			finding_add(findings, FINDING_FAIL, "library", "library: %s: %s", library, line);
		} else {
			/* LD_PRELOAD already named another copy of the library, which cannot be loaded */
			bool is_ours = strstr(line, LIBRARY_NAME) != NULL;

			*ret_misspelled |= is_ours;
			finding_add(findings, is_ours ? FINDING_FAIL : FINDING_WARN, "preload", "LD_PRELOAD: %s", line);
		}
	}
	if (status < 0) {
		loads = false;
		finding_add(findings, FINDING_WARN, "library", "library: 'true' could not be run with it: %s",
		            strerror(-status));
	} else if (status != 0) {
		loads = false;
		finding_add(findings, FINDING_FAIL, "library", "library: %s: 'true' fails with it%s", library,
		            has_others ? " and the other libraries in LD_PRELOAD" : "");
	} else if (loads) {
		finding_add(findings, FINDING_OK, "library", "library loads: %s", library);
	}
	return loads;
}

bool doctor_library(struct findings *findings, const char *library)
{
	bool loads, is_misspelled = false;

	note_copies(findings);
	if (!library) {
		const char *asked = getenv("NVRTCCACHE_LIBRARY");

		if (asked && asked[0]) {
			finding_add(findings, FINDING_FAIL, "library",
			            "library: NVRTCCACHE_LIBRARY: '%s' is not a readable file", asked);
		} else {
			finding_add(findings, FINDING_FAIL, "library",
			            "library: " LIBRARY_NAME " is not found; NVRTCCACHE_LIBRARY can name it");
		}
		return false;
	}
	if (strpbrk(library, ": ")) {
		finding_add(findings, FINDING_FAIL, "library",
		            "library: '%s' cannot be preloaded: its path has a blank or a colon; "
		            "NVRTCCACHE_LIBRARY can name a copy whose path has none",
		            library);
		return false;
	}
	loads = try_preload(findings, library, &is_misspelled);
	/* if LD_PRELOAD names a copy that cannot be loaded, ld.so's own line has already reported it */
	if (!is_misspelled) {
		note_preload(findings);
	}
	return loads;
}
