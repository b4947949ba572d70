/* SPDX-License-Identifier: MIT */
/*
 * secret_file: a file that is the reader's alone: passwords, tokens, keys (docs/DESIGN.md G4)
 *
 * Errors: negative errno values; -EACCES: it is somebody else's, or the group or others may do anything with it
 * (secret_file_reason() says so in words); -EFBIG: longer than SECRET_FILE_MAX; -EINVAL: a NUL in it, or no regular file.
 * Ownership: what comes back is the caller's, and goes by secret_file_wipe(). Threads: no state.
 */
#ifndef AGENT_ENGINE_SECRET_FILE_H
#define AGENT_ENGINE_SECRET_FILE_H

#include <stddef.h>

#define SECRET_FILE_MAX 65536

/* The whole text, a NUL behind it. */
int secret_file_read(const char *path, char **ret_text);
/* Its first line, without the line's end: a password, a token. -ENODATA: that is empty. */
int secret_file_line(const char *path, char **ret_line);
/* Zeros over it, then free(); NULL is fine. */
void secret_file_wipe(char *text);
/* Of a negative errno value of these. */
const char *secret_file_reason(int error);

#endif
