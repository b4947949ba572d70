/* SPDX-License-Identifier: MIT */
/*
 * The facts are read for the calling thread, not the process: capabilities, labels and effective ids can differ
 * between threads.
 */
#include "keygen/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Room for 256 groups. A longer file is not read whole, and the thread then counts as confined. */
#define STATUS_BYTES 8192
#define LABEL_BYTES  512

struct facts {
	XXH128_hash_t rights;
	uint64_t space; /* user namespace */
	char label[LABEL_BYTES];
};

/* This kernel gives no labels. */
static _Atomic bool unlabelled;

/*
 * Reads the label that SELinux or AppArmor gave the thread. If the kernel has neither, later calls do not ask again.
 * Returns false if there may be a label and it cannot be read whole.
 */
static bool read_label(char ret_label[LABEL_BYTES])
{
	ssize_t size;
	int file;

	if (atomic_load_explicit(&unlabelled, memory_order_relaxed)) {
		return true;
	}
	file = open("/proc/thread-self/attr/current", O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		atomic_store_explicit(&unlabelled, errno == ENOENT, memory_order_relaxed);
		return errno == ENOENT;
	}
	size = read(file, ret_label, LABEL_BYTES);
	if (size < 0 && errno == EINVAL) {
		atomic_store_explicit(&unlabelled, true, memory_order_relaxed);
		size = 0;
	}
	(void)close(file);
	return size >= 0 && size < LABEL_BYTES;
}

/* Returns the line that begins with a name, and its length up to the newline; NULL: there is none. */
static const char *line_of(const char *status, const char *name, size_t *ret_length)
{
	const char *line = strstr(status, name);
	const char *end = line ? strchr(line + 1, '\n') : NULL;

	*ret_length = end ? (size_t)(end - line) : 0;
	return end ? line : NULL;
}

/* The effective capabilities are among these. */
#define PERMITTED "\nCapPrm:"
/* The last line that is read, so that a file that is cut has none. */
#define NO_NEW_PRIVILEGES "\nNoNewPrivs:"

/*
 * Hashes the lines of /proc/thread-self/status that decide which files the thread may open, in the file's order. The
 * lines of the users and groups contain those of the file system, which setfsuid() changes. setfsuid(-1) returns one of
 * them faster, but a seccomp filter that ends a program which changes its user would end it there.
 */
static bool hash_rights(XXH128_hash_t *ret_rights, bool *ret_administers, bool *ret_confined)
{
	static const char *const names[] = {"\nUid:", "\nGid:", "\nGroups:", PERMITTED, "\nCapEff:", NO_NEW_PRIVILEGES};
	char status[STATUS_BYTES];
	const char *line = status;
	size_t length = 0, kept = 0;
	int file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, status, sizeof(status) - 1);

	if (file >= 0) {
		(void)close(file);
	}
	status[size > 0 ? size : 0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		line = line_of(line + length, names[i], &length);
		if (!line) {
			return false;
		}
		if (strcmp(names[i], PERMITTED) == 0) {
			*ret_administers = strtoull(line + strlen(PERMITTED), NULL, 16) >> CAP_SYS_ADMIN & 1;
		}
		*ret_confined = line[length - 1] != '0'; /* of the last line */
		memmove(status + kept, line, length);
		kept += length;
	}
	*ret_rights = XXH3_128bits(status, kept);
	return true;
}

void credentials_look(struct credentials *ret_credentials)
{
	struct facts facts;
	struct stat space;
	XXH128_hash_t hash;
	bool administers = true, confined = true;
	bool known;

	/* Cleared, because the padding is hashed too. */
	memset(&facts, 0, sizeof(facts));
	known = hash_rights(&facts.rights, &administers, &confined) && read_label(facts.label) &&
	        stat("/proc/self/ns/user", &space) == 0;
	facts.space = known ? (uint64_t)space.st_ino : 0;
	hash = XXH3_128bits(&facts, sizeof(facts));
	memcpy(ret_credentials->who, &hash, sizeof(ret_credentials->who));
	ret_credentials->confined = !known || confined;
	ret_credentials->steady =
	    !ret_credentials->confined && !administers && atomic_load_explicit(&unlabelled, memory_order_relaxed);
}
