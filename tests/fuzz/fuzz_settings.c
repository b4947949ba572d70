/* SPDX-License-Identifier: MIT */
/*
 * Settings. The input is texts with NULs between them, one for each variable in the order of the list, then one each
 * for XDG_CACHE_HOME and HOME.
 *
 * Properties: whatever is read keeps within what its type says; paths are absolute; what is read, written out and read
 * again is the same. What is accepted is the unit suite's affair.
 */
#include "cache/settings.h"

#include "tests/fuzz/fuzz.h"

#include <inttypes.h>

#define TEXTS 32

static const char *texts[TEXTS];

static char *lookup(const char *name)
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
			return (char *)texts[i];
		}
	}
	require(!"a name that is not on the list");
	return NULL;
}

/* A size that is accepted is the same when its number is read again, and one that is not changes nothing. */
static void check_size(const char *text)
{
	uint64_t size = 7, same = 0;
	char again[32];

	if (settings_parse_size(text, &size) != 0) {
		require(size == 7);
		return;
	}
	(void)snprintf(again, sizeof(again), "%" PRIu64, size);
	require(settings_parse_size(again, &same) == 0 && same == size);
}

static void check(const struct settings *settings)
{
	require(settings->complaint_count <= SETTINGS_COUNT);
	require(settings->log_level >= 1 && settings->log_level <= 4);
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
