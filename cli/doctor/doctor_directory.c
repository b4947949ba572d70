/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the cache directory, its owner, its file system, and the free space
 *
 * places_directory(), which the library uses too, decides whether the directory is usable. This file finds the reason:
 * which mode, owner or limit. Nothing in the directory is changed.
 */
#include "cli/doctor/doctor.h"

#include "cache/events.h"
#include "cache/lock.h"
#include "cache/places.h"
#include "cache/store.h"
#include "cache/tools/usage.h"
#include "cache/trust.h"
#include "cli/console/console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void note_refused(struct findings *findings, const struct settings *settings, const char *reason)
{
	findings->refused = settings->directory;
	finding_add(findings, FINDING_FAIL, "directory", "directory %s is not used: %s", settings->directory, reason);
}

/*
 * Examines the directory again, to report which test of cache/trust.c it failed. A change of its mode is suggested only
 * if it is a directory of this user and nobody shares it, which the sticky bit of /tmp shows.
 */
static void note_distrust(struct findings *findings, const struct settings *settings)
{
	char reason[128] = "a directory inside it is not trusted";
	struct stat found;

	if (lstat(settings->directory, &found) < 0) {
		note_refused(findings, settings, strerror(errno));
		return;
	}
	if (!trust_owner(&found)) {
		snprintf(reason, sizeof(reason), "it belongs to user %u, not to %u; name another by NVRTCCACHE_DIR",
		         found.st_uid, geteuid());
	} else if (found.st_uid != geteuid() || (found.st_mode & S_ISVTX)) {
		snprintf(reason, sizeof(reason),
		         "others share it (mode %o); name a directory of yours by NVRTCCACHE_DIR",
		         found.st_mode & 07777);
	} else if (found.st_mode & S_IWOTH) {
		snprintf(reason, sizeof(reason), "others can write to it (mode %o); chmod %s", found.st_mode & 07777,
		         settings->shared ? "o-w" : "go-w");
	} else if ((found.st_mode & S_IWGRP) && !settings->shared) {
		snprintf(reason, sizeof(reason),
		         "its group can write to it (mode %o); chmod g-w, or NVRTCCACHE_SHARED=1",
		         found.st_mode & 07777);
	}
	note_refused(findings, settings, reason);
}

static void note_file_system(struct findings *findings, int place)
{
	static const uint32_t in_memory[] = {0x01021994, 0x858458f6}; /* tmpfs, ramfs */
	static const uint32_t ownerless[] = {0x4d44, 0x2011bab0};     /* FAT, exFAT */
	struct statfs found;
	uint32_t type;

	if (fstatfs(place, &found) < 0) {
		finding_add(findings, FINDING_WARN, "file system", "the file system cannot be identified: %s",
		            strerror(errno));
		return;
	}
	/* f_type is signed and wider on some machines */
	type = (uint32_t)found.f_type;
	if (type == in_memory[0] || type == in_memory[1]) {
		finding_add(findings, FINDING_WARN, "file system",
		            "file system in memory: entries are lost at a reboot");
	} else if (lock_is_remote(place)) {
		finding_add(findings, FINDING_WARN, "file system",
		            "network file system: nodes share entries, but do not wait for each other's compilations");
	} else if (type == ownerless[0] || type == ownerless[1]) {
		finding_add(findings, FINDING_WARN, "file system",
		            "file system without owners: the mount decides who can write the entries");
	} else {
		finding_add(findings, FINDING_OK, "file system", "local file system");
	}
}

/*
 * Returns by how many bytes the cache may still grow. The current size is about what stores have noted, because
 * counting all files would take long.
 */
static uint64_t room_below_cap(const struct settings *settings)
{
	const struct store_options options = {.directory = settings->directory,
	                                      .max_size = settings->max_size,
	                                      .read_only = true,
	                                      .shared = settings->shared};
	struct store_usage usage = {0};
	struct store *store;

	if (store_open(&options, &store) == 0) {
		(void)store_usage_about(store, &usage);
		store_close(store);
	}
	return usage.bytes < settings->max_size ? settings->max_size - usage.bytes : 0;
}

