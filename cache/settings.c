/* SPDX-License-Identifier: MIT */
/*
 * The table in the header is expanded into the fields, the code that reads them, the descriptions of their values, the
 * list of known names, and the code that frees them. A new variable is one line there. Numbers are not parsed with
 * libc, whose functions accept signs, blanks and overflows.
 */
#include "cache/settings.h"

#include "cache/digits.h"
#include "cache/nearest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Returns the fraction that the digits after a point represent, in units of 2^-shift, rounded down. Rounding down after
 * each digit gives the same result as rounding down once at the end.
 */
static uint64_t fraction_of(const char *digits, size_t count, unsigned shift)
{
	uint64_t part = 0;

	while (count-- > 0) {
		part = (((uint64_t)(digits[count] - '0') << shift) + part) / 10;
	}
	return part;
}

/* Also used for --max-size of the command. */
int settings_parse_size(const char *text, uint64_t *ret_size)
{
	static const char units[] = "kmgt";
	uint64_t size;
	unsigned shift = 0;
	const char *rest = digits_number(text, INT64_MAX, &size);
	const char *digits;
	size_t count = 0;

	if (rest == NULL) {
		return -EINVAL;
	}
	digits = rest + 1;
	if (*rest == '.') {
		count = strspn(digits, "0123456789");
		rest = digits + count;
	}
	for (unsigned i = 0; units[i] != '\0'; i++) {
		if ((*rest | 0x20) == units[i]) {
			shift = 10 * (i + 1);
			rest++;
			break;
		}
	}
	if (*rest != '\0' && strcasecmp(rest, "B") != 0 && (shift == 0 || strcasecmp(rest, "iB") != 0)) {
		return -EINVAL;
	}
	/* a point needs digits after it, and a unit, because there are no fractions of a byte */
	if ((digits[-1] == '.' && (count == 0 || shift == 0)) || size > (uint64_t)INT64_MAX >> shift) {
		return -EINVAL;
	}
	size = (size << shift) + fraction_of(digits, count, shift);
	/* a fraction of a byte must not become 0, which means no limit */
	if (size == 0 && text[strcspn(text, "123456789")] != '\0') {
		return -EINVAL;
	}
	*ret_size = size;
	return 0;
}

static int parse_SIZE(const char *text, uint64_t *ret_value)
{
	return settings_parse_size(text, ret_value);
}

/* Accepts the spellings that are usual in shells, YAML and INI files. */
static int parse_BOOL(const char *text, bool *ret_value)
{
	static const char *const words[][2] = {{"0", "1"}, {"no", "yes"}, {"false", "true"}, {"off", "on"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (int truth = 0; truth < 2; truth++) {
			if (strcasecmp(text, words[i][truth]) == 0) {
				*ret_value = truth;
				return 0;
			}
		}
	}
	return -EINVAL;
}

/* The value has no unit: NVRTCCACHE_WAIT is in seconds. */
static int parse_SECONDS(const char *text, unsigned *ret_value)
{
	uint64_t number;
	const char *rest = digits_number(text, UINT_MAX, &number);

	if (rest == NULL || *rest != '\0') {
		return -EINVAL;
	}
	*ret_value = (unsigned)number;
	return 0;
}

/* The unit is required, because 300 could be meant in milliseconds or in seconds. */
static int parse_MOMENT(const char *text, unsigned *ret_value)
{
	uint64_t number;
	const char *rest = digits_number(text, UINT_MAX / 1000, &number);

	if (rest == NULL || (strcasecmp(rest, "ms") != 0 && strcasecmp(rest, "s") != 0)) {
		return -EINVAL;
	}
	*ret_value = (unsigned)number * (rest[1] == '\0' ? 1000 : 1);
	return 0;
}

static int parse_TEXT(const char *text, char **ret_value)
{
	char *copy = strdup(text);

	if (copy == NULL) {
		return -ENOMEM;
	}
	*ret_value = copy;
	return 0;
}

static int parse_LEVEL(const char *text, int *ret_value)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};

	for (int i = 0; i < 4; i++) {
		if (strcasecmp(text, names[i]) == 0 || (text[0] == '1' + i && text[1] == '\0')) {
			*ret_value = i + 1;
			return 0;
		}
	}
	return -EINVAL;
}

