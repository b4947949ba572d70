/* SPDX-License-Identifier: MIT */
/*
 * A regular file, or a file that does not exist yet, is written as a temporary file in its directory, which
 * target_close() renames. Devices and pipes are written directly, because a rename would replace them with a regular
 * file.
 * Bytes are buffered, because the writers of bundles and pages append many small fields.
 */
#include "cli/console/target.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 18)

static mode_t mode_of_new_file(void)
{
	/*
	 * umask() can only read the mask by setting it. The command has one thread, so no file is created in between.
	 */
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

static int begin_temporary(struct target *target, mode_t mode)
{
	char *slash = strrchr(target->path, '/');
	const char *parent = slash == NULL ? "." : slash == target->path ? "/" : target->path;
	int directory;
	int error;

	/* cuts the path at its last slash; `name` is then relative to the open directory */
	target->name = slash != NULL ? slash + 1 : target->path;
	if (*target->name == '\0') {
		return -EISDIR;
	}
	if (slash != NULL) {
		*slash = '\0';
	}
	directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0) {
		return -errno;
	}
	/* on success target->temporary holds the descriptor, which target_close() closes */
	error = temporary_begin(directory, mode, &target->temporary);
	if (error != 0) {
		close(directory);
	}
	return error;
}

static int open_named(const char *file, struct target *target)
{
	struct stat found;
	bool there;
	int error;

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
	/* links are resolved, because the rename would otherwise replace the link and not the file it leads to */
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

/* Reports an error. After an interrupt it names what became of the file, because calls then fail for that reason. */
static bool report_error(const struct target *target, int error)
{
	if (error != 0 && interrupt_seen() != 0) {
		console_error("%s: interrupted; %s", target->shown,
		              target->path ? "the file is not written" : "the output is incomplete");
	} else if (error != 0 && error != -ECANCELED) {
		console_error("%s: %s", target->shown, strerror(-error));
	}
	return error == 0;
}

bool target_open(const char *file, const char *what, struct target *target)
{
	bool is_output = strcmp(file, "-") == 0;
	int error;

	*target = (struct target){.shown = is_output ? "standard output" : file, .fd = -1};
	if (is_output && isatty(STDOUT_FILENO) == 1) {
		console_error("%s: %s is not written to a terminal", target->shown, what);
		return false;
	}
	interrupt_hold();
	target->piece = malloc(PIECE_BYTES);
	error = target->piece != NULL ? open_named(file, target) : -ENOMEM;
	if (error != 0) {
		free(target->piece);
	}
	return report_error(target, error);
}

static int write_piece(struct target *target)
{
	const char *next = target->piece;
	size_t size = target->filled;

	target->filled = 0;
	if (target->path != NULL) {
		return temporary_append(&target->temporary, next, size);
	}
	while (size > 0) {
		ssize_t done = write(target->fd, next, size);

		/* EINTR without a noted signal: for example, the process was stopped and continued */
		if (done < 0 && errno == EINTR && interrupt_seen() == 0) {
			continue;
		}
		if (done <= 0) {
			return done < 0 ? -errno : -EIO;
		}
		next += done;
		size -= (size_t)done;
	}
	return 0;
}

bool target_close(struct target *target, enum durability durability, int error)
{
	bool is_written;

	if (error == 0) {
		error = write_piece(target);
	}
	/* after ^C during the last write the file must not be published */
	if (error == 0 && target->path != NULL) {
		error =
		    interrupt_seen() != 0 ? -EINTR : temporary_publish(&target->temporary, target->name, durability);
	}
	if (target->path == NULL && target->fd != STDOUT_FILENO && close(target->fd) < 0 && error == 0) {
		error = -errno;
	}
	is_written = report_error(target, error);
	if (target->path != NULL) {
		if (!is_written) {
			temporary_discard(&target->temporary);
		}
		close(target->temporary.directory);
		free(target->path);
	}
	free(target->piece);
	return is_written;
}

int target_put(void *context, const void *bytes, size_t size)
{
	struct target *target = context;
	const char *next = bytes;
	int error = interrupt_seen() != 0 ? -EINTR : 0;

	while (size > 0 && error == 0) {
		size_t part = PIECE_BYTES - target->filled < size ? PIECE_BYTES - target->filled : size;

		memcpy(target->piece + target->filled, next, part);
		target->filled += part;
		next += part;
		size -= part;
		error = target->filled == PIECE_BYTES ? write_piece(target) : 0;
	}
	return error;
}
