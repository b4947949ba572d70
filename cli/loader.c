/* SPDX-License-Identifier: MIT */
#include "cli/loader.h"

#include "cli/child.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECONDS 30

/* The system's, which nobody else can write: a program that is only asked about names what is run here. */
static bool is_trusted(const char *interpreter)
{
	struct stat found;

	return interpreter[0] == '/' && stat(interpreter, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == 0 &&
	       (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The same file as is at one of the places that a toolchain names. */
static bool is_at_place(const char *interpreter)
{
	static const char *const patterns[] = {"/lib*/ld-linux*.so.*", "/lib*/ld64.so.*", "/lib*/ld-2*.so",
	                                       "/lib/*/ld-*.so*", "/usr/lib*/ld-linux*.so.*"};
	char real[PATH_MAX], other[PATH_MAX];
	bool found = false;

	for (size_t i = 0; realpath(interpreter, real) && !found && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t places;

		if (glob(patterns[i], 0, NULL, &places) != 0) {
			continue;
		}
		for (size_t j = 0; j < places.gl_pathc && !found; j++) {
			found = realpath(places.gl_pathv[j], other) && strcmp(real, other) == 0;
		}
		globfree(&places);
	}
	return found;
}

bool loader_is_one(const char *interpreter)
{
	return is_trusted(interpreter) && is_at_place(interpreter);
}

bool loader_with_preload(const char *preload, int (*act)(void *context), void *context, int *ret_result)
{
	const char *present = getenv("LD_PRELOAD");
	char *before = present ? strdup(present) : NULL;

	if (present && !before) {
		return false;
	}
	if ((preload[0] ? setenv("LD_PRELOAD", preload, 1) : unsetenv("LD_PRELOAD")) != 0) {
		free(before);
		return false;
	}
	*ret_result = act(context);
	if (before) {
		(void)setenv("LD_PRELOAD", before, 1);
	} else {
		(void)unsetenv("LD_PRELOAD");
	}
	free(before);
	return true;
}

struct asking {
	const char *const *argv;
	struct child child;
};

static int ask(void *context)
{
	struct asking *asking = context;

	return child_run(asking->argv, NULL, SECONDS, &asking->child);
}

/* "\tNAME => PATH (0x...)", "\tNAME => not found", "\tPATH (0x...)". Cuts the line into pieces. */
static bool read_line(char *line, struct loaded *ret_loaded)
{
	char *arrow, *address;

	while (*line == '\t' || *line == ' ') {
		line++;
	}
	address = strrchr(line, '(');
	if (address && address > line && strncmp(address, "(0x", 3) == 0) {
		address[-1] = '\0';
	} else {
		address = NULL;
	}
	arrow = strstr(line, " => ");
	if (arrow) {
		*arrow = '\0';
		*ret_loaded = (struct loaded){line, address ? arrow + 4 : NULL};
		return address || strncmp(arrow + 4, "not found", 9) == 0;
	}
	*ret_loaded = (struct loaded){line, line};
	return address && line[0] == '/';
}

static int read_lines(char *text, struct loader_list *list)
{
	char *rest, *line;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct loaded loaded, *grown;

		if (!read_line(line, &loaded)) {
			continue;
		}
		grown = realloc(list->list, (list->count + 1) * sizeof(*grown));
		if (!grown) {
			return -ENOMEM;
		}
		list->list = grown;
		list->list[list->count++] = loaded;
	}
	return 0;
}

int loader_list(const char *interpreter, const char *program, const char *preload, struct loader_list *ret_list)
{
	const char *const argv[] = {interpreter, "--list", program, NULL};
	struct asking asking = {.argv = argv};
	struct loader_list list = {0};
	int error;

	if (!loader_with_preload(preload, ask, &asking, &error)) {
		error = -ENOMEM;
	}
	if (error != 0) {
		return error;
	}
	list.text = asking.child.out;
	list.complaints = asking.child.err;
	list.failed = asking.child.status != 0;
	error = asking.child.late ? -ETIMEDOUT : read_lines(list.text, &list);
	if (error != 0) {
		loader_list_free(&list);
		return error;
	}
	*ret_list = list;
	return 0;
}

void loader_list_free(struct loader_list *list)
{
	free(list->list);
	free(list->complaints);
	free(list->text);
}
