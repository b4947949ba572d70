/* SPDX-License-Identifier: MIT */
/*
 * options: what nvJitLinkCreate's options say about keeping a link
 *
 * Each is one string, -name or -name=value. Those that are listed as clear leave nothing behind in the process; of every
 * other (-Xnvvm= sets LLVM's global options: with -Xnvvm=-inline-info every later link of the process has remarks in its
 * log) that is not known, so such a link is passed through, and what the library links afterwards is not kept.
 *
 * Calling sequence: a pure function. Errors: none.
 */
#ifndef INTERPOSE_NVJITLINK_OPTIONS_H
#define INTERPOSE_NVJITLINK_OPTIONS_H

#include "interpose/compiler.h"

/* A set. */
enum link_options {
	LINK_OPTIONS_LTO = 1,  /* completing works: it compiles LTO-IR */
	LINK_OPTIONS_LOGS = 2, /* the log is no good for others: it tells run times, or numbers of barriers that were
	                               never counted (-verbose), or what ptxas says, which is lost where the driver's own
	                               cache was hit */
	LINK_OPTIONS_UNCLEARED = 4, /* some that may work on */
	LINK_OPTIONS_VARIES = 8,    /* the library itself does not always give the same with them */
	LINK_OPTIONS_PTX = 16       /* PTX is asked for, and ptxas does not run when the link is completed */
};

unsigned link_options_read(const struct call *call);

#endif
