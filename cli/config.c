/* SPDX-License-Identifier: MIT */
#include "cache/places.h"
#include "cli/commands.h"
#include "cli/console.h"

#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {"error", "warning", "info", "debug"};

static const char *show_SIZE(uint64_t value, char text[CONSOLE_NUMBER_BYTES])
{
	return console_size_setting(value, text);
}

static const char *show_BOOL(bool value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return value ? "yes" : "no";
}

static const char *show_SECONDS(unsigned value, char text[CONSOLE_NUMBER_BYTES])
{
	snprintf(text, CONSOLE_NUMBER_BYTES, "%u", value);
	return text;
}

static const char *show_TEXT(const char *value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return value != NULL ? value : "(none)";
}

static const char *show_LEVEL(int value, char text[CONSOLE_NUMBER_BYTES])
{
	(void)text;
	return levels[value - 1];
}

/* Is the variable set, and was its value taken? */
static bool is_from_environment(const struct settings *settings, const char *variable)
{
	const char *value = getenv(variable);

	for (int i = 0; i < settings->complaint_count; i++) {
		if (strcmp(settings->complaints[i], variable) == 0) {
			return false;
		}
	}
	return value != NULL && value[0] != '\0';
}

static void say_trouble(const char *variable, const char *path, size_t size, int error, void *context)
{
	(void)context;
	console_error("%s: '%.*s' cannot be used: %s", variable, (int)size, path, console_reason(error));
}

/* What the settings name and nobody can use. */
static void say_troubles(const struct settings *settings)
{
	int error;

	if (settings->directory != NULL && !settings->disable && places_directory(settings, &error) == PLACES_REFUSED) {
		say_trouble("NVRTCCACHE_DIR", settings->directory, strlen(settings->directory), error, NULL);
	}
	places_each_trouble(settings, say_trouble, NULL);
}

int command_config(int argc, char **argv)
{
	struct settings settings;
	char text[CONSOLE_NUMBER_BYTES];
	int status;

	if (!console_no_arguments("config", argc, argv, &status)) {
		return status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
#define SETTING_SHOW(kind, field, variable, preset, help)                                                          \
	printf("%-11s %-22s %s\n", is_from_environment(&settings, variable) ? "environment" : "default", variable, \
	       show_##kind(settings.field, text));
	SETTINGS(SETTING_SHOW)
#undef SETTING_SHOW
	say_troubles(&settings);
	settings_free(&settings);
	return EXIT_DONE;
}
