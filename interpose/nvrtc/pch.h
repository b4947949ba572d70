/* SPDX-License-Identifier: MIT */
/*
 * pch: automatic precompiled headers, --pch (docs/DESIGN.md B11)
 *
 *     unknown --a watched compile makes the file--> known (with what that compile read)
 *
 * NVRTC keeps the front end's state after the headers of a first --pch compile in <tmp>/__nvrtc_auto_pch_<pid>_<n>/,
 * for this process alone. A later compile that uses such a file neither stats nor opens those headers, and goes on
 * serving their old content when they change. So what the making compile read counts as read by each compile that opens
 * the file, with the content of that moment; a result is kept only if all of it is still so.
 *
 * Purpose: tells NVRTC's own scratch files (the directory above and edg<n>_<pid> or edg.<random>) from files of the
 * host, so that making them is no side effect; remembers per file what its maker read; completes the traces of its
 * users.
 *
 * Calling sequence: after a watched --pch compile, pch_complete() for its trace, then pch_remember().
 * Errors: pch_complete() returns -ENOENT (a file that no compile was seen to make), -ESTALE (something has changed
 * since), -ENOMEM; then the result is not kept. What pch_remember() cannot keep stays unknown. Threads: any, without a
 * lock. Fork: nothing to do; a child's NVRTC refuses its parent's files. Ownership: remembered for the life of the
 * process; the number of files is the number of header sets of the host.
 */
#ifndef INTERPOSE_NVRTC_PCH_H
#define INTERPOSE_NVRTC_PCH_H

#include "interpose/compile/library.h"
#include "keygen/trace.h"

enum scratch pch_scratch(const char *path); /* NULL is fine */
int pch_complete(struct trace *trace);
void pch_remember(const struct trace *trace);

/*
 * nvrtcSetPCHHeapSize: from there on the process's --pch compiles tell of that heap, in their logs, status and, with
 * warnings as errors, in whether they succeed.
 */
void pch_set_heap(struct library *library);
bool pch_heap_was_set(const struct library *library);

#endif
