/* SPDX-License-Identifier: MIT */
/*
 * secret_file: reads a file with a password, token or key that only this user may access (docs/DESIGN.md G4)
 *
 * Errors: negative errno values, for which secret_file_reason() has texts. -EACCES: a user other than this one and root
 * owns the file, or the group or others have any permission; -EFBIG: longer than SECRET_FILE_MAX; -EINVAL: the file
 * contains a NUL or is not a regular file. Ownership: the caller frees the texts.
 */
#ifndef CACHE_TOOLS_SECRET_FILE_H
#define CACHE_TOOLS_SECRET_FILE_H

#define SECRET_FILE_MAX 65536

/* Reads the whole file as a NUL-terminated text. */
int secret_file_read(const char *path, char **ret_text);
/* Reads the first line without its line break, for a password or token. -ENODATA: the line is empty. */
int secret_file_line(const char *path, char **ret_line);

/* Returns the text for an error of these functions. */
const char *secret_file_reason(int error);

#endif
