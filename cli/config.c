/* SPDX-License-Identifier: MIT */
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
	settings_free(&settings);
	return EXIT_DONE;
}
