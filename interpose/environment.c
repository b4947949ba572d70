/* SPDX-License-Identifier: MIT */
#include "interpose/environment.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum kind { LOAD, CALL, PLAIN, PLACE };

static const struct {
	enum kind kind;
	const char *name;
} variables[ENVIRONMENT_COUNT] = {
#define VARIABLE(kind, name) {kind, #name},
    COMPILER_VARIABLES(VARIABLE)
#undef VARIABLE
};

/* The values of the LOAD variables when the process started, in their order. */
struct initial {
	const char *values[ENVIRONMENT_COUNT];
};

static _Atomic(const struct initial *) initial_values;

/* One pass over the environment instead of one getenv per name: memory hits pay for this each time. */
size_t environment_values(struct environment_value values[ENVIRONMENT_COUNT])
{
	size_t count = 0;

	for (size_t i = 0; i < ENVIRONMENT_COUNT; i++) {
		if (variables[i].kind == LOAD || variables[i].kind == CALL) {
			values[count].name = variables[i].name;
			values[count++].value = NULL;
		}
	}
	for (char **entry = environ; entry && *entry; entry++) {
		char first = (*entry)[0];

		if (first != 'N' && first != 'L' && first != 'A' && first != 'E' && first != 'C' && first != 'D' &&
		    first != 'T' && first != 'b') {
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			size_t size = values[i].name[0] == first ? strlen(values[i].name) : 0;

			if (size && !values[i].value && strncmp(*entry, values[i].name, size) == 0 &&
			    (*entry)[size] == '=') {
				values[i].value = *entry + size + 1;
				break;
			}
		}
	}
	return count;
}

static char *read_initial(size_t *ret_size)
{
	int descriptor = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	size_t size = 0, capacity = 16384;
	char *block = NULL;
	ssize_t got = 1;

	while (descriptor >= 0 && got > 0) {
		char *larger = realloc(block, capacity + 1);

		if (!larger) {
			free(block);
			block = NULL;
			break;
		}
		block = larger;
		got = read(descriptor, block + size, capacity - size);
		size += got > 0 ? (size_t)got : 0;
		/* A read short of the buffer is the end: the kernel gives as much as fits. */
		if (got > 0 && size < capacity) {
			break;
		}
		capacity *= 2;
	}
	if (descriptor >= 0) {
		(void)close(descriptor);
	}
	if (block) {
		block[size] = '\0';
		*ret_size = size;
	}
	return block;
}

static const char *initial_value(const char *block, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = block; at < block + size; at += strlen(at) + 1) {
		if (strncmp(at, name, length) == 0 && at[length] == '=') {
			return at + length + 1;
		}
	}
	return NULL;
}

/* Kept for the life of the process; a child of fork inherits what its parent was started with, which is right: so was
 * the library that it inherits. */
static const struct initial *initial(void)
{
	const struct initial *known = atomic_load_explicit(&initial_values, memory_order_acquire);
	struct initial *made;
	size_t size = 0;
	char *block;

	if (known) {
		return known;
	}
	made = calloc(1, sizeof(*made));
	block = read_initial(&size);
	if (!made || !block) {
		free(made);
		free(block);
		return NULL;
	}
	for (size_t i = 0; i < ENVIRONMENT_COUNT && variables[i].kind == LOAD; i++) {
		made->values[i] = initial_value(block, size, variables[i].name);
	}
	if (!atomic_compare_exchange_strong(&initial_values, &known, made)) {
		free(block);
		free(made);
		return known;
	}
	return made;
}

bool environment_unchanged(const struct environment_value *values, size_t count)
{
	const struct initial *then = initial();

	if (!then) {
		return false;
	}
	for (size_t i = 0; i < count && variables[i].kind == LOAD; i++) {
		const char *before = then->values[i];
		const char *now = values[i].value;

		if ((before == NULL) != (now == NULL) || (before && strcmp(before, now) != 0)) {
			return false;
		}
	}
	return true;
}

bool environment_known(const char *name)
{
	for (size_t i = 0; i < ENVIRONMENT_COUNT; i++) {
		if (strcmp(variables[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

const char *environment_pwd(void)
{
	const char *pwd = getenv("PWD");
	struct stat named, here;

	if (pwd && stat(pwd, &named) == 0 && stat(".", &here) == 0 && named.st_dev == here.st_dev &&
	    named.st_ino == here.st_ino) {
		return pwd;
	}
	return NULL;
}
