/* SPDX-License-Identifier: MIT */
/*
 * log: the log that the user asked for (NVRTCCACHE_LOG, NVRTCCACHE_LOG_LEVEL)
 *
 * Purpose: writes one line per event with one write(2), so that lines of several processes do not mix. Without
 * NVRTCCACHE_LOG nothing is written. Only interpose/ logs; the layers below return values.
 *
 * Calling sequence: log_open() once from the run time's set-up; log_write() at any time (before log_open() it does
 * nothing). The file is opened and closed for each line, because hosts close descriptors that they do not know.
 * Threads: any. Fork: the state is three words. Signals: no. Errors: a line that cannot be written is lost. errno does
 * not change. Ownership: `path` must never be freed.
 */
#ifndef INTERPOSE_COMPILE_LOG_H
#define INTERPOSE_COMPILE_LOG_H

#include <stdbool.h>

#define LOG_LINE_BYTES 1024

enum log_level { LOG_ERROR = 1, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/*
 * Records the identity of descriptor 2 (device, inode, type). Some hosts close descriptor 2 and open a file, which then
 * has its number. Text for stderr is written only while descriptor 2 still has the recorded identity. Called when a
 * host first looks up a compiler's function or creates its first handle, the earliest moment at which this library may
 * do anything.
 */
void log_note_stderr(void);
/* Returns false if the path names descriptor 2 and the open file is not the one recorded for it. */
bool log_may_write(const char *path, int descriptor);

/* `path` NULL: there is no log; "stderr": the log goes to descriptor 2. */
void log_open(const char *path, int level);
bool log_wanted(enum log_level level);
/*
 * Writes a line of at most 1,024 bytes: "<time, UTC> nvrtccache[<pid>]: <text>", with one write(2), or nothing. Harmful
 * bytes become '?'. If the reader has gone, or the file has the size RLIMIT_FSIZE, the line is lost and the host gets
 * no signal (cache/output.h).
 */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes such a line to descriptor 2, whether or not there is a log. */
void log_stderr(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
