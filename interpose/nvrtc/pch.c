/* SPDX-License-Identifier: MIT */
/*
 * The compilations that created PCH files are in a list that grows only at its head, so that it can be read without a
 * lock. NVRTC's scratch files are recognised by their names, because NVRTC opens them like any other file.
 */
#include "interpose/nvrtc/pch.h"

#include "interpose/nvrtc/runs.h"
#include "interpose/watch/environment.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One PCH file, and the compilation that created it. `trace` is only a container of the events that this compilation
 * had read.
 */
struct maker {
	struct maker *next;
	char *path;
	struct file_stamp stamp; /* of the PCH file when that compilation had ended */
	struct key input;        /* runs_digest_of_input() of that compilation */
	uint32_t taints;         /* by files that were read */
	struct trace trace;
};

static _Atomic(struct maker *) makers; /* grows at its head, and never shrinks */

/* edg<digits>_<process>, or (13.5) edg.<six letters of mkstemp>, which a header may be called too. */
static enum scratch judge_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t digits;
	char *end;

	if (strncmp(name, "edg.", 4) == 0) {
		return strspn(name + 4, letters) == 6 && strlen(name) == 10 ? SCRATCH_WRITTEN : SCRATCH_NO;
	}
	digits = strncmp(name, "edg", 3) == 0 ? strspn(name + 3, "0123456789") : 0;
	return digits > 0 && name[3 + digits] == '_' && strtol(name + 4 + digits, &end, 10) == getpid() && *end == '\0'
	           ? SCRATCH_PASSING
	           : SCRATCH_NO;
}

/* A forked child uses the directory of its parent, whose record of it may differ from the child's. */
enum scratch pch_scratch(const char *path)
{
	static const char directory[] = "/__nvrtc_auto_pch_";
	const char *at = path ? strstr(path, directory) : NULL, *slash = path ? strrchr(path, '/') : NULL;
	char *end;

	if (!at) {
		return slash ? judge_name(slash + 1) : SCRATCH_NO;
	}
	if (strtol(at + sizeof(directory) - 1, &end, 10) != getpid() || *end != '_' || strstr(end, "..")) {
		return SCRATCH_NO;
	}
	return strcmp(end + strlen(end) - 4, ".pch") == 0 ? SCRATCH_KEPT : SCRATCH_PASSING;
}

static struct maker *find_maker(const char *path)
{
	struct maker *maker = atomic_load_explicit(&makers, memory_order_acquire);

	while (maker && strcmp(maker->path, path) != 0) {
		maker = maker->next;
	}
	return maker;
}

static int look_at(const char *path, struct file_stamp *ret_stamp)
{
	struct stat status;

	if (stat(path, &status) != 0) {
		return -errno;
	}
	file_stamp_from(&status, ret_stamp);
	return 0;
}

/*
 * Returns true if the path still has the state of the event. Directories are compared only by identity, because their
 * times change with every temporary file of another process.
 */
static bool still_so(const struct trace_event *event)
{
	struct file_stamp stamp = {0};
	int error = look_at(event->path, &stamp);

	if (error != 0 || event->error != 0) {
		return error == -event->error;
	}
	if (S_ISDIR(stamp.mode)) {
		return stamp.device == event->stamp.device && stamp.inode == event->stamp.inode;
	}
	return file_stamp_same(&stamp, &event->stamp);
}

/*
 * Adds what the maker of the precompiled header had read to this trace. If one of these files has changed since, NVRTC
 * makes the header anew, or uses one that is out of date: in both cases it is not known what this compilation read.
 */
