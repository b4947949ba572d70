/* SPDX-License-Identifier: MIT */
/*
 * link: what we know of one nvJitLink handle beyond what all handles have (interpose/compile/handle.h)
 *
 *     open --link_record()--> open      an input that the real handle has
 *     open --link_step()--> open        an input that the real handle has, or owes
 *     open --link_complete()--> linked
 *     any  --link_settle()--> unkeyed   the real handle has all that it owed; every call is forwarded
 *
 * The creation run is: the options, then each input as it was added, with what the library was told of the environment
 * at that moment. It says all that a link hangs on, so a step's key is of the run up to it, and stands for the inputs
 * after it.
 *
 * Calling sequence: link_add() after a successful nvJitLinkCreate, link_find() in every call about it.
 * Threads, fork, signals: as of handle.h. Errors: where there is no memory the handle is unknown, or settled.
 * Ownership: inputs of steps are copies; those of names live as long as the handle, as the library may have pointers to
 * them.
 */
#ifndef INTERPOSE_NVJITLINK_LINK_H
#define INTERPOSE_NVJITLINK_LINK_H

#include "interpose/compile/handle.h"
#include "interpose/nvjitlink/input.h"

struct link {
	struct handle handle;
	unsigned options; /* enum link_options */
	struct link_input *inputs;
	size_t input_count;
	size_t head_size; /* of the creation run: the options, and what was told at its making */
	size_t copied;    /* bytes of all that was ever copied */
	int adding;       /* the step that the host is adding; 0: none */
	bool keeps_names; /* the library has pointers of the host's to names of inputs */
	bool has_cubins;
	bool has_failed; /* an input, so that the log says something */
	bool is_complete;
};

/* The call kinds: completing is 0, a step is its input's number from 1 on. */
#define LINK_COMPLETE 0

void link_add(nvjitlink_handle value, struct library *library, enum reach reach, const struct call *call);
struct link *link_find(nvjitlink_handle value); /* NULL: unknown, or none of nvJitLink's */

static inline struct link *link_of(const struct handle *handle)
{
	return (struct link *)handle;
}

/* How an input goes in. */
enum link_way {
	LINK_WAY_FORWARD, /* nobody can say what it does: link_settle() first */
	LINK_WAY_AT_ONCE, /* the library copies it: link_record() after it */
	LINK_WAY_STEP     /* link_step(), then compile_call() */
};
enum link_way link_way(const struct link *link, const struct link_input *input);

void link_record(struct link *link, const struct link_input *input, int return_code);
/* Copies the input, which the host is adding from here on. The call's kind; -ENOMEM, -EFBIG: it is to be forwarded. */
int link_step(struct link *link, const struct link_input *input);
/* After a step: drops the copies that the real handle does not need. */
void link_stepped(struct link *link, int kind);
/* The name that the real handle is to be given with the input of a step, now. */
const char *link_step_name(struct link *link, int kind);
/* Before the library may read names of earlier inputs again: it reads what the host's memory says. */
void link_refresh_names(struct link *link);
/* Before and after a real call that adds the input or, with NULL, completes the link (prefix.h). */
void link_settle_prefix(const struct link *link, const struct link_input *input);
void link_set_prefix(const struct link *link, const struct link_input *input, int return_code);
/* The compiler's served(). */
void link_grown(struct handle *handle, const struct entry *entry);

/* The real handle catches up, and is used for everything from now on. */
void link_settle(struct link *link, enum counter reason);

/* The compiler's about(). */
void link_about(const struct handle *handle, const struct call *call, struct stream *about);

/* The compiler's free_handle(). */
void link_free(struct handle *handle);

#endif
