/* SPDX-License-Identifier: MIT */
/*
 * options: decides which options of nvJitLinkCreate allow a link to be cached
 *
 * An option is one string, -name or -name=value. Listed options have no effect on later links. For all others this is
 * not known (-Xnvvm= sets LLVM's global options: after -Xnvvm=-inline-info every later link of the process has remarks
 * in its log). So a link with an unlisted option bypasses the cache, and later links of that library are not cached.
 *
 * Calling sequence: a pure function. Errors: none.
 */
#ifndef INTERPOSE_NVJITLINK_OPTIONS_H
#define INTERPOSE_NVJITLINK_OPTIONS_H

#include "interpose/compiler.h"

/* A set of bits. */
enum link_options {
	LINK_OPTIONS_LTO = 1, /* LTO: nvJitLinkComplete compiles LTO-IR */
	/*
	 * The log is not a function of the input: -verbose reports run times and uninitialised barrier counts, and the
	 * messages of ptxas are missing if the driver's own cache was hit.
	 */
	LINK_OPTIONS_LOGS = 2,
	LINK_OPTIONS_UNCLEARED = 4, /* options that may affect later links */
	LINK_OPTIONS_VARIES = 8,    /* options with which the output varies between equal calls */
	LINK_OPTIONS_PTX = 16       /* PTX is requested, and nvJitLinkComplete does not run ptxas */
};

/* Returns the set for the options of a call. */
unsigned link_options_read(const struct call *call);

#endif
