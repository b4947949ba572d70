/* SPDX-License-Identifier: MIT */
/*
 * pch: automatic precompiled headers, --pch (docs/DESIGN.md B11)
 *
 *     unknown --a watched compilation makes the file--> known (with what that compilation read)
 *
 * NVRTC stores the front end's state after the headers of a first --pch compilation in
 * <tmp>/__nvrtc_auto_pch_<pid>_<n>/, for this process only. A later compilation that uses such a file neither stats
 * nor opens those headers, and continues to use their old content when they change. So the files that the first
 * compilation read count as read, with the content of that moment, by each compilation that opens the PCH file; its
 * result is cached only if all of them are unchanged.
 *
 * Purpose: distinguishes NVRTC's scratch files (the directory above and edg<n>_<pid> or edg.<random>) from the host's
 * files, so that creating them is no side effect; remembers for each PCH file what its maker read; completes the
 * traces of its users.
 *
 * Calling sequence: after a watched --pch compilation, pch_complete() for its trace, then pch_remember(). Errors:
 * pch_complete() returns -ENOENT (no compilation was seen to make the file), -ESTALE (something has changed since),
 * -ENOMEM; the result is then not cached. What pch_remember() cannot store stays unknown. Threads: any, without a
 * lock. Fork: nothing to do; NVRTC rejects PCH files of a parent process. Ownership: remembered until the process
 * ends; the number of files is the host's number of header sets.
 */
#ifndef INTERPOSE_NVRTC_PCH_H
#define INTERPOSE_NVRTC_PCH_H

#include "interpose/compile/library.h"
#include "keygen/trace.h"

enum scratch pch_scratch(const char *path); /* NULL is fine */
int pch_complete(struct trace *trace);
void pch_remember(const struct trace *trace);

/*
 * Records a call of nvrtcSetPCHHeapSize. From then on --pch compilations of the process report that heap, in logs and
 * PCH status and, with warnings as errors, in the return code.
 */
void pch_set_heap(struct library *library);
bool pch_heap_was_set(const struct library *library);

#endif
