/* SPDX-License-Identifier: MIT */
/*
 * inject: makes the n-th call that the library makes of libc go wrong
 *
 * Purpose: the program that includes this runs with libnvrtccache.so preloaded. inject_install() redirects that
 * library's own import slots (all of its calls go through them: it is bound at load) to wrappers that count the call,
 * do it, and fail it or end the process when its number comes. Calls of the program, of libc and of NVRTC are neither
 * counted nor touched; so are those which the library makes for NVRTC while it watches it, as they take NVRTC's slots.
 *
 * Calling sequence: inject_install() once; in a forked child inject_begin(); the child's end ends it.
 *
 *     installed --inject_begin--> armed --call number `at`--> injected (`on`: at every later one that can fail so)
 *
 * Errors: inject_install() names an import that it does not know: then it must be added, to the calls that can fail or
 * to those that cannot. Threads: one. Fork: a child inherits what is armed.
 */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include <stdbool.h>
#include <stddef.h>

#define INJECT_CALLS_MAX 65536
#define INJECT_HALF      ((size_t)-1)

enum inject_action { INJECT_NOTHING, INJECT_ERROR, INJECT_SHORT, INJECT_KILL_BEFORE, INJECT_KILL_AFTER };

struct inject_plan {
	enum inject_action action;
	unsigned at;   /* 1: the first call */
	bool on;       /* every later call too, where it can fail so */
	int error;     /* INJECT_ERROR */
	size_t length; /* INJECT_SHORT: bytes that one read or write moves; INJECT_HALF: half of what was asked */
};

/* In memory that the parent shares, so that it outlives a killed child. */
struct inject_report {
	unsigned calls;
	unsigned injected;
	unsigned char call[INJECT_CALLS_MAX]; /* of the first calls: which one it was, for inject_name() and the like */
};

/* NULL, or what is wrong. */
const char *inject_install(void);
void inject_begin(const struct inject_plan *plan, struct inject_report *report);

const char *inject_name(unsigned call);
/* The errors that this call can give, ended by 0. */
const int *inject_errors(unsigned call);
bool inject_admits(unsigned call, int error);
bool inject_moves_bytes(unsigned call);

#endif