/* There is room for every complaint, because each variable is complained about at most once. */
static void note_complaint(struct settings *settings, const char *variable)
{
	settings->complaints[settings->complaint_count++] = variable;
}

/* Resets a text whose content is invalid to NULL, its default. */
static void reject_text(struct settings *settings, const char *variable, char **field)
{
	note_complaint(settings, variable);
	free(*field);
	*field = NULL;
}

/*
 * Removes slashes at the end, because O_NOFOLLOW has no effect on a symbolic link if its path ends in a slash. "/" does
 * not change.
 */
static void strip_slashes(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/') {
		path[--length] = '\0';
	}
}

/*
 * Ignores relative paths: in XDG_CACHE_HOME they are invalid by its specification, and a relative HOME would depend on
 * the working directory.
 */
static int default_directory(settings_lookup *lookup, struct settings *settings)
{
	const char *base = lookup("XDG_CACHE_HOME");
	const char *tail = "/nvrtccache";
	bool is_home = false;
	char *directory;
	size_t length;

	if (base == NULL || base[0] != '/') {
		base = lookup("HOME");
		tail = "/.cache/nvrtccache";
		is_home = true;
	}
	if (base == NULL || base[0] != '/') {
		return 0;
	}
	for (length = strlen(base); length > 0 && base[length - 1] == '/';) {
		length--;
	}
	directory = malloc(length + strlen(tail) + 1);
	if (directory == NULL) {
		return -ENOMEM;
	}
	memcpy(directory, base, length);
	memcpy(directory + length, tail, strlen(tail) + 1);
	settings->directory = directory;
	settings->base_length = length;
	settings->base_is_home = is_home;
	return 0;
}

/*
 * Returns whether every element of "dir:dir" is absolute or empty. Empty elements are allowed, because scripts join
 * lists without checking whether one is empty.
 */
static bool is_path_list(const char *list)
{
	for (bool first = true; *list != '\0'; list++) {
		if (first && *list != '/' && *list != ':') {
			return false;
		}
		first = *list == ':';
	}
	return true;
}

static const char *wanted_TEXT(const char *variable)
{
	if (strcmp(variable, "NVRTCCACHE_DIR") == 0) {
		return "an absolute path";
	}
	if (strcmp(variable, "NVRTCCACHE_LOWER") == 0) {
		return "absolute paths with colons between them";
	}
	if (strcmp(variable, "NVRTCCACHE_AGENT") == 0) {
		return "an absolute path, 1 for the socket in the cache directory, or 0 for none";
	}
	return "the words time_macros and debug_paths";
}

#define WANTED_SIZE(variable)    "a size such as 4096, 500M or 1.5G, with K, M, G or T"
#define WANTED_BOOL(variable)    "1 or 0, yes or no, true or false, on or off"
#define WANTED_SECONDS(variable) "whole seconds"
#define WANTED_MOMENT(variable)  "milliseconds or seconds, such as 300ms or 2s"
#define WANTED_LEVEL(variable)   "error, warning, info or debug"
#define WANTED_TEXT(variable)    wanted_TEXT(variable)

/* The kind of the variable selects the text, so that a new setting gets its text from the table. */
const char *settings_wanted(const char *variable)
{
#define SETTINGS_WANTED(kind, field, name, preset, help) \
	if (strcmp(variable, name) == 0)                 \
		return WANTED_##kind(variable);
	SETTINGS(SETTINGS_WANTED)
#undef SETTINGS_WANTED
	return WANTED_SIZE(variable);
}

/* Reads words that are separated by commas, colons or blanks. Returns false if one of them is unknown. */
static bool read_sloppiness(struct settings *settings)
{
	static const char separators[] = ",: \t";
	const char *words = settings->sloppiness;
	bool time_macros = false, debug_paths = false;

	while (*words != '\0') {
		size_t length = strcspn(words, separators);

		if (length == strlen("time_macros") && memcmp(words, "time_macros", length) == 0) {
			time_macros = true;
		} else if (length == strlen("debug_paths") && memcmp(words, "debug_paths", length) == 0) {
			debug_paths = true;
		} else if (length > 0) {
			return false;
		}
		words += length;
		words += strspn(words, separators);
	}
	settings->sloppy_time_macros = time_macros;
	settings->sloppy_debug_paths = debug_paths;
	return true;
}

