/* SPDX-License-Identifier: MIT */
/*
 * The values with which the process started are read from the stack, where the kernel put them. setenv() replaces
 * pointers in `environ`, and does not change those strings.
 */
#include "interpose/watch/environment.h"

#include <ctype.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_USUAL 256
#define REPLACED_MAX  8
#define GAP_LEAST     16 /* empty strings */

#define INITIAL_MAX ((size_t)6 << 20) /* the kernel's limit for arguments and environment is 3/4 of 8 MiB of stack */

/* The values of the LOAD variables at the start of the process, in the order of the list. */
struct initial {
	const char *values[ENVIRONMENT_MAX];
};

/* The entries of the environment at one moment. */
struct entries {
	const char **list;
	size_t count;
	const char **block; /* allocated; or NULL */
	const char *room[ENTRIES_USUAL];
};

/*
 * Reads the array from its beginning to its end. Returns false if it has `capacity` entries or more, or was replaced
 * meanwhile.
 */
static bool read_array(struct entries *entries, size_t capacity)
{
	char **volatile *place = (char **volatile *)&environ;
	char **array = *place;
	size_t count = 0;

	while (count < capacity && array && array[count]) {
		entries->list[count] = array[count];
		count++;
	}
	entries->count = count;
	return count < capacity && array == *place;
}

/*
 * Copies the pointers first, because another thread of the host may call setenv(), which frees the array; it frees no
 * string (glibc). So the array is read once, without a look at the strings.
 */
static void copy_entries(struct entries *ret_entries)
{
	size_t capacity = ENTRIES_USUAL;
	int replaced = 0;

	ret_entries->block = NULL;
	ret_entries->list = ret_entries->room;
	while (!read_array(ret_entries, capacity) && replaced < REPLACED_MAX) {
		if (ret_entries->count < capacity) {
			replaced++;
			continue;
		}
		capacity *= 8;
		free(ret_entries->block);
		ret_entries->block = malloc(capacity * sizeof(*ret_entries->block));
		ret_entries->list = ret_entries->block;
		if (!ret_entries->list) {
			/* without memory, the array itself, whole: a variable that is left out changes the key */
			ret_entries->list = (const char **)environ;
			ret_entries->count = 0;
			while (ret_entries->list && ret_entries->list[ret_entries->count]) {
				ret_entries->count++;
			}
			return;
		}
	}
}

static const char *value_in(const struct entries *entries, const char *name, size_t size)
{
	for (size_t i = 0; i < entries->count; i++) {
		if (entries->list[i][0] == name[0] && strncmp(entries->list[i], name, size) == 0 &&
		    entries->list[i][size] == '=') {
			return entries->list[i] + size + 1;
		}
	}
	return NULL;
}

const char *environment_get(const char *name)
{
	struct entries entries;
	const char *value;

	copy_entries(&entries);
	value = value_in(&entries, name, strlen(name));
	free(entries.block);
	return value;
}

const char *environment_first_set(const char *names, const char *end)
{
	struct entries entries;
	const char *name = names;

	copy_entries(&entries);
	while (name < end && !value_in(&entries, name, strlen(name))) {
		name += strlen(name) + 1;
	}
	free(entries.block);
	return name < end ? name : NULL;
}

/* One pass over the environment replaces one per name, because every hit in memory pays for this. */
size_t environment_values(const struct environment *environment, struct environment_value values[ENVIRONMENT_MAX])
{
	const uint64_t first = environment->first, lengths = environment->lengths;
	const struct variable *variables = environment->variables;
	struct entries entries;
	size_t count = 0;

	while (count < environment->count && variables[count].kind <= VARIABLE_CALL) {
		values[count] = (struct environment_value){variables[count].name, NULL};
		count++;
	}
	copy_entries(&entries);
	for (size_t entry = 0; entry < entries.count; entry++) {
		const char *text = entries.list[entry];
		size_t size;

		if (!(first >> (text[0] & 63) & 1)) {
			continue;
		}
		size = (size_t)(strchrnul(text, '=') - text);
		if (size >= 64 || !(lengths >> size & 1)) {
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			if (variables[i].size == size && text[size] == '=' && !values[i].value &&
			    memcmp(text, values[i].name, size) == 0) {
				values[i].value = text + size + 1;
				break;
			}
		}
	}
	free(entries.block);
	return count;
}

/*
 * Returns the strings that the kernel put at the top of the stack: [AT_RANDOM's bytes, ..., arguments, environment,
 * AT_EXECFN's string]. They are read in place, so that a hit in a fresh process does not have to open
 * /proc/self/environ. The arguments are searched too; an argument that looks like a variable can only cause a bypass.
 */
