/* SPDX-License-Identifier: MIT */
/*
 * config: prints the settings in effect, and whether each comes from the environment
 *
 * SETTINGS (cache/settings.h) lists all settings with their kinds. The macros below make one row of each, so that a new
 * setting is printed without a change here. The names of the spell_KIND() functions contain capitals because the macros
 * paste the kinds into them.
 */
#include "cache/places.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"

#include <stdlib.h>
#include <string.h>

/* indexed by level - 1 */
static const char *const levels[] = {"error", "warning", "info", "debug"};

static const char *spell_SIZE(uint64_t value, char text[CONSOLE_NUMBER_BYTES])
{
	return console_size_setting(value, text);
}

static const char *spell_BOOL(bool value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return value ? "yes" : "no";
}

static const char *spell_SECONDS(unsigned value, char text[CONSOLE_NUMBER_BYTES])
{
	snprintf(text, CONSOLE_NUMBER_BYTES, "%u", value);
	return text;
}

static const char *spell_MOMENT(unsigned value, char text[CONSOLE_NUMBER_BYTES])
{
	snprintf(text, CONSOLE_NUMBER_BYTES, "%ums", value);
	return text;
}

static const char *spell_TEXT(const char *value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return value != NULL ? value : "(none)";
}

static const char *spell_LEVEL(int value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return levels[value - 1];
}

/* Returns whether the variable is set to a valid value. */
static bool is_from_environment(const struct settings *settings, const char *variable)
{
	const char *value = getenv(variable);

	/* an invalid value was ignored, so the default is in effect */
	for (int i = 0; i < settings->complaint_count; i++) {
		if (strcmp(settings->complaints[i], variable) == 0) {
			return false;
		}
	}
	return value != NULL && value[0] != '\0';
}

static void print_row(const char *variable, bool from_environment, const char *value)
{
	console_line("%-11s %-22s %s", from_environment ? "environment" : "default", variable, value);
}

static void print_table(const struct settings *settings)
{
	char text[CONSOLE_NUMBER_BYTES];

#define SETTING_SHOW(kind, field, variable, preset, help) \
	print_row(variable, is_from_environment(settings, variable), spell_##kind(settings->field, text));
	SETTINGS(SETTING_SHOW)
#undef SETTING_SHOW
}

/* A user who asks for requests should see what is then on disk. */
static void print_record_note(const struct settings *settings)
{
	if (settings->record) {
		console_line("NVRTCCACHE_RECORD: sources are written to the directory%s",
		             settings->shared ? ", and its group can read them" : "");
	}
}

static int run_config(struct settings *settings, char **operands)
{
	int error;

	(void)operands;
	print_table(settings);
	print_record_note(settings);
	/* the directory is not checked if the cache is disabled, because it is then not used */
	if (settings->directory != NULL && !settings->disable && places_directory(settings, &error) == PLACES_REFUSED) {
		console_error("NVRTCCACHE_DIR: '%s' cannot be used: %s", settings->directory, console_reason(error));
	}
	console_places(settings);
	return EXIT_DONE;
}

const struct verb verb_config = {
    .name = "config",
    .arguments = "",
    .summary = "show the settings in effect",
    .example = "nvrtccache config",
    .needs = VERB_SETTINGS,
    .run = run_config,
};
