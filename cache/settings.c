/* SPDX-License-Identifier: MIT */
/*
 * The list in the header becomes the fields and one table, by which the variables are read, described and freed. A new
 * variable is one line there. Numbers are not parsed with libc, whose functions accept signs, blanks and overflows.
 */
#include "cache/settings.h"

#include "cache/digits.h"
#include "cache/directory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Also used for --max-size of the command. A byte has no fraction, so a point needs a unit. With more than three
 * decimals a fraction of a byte could become 0, which means no limit.
 */
int settings_parse_size(const char *text, uint64_t *ret_size)
{
	static const char units[] = "bkmgt";
	uint64_t size, thousandths = 0, decimal = 1000;
	const char *rest = digits_number(text, INT64_MAX, &size);
	const char *unit;
	unsigned shift;

	if (rest && *rest == '.') {
		while (*++rest >= '0' && *rest <= '9' && decimal > 0) {
			decimal /= 10;
			thousandths += decimal * (uint64_t)(*rest - '0');
		}
	}
	unit = rest && *rest != '\0' ? strchr(units, *rest | 0x20) : units;
	shift = unit ? 10 * (unsigned)(unit - units) : 0;
	if (!rest || !unit || rest[-1] == '.' || decimal == 0 || (decimal < 1000 && shift == 0) ||
	    size > (uint64_t)INT64_MAX >> shift) {
		return -EINVAL;
	}
	rest += shift > 0;
	if (*rest != '\0' && strcasecmp(rest, "B") != 0 && (shift == 0 || strcasecmp(rest, "iB") != 0)) {
		return -EINVAL;
	}
	*ret_size = (size << shift) + (thousandths << shift) / 1000;
	return 0;
}

const struct setting settings_table[SETTINGS_COUNT] = {
#define SETTINGS_ROW(kind, field, variable, preset, help) \
	{variable, help, SETTING_##kind, offsetof(struct settings, field), sizeof(setting_##kind), preset},
    SETTINGS(SETTINGS_ROW)
#undef SETTINGS_ROW
};

/* The kinds after SETTING_TEXT are texts too. */
static bool is_text(const struct setting *setting)
{
	return setting->kind >= SETTING_TEXT;
}

/* The fields are of different sizes. Their first bytes are the lowest, as everywhere in the cache (cache/entry.c). */
static void set_field(struct settings *settings, const struct setting *setting, uint64_t value)
{
	memcpy((char *)settings + setting->at, &value, setting->size);
}

uint64_t settings_number(const struct settings *settings, const struct setting *setting)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)settings + setting->at, setting->size);
	return value;
}

const char *settings_text(const struct settings *settings, const struct setting *setting)
{
	return *(char *const *)((const char *)settings + setting->at);
}

/* Returns the position of a word in a list that ends with NULL, in either case, or -1. */
static int find_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcasecmp(text, words[i]) == 0) {
			return i;
		}
	}
	return -1;
}