static void note_space(struct findings *findings, const struct settings *settings, int place)
{
	char free_text[CONSOLE_NUMBER_BYTES], cap_text[CONSOLE_NUMBER_BYTES];
	struct statvfs found;
	uint64_t left;

	if (fstatvfs(place, &found) < 0) {
		return;
	}
	left = (uint64_t)found.f_bavail * found.f_frsize;
	console_bytes(left, free_text);
	console_bytes(settings->max_size, cap_text);
	/* file systems without a fixed number of inodes report 0 of 0 */
	if (found.f_bavail == 0 || (found.f_files != 0 && found.f_favail == 0)) {
		finding_add(findings, FINDING_FAIL, "space", "the file system has no free %s: nothing can be stored",
		            found.f_bavail == 0 ? "space" : "inodes");
	} else if (settings->max_size > (uint64_t)found.f_blocks * found.f_frsize) {
		finding_add(findings, FINDING_WARN, "space",
		            "the size limit of %s is larger than the whole file system", cap_text);
	} else if (settings->max_size != 0 && left < room_below_cap(settings)) {
		finding_add(findings, FINDING_WARN, "space",
		            "%s free, less than the cache may still grow (size limit %s)", free_text, cap_text);
	} else {
		finding_add(findings, FINDING_OK, "space", "%s free, size limit %s", free_text,
		            settings->max_size ? cap_text : "none");
	}
}

/* Tries to create an unnamed file in the directory. Returns 0 or an errno value. */
static int try_write(int place)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int file;

	sprintf(path, "/proc/self/fd/%d", place);
	/* the attempt also covers quotas, ACLs and read-only mounts, which the mode bits do not show */
	file = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (file >= 0) {
		close(file);
		return 0;
	}
	/* these errors mean that the kernel or the file system has no O_TMPFILE: then only permissions are checked */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) {
		return errno;
	}
	return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Examines a usable directory. With NVRTCCACHE_READONLY, write permission and free space are not checked. */
static void note_present(struct findings *findings, const struct settings *settings, int place)
{
	int error = settings->read_only ? 0 : try_write(place);
	const char *foreign =
	    events_foreign(&(struct directory){.path = settings->directory, .shared = settings->shared});
	struct stat found;

	if (settings->read_only) {
		finding_add(findings, FINDING_OK, "directory",
		            "directory %s is only read, because NVRTCCACHE_READONLY is set", settings->directory);
	} else if (error != 0) {
		finding_add(findings, FINDING_FAIL, "directory", "directory %s cannot be written: %s",
		            settings->directory, strerror(error));
	} else {
		finding_add(findings, FINDING_OK, "directory", "directory %s belongs to you and can be written",
		            settings->directory);
	}
	if (settings->shared && fstat(place, &found) == 0 && !(found.st_mode & S_IWGRP)) {
		finding_add(
		    findings, FINDING_WARN, "directory",
		    "NVRTCCACHE_SHARED is set, and the directory's group cannot write to it (mode %o): chmod 2770",
		    found.st_mode & 07777);
	}
	if (foreign) {
		finding_add(findings, FINDING_WARN, "directory",
		            "%s/v1/%s is not a record of this cache, so counts and calls for 'nvrtccache explain' "
		            "are lost; remove it",
		            settings->directory, foreign);
	}
	note_file_system(findings, place);
	if (!settings->read_only) {
		note_space(findings, settings, place);
	}
}

static bool base_forbids(const struct settings *settings)
{
	char *base = settings->base_length > 0 ? strndup(settings->directory, settings->base_length) : NULL;
	bool forbids = base && !directory_base_allows(base, settings->base_is_home);

	free(base);
	return forbids;
}

/* Only a directory that exists has a file system: where it will be created may change until then. */
static void note_missing(struct findings *findings, const struct settings *settings)
{
	if (settings->read_only) {
		finding_add(findings, FINDING_WARN, "directory",
		            "directory %s does not exist and NVRTCCACHE_READONLY is set: nothing is stored",
		            settings->directory);
	} else if (base_forbids(settings)) {
		note_refused(findings, settings,
		             settings->base_is_home
		                 ? "$HOME does not exist or belongs to another user; set NVRTCCACHE_DIR"
		                 : "$XDG_CACHE_HOME belongs to another user; set NVRTCCACHE_DIR");
	} else {
		finding_add(findings, FINDING_OK, "directory", "directory %s does not exist yet and can be created",
		            settings->directory);
	}
}

void doctor_directory(struct findings *findings, const struct settings *settings)
{
	enum place_state state;
	struct stat found;
	int error = 0, place;

	if (!settings->directory) {
		finding_add(findings, FINDING_FAIL, "directory",
		            "no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path");
		return;
	}
	state = places_directory(settings, &error);
	if (state == PLACES_MISSING ||
	    (error == -EACCES && lstat(settings->directory, &found) < 0 && base_forbids(settings))) {
		note_missing(findings, settings);
	} else if (state == PLACES_REFUSED && error == -EPERM) {
		note_distrust(findings, settings);
	} else if (state == PLACES_REFUSED) {
		bool is_link = lstat(settings->directory, &found) == 0 && S_ISLNK(found.st_mode);

		note_refused(findings, settings, is_link ? "it is a symbolic link" : console_reason(error));
	} else {
		place = open(settings->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (place >= 0) {
			note_present(findings, settings, place);
			close(place);
		}
	}
}
