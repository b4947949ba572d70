/* SPDX-License-Identifier: MIT */
/*
 * Settings. The input is texts with NULs between them, one for each variable in the order of the list, then one each
 * for XDG_CACHE_HOME and HOME.
 *
 * Properties: a size is accepted exactly if a slow reader with wide numbers accepts it, with the same value; whatever
 * is read keeps within what its type says; paths are absolute; a bad value leaves the default and is complained about;
 * what is read, written out and read again is the same.
 */
#include "cache/settings.h"

#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

#define TEXTS 32

static const char *texts[TEXTS];

static const char *lookup(const char *name)
{
	static const char *const names[] = {
#define SETTING_NAME(kind, field, variable, preset, help) variable,
	    SETTINGS(SETTING_NAME)
#undef SETTING_NAME
	        "XDG_CACHE_HOME",
	    "HOME"};

	_Static_assert(sizeof(names) / sizeof(names[0]) <= TEXTS, "each has its text");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			return texts[i];
		}
	}
	require(!"a name that is not on the list");
	return NULL;
}

/* Of the digits behind a point, doubled as one would on paper: what is carried over it each time is the next bit. */
static uint64_t slow_part(const char *text, size_t count, unsigned shift)
{
	uint64_t part = 0;
	char *digits = count > 0 ? strndup(text, count) : NULL;

	require(count == 0 || digits != NULL);
	for (; digits && shift > 0; shift--) {
		int carry = 0;

		for (size_t i = count; i-- > 0;) {
			int twice = 2 * (digits[i] - '0') + carry;

			digits[i] = (char)('0' + twice % 10);
			carry = twice / 10;
		}
		part = part << 1 | (uint64_t)carry;
	}
	free(digits);
	return part;
}

/* As settings.h says it, in another way. */
static bool slow_size(const char *text, uint64_t *ret_size)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = {{"", 0},     {"B", 0},  {"K", 10},  {"KB", 10},  {"KiB", 10}, {"M", 20},  {"MB", 20},
	             {"MiB", 20}, {"G", 30}, {"GB", 30}, {"GiB", 30}, {"T", 40},   {"TB", 40}, {"TiB", 40}};
	size_t digits = strspn(text, "0123456789");
	size_t behind = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;
	const char *unit = behind > 0 ? text + digits + 1 + behind : text + digits;
	unsigned __int128 number = 0;

	for (size_t i = 0; i < digits; i++) {
		number = number * 10 + (unsigned)(text[i] - '0');
		if (number > INT64_MAX) {
			return false;
		}
	}
	for (size_t i = 0; digits > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(unit, units[i].unit) == 0 && (behind == 0 || units[i].shift > 0) &&
		    number << units[i].shift <= INT64_MAX) {
			*ret_size =
			    (uint64_t)(number << units[i].shift) + slow_part(text + digits + 1, behind, units[i].shift);
			/* 0 means "no limit", so a size that is rounded down to 0 is refused */
			return *ret_size > 0 || strspn(text, "0.") == (size_t)(unit - text);
		}
	}
	return false;
}

static void check_size(const char *text)
{
	uint64_t slow = 0;
	uint64_t size = 7;
	bool accepted = slow_size(text, &slow);

	require((settings_parse_size(text, &size) == 0) == accepted);
	require(size == (accepted ? slow : 7));
	if (accepted) {
		char again[32];

		(void)snprintf(again, sizeof(again), "%" PRIu64, size);
		require(settings_parse_size(again, &slow) == 0 && slow == size);
	}
}

/* A kind's check: is what was read as it must be? */
#define CHECK_SIZE(field, variable, preset)                                                      \
	require(slow_size(text, &slow) ? settings->field == slow : settings->field == (preset)); \
	bad += !slow_size(text, &slow);
#define CHECK_BOOL(field, variable, preset)                                                                            \
	bad += strcasecmp(text, "1") && strcasecmp(text, "yes") && strcasecmp(text, "true") &&                         \
	       strcasecmp(text, "on") && strcasecmp(text, "0") && strcasecmp(text, "no") &&                            \
	       strcasecmp(text, "false") && strcasecmp(text, "off");                                                   \
	require(!settings->field || !strcasecmp(text, "1") || !strcasecmp(text, "yes") || !strcasecmp(text, "true") || \
	        !strcasecmp(text, "on"));
#define CHECK_SECONDS(field, variable, preset)                                                      \
	require(settings->field == (preset) || strtoull(text, NULL, 10) == settings->field);        \
	bad += text[strspn(text, "0123456789")] != '\0' || strlen(text + strspn(text, "0")) > 10 || \
	       strtoull(text, NULL, 10) > UINT32_MAX;
#define CHECK_MOMENT(field, variable, preset)                                                                          \
	{                                                                                                              \
		const char *unit = text + strspn(text, "0123456789");                                                  \
		unsigned long long number = strtoull(text, NULL, 10);                                                  \
		bool is_moment =                                                                                       \
		    unit > text && (!strcasecmp(unit, "ms") || !strcasecmp(unit, "s")) && number <= UINT32_MAX / 1000; \
		require(settings->field == (is_moment ? number * (unit[1] ? 1 : 1000) : (preset)));                    \
		bad += !is_moment;                                                                                     \
	}
#define CHECK_LEVEL(field, variable, preset)                                                           \
	require(settings->field >= 1 && settings->field <= 4);                                         \
	bad += strcasecmp(text, "error") && strcasecmp(text, "warning") && strcasecmp(text, "info") && \
	       strcasecmp(text, "debug") && !(text[0] >= '1' && text[0] <= '4' && text[1] == '\0');
#define CHECK_TEXT(field, variable, preset)
#define CHECK_PATH(field, variable, preset)
#define CHECK_PATHS(field, variable, preset)
#define CHECK_WORDS(field, variable, preset)
#define CHECK_AGENT(field, variable, preset)

static void check(const struct settings *settings)
{
	uint64_t slow;
	int bad = 0;

#define CHECK(kind, field, variable, preset, help)            \
	{                                                     \
		const char *text = lookup(variable);          \
		if (text && text[0] != '\0') {                \
			CHECK_##kind(field, variable, preset) \
		}                                             \
	}
	SETTINGS(CHECK)
#undef CHECK
	bad += texts[0] && texts[0][0] != '\0' && texts[0][0] != '/';
	require(settings->complaint_count <= SETTINGS_COUNT);
	require(settings->complaint_count >= (bad < SETTINGS_COUNT ? bad : SETTINGS_COUNT));
	if (settings->directory) {
		size_t length = strlen(settings->directory);

		require(settings->directory[0] == '/');
		require(length == 1 || settings->directory[length - 1] != '/');
	}
	require(!settings->agent || settings->agent[0] == '/' || strcmp(settings->agent, "1") == 0);
	require(!settings->lower || settings->lower[0] == '/' || settings->lower[0] == ':' || !settings->lower[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = text_of(data, size);
	struct settings settings, again;
	size_t at = 0;

	for (size_t i = 0; i < TEXTS; i++) {
		texts[i] = at < size ? copy + at : NULL;
		at += at < size ? strlen(copy + at) + 1 : 0;
		if (texts[i]) {
			check_size(texts[i]);
		}
	}
	require(settings_read(lookup, &settings) == 0);
	check(&settings);
	/* what was accepted of the directory is accepted as it is */
	texts[0] = settings.directory;
	require(settings_read(lookup, &again) == 0);
	require((again.directory == NULL) == (settings.directory == NULL) &&
	        (!again.directory || strcmp(again.directory, settings.directory) == 0));
	settings_free(&again);
	settings_free(&settings);
	free(copy);
	return 0;
}
