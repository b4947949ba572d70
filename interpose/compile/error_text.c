/* SPDX-License-Identifier: MIT */
#include "interpose/compile/error_text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Those that users can do something about. */
static const struct {
	int error;
	const char *text;
} texts[] = {
    /* the trust checks return EPERM; system calls may return it for other reasons */
    {EPERM, "not used, because it belongs to another user or others can write to it"},
    {EBADMSG, "damaged"},
    {ENOENT, "no such file or directory"},
    {EACCES, "permission denied"},
    {ENOTDIR, "not a directory"},
    {EMFILE, "too many open files in this process"},
    {EFBIG, "too large"},
    {ENOSPC, "no space left"},
    {EDQUOT, "the quota is used up"},
    {EROFS, "read-only"},
    {ENOMEM, "out of memory"},
    {EAGAIN, "locked by another process"},
};

/* snprintf with %d allocates nothing and reads no locale. */
const char *error_text(int error, char buffer[ERROR_TEXT_BYTES])
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].error == abs(error)) {
			return texts[i].text;
		}
	}
	(void)snprintf(buffer, ERROR_TEXT_BYTES, "error %d", abs(error));
	return buffer;
}
