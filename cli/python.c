/* SPDX-License-Identifier: MIT */
#include "cli/python.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PREFIX of PREFIX/bin/python3. False: it lies elsewhere. */
static bool prefix_of(const char *program, char ret_prefix[PATH_MAX])
{
	const char *slash = strrchr(program, '/');

	if (!slash || slash - program < 5 || strncmp(slash - 4, "/bin", 4) != 0) {
		return false;
	}
	snprintf(ret_prefix, PATH_MAX, "%.*s", (int)(slash - 4 - program), program);
	return true;
}

/* "python3.11" of a file of that name; else any. */
static const char *version_of(const char *real)
{
	const char *slash = strrchr(real, '/'), *name = slash ? slash + 1 : real;

	return strncmp(name, "python3.", 8) == 0 && name[8 + strspn(name + 8, "0123456789")] == '\0' ? name
	                                                                                             : "python3*";
}

static void put_matches(FILE *out, const char *prefix, const char *between, const char *version, const char *behind)
{
	char pattern[PATH_MAX];
	glob_t found;

	if (snprintf(pattern, sizeof(pattern), "%s/%s/%s/%s", prefix, between, version, behind) >= PATH_MAX ||
	    glob(pattern, 0, NULL, &found) != 0) {
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		fprintf(out, "%s\n", found.gl_pathv[i]);
	}
	globfree(&found);
}

static void put_prefix(FILE *out, const char *prefix, const char *version)
{
	put_matches(out, prefix, "lib", version, "site-packages");
	put_matches(out, prefix, "lib64", version, "site-packages");
	put_matches(out, prefix, "lib", "python3", "dist-packages");
	if (strcmp(prefix, "/usr") == 0) {
		put_matches(out, "/usr/local", "lib", version, "dist-packages");
	}
}

static void put_path(FILE *out, const char *path)
{
	while (path && *path) {
		size_t size = strcspn(path, ":");

		if (size > 0) {
			fprintf(out, "%.*s\n", (int)size, path);
		}
		path += size + (path[size] == ':');
	}
}

/* A virtual environment has its own packages, and others' only if it says so. */
enum environment { ENVIRONMENT_NONE, ENVIRONMENT_ALONE, ENVIRONMENT_OPEN };

static enum environment environment_of(const char *prefix)
{
	char name[PATH_MAX], line[256];
	enum environment is = ENVIRONMENT_ALONE;
	FILE *file;

	if (snprintf(name, sizeof(name), "%s/pyvenv.cfg", prefix) >= PATH_MAX || !(file = fopen(name, "re"))) {
		return ENVIRONMENT_NONE;
	}
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "include-system-site-packages", 28) == 0 && strstr(line, "true")) {
			is = ENVIRONMENT_OPEN;
		}
	}
	fclose(file);
	return is;
}

char *python_directories(const char *program)
{
	char real[PATH_MAX], prefix[PATH_MAX];
	const char *version = "python3*", *home = getenv("HOME");
	enum environment environment = ENVIRONMENT_NONE;
	char *directories = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&directories, &size);

	if (!out) {
		return NULL;
	}
	if (!realpath(program, real)) {
		real[0] = '\0';
	}
	version = version_of(real);
	put_path(out, getenv("PYTHONPATH"));
	if (prefix_of(program, prefix)) {
		environment = environment_of(prefix);
		put_prefix(out, prefix, version);
	}
	if (environment != ENVIRONMENT_ALONE) {
		if (home && home[0] == '/') {
			put_matches(out, home, ".local/lib", version, "site-packages");
		}
		if (strcmp(real, program) != 0 && prefix_of(real, prefix)) {
			put_prefix(out, prefix, version);
		}
	}
	return fclose(out) == 0 ? directories : NULL;
}
