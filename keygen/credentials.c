/* SPDX-License-Identifier: MIT */
/*
 * The facts are read for the calling thread, not the process: capabilities, labels and effective ids can differ
 * between threads.
 */
#include "keygen/credentials.h"

#include "keygen/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for 256 groups. A longer file is not read whole, and the thread then counts as confined. */
#define STATUS_BYTES 8192
#define LABEL_BYTES  512

/* This kernel gives no labels. */
static _Atomic bool unlabelled;

/*
 * Reads the label that SELinux or AppArmor gave the thread. If the kernel has neither, later calls do not ask again.
 * Returns false if there may be a label and it cannot be read whole.
 */
static bool read_label(char label[LABEL_BYTES], struct span *ret_label)
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
	size = read(file, label, LABEL_BYTES);
	if (size < 0 && errno == EINVAL) {
		atomic_store_explicit(&unlabelled, true, memory_order_relaxed);
		size = 0;
	}
	(void)close(file);
	*ret_label = (struct span){label, size > 0 ? (size_t)size : 0};
	return size >= 0 && size < LABEL_BYTES;
}

/* The effective capabilities are among these. */
#define PERMITTED "\nCapPrm:"
/* The last line that is read, so that a file that is cut has none. */
#define NO_NEW_PRIVILEGES "\nNoNewPrivs:"

#define RIGHTS 6 /* the lines that find_rights() names */

/*
 * Finds the lines of /proc/thread-self/status that decide which files the thread may open. The lines of the users and
 * groups contain those of the file system, which setfsuid() changes. setfsuid(-1) returns one of them faster, but a
 * seccomp filter that ends a program which changes its user would end it there.
 */
static bool find_rights(const char *status, struct span ret_lines[RIGHTS], bool *ret_administers, bool *ret_confined)
{
	static const char *const names[] = {"\nUid:", "\nGid:", "\nGroups:", PERMITTED, "\nCapEff:", NO_NEW_PRIVILEGES};
	const char *end = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *line = strstr(status, names[i]);

		end = line ? strchr(line + 1, '\n') : NULL;
		if (!end) {
			return false;
		}
		if (strcmp(names[i], PERMITTED) == 0) {
			*ret_administers = strtoull(line + strlen(PERMITTED), NULL, 16) >> CAP_SYS_ADMIN & 1;
		}
		ret_lines[i] = (struct span){line, (size_t)(end - line)};
	}
	*ret_confined = end[-1] != '0';
	return true;
}

static void read_status(char ret_status[STATUS_BYTES])
{
	int file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, ret_status, STATUS_BYTES - 1);

	if (file >= 0) {
		(void)close(file);
	}
	ret_status[size > 0 ? size : 0] = '\0';
}

void credentials_look(struct credentials *ret_credentials)
{
	char status[STATUS_BYTES], label[LABEL_BYTES];
	struct span parts[RIGHTS + 2] = {{0}}; /* and the label, and the user namespace */
	bool administers = true, confined = true, known;
	struct stat space;
	struct key digest;

	read_status(status);
	known = find_rights(status, parts, &administers, &confined) && read_label(label, &parts[RIGHTS]) &&
	        stat("/proc/self/ns/user", &space) == 0;
	parts[RIGHTS + 1] = (struct span){&space.st_ino, known ? sizeof(space.st_ino) : 0};
	digest_key(parts, RIGHTS + 2, &digest);
	memcpy(ret_credentials->who, digest.bytes, sizeof(ret_credentials->who));
	ret_credentials->confined = !known || confined;
	ret_credentials->steady =
	    !ret_credentials->confined && !administers && atomic_load_explicit(&unlabelled, memory_order_relaxed);
}
