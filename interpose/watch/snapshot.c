/* SPDX-License-Identifier: MIT */
/*
 * Directories are compared by device and inode as well as by name, because the same name may later refer to another
 * directory.
 */
#include "interpose/watch/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_text(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* `now` NULL: no file, and `then` is all zero. */
static bool same_file(const struct stat *then, const struct stat *now)
{
	return now ? then->st_dev == now->st_dev && then->st_ino == now->st_ino : then->st_mode == 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot) {
		return;
	}
	for (size_t i = 0; i < snapshot->count; i++) {
		free((char *)snapshot->values[i].value);
	}
	free(snapshot->cwd);
	free(snapshot->pwd);
	free(snapshot);
}

/* Copies NULL as NULL; returns false if there is no memory. */
static bool copy_text(const char *text, char **ret_copy)
{
	*ret_copy = text ? strdup(text) : NULL;
	return !text || *ret_copy;
}

/* $PWD and the working directory are compared as files too: the compiler trusts $PWD only if both are the same one. */
struct snapshot *snapshot_take(const struct environment *environment)
{
	struct snapshot *taken = calloc(1, sizeof(*taken));
	bool complete;

	if (!taken) {
		return NULL;
	}
	taken->environment = environment;
	taken->count = environment_values(environment, taken->values);
	complete = copy_text(environment_get("PWD"), &taken->pwd);
	for (size_t i = 0; i < taken->count; i++) {
		complete &= copy_text(taken->values[i].value, (char **)&taken->values[i].value);
	}
	if (!complete) {
		snapshot_free(taken);
		return NULL;
	}
	taken->cwd = getcwd(NULL, 0);
	(void)stat(".", &taken->here);
	if (taken->pwd) {
		(void)stat(taken->pwd, &taken->named);
	}
	return taken;
}

const char *snapshot_pwd(const struct snapshot *snapshot)
{
	bool same = snapshot->named.st_mode != 0 && same_file(&snapshot->here, &snapshot->named);

	return same ? snapshot->pwd : NULL;
}

bool snapshot_agrees(const struct snapshot *snapshot, const char *variable, const char *value)
{
	if (!variable) {
		return same_text(snapshot->cwd, value);
	}
	for (size_t i = 0; i < snapshot->count; i++) {
		if (strcmp(snapshot->values[i].name, variable) == 0) {
			return same_text(snapshot->values[i].value, value);
		}
	}
	if (strcmp(variable, "PWD") == 0) {
		return same_text(snapshot->pwd, value);
	}
	return !value || environment_known(snapshot->environment, variable);
}

bool snapshot_agrees_stat(const struct snapshot *snapshot, const char *path, const struct stat *found)
{
	return !(strcmp(path, ".") == 0 && !same_file(&snapshot->here, found)) &&
	       !(same_text(snapshot->pwd, path) && !same_file(&snapshot->named, found));
}