/* "0" turns the agent off for one program if the environment of all programs sets it. */
static void settle_agent(struct settings *settings)
{
	if (settings->agent == NULL || settings->agent[0] == '/' || strcmp(settings->agent, "1") == 0) {
		return;
	}
	if (strcmp(settings->agent, "0") != 0) {
		note_complaint(settings, "NVRTCCACHE_AGENT");
	}
	free(settings->agent);
	settings->agent = NULL;
}

/* An invalid value is not an error of this function: the default is used and the caller reports the complaint. */
int settings_read(settings_lookup *lookup, struct settings *ret_settings)
{
	struct settings fresh = {0};
	int error = 0;

	/* An empty variable counts as unset, as with the XDG ones. */
#define SETTINGS_READ(kind, field, variable, preset, help)        \
	if (error == 0) {                                         \
		const char *text = lookup(variable);              \
		fresh.field = preset;                             \
		if (text != NULL && text[0] != '\0')              \
			error = parse_##kind(text, &fresh.field); \
		if (error == -EINVAL) {                           \
			note_complaint(&fresh, variable);         \
			error = 0;                                \
		}                                                 \
	}
	SETTINGS(SETTINGS_READ)
#undef SETTINGS_READ
	if (error != 0) {
		goto out;
	}

	if (fresh.directory != NULL && fresh.directory[0] != '/') {
		reject_text(&fresh, "NVRTCCACHE_DIR", &fresh.directory);
	}
	if (fresh.directory != NULL) {
		strip_slashes(fresh.directory);
	} else {
		error = default_directory(lookup, &fresh);
	}
	if (error != 0) {
		goto out;
	}
	if (fresh.lower != NULL && !is_path_list(fresh.lower)) {
		reject_text(&fresh, "NVRTCCACHE_LOWER", &fresh.lower);
	}
	if (fresh.sloppiness != NULL && !read_sloppiness(&fresh)) {
		reject_text(&fresh, "NVRTCCACHE_SLOPPINESS", &fresh.sloppiness);
	}
	settle_agent(&fresh);
	*ret_settings = fresh;
	return 0;
out:
	settings_free(&fresh);
	return error;
}

#define PREFIX      "NVRTCCACHE_"
#define PREFIX_SIZE (sizeof(PREFIX) - 1)

static bool is_known(const char *name, size_t size, const char *const *known, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strncmp(known[i], name, size) == 0 && known[i][size] == '\0') {
			return true;
		}
	}
	return false;
}

/* Reports misspelled settings, which would otherwise be ignored without notice. */
void settings_each_unknown(char *const *environment, settings_unknown *each, void *context)
{
#define SETTINGS_NAME(kind, field, variable, preset, help) variable,
	static const char *const known[] = {SETTINGS(SETTINGS_NAME) SETTINGS_OF_OTHERS};
#undef SETTINGS_NAME
	const size_t count = sizeof(known) / sizeof(known[0]);
	char text[NEAREST_TEXT_BYTES];

	for (; environment && *environment; environment++) {
		const char *name = *environment;
		size_t size = strcspn(name, "=");

		if (strncmp(name, PREFIX, PREFIX_SIZE) == 0 && name[size] != '\0' && name[size + 1] != '\0' &&
		    !is_known(name, size, known, count)) {
			each(name, size,
			     nearest_suggest(name + PREFIX_SIZE, size - PREFIX_SIZE, known, count, PREFIX_SIZE, text),
			     context);
		}
	}
}

#define SETTINGS_FREE_SIZE(field)
#define SETTINGS_FREE_BOOL(field)
#define SETTINGS_FREE_SECONDS(field)
#define SETTINGS_FREE_MOMENT(field)
#define SETTINGS_FREE_LEVEL(field)
#define SETTINGS_FREE_TEXT(field) \
	free(settings->field);    \
	settings->field = NULL;

void settings_free(struct settings *settings)
{
#define SETTINGS_FREE(kind, field, variable, preset, help) SETTINGS_FREE_##kind(field)
	SETTINGS(SETTINGS_FREE)
#undef SETTINGS_FREE
}
