/* SPDX-License-Identifier: MIT */
/* doctor: the library that a program is to be run with, and what else is preloaded. */
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

/* Of the library, in each program that is started from here. */
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
		finding_add(findings, FINDING_WARN, "copy", "another copy is preloaded and steps aside: %s (%s)",
		            copies[i].path, copies[i].version);
	}
}

/* What the loader said, and how `true` has ended. */
struct trial {
	int status;
	char said[2000];
};

/* How a program that does nothing fares with these preloaded; false: it could not be run, which was said. */
static bool try_preload(struct findings *findings, const char *list, struct trial *ret_trial)
{
	char *const argv[] = {(char *)"true", NULL};
	int said = (int)syscall(SYS_memfd_create, "said", MFD_CLOEXEC); /* libc has it from glibc 2.27 on */
	const struct doctor_start start = {.argv = argv, .preload = list, .output = -1, .error = said};
	int status = said < 0 ? -errno : doctor_start(&start);
	ssize_t size = said < 0 ? 0 : pread(said, ret_trial->said, sizeof(ret_trial->said) - 1, 0);

	if (said >= 0) {
		close(said);
	}
	if (status < 0) {
		finding_add(findings, FINDING_WARN, "library", "library: 'true' could not be run with it: %s",
		            strerror(-status));
		return false;
	}
	ret_trial->status = status;
	ret_trial->said[size > 0 ? size : 0] = '\0';
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
	struct trial trial;
	const char *said;

	if (!try_preload(findings, library, &trial)) {
		return false;
	}
	said = one_line(trial.said);
	if (trial.status == 0 && !said[0]) {
		finding_add(findings, FINDING_OK, "library", "library loads: %s", library);
		return true;
	}
	finding_add(findings, FINDING_FAIL, "library", "library: %s: %s", library,
	            said[0] ? said : "a program that does nothing fails with it");
	return false;
}

/*
 * The library by itself is fine: whatever is amiss is of the others, and a program that runs all the same is cached by
 * it. False: what is not there is the library as LD_PRELOAD spells it.
 */
static bool try_others(struct findings *findings, const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	struct trial trial;
	bool there = true;
	char *list;

	if (!others || !others[0] || asprintf(&list, "%s:%s", library, others) < 0) {
		return true;
	}
	if (try_preload(findings, list, &trial)) {
		const char *said = one_line(trial.said);

		if (trial.status != 0) {
			finding_add(findings, FINDING_FAIL, "preload",
			            "LD_PRELOAD: a program that does nothing fails with what it holds%s%s",
			            said[0] ? ": " : "", said);
		} else if (said[0]) {
			there = !strstr(said, LIBRARY_NAME);
			finding_add(findings, there ? FINDING_WARN : FINDING_FAIL, "preload", "LD_PRELOAD: %s", said);
		}
	}
	free(list);
	return there;
}

bool doctor_library(struct findings *findings, const char *library)
{
	bool loads;

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
	loads = try_library(findings, library);
	if (!loads || try_others(findings, library)) {
		note_preload(findings);
	}
	return loads;
}
