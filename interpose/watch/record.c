/* SPDX-License-Identifier: MIT */
/*
 * The compiler reads errno after the call, so what is called before it restores errno. A file's content is
 * digested when the compiler opens the file, through the compiler's descriptor, because a later open of the path might
 * find another file.
 */
#include "interpose/watch/record.h"
#include "interpose/watch/live.h"
#include "interpose/watch/snapshot.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 30) /* larger files are not read, and their results not cached */

static void add_path(struct trace *trace, enum trace_kind kind, const char *path)
{
	(void)trace_add(trace, &(struct trace_event){.kind = kind, .path = path});
}

/*
 * Returns true if the path can be recorded, and taints the trace if there is none. The empty path and paths longer than
 * PATH_MAX never exist, so they are no dependency; NVRTC 13.5 builds such a path from leftover bytes if the program is
 * named "/".
 */
static bool take_path(struct trace *trace, const char *path)
{
	if (!path) {
		trace_taint(trace, TAINT_UNKNOWN_CALL);
		return false;
	}
	return *path != '\0' && strnlen(path, PATH_MAX) < PATH_MAX;
}

static void add_error(struct trace *trace, enum trace_kind kind, const char *path, int error)
{
	/* Other errors (EACCES, EMFILE) may be temporary, or differ for the process that looks the entry up. */
	if (error != ENOENT && error != ENOTDIR) {
		trace_taint_by(trace, TAINT_UNREADABLE, path);
	}
	(void)trace_add(trace, &(struct trace_event){.kind = kind, .path = path, .error = error});
}

/* Returns the kind of scratch file. Scratch files are recorded as such, and are no dependency. */
static enum scratch scratch_of(const struct live *live, const char *path)
{
	return live && live->trace->scratch ? live->trace->scratch(path) : SCRATCH_NO;
}

/* Returns true if what the compiler reads under such a path is the host's. */
static bool is_hosts(enum scratch scratch)
{
	return scratch == SCRATCH_NO || scratch == SCRATCH_WRITTEN;
}

void record_write(const char *path)
{
	int saved_errno = errno;
	struct live *live = live_enter();
	enum scratch scratch = scratch_of(live, path);

	if (live && scratch == SCRATCH_NO) {
		trace_taint_by(live->trace, TAINT_WRITE, path);
	} else if (scratch == SCRATCH_KEPT) {
		add_path(live->trace, TRACE_SCRATCH_MADE, path);
	}
	errno = saved_errno;
}

/* Returns true if `path` is `lock` or a directory above it. */
static bool leads_to(const char *path, const char *lock)
{
	size_t size = strlen(path);

	return size > 0 && strncmp(lock, path, size) == 0 &&
	       (lock[size] == '\0' || lock[size] == '/' || path[size - 1] == '/');
}

void record_made(const char *path)
{
	if (live_current && live_current->trace->lock && path && leads_to(path, live_current->trace->lock)) {
		record_call();
	} else {
		record_write(path);
	}
}

void record_probe(const char *path, const struct stat *found, int error)
{
	struct live *live = live_enter();
	struct trace_event event = {.kind = TRACE_PROBE, .path = path};

	if (live && is_hosts(scratch_of(live, path)) && take_path(live->trace, path)) {
		if (live->trace->told && !snapshot_agrees_stat(live->trace->told, path, found)) {
			trace_taint(live->trace, TAINT_TOLD_OTHERWISE);
		}
		if (found) {
			file_stamp_from(found, &event.stamp);
			(void)trace_add(live->trace, &event);
		} else {
			add_error(live->trace, TRACE_PROBE, path, error);
		}
	}
}

void record_presence(const char *path)
{
	struct stat found;

	/* access() returns no stamp. A path that vanished since is no longer what the compiler saw. */
	if (!live_current) {
		live_enter();
	} else if (path && stat(path, &found) == 0) {
		record_probe(path, &found, 0);
	} else {
		record_taint(TAINT_UNREADABLE);
	}
}

/* Reads with a raw system call, because pread() would be a cancellation point. */
static ssize_t read_at(int descriptor, void *bytes, size_t size, int64_t offset)
{
	ssize_t got;

	do {
		got = syscall(SYS_pread64, descriptor, bytes, size, offset);
	} while (got < 0 && errno == EINTR);
	return got;
}

/*
 * Digests a file, and searches it for what its text says about the result. A file that has another size than the stat
 * said is not read to its end.
 */
static bool digest_file(struct trace *trace, const char *path, int descriptor, uint64_t size, struct key *ret_digest)
{
	uint8_t *bytes = size < FILE_MAX ? malloc((size_t)size + 1) : NULL;
	size_t at = 0;
	ssize_t got = bytes ? 1 : -1;

	/* only a read of 0 bytes proves the end of the file */
	while (got > 0 && at <= size) {
		got = read_at(descriptor, bytes + at, (size_t)size + 1 - at, (int64_t)at);
		at += got > 0 ? (size_t)got : 0;
	}
	if (got >= 0) {
		digest_key(&(struct span){bytes, at}, 1, ret_digest);
		trace_taint_by(trace, at != size ? TAINT_TOO_NEW : 0, path);
		if (trace->reader) {
			trace_taint_by(trace, trace->reader(bytes, at, ret_digest, trace->places), path);
		}
	}
	free(bytes);
	return got >= 0;
}

