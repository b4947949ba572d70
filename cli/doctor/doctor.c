/* SPDX-License-Identifier: MIT */
/*
 * The checks are ordered by their dependencies: the settings name the directory and the agent, and a program is run
 * only if the library loads. Nothing in the directory is changed.
 */
#include "cli/doctor/doctor.h"

#include "cache/agent_client.h"
#include "cache/lock.h"
#include "cache/tools/places.h"
#include "cli/console/console.h"
#include "cli/console/library.h"
#include "cli/console/verb.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const struct {
	const char *name, *colour;
} levels[] = {
    [FINDING_OK] = {"ok", "\033[32m"}, [FINDING_WARN] = {"warn", "\033[33m"}, [FINDING_FAIL] = {"FAIL", "\033[31m"}};

/* Returns whether to print colours: on a terminal, unless NO_COLOR is set and not empty (no-color.org). */
static bool has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) == 1 && terminal && strcmp(terminal, "dumb") != 0 && !(none && none[0]);
}

/* Printed at once, so that the findings before the run come before the output of the program. */
void finding_add(struct findings *findings, enum finding_level level, const char *format, ...)
{
	bool colours = has_colours();
	va_list arguments;

	printf("%s%-4s%s  ", colours ? levels[level].colour : "", levels[level].name, colours ? "\033[0m" : "");
	va_start(arguments, format);
	console_vprint(stdout, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	putchar('\n');
	findings->failures += level == FINDING_FAIL;
}

/* ---- settings and library */

/* Adds warnings about valid settings that prevent hits. */
static void note_modes(struct findings *findings, const struct settings *settings)
{
	if (settings->disable) {
		finding_add(findings, FINDING_WARN, "NVRTCCACHE_DISABLE is set: every call goes to the real compiler");
	}
	if (settings->recache) {
		finding_add(findings, FINDING_WARN, "NVRTCCACHE_RECACHE is set: nothing is looked up");
	}
	if (settings->verify) {
		finding_add(findings, FINDING_WARN, "NVRTCCACHE_VERIFY is set: every hit is compiled as well");
	}
}

/*
 * Reports one library of LD_PRELOAD, which ld.so read when it started this process. What this process does not have was
 * ignored by ld.so, and will be in every program with this environment.
 */
static void note_item(struct findings *findings, const char *item)
{
	bool is_ours = strcmp(basename(item), LIBRARY_NAME) == 0;

	if (!dlopen(item, RTLD_LAZY | RTLD_NOLOAD)) {
		finding_add(findings, is_ours ? FINDING_FAIL : FINDING_WARN,
		            "LD_PRELOAD: ld.so ignored '%s', which it cannot find or load%s", item,
		            is_ours ? ": 'nvrtccache env' prints a path that works" : "");
	}
}

/* The copies that are preloaded into this process are inherited by programs that it starts. */
static size_t note_preload(struct findings *findings)
{
	struct library_copy copies[8];
	size_t count = library_preloaded(copies, sizeof(copies) / sizeof(copies[0]));
	const char *value = getenv("LD_PRELOAD");
	char *list = strdup(value ? value : ""), *rest;

	for (char *item = list ? strtok_r(list, ": ", &rest) : NULL; item; item = strtok_r(NULL, ": ", &rest)) {
		note_item(findings, item);
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

/*
 * Checks the library and what else is preloaded, and preloads it into the programs that this process starts. Returns
 * false if that is not possible.
 */
static bool check_library(struct findings *findings)
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

/* ---- directory and agent */

/* Notes what the kind of the file system means for users; the library works on all of them. */
static void note_file_system(struct findings *findings, int place)
{
	struct statfs found;

	/* f_type is signed and wider on some machines */
	if (fstatfs(place, &found) == 0 && (uint32_t)found.f_type == TMPFS_MAGIC) {
		finding_add(findings, FINDING_WARN, "file system in memory: entries are lost at a reboot");
	} else if (lock_is_remote(place)) {
		finding_add(findings, FINDING_WARN,
		            "network file system: nodes share entries, but do not wait for each other's compilations");
	} else {
		finding_add(findings, FINDING_OK, "local file system");
	}
}

static void note_space(struct findings *findings, const struct settings *settings, int place)
{
	char free_text[CONSOLE_NUMBER_BYTES], cap_text[CONSOLE_NUMBER_BYTES];
	struct statvfs found;

	if (fstatvfs(place, &found) < 0) {
		return;
	}
	/* file systems without a fixed number of inodes report 0 of 0 */
	if (found.f_bavail == 0 || (found.f_files != 0 && found.f_favail == 0)) {
		finding_add(findings, FINDING_FAIL, "the file system has no free space or no free inodes");
	} else {
		finding_add(findings, FINDING_OK, "%s free, size limit %s",
		            console_bytes((uint64_t)found.f_bavail * found.f_frsize, free_text),
		            settings->max_size ? console_bytes(settings->max_size, cap_text) : "none");
	}
}

/* Examines a usable directory. With NVRTCCACHE_READONLY, write permission and free space are not checked. */
static void note_present(struct findings *findings, const struct settings *settings, int place)
{
	/* asked as the effective user, who creates files; fails on a read-only file system too */
	if (settings->read_only) {
		finding_add(findings, FINDING_OK, "directory %s is only read, because NVRTCCACHE_READONLY is set",
		            settings->directory);
	} else if (faccessat(AT_FDCWD, settings->directory, W_OK | X_OK, AT_EACCESS) < 0) {
		finding_add(findings, FINDING_FAIL, "directory %s cannot be written: %s", settings->directory,
		            strerror(errno));
	} else {
		finding_add(findings, FINDING_OK, "directory %s belongs to you and can be written",
		            settings->directory);
	}
	note_file_system(findings, place);
	if (!settings->read_only) {
		note_space(findings, settings, place);
	}
}

/* Returns false if the directory is not used. */
static bool check_directory(struct findings *findings, const struct settings *settings)
{
	int error, place;

	if (!settings->directory) {
		finding_add(findings, FINDING_FAIL,
		            "no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path");
		return false;
	}
	error = places_directory(settings);
	if (error == 0) {
		/* opened for what the descriptor says of the file system; nothing is read or written */
		place = open(settings->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (place >= 0) {
			note_present(findings, settings, place);
			close(place);
		}
	} else if (error == -ENOENT) { /* it has no file system yet: where it will be created may change until then */
		finding_add(findings, settings->read_only ? FINDING_WARN : FINDING_OK,
		            "directory %s does not exist yet", settings->directory);
	} else {
		findings->refused = settings->directory;
		finding_add(findings, FINDING_FAIL, "directory %s: %s", settings->directory, console_reason(error));
	}
	return error == 0;
}

/*
 * Checks whether the node's agent answers, by the function that a process calls after a miss, with the same time
 * limits. The key is all zeros, which no request has, so a working agent answers that it has no such entry.
 */
static void check_agent(struct findings *findings, const struct settings *settings)
{
	static const uint8_t nobodys[ENTRY_KEY_BYTES];
	const struct agent_options options = {
	    .said = settings->agent,
	    .directory = {.path = settings->directory, .shared = settings->shared},
	    .wait_ms = settings->agent_wait_ms,
	};
	enum agent_outcome outcome;

	if (!settings->agent) {
		return;
	}
	outcome = agent_fetch(&options, nobodys);
	if (outcome == AGENT_FETCH_FOUND || outcome == AGENT_FETCH_ABSENT) {
		finding_add(findings, FINDING_OK, "agent %s answers", settings->agent);
	} else {
		finding_add(findings, FINDING_WARN, "agent %s %s; see nvrtccache-agent(1)", settings->agent,
		            agent_outcome_words(outcome));
	}
}

/* ---- the verb */

static int run_doctor(struct settings *settings, char **operands)
{
	struct findings findings = {.failures = 0};
	bool loads;

	note_modes(&findings, settings);
	console_places(settings);
	loads = check_library(&findings);
	if (check_directory(&findings, settings)) {
		check_agent(&findings, settings);
	}
	if (operands[0] && loads) {
		doctor_run(&findings, operands);
	}
	return findings.failures == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "[--] [program [argument...]]",
    .summary = "find out why a program's compilations are not cached",
    .more =
        "Checks the library, the cache directory, the settings and the agent. If a program is given, runs it with the\n"
        "cache and reports which compilers it called and the outcome of each call.",
    .exits = "0: no failures; 1: a check failed or could not be made; 2: unknown option.",
    .example = "nvrtccache doctor -- python3 train.py",
    .needs = VERB_SETTINGS,
    .kind = VERB_OPERANDS_COMMAND,
    .operand = "program",
    .most = INT_MAX,
    .run = run_doctor,
};
