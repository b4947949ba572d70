/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the cache directory, its file system, and the free space, and the agent that serves it
 *
 * places_directory() decides whether the directory is usable. Nothing in it is changed.
 */
#include "cli/doctor/doctor.h"

#include "cache/agent_client.h"
#include "cache/agent_socket.h"
#include "cache/events.h"
#include "cache/lock.h"
#include "cache/places.h"
#include "cli/console/console.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Notes what the kind of the file system means for users; the library works on all of them. */
static void note_file_system(struct findings *findings, int place)
{
	static const uint32_t in_memory[] = {0x01021994, 0x858458f6}; /* tmpfs, ramfs */
	static const uint32_t ownerless[] = {0x4d44, 0x2011bab0};     /* FAT, exFAT */
	struct statfs found;
	uint32_t type;

	if (fstatfs(place, &found) < 0) {
		finding_add(findings, FINDING_WARN, "the file system cannot be identified: %s", strerror(errno));
		return;
	}
	/* f_type is signed and wider on some machines */
	type = (uint32_t)found.f_type;
	if (type == in_memory[0] || type == in_memory[1]) {
		finding_add(findings, FINDING_WARN, "file system in memory: entries are lost at a reboot");
	} else if (lock_is_remote(place)) {
		finding_add(findings, FINDING_WARN,
		            "network file system: nodes share entries, but do not wait for each other's compilations");
	} else if (type == ownerless[0] || type == ownerless[1]) {
		finding_add(findings, FINDING_WARN,
		            "file system without owners: the mount decides who can write the entries");
	} else {
		finding_add(findings, FINDING_OK, "local file system");
	}
}

/* The limit is compared with the whole file system and not with its free space: a full disk makes stores evict. */
static void note_space(struct findings *findings, const struct settings *settings, int place)
{
	char free_text[CONSOLE_NUMBER_BYTES], cap_text[CONSOLE_NUMBER_BYTES];
	struct statvfs found;

	if (fstatvfs(place, &found) < 0) {
		return;
	}
	console_bytes((uint64_t)found.f_bavail * found.f_frsize, free_text);
	console_bytes(settings->max_size, cap_text);
	/* file systems without a fixed number of inodes report 0 of 0 */
	if (found.f_bavail == 0 || (found.f_files != 0 && found.f_favail == 0)) {
		finding_add(findings, FINDING_FAIL, "the file system has no free %s: nothing can be stored",
		            found.f_bavail == 0 ? "space" : "inodes");
	} else if (settings->max_size > (uint64_t)found.f_blocks * found.f_frsize) {
		finding_add(findings, FINDING_WARN, "the size limit of %s is larger than the whole file system",
		            cap_text);
	} else {
		finding_add(findings, FINDING_OK, "%s free, size limit %s", free_text,
		            settings->max_size ? cap_text : "none");
	}
}

/* Examines a usable directory. With NVRTCCACHE_READONLY, write permission and free space are not checked. */
static void note_present(struct findings *findings, const struct settings *settings, int place)
{
	const char *foreign =
	    events_foreign(&(struct directory){.path = settings->directory, .shared = settings->shared});
	struct stat found;

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
	if (settings->shared && fstat(place, &found) == 0 && !(found.st_mode & S_IWGRP)) {
		finding_add(
		    findings, FINDING_WARN,
		    "NVRTCCACHE_SHARED is set, and the directory's group cannot write to it (mode %o): chmod 2770",
		    found.st_mode & 07777);
	}
	if (foreign) {
		finding_add(findings, FINDING_WARN,
		            "%s/v1/%s is not a record of this cache, so counts and calls for 'nvrtccache explain' "
		            "are lost; remove it",
		            settings->directory, foreign);
	}
	note_file_system(findings, place);
	if (!settings->read_only) {
		note_space(findings, settings, place);
	}
}

void doctor_directory(struct findings *findings, const struct settings *settings)
{
	char text[CONSOLE_REFUSAL_BYTES];
	int error, place;

	if (!settings->directory) {
		finding_add(findings, FINDING_FAIL,
		            "no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path");
		return;
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
		            "directory %s does not exist yet and %s", settings->directory,
		            settings->read_only ? "is not created, because NVRTCCACHE_READONLY is set"
		                                : "can be created");
	} else {
		findings->refused = settings->directory;
		finding_add(findings, FINDING_FAIL, "directory %s: %s", settings->directory,
		            console_refusal(settings, error, text));
	}
}

/*
 * Checks whether the node's agent answers, by the function that a process calls after a miss, with the same time
 * limits. The key is all zeros, which no request has, so a working agent answers that it has no such entry.
 */
void doctor_agent(struct findings *findings, const struct settings *settings)
{
	static const uint8_t nobodys[ENTRY_KEY_BYTES];
	const struct agent_options options = {
	    .said = settings->agent,
	    .directory = {.path = settings->directory, .shared = settings->shared},
	    .wait_ms = settings->agent_wait_ms,
	};
	uint64_t device, inode;
	enum agent_outcome outcome;
	char path[PATH_MAX];

	if (!settings->agent || !settings->directory || findings->refused) {
		return;
	}
	if (agent_socket_path(settings->agent, settings->directory, path) < 0) {
		finding_add(findings, FINDING_WARN, "NVRTCCACHE_AGENT=%s: the path of the socket cannot be determined",
		            settings->agent);
		return;
	}
	/* an agent serves one directory, which the request identifies by device and inode */
	if (agent_socket_place(&options.directory, &device, &inode) < 0) {
		finding_add(findings, FINDING_WARN,
		            "agent %s is not asked, because the cache directory is missing or cannot be used", path);
		return;
	}
	outcome = agent_fetch(&options, nobodys);
	if (outcome == AGENT_FETCH_FOUND || outcome == AGENT_FETCH_ABSENT) {
		finding_add(findings, FINDING_OK, "agent %s answers", path);
	} else if (outcome == AGENT_FETCH_NOT_ASKED) {
		finding_add(
		    findings, FINDING_OK,
		    "agent %s gets new entries for upload and is never asked, because NVRTCCACHE_AGENT_WAIT is 0",
		    path);
	} else {
		finding_add(findings, FINDING_WARN, "agent %s %s; see nvrtccache-agent(1)", path,
		            agent_outcome_words(outcome));
	}
}
