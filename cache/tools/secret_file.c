/* SPDX-License-Identifier: MIT */
/*
 * Files with secrets must not be accessible to other users. Copies in memory are not zeroed: the agent needs its
 * secrets until it ends, and leaves no core file.
 */
#include "cache/tools/secret_file.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks the open file, not the path, which could change. Root may own the file, as with credentials of systemd. */
static int judge_file(const struct stat *found)
{
	if (!S_ISREG(found->st_mode)) {
		return -EINVAL;
	}
	if ((found->st_uid != geteuid() && found->st_uid != 0) || (found->st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		return -EACCES;
	}
	return found->st_size > SECRET_FILE_MAX ? -EFBIG : 0;
}

/* Reads up to one byte more than the limit, to detect a file that has grown beyond it. */
int secret_file_read(const char *path, char **ret_text)
{
	/* O_NONBLOCK, because the open of a FIFO would block */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = NULL;
	struct stat found;
	ssize_t size;
	int error;

	if (file < 0) {
		return -errno;
	}
	error = fstat(file, &found) != 0 ? -errno : judge_file(&found);
	if (error == 0) {
		text = calloc(1, SECRET_FILE_MAX + 2);
		size = text == NULL ? -1 : call_pread(file, text, SECRET_FILE_MAX + 1, 0);
		if (size < 0) {
			error = text == NULL ? -ENOMEM : -errno;
		} else if (size > SECRET_FILE_MAX) {
			error = -EFBIG;
		} else if (memchr(text, '\0', (size_t)size) != NULL) {
			error = -EINVAL;
		}
	}
	close(file);
	if (error != 0) {
		free(text);
		return error;
	}
	*ret_text = text;
	return 0;
}

/* Only the first line is used, because editors end a file with a line break that is not part of the password. */
int secret_file_line(const char *path, char **ret_line)
{
	char *text;
	size_t length;
	int error = secret_file_read(path, &text);

	if (error != 0) {
		return error;
	}
	length = strcspn(text, "\r\n");
	if (length == 0) {
		free(text);
		return -ENODATA;
	}
	text[length] = '\0';
	*ret_line = text;
	return 0;
}

const char *secret_file_reason(int error)
{
	switch (error) {
	case -EACCES:
		return "not used: it must belong to you, and must not be accessible to others (chmod 600)";
	case -EFBIG:
		return "longer than 64 KiB";
	case -EINVAL:
		return "not a text file";
	case -ENODATA:
		return "its first line is empty";
	default:
		return strerror(-error);
	}
}
