/* SPDX-License-Identifier: MIT */
/*
 * pch: automatic precompiled headers, --pch (docs/DESIGN.md)
 *
 *     unknown --a watched compilation creates the file--> known (with everything that this compilation read)
 *
 * NVRTC stores the front end's state after the headers of a first --pch compilation in
 * <tmp>/__nvrtc_auto_pch_<pid>_<n>/, for this process only. A later compilation that uses such a file neither stats nor
 * opens those headers, and continues to use their old content when they change. So every compilation that opens the PCH
 * file counts as having read the files of the first compilation, with their content at that time. Its result is cached
 * only if all of them are unchanged.
 *
 * Purpose: distinguishes NVRTC's scratch files (the directory above and edg<n>_<pid> or edg.<random>) from the host's
 * files, so that creating them is no side effect; remembers for each PCH file what the compilation that created it had
 * read; adds that to the traces of compilations that use the file.
 *
 * Calling sequence: after a watched --pch compilation, pch_complete() for its trace, then pch_remember(). Errors:
 * pch_complete() returns -ENOENT (the watch did not see the file being created), -ESTALE (a file has changed since),
 * -ENOMEM; the result is then not cached. A PCH file that pch_remember() cannot store stays unknown. Threads: any,
 * without a lock. Fork: needs nothing, because NVRTC rejects PCH files of a parent process. Ownership: stored until the
 * process ends; there is one PCH file for each of the host's sets of headers.
 */
#ifndef INTERPOSE_NVRTC_PCH_H
#define INTERPOSE_NVRTC_PCH_H

#include "interpose/compile/library.h"
#include "keygen/trace.h"

enum scratch pch_scratch(const char *path); /* NULL is fine */
int pch_complete(struct trace *trace);
void pch_remember(const struct trace *trace);

/*
 * Records a call of nvrtcSetPCHHeapSize. Afterwards --pch compilations of the process report that heap size, in logs
 * and PCH status and, with warnings as errors, in the return code.
 */
void pch_set_heap(struct library *library);
bool pch_heap_was_set(const struct library *library);

#endif
