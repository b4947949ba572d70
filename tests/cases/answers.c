/* SPDX-License-Identifier: MIT */
#include "answers.h"
#include "texts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain_of_errno(const char *what)
{
	if (errno != 77) {
		printf("  %s left errno %d\n", what, errno);
	}
}

void *library_of(const char *variable, const char *what)
{
	const char *path = getenv(variable);
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

	if (!library) {
		printf("  no %s: %s%s\n", what, path ? dlerror() : variable, path ? "" : " is not set");
		fflush(stdout);
		exit(2);
	}
	return library;
}

struct getter getter_of(void *(*find)(const char *), const char *head, const char *what)
{
	char size[64], bytes[64];

	snprintf(size, sizeof(size), "%s%sSize", head, what);
	snprintf(bytes, sizeof(bytes), "%s%s", head, what);
	return (struct getter){what, (size_function *)find(size), (bytes_function *)find(bytes)};
}

void answer_print(const struct getter *getter, void *handle, enum answer_form form)
{
	const char *what = getter->what;
	size_t size = 4242, left = 16;
	char *bytes;
	int code, bytes_code;

	if (!getter->size || !getter->bytes) {
		printf("  %s absent\n", what);
		return;
	}
	errno = 77;
	code = getter->size(handle, &size);
	complain_of_errno(what);
	if (form == ANSWER_SIZE) {
		printf("  %sSize %d %zu\n", what, code, size);
		return;
	}
	if (code != 0) {
		printf("  %sSize %d %zu", what, code, size);
		size = 16;
	}
	bytes = malloc(size + 16);
	memset(bytes, 0xee, size + 16);
	errno = 77;
	bytes_code = getter->bytes(handle, bytes);
	complain_of_errno(what);
	for (size_t i = size; i < size + 16; i++) {
		if ((unsigned char)bytes[i] != 0xee) {
			printf(" WROTE PAST THE END");
			break;
		}
	}
	if (code == 0) {
		int ended = size && !bytes[size - 1];

		/* Numbers that differ from process to process differ in length too. */
		left = bytes_code == 0 ? text_normalise(bytes, size) : size;
		printf("  %sSize %d %zu%s", what, code, left, ended ? ", a NUL at the end" : "");
	}
	printf(" get %d", bytes_code);
	if (bytes_code == 0) {
		printf(" %016llx", (unsigned long long)text_hash(bytes, left));
		if (form == ANSWER_TEXT) {
			printf(" ");
			text_print(bytes, left);
			free(bytes);
			return;
		}
	}
	printf("\n");
	free(bytes);
}

char *answer_take(const struct getter *getter, void *handle, size_t *ret_size)
{
	size_t size = 0;
	char *bytes = NULL;
	int code = getter->size ? getter->size(handle, &size) : -1, bytes_code = -1;

	if (code == 0 && size > 0) {
		bytes = malloc(size);
		bytes_code = getter->bytes(handle, bytes);
	}
	if (bytes_code != 0) {
		printf("  no %s: %d %d\n", getter->what, code, bytes_code);
		free(bytes);
		return NULL;
	}
	*ret_size = size;
	return bytes;
}
