/* SPDX-License-Identifier: MIT */
/*
 * secret_file: a file that only its reader may access: passwords, tokens, keys (docs/DESIGN.md G4)
 *
 * Errors: negative errno values; secret_file_reason() has words for them. -EACCES: another user owns it, or the group
 * or others have any right; -EFBIG: longer than SECRET_FILE_MAX; -EINVAL: a NUL in it, or not a regular file.
 * Ownership: the texts are the caller's, and are freed by secret_file_wipe().
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
