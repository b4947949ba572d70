/* SPDX-License-Identifier: MIT */
/*
 * Findings are collected before they are printed, because the JSON begins with the number of failures, and because the
 * output of a program that is run has to appear between the findings before and after the run.
 */
#include "cli/doctor/doctor.h"

#include "cli/console/console.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *colour;
} levels[] = {
    [FINDING_OK] = {"ok", "\033[32m"}, [FINDING_WARN] = {"warn", "\033[33m"}, [FINDING_FAIL] = {"FAIL", "\033[31m"}};

static void end_without_memory(void)
{
	console_error("out of memory");
	exit(EXIT_TROUBLE);
}

void finding_add(struct findings *findings, enum finding_level level, const char *about, const char *format, ...)
{
	/* grows by one element at a time, because there are only a few dozen findings */
	struct finding *list = realloc(findings->list, (findings->count + 1) * sizeof(*list));
	va_list arguments;
	char *text;
	int size;

	if (list == NULL) {
		end_without_memory();
	}
	findings->list = list;
	va_start(arguments, format);
	size = vasprintf(&text, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	if (size < 0) {
		end_without_memory();
	}
	list[findings->count++] = (struct finding){level, about, text};
	findings->failures += level == FINDING_FAIL;
}

/* Returns whether to print colours: on a terminal, unless NO_COLOR is set and not empty (no-color.org). */
static bool has_colours(void)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) == 1 && terminal && strcmp(terminal, "dumb") != 0 && !(none && none[0]);
}

void findings_print(const struct findings *findings, size_t first)
{
	bool colours = has_colours();

	for (size_t i = first; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		console_disarm(finding->text);
		printf("%s%-4s%s  %s\n", colours ? levels[finding->level].colour : "", levels[finding->level].name,
		       colours ? "\033[0m" : "", finding->text);
	}
}

void findings_print_json(const struct findings *findings)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 2);

	json_begin_object(&json, NULL);
	json_number(&json, "failures", findings->failures);
	json_begin_array(&json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		json_begin_object(&json, NULL);
		json_string(&json, "level", levels[findings->list[i].level].name);
		json_string(&json, "about", findings->list[i].about);
		/* console_disarm() is not needed, because json_string() escapes control characters */
		json_string(&json, "text", findings->list[i].text);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
	console_json_end(&json);
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->list[i].text);
	}
	free(findings->list);
	*findings = (struct findings){0};
}