/* A length of time has its unit, because 300 could be meant in milliseconds or in seconds; NVRTCCACHE_WAIT has none. */
static int parse_number(enum setting_kind kind, const char *text, uint64_t *ret_value)
{
	/* the spellings that are usual in shells, YAML and INI files */
	static const char *const truths[] = {"0", "1", "no", "yes", "false", "true", "off", "on", NULL};
	static const char *const levels[] = {"1", "error", "2", "warning", "3", "info", "4", "debug", NULL};
	const char *rest = digits_number(text, kind == SETTING_MOMENT ? UINT_MAX / 1000 : UINT_MAX, ret_value);
	int word;

	switch (kind) {
	case SETTING_SIZE:
		return settings_parse_size(text, ret_value);
	case SETTING_SECONDS:
		return rest != NULL && *rest == '\0' ? 0 : -EINVAL;
	case SETTING_MOMENT:
		if (rest == NULL || (strcasecmp(rest, "ms") != 0 && strcasecmp(rest, "s") != 0)) {
			return -EINVAL;
		}
		*ret_value *= rest[1] == '\0' ? 1000 : 1;
		return 0;
	default:
		word = find_word(text, kind == SETTING_BOOL ? truths : levels);
		*ret_value = kind == SETTING_BOOL ? (uint64_t)word % 2 : (uint64_t)word / 2 + 1;
		return word < 0 ? -EINVAL : 0;
	}
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

/* Returns the position of a name in a list, or -1. */
static int find_name(const char *name, size_t size, const char *const *list, int count)
{
	for (int i = 0; i < count; i++) {
		if (strncmp(list[i], name, size) == 0 && list[i][size] == '\0') {
			return i;
		}
	}
	return -1;
}

/* Parses known words with commas, colons or blanks between them. Returns their bits, or -1 for another word. */
static int parse_words(const char *words)
{
	static const char separators[] = ",: \t";
	static const char *const known[] = {"time_macros", "debug_paths"}; /* as the bits of enum sloppiness */
	int bits = 0;

	while (*(words += strspn(words, separators)) != '\0') {
		const size_t length = strcspn(words, separators);
		const int word = find_name(words, length, known, sizeof(known) / sizeof(known[0]));

		if (word < 0) {
			return -1;
		}
		bits |= 1 << word;
		words += length;
	}
	return bits;
}

static bool is_accepted(enum setting_kind kind, const char *text)
{
	switch (kind) {
	case SETTING_PATH:
		return text[0] == '/';
	case SETTING_PATHS:
		return is_path_list(text);
	case SETTING_WORDS:
		return parse_words(text) >= 0;
	case SETTING_AGENT:
		return text[0] == '/' || strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
	default:
		return true;
	}
}

/* The agent "0" is none: it turns the agent off for one program if the environment of all programs sets it. */
static int parse_text(enum setting_kind kind, const char *text, uint64_t *ret_value)
{
	char *copy = NULL;

	if (!is_accepted(kind, text)) {
		return -EINVAL;
	}
	if (kind != SETTING_AGENT || strcmp(text, "0") != 0) {
		copy = strdup(text);
		if (copy == NULL) {
			return -ENOMEM;
		}
	}
	*ret_value = (uint64_t)(uintptr_t)copy;
	return 0;
}

/* An empty variable counts as unset, as with the XDG ones. A bad value is noted, and the default is used. */
static int read_setting(const struct setting *setting, const char *text, struct settings *settings)
{
	uint64_t value = setting->preset;
	int error = 0;

	if (text != NULL && text[0] != '\0') {
		error = is_text(setting) ? parse_text(setting->kind, text, &value)
		                         : parse_number(setting->kind, text, &value);
	}
	if (error == -EINVAL) {
		settings->complaints[settings->complaint_count++] = setting->variable;
		value = setting->preset;
		error = 0;
	}
	set_field(settings, setting, error == 0 ? value : setting->preset);
	return error;
}

/*
 * Ignores relative paths: in XDG_CACHE_HOME they are invalid by its specification, and a relative HOME would depend on
 * the working directory.
 */
static int default_directory(settings_lookup *lookup, struct settings *settings)
{
	const char *base = lookup("XDG_CACHE_HOME");
	const char *tail = "/nvrtccache";
	size_t length, size;

	if (base == NULL || base[0] != '/') {
		base = lookup("HOME");
		tail = "/.cache/nvrtccache";
		settings->base_is_home = true;
	}
	if (base == NULL || base[0] != '/') {
		return 0;
	}
	for (length = strlen(base); length > 0 && base[length - 1] == '/';) {
		length--;
	}
	size = length + strlen(tail) + 1;
	settings->base_length = length;
	settings->directory = malloc(size);
	if (settings->directory == NULL) {
		return -ENOMEM;
	}
	(void)snprintf(settings->directory, size, "%.*s%s", (int)length, base, tail);
	return 0;
}

int settings_read(settings_lookup *lookup, struct settings *ret_settings)
{
	struct settings fresh = {0};
	int error = 0;

	for (size_t i = 0; i < SETTINGS_COUNT && error == 0; i++) {
		error = read_setting(&settings_table[i], lookup(settings_table[i].variable), &fresh);
	}
	fresh.tolerated = fresh.sloppiness != NULL ? (unsigned)parse_words(fresh.sloppiness) : 0;
	if (fresh.directory != NULL) {
		directory_strip(fresh.directory);
	} else if (error == 0) {
		error = default_directory(lookup, &fresh);
	}
	if (error != 0) {
		settings_free(&fresh);
		return error;
	}
	*ret_settings = fresh;
	return 0;
}

const char *settings_wanted(const char *variable)
{
#define SETTINGS_WANTED(kind, type, wanted) wanted,
	static const char *const wanted[] = {SETTINGS_KINDS(SETTINGS_WANTED)};
#undef SETTINGS_WANTED

	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		if (strcmp(settings_table[i].variable, variable) == 0) {
			return wanted[settings_table[i].kind];
		}
	}
	return wanted[SETTING_SIZE];
}

/* ---- what was probably meant ---- */

/* Returns the distance, or SIZE_MAX if the word is not close. "DIRR" is close to "DIR", "XYZ" to no setting. */
static size_t measure_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);
	size_t longer = length > size ? length : size;
	size_t shorter = length + size - longer;
	size_t begin = 0, end = 0;

	while (begin < shorter && text[begin] == word[begin]) {
		begin++;
	}
	while (end < shorter - begin && text[size - 1 - end] == word[length - 1 - end]) {
		end++;
	}
	return longer - begin - end <= (longer + 2) / 3 ? longer - begin - end : SIZE_MAX;
}

const char *nearest_suggest(const char *text, size_t size, const char *const *words, size_t count, size_t skip,
                            char ret_text[NEAREST_TEXT_BYTES])
{
	size_t nearest = SIZE_MAX - 1;

	ret_text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t found = measure_word(text, size, words[i] + skip);

		if (found <= nearest) {
			nearest = found;
			(void)snprintf(ret_text, NEAREST_TEXT_BYTES, " (did you mean '%s'?)", words[i]);
		}
	}
	return ret_text;
}

#define PREFIX      "NVRTCCACHE_"
#define PREFIX_SIZE (sizeof(PREFIX) - 1)

/* Reports misspelled settings, which would otherwise be ignored without notice. */
void settings_each_unknown(char *const *environment, settings_unknown *each, void *context)
{
#define SETTINGS_NAME(kind, field, variable, preset, help) variable,
	static const char *const known[] = {SETTINGS(SETTINGS_NAME) SETTINGS_OF_OTHERS};
#undef SETTINGS_NAME
	const int count = sizeof(known) / sizeof(known[0]);
	char text[NEAREST_TEXT_BYTES];

	for (; environment && *environment; environment++) {
		const char *name = *environment;
		size_t size = strcspn(name, "=");

		if (strncmp(name, PREFIX, PREFIX_SIZE) == 0 && name[size] != '\0' && name[size + 1] != '\0' &&
		    find_name(name, size, known, count) < 0) {
			each(name, size,
			     nearest_suggest(name + PREFIX_SIZE, size - PREFIX_SIZE, known, count, PREFIX_SIZE, text),
			     context);
		}
	}
}

void settings_free(struct settings *settings)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		if (is_text(&settings_table[i])) {
			free(*(char **)((char *)settings + settings_table[i].at));
			set_field(settings, &settings_table[i], 0);
		}
	}
}