static int complete_from(const struct maker *maker, const struct key *input, uint32_t *taints, struct trace *trace)
{
	struct file_stamp stamp;

	if (!maker || memcmp(&maker->input, input, sizeof(*input)) != 0 || look_at(maker->path, &stamp) != 0) {
		return -ENOENT;
	}
	if (!file_stamp_same(&stamp, &maker->stamp)) {
		return -ESTALE;
	}
	for (size_t i = 0; i < maker->trace.count; i++) {
		const struct trace_event *event = &maker->trace.events[i];

		if (!still_so(event)) {
			return -ESTALE;
		}
		if (!trace_add(trace, event)) {
			return -ENOMEM;
		}
	}
	trace_taint(trace, maker->taints);
	*taints |= maker->taints;
	return 0;
}

/*
 * NVRTC opens each PCH in its directory to see whether it fits, and then the one that it loads again. If it neither
 * loaded nor created one, each counts as loaded.
 */
static int complete_from_loaded(const struct key *input, uint32_t *taints, struct trace *trace)
{
	bool decided = trace_has(trace, TRACE_SCRATCH_READ_AGAIN) || trace_has(trace, TRACE_SCRATCH_MADE);
	const enum trace_kind loaded = decided ? TRACE_SCRATCH_READ_AGAIN : TRACE_SCRATCH_READ;
	const size_t count = trace->count;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++) {
		if (trace->events[i].kind == loaded && trace->events[i].error == 0) {
			error = complete_from(find_maker(trace->events[i].path), input, taints, trace);
		}
	}
	return error;
}

static void free_maker(struct maker *maker)
{
	trace_free(&maker->trace);
	free(maker->path);
	free(maker);
}

static struct maker *make_maker(const char *path, const struct key *input, uint32_t taints, const struct trace *trace)
{
	struct maker *maker = calloc(1, sizeof(*maker));

	if (!maker) {
		return NULL;
	}
	trace_init(&maker->trace, trace->start_ns);
	maker->path = strdup(path);
	maker->input = *input;
	maker->taints = taints;
	for (size_t i = 0; i < trace->count; i++) {
		if (trace->events[i].kind == TRACE_PROBE || trace->events[i].kind == TRACE_OPEN) {
			(void)trace_add(&maker->trace, &trace->events[i]);
		}
	}
	if (!maker->path || maker->trace.failed || trace->failed || look_at(path, &maker->stamp) != 0) {
		free_maker(maker);
		return NULL;
	}
	return maker;
}

static void remember_made(const struct key *input, uint32_t taints, const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		struct maker *maker;

		if (trace->events[i].kind != TRACE_SCRATCH_MADE) {
			continue;
		}
		maker = make_maker(trace->events[i].path, input, taints, trace);
		if (maker) {
			/* if a file is created again, the search finds its newest record first */
			maker->next = atomic_load_explicit(&makers, memory_order_relaxed);
			while (!atomic_compare_exchange_weak_explicit(&makers, &maker->next, maker,
			                                              memory_order_release, memory_order_relaxed)) {
			}
		}
	}
}

/*
 * A compilation that did not search its directory for PCHs used one of the host's files, or could not make the
 * directory. The headers in memory are not known any more if the program was compiled before.
 */
int pch_complete(struct handle *handle, const struct call *call, const struct request *request, uint32_t watched,
                 struct trace *trace)
{
	struct key input;
	int error;

	if (!trace_has(trace, TRACE_SCRATCH_READ) || !handle->creation.bytes || !trace->told || !trace->told->cwd ||
	    !request_unchanged(handle, call, request, trace->told)) {
		return -ENOENT;
	}
	error = runs_digest_of_input(&request->run, &handle->creation, &input);
	if (error == 0) {
		error = complete_from_loaded(&input, &watched, trace);
	}
	if (error == 0) {
		remember_made(&input, watched, trace);
	}
	return error;
}

bool pch_has_place(void)
{
	const char *place = environment_get("TMPDIR");
	struct stat found;

	/* an empty value means the root directory to NVRTC */
	place = !place ? "/tmp" : *place ? place : "/";
	return fstatat(AT_FDCWD, place, &found, 0) == 0 && S_ISDIR(found.st_mode) &&
	       faccessat(AT_FDCWD, place, W_OK | X_OK, AT_EACCESS) == 0;
}