static const char *initial_strings(size_t *ret_size)
{
	const char *start = (const char *)getauxval(AT_RANDOM);
	const char *end = (const char *)getauxval(AT_EXECFN);

	if (!start || !end || end <= start + 16 || (size_t)(end - start) > INITIAL_MAX || end[-1] != '\0') {
		return NULL;
	}
	*ret_size = (size_t)(end - start) - 16;
	return start + 16;
}

/*
 * Reads /proc/self/environ. Used if the stack has another layout, as under an emulator. Memory that is not read into
 * stays untouched.
 */
static char *read_initial(size_t *ret_size)
{
	int descriptor = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	char *block = descriptor >= 0 ? malloc(INITIAL_MAX + 1) : NULL;
	ssize_t got = block ? 1 : -1;

	for (*ret_size = 0; got > 0; *ret_size += got > 0 ? (size_t)got : 0) {
		got = read(descriptor, block + *ret_size, INITIAL_MAX - *ret_size);
	}
	if (descriptor >= 0) {
		(void)close(descriptor);
	}
	if (got < 0) {
		free(block);
		return NULL;
	}
	block[*ret_size] = '\0';
	return block;
}

/*
 * Finds the values in one pass over the strings, from the last one on; `values` is in the order of the LOAD variables.
 * In front of the arguments is a gap of random size, at which the pass ends.
 */
static void find_initial(const struct environment *environment, const char *block, size_t size,
                         const char *values[ENVIRONMENT_MAX])
{
	const struct variable *variables = environment->variables;
	const char *end = block + size;
	int empty = 0;

	while (end > block && empty < GAP_LEAST) {
		const char *before = memrchr(block, '\0', (size_t)(end - 1 - block));
		const char *at = before ? before + 1 : block;

		empty = at + 1 == end ? empty + 1 : 0;
		for (size_t i = 0; i < environment->count && variables[i].kind == VARIABLE_LOAD; i++) {
			size_t length = at[0] == variables[i].name[0] ? variables[i].size : 0;

			if (length && !values[i] && strncmp(at, variables[i].name, length) == 0 && at[length] == '=') {
				values[i] = at + length + 1;
			}
		}
		end = at;
	}
}

/*
 * Returns the values at the start of the process, which are never freed. A forked child uses those of its parent, which
 * is correct because it also inherits the parent's loaded library.
 */
static const struct initial *initial_values(struct environment *environment)
{
	const struct initial *known = atomic_load_explicit(&environment->initial, memory_order_acquire);
	struct initial *made;
	const char *strings;
	size_t size = 0;
	char *block = NULL;

	if (known) {
		return known;
	}
	made = calloc(1, sizeof(*made));
	strings = initial_strings(&size);
	if (!strings) {
		strings = block = read_initial(&size);
	}
	if (!made || !strings) {
		free(made);
		free(block);
		return NULL;
	}
	find_initial(environment, strings, size, made->values);
	if (!atomic_compare_exchange_strong(&environment->initial, &known, made)) {
		free(block);
		free(made);
		return known;
	}
	return made;
}

bool environment_unchanged(struct environment *environment, const struct environment_value *values, size_t count)
{
	const struct initial *then = initial_values(environment);

	if (!then) {
		return false;
	}
	for (size_t i = 0; i < count && environment->variables[i].kind == VARIABLE_LOAD; i++) {
		const char *before = then->values[i];
		const char *now = values[i].value;

		if ((before == NULL) != (now == NULL) || (before && strcmp(before, now) != 0)) {
			return false;
		}
	}
	return true;
}

bool environment_known(const struct environment *environment, const char *name)
{
	for (size_t i = 0; i < environment->count; i++) {
		if (strcmp(environment->variables[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

const char *environment_pwd(void)
{
	const char *pwd = environment_get("PWD");
	struct stat named, here;

	if (pwd && stat(pwd, &named) == 0 && stat(".", &here) == 0 && named.st_dev == here.st_dev &&
	    named.st_ino == here.st_ino) {
		return pwd;
	}
	return NULL;
}

bool environment_has_letters(void)
{
	for (int byte = 0x80; byte <= 0xff; byte++) {
		if (isalpha(byte)) {
			return true;
		}
	}
	return false;
}

static bool is_plain_name(const char *locale)
{
	return !locale || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

const char *environment_decimals(char text[ENVIRONMENT_DECIMALS_MAX])
{
	const char *point = nl_langinfo(RADIXCHAR);
	const char *process = uselocale((locale_t)0) == LC_GLOBAL_LOCALE ? NULL : setlocale(LC_NUMERIC, NULL);

	if (strcmp(point, ".") == 0 && is_plain_name(process)) {
		return NULL;
	}
	(void)snprintf(text, ENVIRONMENT_DECIMALS_MAX, "%s\n%s", point, process ? process : "");
	return text;
}
