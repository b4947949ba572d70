/* SPDX-License-Identifier: MIT */
/*
 * log: what people asked to be told (NVRTCCACHE_LOG, NVRTCCACHE_LOG_LEVEL)
 *
 * Purpose: one line per event, written by one write(2), so that lines of several processes do not mix. Nothing is ever
 * written unless it was asked for. Only interpose/ logs; the layers below return values.
 *
 * Calling sequence: log_open() once from the run time's set-up, log_write() anywhere after or before (before: nothing).
 * The file is opened and closed for each line: hosts close descriptors that they do not know.
 * Threads: any. Fork: no state but two words. Signals: no. Errors: a line that cannot be written is lost. errno kept.
 * Ownership: `path` must live for ever.
 */
#ifndef INTERPOSE_COMPILE_LOG_H
#define INTERPOSE_COMPILE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_ERROR = 1, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/*
 * Hosts close descriptor 2 and open a file of theirs, which then has its number. So what descriptor 2 is (device, inode,
 * type) is noted when a host first asks dlsym for a compiler's function or makes its first handle, which is the earliest
 * moment at which the library may do anything (A4), and text for stderr is written only while descriptor 2 is that.
 */
void log_note_stderr(void);
/*
 * Writes a whole line to stderr by one write, or nothing. Where nobody reads it any more, or the file is at
 * RLIMIT_FSIZE, the line is lost and the host hears nothing of it (cache/output.h).
 */
void log_put_stderr(const char *line, size_t size);
/* The same for a file of that path that is open: false if the path names descriptor 2 and the file is another one. */
bool log_may_write(const char *path, int descriptor);

/* path NULL: nothing is logged; "stderr": descriptor 2. */
void log_open(const char *path, int level);
bool log_wanted(enum log_level level);
/*
 * A line of at most 1,023 bytes: "<time, UTC> nvrtccache[<pid>]: <text>". Control characters in it become blanks.
 */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
