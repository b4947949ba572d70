/* SPDX-License-Identifier: MIT */
/*
 * export: the cache directory as one file
 *
 * What was used last comes last, so that a smaller cache that imports it keeps that. A file is written under a
 * temporary name beside it and renamed, so that it is there whole or not at all; a device or a pipe is written to as it
 * is. An interrupt takes the temporary file away.
 */
#include "cache/bundle.h"
#include "cache/inventory.h"
#include "cache/temporary.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/nobody.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct target {
	char *path;       /* of the file that is replaced: links followed; NULL: written to directly */
	const char *name; /* in its directory */
	struct temporary temporary;
	int fd; /* where it is written to directly */
};

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

static int open_target(const char *file, struct target *target)
{
	struct stat found;
	bool there;
	int error;

	*target = (struct target){.fd = -1};
	if (strcmp(file, "-") == 0) {
		if (isatty(STDOUT_FILENO) == 1) {
			return -EINVAL;
		}
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

/* `error`: what has happened so far; then nothing appears. Returns it, or that of the last step. */
static int close_target(struct target *target, enum durability durability, int error)
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

static int put(void *context, const void *bytes, size_t size)
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

struct work {
	struct bundle_writer writer;
	uint64_t bytes;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
	int error;           /* of writing */
};

static int put_entry(void *context, const struct entry *entry)
{
	struct work *work = context;
	struct entry *neutral = NULL;

	work->error = nobody_entry(entry, &neutral);
	if (work->error == 0) {
		work->error = bundle_write_entry(&work->writer, neutral);
	}
	work->bytes += work->error == 0 ? entry_info(entry)->total_size : 0;
	entry_unref(neutral);
	return work->error;
}

static int put_all(const struct directory *directory, struct target *target, struct work *work)
{
	struct inventory inventory;
	struct progress progress;
	int error = inventory_take(directory, &inventory);

	if (error != 0) {
		console_error("%s: %s", directory->path,
		              error == -EPERM ? "not used, because others can write to it" : strerror(-error));
		return error;
	}
	work->unreadable = inventory.failures;
	progress_begin(&progress, "exporting");
	work->error = bundle_write_begin(&work->writer, inventory.count, put, target);
	for (size_t i = 0; i < inventory.count && work->error == 0; i++) {
		error = inventory_read(directory, inventory.records[i].key, put_entry, work);
		if (error == -EBADMSG || error == -EPERM) {
			work->left_out++;
		} else if (error != -ENOENT && error != 0) {
			work->unreadable++;
		}
		progress_show(&progress, i + 1, inventory.count);
	}
	if (work->error == 0) {
		work->error = bundle_write_end(&work->writer);
	}
	progress_end(&progress);
	inventory_free(&inventory);
	return work->error;
}

static void report(const struct settings *settings, const struct target *target, const struct work *work)
{
	char text[CONSOLE_NUMBER_BYTES];

	/* standard output may be the bundle */
	fprintf(target->fd == STDOUT_FILENO ? stderr : stdout, "Exported %" PRIu64 " %s (%s) from %s\n",
	        work->writer.entries, work->writer.entries == 1 ? "result" : "results",
	        console_bytes(work->bytes, text), settings->directory);
	if (work->left_out != 0) {
		console_error("%" PRIu64 " damaged or untrusted %s left out", work->left_out,
		              work->left_out == 1 ? "file" : "files");
	}
	if (work->unreadable != 0) {
		console_error("%" PRIu64 " %s could not be read", work->unreadable,
		              work->unreadable == 1 ? "file or directory" : "files or directories");
	}
}

static int export_to(const struct settings *settings, const char *file)
{
	struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct work work = {.bytes = 0};
	struct target target;
	int number;
	int error = open_target(file, &target);

	file = target.fd == STDOUT_FILENO || strcmp(file, "-") == 0 ? "standard output" : file;
	if (error != 0) {
		console_error("%s: %s", file,
		              error == -EINVAL ? "a bundle is not written to a terminal" : strerror(-error));
		return EXIT_TROUBLE;
	}
	error = close_target(&target, settings->fsync ? DURABILITY_SYNC : DURABILITY_NONE,
	                     put_all(&directory, &target, &work));
	number = interrupted;
	if (number != 0 && error != 0) {
		(void)raise(number);
	}
	if (error != 0) {
		/* else it was the directory, and has been said */
		if (work.writer.put != NULL) {
			console_error("%s: %s", file, strerror(-error));
		}
		return EXIT_TROUBLE;
	}
	report(settings, &target, &work);
	return work.unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_export(int argc, char **argv)
{
	struct settings settings;
	const char *file;
	int status;

	if (!console_one_file("export", argc, argv, &file, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	status = console_directory(&settings) ? export_to(&settings, file) : EXIT_TROUBLE;
	settings_free(&settings);
	return status;
}
