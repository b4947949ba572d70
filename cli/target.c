/* SPDX-License-Identifier: MIT */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
	interrupted = number;
}

static void watch_signals(void (*handler)(int))
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction action = {.sa_handler = handler};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* nohup's stays */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			(void)sigaction(signals[i], &action, NULL);
		}
	}
}

static mode_t mode_of_new_file(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

static int begin_temporary(struct target *target, mode_t mode)
{
	char *slash = strrchr(target->path, '/');
	int directory;
	int error;

	target->name = slash != NULL ? slash + 1 : target->path;
	if (*target->name == '\0') {
		return -EISDIR;
	}
	if (slash == NULL) {
		directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else if (slash == target->path) {
		directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		*slash = '\0';
		directory = open(target->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (directory < 0) {
		return -errno;
	}
	watch_signals(note_signal);
	error = temporary_begin(directory, mode, &target->temporary);
	if (error != 0) {
		close(directory);
	}
	return error;
}

int target_open(const char *file, struct target *target)
{
	struct stat found;
	bool there;
	int error;

	*target = (struct target){.fd = -1};
	if (strcmp(file, "-") == 0) {
		target->fd = STDOUT_FILENO;
		return 0;
	}
	there = stat(file, &found) == 0;
	if (there && S_ISDIR(found.st_mode)) {
		return -EISDIR;
	}
	if (there && !S_ISREG(found.st_mode)) {
		target->fd = open(file, O_WRONLY | O_CLOEXEC);
		return target->fd < 0 ? -errno : 0;
	}
	target->path = there ? realpath(file, NULL) : strdup(file);
	if (target->path == NULL) {
		return -errno;
	}
	error = begin_temporary(target, there ? found.st_mode & 0777 : mode_of_new_file());
	if (error != 0) {
		free(target->path);
		target->path = NULL;
	}
	return error;
}

int target_close(struct target *target, enum durability durability, int error)
{
	if (target->path != NULL) {
		if (error == 0) {
			error = temporary_publish(&target->temporary, target->name, durability);
		}
		if (error != 0) {
			temporary_discard(&target->temporary);
		}
		close(target->temporary.directory);
		free(target->path);
		watch_signals(SIG_DFL);
	} else if (target->fd != STDOUT_FILENO && close(target->fd) < 0 && error == 0) {
		error = -errno;
	}
	return error;
}

int target_put(void *context, const void *bytes, size_t size)
{
	struct target *target = context;
	const char *next = bytes;

	if (target->path != NULL) {
		return interrupted ? -EINTR : temporary_append(&target->temporary, bytes, size);
	}
	while (size > 0) {
		ssize_t done = TEMP_FAILURE_RETRY(write(target->fd, next, size));

		if (done <= 0) {
			return done < 0 ? -errno : -EIO;
		}
		next += done;
		size -= (size_t)done;
	}
	return 0;
}

int target_interrupted(void)
{
	return interrupted;
}
