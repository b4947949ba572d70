/* SPDX-License-Identifier: MIT */
/* Called only if a directory is missing, so a process that creates nothing pays one stat() at its start. */
#include "cache/ground.h"

#include "cache/trust.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Written before other threads read it. */
static struct {
	bool known;
	dev_t device; /* of "/" */
	ino_t inode;
	/* the arguments of ground_settle() */
	const char *base;
	size_t base_length;
	bool base_is_home;
} ground;

static bool stat_path(const char *path, struct stat *ret_found)
{
	return stat(path, ret_found) == 0;
}

/*
 * The identity of "/" at start shows whether the host has changed its root (chroot) since. Nothing is created in
 * another root.
 */
void ground_settle(const char *path, size_t base_length, bool base_is_home)
{
	struct stat root;

	ground.known = stat("/", &root) == 0; /* the only cost for a process that creates nothing */
	if (ground.known) {
		ground.device = root.st_dev;
		ground.inode = root.st_ino;
	}
	ground.base = path;
	ground.base_length = base_length;
	ground.base_is_home = base_is_home;
}

bool ground_base_allows(const char *base, size_t length, bool base_is_home)
{
	char path[PATH_MAX] = "";
	struct stat found;

	if (length == 0 || length >= sizeof(path)) {
		return length == 0;
	}
	memcpy(path, base, length);
	while (!stat_path(path, &found)) {
		char *slash = strrchr(path, '/');

		if (base_is_home || !slash || strcmp(path, "/") == 0) {
			return false;
		}
		slash[slash == path] = '\0';
	}
	return trust_owner(&found);
}

/* Called only if a directory is missing: existing directories are used in any root. */
bool ground_allows(void)
{
	struct stat found;

	if (ground.known &&
	    (!stat_path("/", &found) || found.st_dev != ground.device || found.st_ino != ground.inode)) {
		return false;
	}
	return ground_base_allows(ground.base, ground.base_length, ground.base_is_home) && trust_user();
}
