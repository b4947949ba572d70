/* SPDX-License-Identifier: MIT */
/*
 * pch: automatic precompiled headers, --pch (docs/DESIGN.md B11)
 *
 *     unknown --a watched compilation creates the file--> known (with everything that went into it)
 *
 * NVRTC stores the front end's state after the headers of a first --pch compilation in
 * <tmp>/__nvrtc_auto_pch_<pid>_<n>/, for this process only. A later compilation that loads such a file neither stats
 * nor opens those headers, and continues to use their old content when they change. NVRTC compares the directives
 * before the first declaration, and most options, but neither headers in memory, nor the directories in which names are
 * searched, nor the program's name. So a compilation that loads a PCH counts as having read the files of the one that
 * created it, with their content at that time. Its result is cached only if all of them are unchanged, and if it has
 * the same headers in memory, options, variables, directories and, where that may be in the PCH, name.
 *
 * With --create-pch, --use-pch and --pch-dir, and with 12.8 and 12.9, a PCH is a file of the host, of which nothing is
 * known. If NVRTC cannot make its directory, it goes on without PCHs until the process ends. Such results are not
 * cached.
 *
 * Purpose: distinguishes NVRTC's scratch files (the directory above and edg<n>_<pid> or edg.<random>) from the host's
 * files, so that creating them is no side effect; remembers for each PCH file the compilation that created it; adds
 * what that had read to the traces of compilations that load the file.
 *
 * Calling sequence: pch_complete() after a watched compilation with options about PCHs, when its texts were read.
 * Errors: -ENOENT (no PCH, one that the watch did not see being created, or one with other contents), -ESTALE (a file
 * has changed since), -ENOMEM; the result is then not cached, and a PCH that it created stays unknown. Threads: any,
 * without a lock. Fork: a child uses its parent's directory, and removes it when it exits. A file that this process did
 * not create, or that the other one replaced, is unknown. Ownership: stored until the process ends; there is one PCH
 * file for each of the host's sets of headers.
 */
#ifndef INTERPOSE_NVRTC_PCH_H
#define INTERPOSE_NVRTC_PCH_H

#include "interpose/compile/request.h"
#include "keygen/trace.h"

enum scratch pch_scratch(const char *path); /* NULL is fine */
/* `watched`: the taints of the trace before the texts were read. */
int pch_complete(struct handle *handle, const struct call *call, const struct request *request, uint32_t watched,
                 struct trace *trace);

/*
 * In `told` of struct library, beside the sticky options (options.h): nvrtcSetPCHHeapSize was called. Afterwards --pch
 * compilations of the process report that heap size, in logs and PCH status and, with warnings as errors, in the return
 * code.
 */
#define PCH_TOLD_HEAP (UINT32_C(1) << 31)

/* Returns true if NVRTC can make its directory. Otherwise it warns, and returns another status. */
bool pch_has_place(void);

#endif