/*
 * Adds a file with the digest of its content. The file is digested now, because it may change right after the compiler
 * opened it.
 */
static void add_content(struct trace *trace, const char *path, int descriptor)
{
	const struct trace_event *kept;
	struct file_stamp before;
	struct file_stamp after;
	struct stat status;
	struct key digest;

	if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
		/*
		 * If this is not a regular file: fopen(directory, "r") succeeds; reading a FIFO or a device could
		 * block, or consume data that the compiler needs.
		 */
		trace_taint_by(trace, TAINT_UNREADABLE, path);
		add_path(trace, TRACE_LISTING, path);
		return;
	}
	file_stamp_from(&status, &before);
	kept = trace_opened(trace, path);
	if (kept) {
		if (!file_stamp_same(&kept->stamp, &before)) {
			trace_taint_by(trace, TAINT_TOO_NEW, path);
		}
		return;
	}
	if (!digest_file(trace, path, descriptor, before.size, &digest) || fstat(descriptor, &status) != 0) {
		trace_taint_by(trace, TAINT_UNREADABLE, path);
		return;
	}
	file_stamp_from(&status, &after);
	if (file_stamp_racy(&before, trace->start_ns) || !file_stamp_same(&before, &after)) {
		trace_taint_by(trace, TAINT_TOO_NEW, path);
	}
	(void)trace_add(trace,
	                &(struct trace_event){.kind = TRACE_OPEN, .path = path, .stamp = before, .digest = digest});
}

/* Events with the same outcome are stored once, so a second open of a scratch file has a kind of its own. */
static void add_scratch(struct trace *trace, const char *path, int error)
{
	size_t count = trace->count;

	(void)trace_add(trace, &(struct trace_event){.kind = TRACE_SCRATCH_READ, .path = path, .error = error});
	if (trace->count == count && error == 0) {
		add_path(trace, TRACE_SCRATCH_READ_AGAIN, path);
	}
}

void record_open(const char *path, int descriptor, int error)
{
	struct live *live = live_enter();
	enum scratch scratch = scratch_of(live, path);

	if (scratch == SCRATCH_KEPT) {
		add_scratch(live->trace, path, descriptor >= 0 ? 0 : error);
	} else if (live && is_hosts(scratch) && take_path(live->trace, path)) {
		if (descriptor >= 0) {
			add_content(live->trace, path, descriptor);
		} else {
			add_error(live->trace, TRACE_OPEN, path, error);
		}
	}
}

void record_listing(const char *path)
{
	struct live *live = live_enter();

	if (live && is_hosts(scratch_of(live, path)) && take_path(live->trace, path)) {
		add_path(live->trace, TRACE_LISTING, path);
	}
}

/*
 * A descriptor above 2 belongs to a file that was recorded when it was opened for writing, as a taint or as a scratch
 * file.
 */
void record_output(int descriptor)
{
	if (descriptor > STDERR_FILENO && live_current && live_current->trace->scratch) {
		live_current->trace->calls++;
	} else if (descriptor >= 0) {
		record_taint(TAINT_WRITE);
	}
}

void record_taint(uint32_t taint)
{
	struct live *live = live_enter();

	if (live) {
		trace_taint(live->trace, taint);
	}
}

void record_asked(const char *variable, const char *answer)
{
	record_call();
	for (struct live *live = live_first(); live; live = live_next(live)) {
		const struct snapshot *told = live->trace->told;

		if (told && !snapshot_agrees(told, variable, answer)) {
			trace_taint(live->trace, TAINT_TOLD_OTHERWISE);
		}
		if (variable) {
			trace_asked(live->trace, variable);
		}
	}
}

void record_answered(uint32_t question, int64_t answer)
{
	record_call();
	for (struct live *live = live_first(); live; live = live_next(live)) {
		trace_answered(live->trace, question, answer);
	}
}

void record_call(void)
{
	if (live_current) {
		live_current->trace->calls++;
	}
}

void record_locale_query(const char *answer)
{
	size_t size = answer ? strlen(answer) + 1 : 0;

	if (live_current && size > 0 && size <= sizeof(live_current->locale)) {
		memcpy(live_current->locale, answer, size);
	}
}

void record_locale(const char *locale)
{
	if (!locale || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0 ||
	    (live_current && *locale && strcmp(locale, live_current->locale) == 0)) {
		record_call();
	} else {
		record_taint(TAINT_UNKNOWN_CALL);
	}
}
