/* SPDX-License-Identifier: MIT */
/*
 * A regular file, or a file that does not exist yet, is written as a temporary file beside it, which target_close()
 * renames. Devices and pipes are written directly, because a rename would replace them with a regular file. Both are
 * streams of stdio, because the writers of bundles and pages append many small fields.
 */
#include "cli/console/target.h"

#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of_new_file(void)
{
	/* umask() reads the mask by setting it. The command has one thread, so no file is created in between. */
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

/* Opens what is written: the temporary file, or a device or pipe. The caller closes it. */
static int open_named(const char *file, struct target *target)
{
	struct stat found;
	bool there = stat(file, &found) == 0;
	int opened;

	if (target->is_output) {
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	}
	if (there && !S_ISREG(found.st_mode)) {
		return open(file, O_WRONLY | O_CLOEXEC);
	}
	/* links are resolved, because the rename would otherwise replace the link and not the file it leads to */
	if (there ? !realpath(file, target->path) : snprintf(target->path, PATH_MAX, "%s", file) >= PATH_MAX) {
		errno = there ? errno : ENAMETOOLONG;
		return -1;
	}
	(void)snprintf(target->temporary, sizeof(target->temporary), "%s.XXXXXX", target->path);
	opened = mkostemp(target->temporary, O_CLOEXEC);
	if (opened >= 0) {
		(void)fchmod(opened, there ? found.st_mode & 0777 : mode_of_new_file());
	}
	return opened;
}

/* Reports an error. After an interrupt it names what became of the file, because calls then fail for that reason. */
static bool report_error(const struct target *target, int error)
{
	if (error != 0 && interrupt_seen() != 0) {
		console_error("%s: interrupted; %s", target->shown,
		              *target->temporary ? "the file is not written" : "the output is incomplete");
	} else if (error != 0) {
		console_error("%s: %s", target->shown, strerror(-error));
	}
	return error == 0;
}

bool target_open(const char *file, const char *what, struct target *target)
{
	bool is_output = strcmp(file, "-") == 0;
	int opened;

	*target = (struct target){.shown = is_output ? "standard output" : file, .is_output = is_output};
	if (is_output && isatty(STDOUT_FILENO) == 1) {
		console_error("%s: %s is not written to a terminal", target->shown, what);
		return false;
	}
	interrupt_hold();
	(void)signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails instead */
	opened = open_named(file, target);
	target->stream = opened < 0 ? NULL : fdopen(opened, "w");
	if (target->stream == NULL) {
		(void)report_error(target, -errno);
	}
	return target->stream != NULL;
}

bool target_close(struct target *target, int error)
{
	if (error != 0) {
		__fpurge(target->stream); /* fclose() would wait for a reader that has stopped */
	}
	if (fclose(target->stream) != 0 && error == 0) {
		error = -errno;
	}
	/* after ^C during the last write the file must not be published */
	if (error == 0 && *target->temporary) {
		error = interrupt_seen() != 0 ? -EINTR : rename(target->temporary, target->path) < 0 ? -errno : 0;
	}
	if (error != 0 && *target->temporary) {
		(void)unlink(target->temporary);
	}
	return report_error(target, error);
}

int target_put(struct target *target, const void *bytes, size_t size)
{
	if (interrupt_seen() != 0) {
		return -EINTR;
	}
	return fwrite(bytes, 1, size, target->stream) < size ? -errno : 0;
}
