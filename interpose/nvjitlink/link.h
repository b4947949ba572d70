/* SPDX-License-Identifier: MIT */
/*
 * link: the record of one nvJitLink handle, in addition to that of all handles (interpose/compile/handle.h)
 *
 *     open --link_record()--> open      the real handle has the input
 *     open --link_step()--> open        the real handle has the input, or adding it is deferred
 *     open --nvJitLinkComplete--> linked
 *     any  --link_settle()--> unkeyed   deferred calls have been performed; every later call is forwarded
 *
 * The creation run consists of the options and of each input in order, each with the variables that the library had
 * read at that time. It describes everything that a link depends on, so a step's key is computed from the run up to the
 * step. For later inputs, that key replaces the run.
 *
 * Calling sequence: link_add() after a successful nvJitLinkCreate, link_find() in every call with the handle. Threads,
 * fork, signals: as in handle.h. Errors: without memory the handle stays unknown, or is settled. Ownership: inputs of
 * steps are copies. Copies of names live as long as the handle, because the library may store pointers to them.
 */
#ifndef INTERPOSE_NVJITLINK_LINK_H
#define INTERPOSE_NVJITLINK_LINK_H

#include "interpose/compile/handle.h"
#include "interpose/nvjitlink/input.h"

/*
 * What the options of nvJitLinkCreate do: a set of bits. An option is one string, -name or -name=value. Listed options
 * have no effect on later links. For all others this is not known (-Xnvvm= sets LLVM's global options: after
 * -Xnvvm=-inline-info every later link of the process has remarks in its log). So a link with an unlisted option
 * bypasses the cache, and later links of that library are not cached.
 */
enum link_options {
	LINK_OPTIONS_LTO = 1, /* LTO: nvJitLinkComplete compiles LTO-IR */
	/*
	 * The log is not a function of the input: -verbose reports run times and uninitialised barrier counts, and the
	 * messages of ptxas are missing if the driver's own cache was hit.
	 */
	LINK_OPTIONS_LOGS = 2,
	LINK_OPTIONS_UNCLEARED = 4, /* options that may affect later links */
	LINK_OPTIONS_VARIES = 8     /* options with which the output varies between equal calls */
};

/* Returns the set for the options of a call. */
unsigned link_options_read(const struct call *call);

struct link {
	struct handle handle;
	unsigned options; /* enum link_options */
	struct link_input *inputs;
	size_t input_count;
	size_t head_size; /* size of the run's first part: options, and variables that nvJitLinkCreate may have read */
	size_t copied;    /* total bytes of all copies made */
	int adding;       /* the step being added; 0: none */
	bool keeps_names; /* the library stores the host's pointers to names of inputs */
	bool has_cubins;
	bool has_failed; /* an earlier input failed, so the log is not empty */
	bool is_complete;
};

/* Kinds of calls: 0 is nvJitLinkComplete; a step has the number of its input, from 1 on. */
#define LINK_COMPLETE 0

void link_add(nvjitlink_handle value, struct library *library, enum reach reach, const struct call *call);
struct link *link_find(nvjitlink_handle value); /* NULL: unknown, or a handle of another compiler */

static inline struct link *link_of(const struct handle *handle)
{
	return (struct link *)handle;
}

/* How an input is added. */
enum link_way {
	LINK_WAY_FORWARD, /* the effect is not known: link_settle() first */
	LINK_WAY_AT_ONCE, /* the library copies the input: link_record() after the real call */
	LINK_WAY_STEP     /* link_step(), then compile_call() */
};
enum link_way link_way(const struct link *link, const struct link_input *input);

/* Adds an input that the real handle has to the creation run. */
void link_record(struct link *link, const struct link_input *input, int return_code);
/*
 * Copies the input that the host is adding, and adds it to the creation run. Returns the kind of the call; -ENOMEM or
 * -EFBIG: forward the call.
 */
int link_step(struct link *link, const struct link_input *input);
/* To be called after a step: drops the copies that the real handle does not need. */
void link_stepped(struct link *link, int kind);
/* Returns the name to pass to the real handle with the input of a step. */
const char *link_step_name(struct link *link, int kind);
/* Refreshes the copies of names. To be called before the library may read the names of earlier inputs. */
void link_refresh_names(struct link *link);
/* Adds the key of the step and its dependencies to the creation run; the compiler's served(). */
void link_grown(struct handle *handle, const struct entry *entry);

/* Performs the deferred calls. All later calls are forwarded. */
void link_settle(struct link *link, enum counter reason);

/* The compiler's fields. */
extern const struct shown_field link_shown[OWN_TAGS];

/* The compiler's free_handle(). */
void link_free(struct handle *handle);

#endif
