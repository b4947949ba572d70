/* SPDX-License-Identifier: MIT */
/*
 * config: prints the settings in effect, and whether each comes from the environment
 *
 * The table of settings (cache/settings.h) has one row for each, so that a new setting is printed without a change.
 */
#include "cache/tools/places.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *spell_value(const struct settings *settings, const struct setting *setting,
                               char text[CONSOLE_NUMBER_BYTES])
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};
	const char *words;

	switch (setting->kind) {
	case SETTING_SIZE:
		return console_bytes(settings_number(settings, setting), text);
	case SETTING_BOOL:
		return settings_number(settings, setting) ? "yes" : "no";
	case SETTING_LEVEL:
		return levels[settings_number(settings, setting) - 1];
	case SETTING_SECONDS:
	case SETTING_MOMENT:
		snprintf(text, CONSOLE_NUMBER_BYTES, "%u%s", (unsigned)settings_number(settings, setting),
		         setting->kind == SETTING_MOMENT ? "ms" : "");
		return text;
	default:
		words = settings_text(settings, setting);
		return words != NULL ? words : "(none)";
	}
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

static void print_table(const struct settings *settings)
{
	char text[CONSOLE_NUMBER_BYTES];

	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		const struct setting *setting = &settings_table[i];

		console_line("%-11s %-22s %s",
		             is_from_environment(settings, setting->variable) ? "environment" : "default",
		             setting->variable, spell_value(settings, setting, text));
	}
}

static int run_config(struct settings *settings, char **operands)
{
	int error = settings->directory != NULL && !settings->disable ? places_directory(settings) : 0;

	(void)operands;
	print_table(settings);
	/* the directory is not checked if the cache is disabled, because it is then not used */
	if (error != 0 && error != -ENOENT) {
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
