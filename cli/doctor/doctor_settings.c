/* SPDX-License-Identifier: MIT */
/*
 * doctor: checks the settings
 *
 * settings_read() reads the environment for the library too, so doctor reports exactly the values that the library
 * rejects. A table lists valid values that prevent hits or have no effect.
 */
#include "cli/doctor/doctor.h"

#include "cache/places.h"
#include "cli/console/console.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* settings_read() takes a function that returns const char *, which getenv() does not */
static const char *value_of(const char *name)
{
	return getenv(name);
}

/* A misspelled variable has no effect, and the library says so only in its log. */
static void note_unknown(const char *name, size_t size, const char *suggestion, void *context)
{
	finding_add(context, FINDING_WARN, "%.*s: unknown variable%s", (int)size, name, suggestion);
}

/* Warnings and not failures, because the library works without a log, a trace or a layer. */
static void note_trouble(const char *variable, const char *path, size_t size, int error, void *context)
{
	finding_add(context, FINDING_WARN, "%s: '%.*s' cannot be used: %s", variable, (int)size, path,
	            console_reason(error));
}

/* Adds warnings about valid settings that prevent hits, or that have no effect. */
static void note_modes(struct findings *findings, const struct settings *settings)
{
	const struct {
		bool set;
		const char *text;
	} modes[] = {
	    {settings->disable, "NVRTCCACHE_DISABLE is set: every call goes to the real compiler"},
	    {settings->recache, "NVRTCCACHE_RECACHE is set: every call is compiled, and its result stored again"},
	    {settings->verify, "NVRTCCACHE_VERIFY is set: every hit is compiled as well, as slow as without a cache"},
	    /* a level of 2 is not reported, because it may be the default */
	    {settings->log_level != 2 && !settings->log, "NVRTCCACHE_LOG_LEVEL has no effect without NVRTCCACHE_LOG"},
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (modes[i].set) {
			finding_add(findings, FINDING_WARN, "%s", modes[i].text);
		}
	}
}

bool doctor_settings(struct findings *findings, struct settings *ret_settings)
{
	size_t before = findings->count;
	int error = settings_read(value_of, ret_settings);

	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "settings cannot be read: %s", strerror(-error));
		return false;
	}
	for (int i = 0; i < ret_settings->complaint_count; i++) {
		const char *name = ret_settings->complaints[i];

		finding_add(findings, FINDING_WARN, "%s: bad value '%s' is ignored: it takes %s", name, getenv(name),
		            settings_wanted(name));
	}
	settings_each_unknown(environ, note_unknown, findings);
	note_modes(findings, ret_settings);
	places_each_trouble(ret_settings, note_trouble, findings);
	if (findings->count == before) {
		finding_add(findings, FINDING_OK, "settings are valid");
	}
	return true;
}
