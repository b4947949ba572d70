/* SPDX-License-Identifier: MIT */
/*
 * The made-up compiler. Options are -O0 to -O3 and -name=TEXT; any other is refused when the handle is completed. The
 * output is a head, a NUL and all pieces in their order; a piece that says "broken" fails. Nothing can be added to a
 * handle, or completed a second time, after a success or a failure.
 */
#include "tests/fake/piece/npiece.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE ((size_t)1 << 16)

struct piece {
	int kind;
	char *name;
	char *bytes;
	size_t size;
};

struct npiece_work {
	char **options;
	int option_count;
	struct piece *pieces;
	size_t count;
	bool ended;
	char output[TEXT_SIZE];
	size_t output_size; /* 0: none */
	char log[TEXT_SIZE];
};

static _Atomic int completes;
char fakeNpieceWhim[16];

int fakeNpieceCompletes(void)
{
	return completes;
}

static void *copy_of(const void *bytes, size_t size)
{
	char *copy = calloc(1, size + 1);

	if (copy != NULL && size > 0) {
		memcpy(copy, bytes, size);
	}
	return copy;
}

static void free_work(struct npiece_work *work)
{
	for (int i = 0; i < work->option_count; i++) {
		free(work->options[i]);
	}
	for (size_t i = 0; i < work->count; i++) {
		free(work->pieces[i].name);
		free(work->pieces[i].bytes);
	}
	free(work->options);
	free(work->pieces);
	free(work);
}

int npieceCreate(npieceHandle *handle, int option_count, const char *const *options)
{
	struct npiece_work *work;

	if (handle == NULL || option_count < 0 || (option_count > 0 && options == NULL)) {
		return NPIECE_INVALID_INPUT;
	}
	for (int i = 0; i < option_count; i++) {
		if (options[i] == NULL) {
			return NPIECE_INVALID_INPUT;
		}
	}
	work = calloc(1, sizeof(*work));
	if (work == NULL) {
		return NPIECE_OUT_OF_MEMORY;
	}
	work->options = calloc((size_t)option_count + 1, sizeof(char *));
	for (int i = 0; i < option_count && work->options != NULL; i++) {
		work->options[i] = copy_of(options[i], strlen(options[i]));
		work->option_count = i + 1;
	}
	*handle = work;
	return NPIECE_SUCCESS;
}

int npieceAdd(npieceHandle handle, int kind, const char *name, const void *bytes, size_t size)
{
	struct piece *more;

	if (handle == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	if (handle->ended) {
		return NPIECE_ALREADY_COMPLETED;
	}
	if (name == NULL ||
	    !(kind == NPIECE_PATH ? bytes == NULL && size == 0 : kind == NPIECE_TEXT && bytes != NULL)) {
		return NPIECE_INVALID_INPUT;
	}
	more = realloc(handle->pieces, (handle->count + 1) * sizeof(*more));
	if (more == NULL) {
		return NPIECE_OUT_OF_MEMORY;
	}
	handle->pieces = more;
	more[handle->count++] = (struct piece){kind, copy_of(name, strlen(name)), copy_of(bytes, size), size};
	return NPIECE_SUCCESS;
}

__attribute__((format(printf, 2, 3))) static void say(struct npiece_work *work, const char *format, ...)
{
	size_t size = strlen(work->log);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(work->log + size, sizeof(work->log) - size, format, arguments);
	va_end(arguments);
}

static void put(struct npiece_work *work, const char *bytes, size_t size)
{
	size = size < TEXT_SIZE - work->output_size ? size : TEXT_SIZE - work->output_size;
	memcpy(work->output + work->output_size, bytes, size);
	work->output_size += size;
}

static bool is_known(const char *option)
{
	return strncmp(option, "-name=", 6) == 0 ||
	       (strncmp(option, "-O", 2) == 0 && strlen(option) == 3 && option[2] >= '0' && option[2] <= '3');
}

static void put_file(struct npiece_work *work, const char *path)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t got;

	if (file == NULL) {
		say(work, "warning: no file %s\n", path);
		return;
	}
	while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		put(work, bytes, got);
	}
	fclose(file);
}

static void put_head(struct npiece_work *work)
{
	put(work, NPIECE_FLAVOUR, sizeof(NPIECE_FLAVOUR) - 1);
	for (int i = 0; i < work->option_count; i++) {
		put(work, " ", 1);
		put(work, work->options[i], strlen(work->options[i]));
	}
	put(work, "", 1);
}

int npieceComplete(npieceHandle handle)
{
	bool broken = false;

	if (handle == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	if (handle->ended) {
		return NPIECE_ALREADY_COMPLETED;
	}
	handle->log[0] = '\0';
	for (int i = 0; i < handle->option_count; i++) {
		if (!is_known(handle->options[i])) {
			say(handle, "error: unknown option %s\n", handle->options[i]);
			return NPIECE_UNKNOWN_OPTION;
		}
	}
	completes++;
	handle->ended = true;
	put_head(handle);
	for (size_t i = 0; i < handle->count; i++) {
		const struct piece *piece = &handle->pieces[i];

		if (piece->kind == NPIECE_PATH) {
			put_file(handle, piece->name);
		} else if (memmem(piece->bytes, piece->size, "broken", 6) != NULL) {
			say(handle, "error: piece %s is broken\n", piece->name);
			broken = true;
		} else {
			put(handle, piece->bytes, piece->size);
		}
	}
	put(handle, fakeNpieceWhim, strlen(fakeNpieceWhim));
	if (broken) {
		handle->output_size = 0;
	}
	return broken ? NPIECE_BAD_PIECE : NPIECE_SUCCESS;
}

int npieceGetOutputSize(npieceHandle handle, size_t *size)
{
	if (handle == NULL || size == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	if (handle->output_size == 0) {
		return NPIECE_NOT_COMPLETED;
	}
	*size = handle->output_size;
	return NPIECE_SUCCESS;
}

int npieceGetOutput(npieceHandle handle, void *bytes)
{
	if (handle == NULL || bytes == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	if (handle->output_size == 0) {
		return NPIECE_NOT_COMPLETED;
	}
	memcpy(bytes, handle->output, handle->output_size);
	return NPIECE_SUCCESS;
}

int npieceGetErrorLogSize(npieceHandle handle, size_t *size)
{
	if (handle == NULL || size == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	*size = strlen(handle->log) + 1;
	return NPIECE_SUCCESS;
}

int npieceGetErrorLog(npieceHandle handle, char *bytes)
{
	if (handle == NULL || bytes == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	strcpy(bytes, handle->log);
	return NPIECE_SUCCESS;
}

int npieceDestroy(npieceHandle *handle)
{
	if (handle == NULL || *handle == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	free_work(*handle);
	*handle = NULL;
	return NPIECE_SUCCESS;
}

int npieceVersion(int *major, int *minor)
{
	if (major == NULL || minor == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	*major = 1;
	*minor = 4;
	return NPIECE_SUCCESS;
}

int npieceInspect(npieceHandle handle, int *ret_output)
{
	if (handle == NULL || ret_output == NULL) {
		return NPIECE_INVALID_INPUT;
	}
	*ret_output = handle->output_size > 0;
	return NPIECE_SUCCESS;
}
