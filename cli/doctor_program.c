/* SPDX-License-Identifier: MIT */
/* doctor: which compilers a program reaches, from what can be seen of it from outside. */
#include "cli/doctor.h"

#include "cli/doctor_compiler.h"
#include "cli/executable.h"
#include "cli/image.h"
#include "cli/loader.h"
#include "cli/python.h"
#include "interpose/compile/linked_callers.h"
#include "interpose/compilers.h"
#include "interpose/node.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_BYTES 2048 /* of all sonames, with colons */

/* "libnvrtc": how the names of a compiler's libraries begin. */
static size_t stem_of(const struct compiler *compiler, const char **ret_stem)
{
	*ret_stem = compiler->nodes[0].name;
	return (size_t)(strstr(*ret_stem, ".so") - *ret_stem);
}

struct examination {
	struct findings *findings;
	struct loader_list libraries; /* of the program, with ours in front */
	bool is_python;               /* what runs it */
	/* Has the program, or one of its libraries, the name of the compiler's library, and is not linked with it? */
	bool named[COMPILER_COUNT];
	bool named_second[COMPILER_COUNT]; /* that of NVIDIA's second builds, libnvrtc.alt */
	struct doctor_seen seen;
};

/* ---- the program and its libraries ---- */

struct needing {
	const char *stem;
	size_t size;
};

static int is_needed(const char *name, void *context)
{
	const struct needing *needing = context;

	return strncmp(name, needing->stem, needing->size) == 0;
}

static void note_names(struct examination *examination, const struct image *image)
{
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		struct needing needing;
		char second[64];

		needing.size = stem_of(compilers[i], &needing.stem);
		snprintf(second, sizeof(second), "%.*s.alt", (int)needing.size, needing.stem);
		if (!image->has_dynamic || elf_each_needed(&image->object, is_needed, &needing) == 0) {
			examination->named[i] |= memmem(image->bytes, image->size, needing.stem, needing.size) != NULL;
			examination->named_second[i] |= image_contains_text(image, second);
		}
	}
}

/* Linked with names by which nobody comes to us; a compiler inside it. */
static void look_at_object(struct examination *examination, const char *path)
{
	struct findings *findings = examination->findings;
	struct image image;

	if (image_open(path, &image) != 0) {
		return;
	}
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		const struct compiler *compiler = compilers[i];

		for (size_t j = 0; image.has_dynamic && j < compiler->node_count; j++) {
			if (linked_callers_one_passes_by(&image.object, &compiler->nodes[j])) {
				finding_add(findings, FINDING_FAIL, "compiler",
				            "linked: %s calls functions of %s past the library: it is not cached there",
				            path, compiler->title);
			}
		}
		if (image_contains_function(&image, compiler->nodes[0].landmark)) {
			finding_add(
			    findings, FINDING_FAIL, "compiler",
			    "inside: %s is linked into %s statically, where nobody can reach it: it is not cached",
			    compiler->title, path);
		}
	}
	note_names(examination, &image);
	if (image_imports(&image, "dlmopen")) {
		finding_add(findings, FINDING_WARN, "program",
		            "%s imports dlmopen: what it loads that way is not cached", path);
	}
	image_close(&image);
}

static bool is_ours(const char *path, const char *library)
{
	char real[PATH_MAX], wanted[PATH_MAX];

	return library && realpath(path, real) && realpath(library, wanted) && strcmp(real, wanted) == 0;
}

/* The C library's own, which are many and tell nothing. */
static bool is_system(const char *name)
{
	static const char *const names[] = {"libc.so.",       "libm.so.",  "libdl.so.",
	                                    "libpthread.so.", "librt.so.", "ld-linux"};
	const char *slash = strrchr(name, '/');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(slash ? slash + 1 : name, names[i], strlen(names[i])) == 0) {
			return true;
		}
	}
	return false;
}

/* What the loader said; false: the program does not start, or not with the library. */
static bool note_loader(struct examination *examination, const char *library)
{
	const struct loader_list *list = &examination->libraries;
	struct findings *findings = examination->findings;
	size_t before = findings->failures;
	bool found = false;

	for (size_t i = 0; i < list->count; i++) {
		if (!list->list[i].path) {
			finding_add(findings, FINDING_FAIL, "program",
			            "%s is not found, so that the program does not start", list->list[i].name);
		} else {
			found = found || is_ours(list->list[i].path, library);
		}
	}
	if (list->complaints[0]) {
		finding_add(findings, list->failed || !found ? FINDING_FAIL : FINDING_WARN, "program",
		            "its loader says: %.*s", (int)strcspn(list->complaints, "\n"), list->complaints);
	} else if (list->failed) {
		finding_add(findings, FINDING_FAIL, "program", "its loader would not load it");
	} else if (!found && library) {
		finding_add(findings, FINDING_FAIL, "program", "its loader does not load the library with it");
	}
	return findings->failures == before;
}

static void look_at_objects(struct examination *examination, const struct executable *program, const char *library)
{
	look_at_object(examination, program->path);
	for (size_t i = 0; i < examination->libraries.count; i++) {
		const struct loaded *loaded = &examination->libraries.list[i];

		if (loaded->path && !is_system(loaded->path) && !is_ours(loaded->path, library) &&
		    !doctor_compiler(examination->findings, &examination->seen, loaded->path, "linked")) {
			look_at_object(examination, loaded->path);
		}
	}
}

/* ---- what dlopen would find ---- */

/* libnvrtc.so.13:libnvrtc.so.12:... */
static void list_names(char ret_names[NAMES_BYTES])
{
	size_t size = 0;

	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		for (size_t j = compilers[i]->node_count; j-- > 0 && size < NAMES_BYTES - 64;) {
			size += (size_t)snprintf(ret_names + size, NAMES_BYTES - size, "%s%s", size ? ":" : "",
			                         compilers[i]->nodes[j].name);
		}
	}
}

/* Is it one that this program might open? */
static bool is_wanted(const struct examination *examination, const char *name)
{
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		const char *stem;
		size_t size = stem_of(compilers[i], &stem);

		if (strncmp(name, stem, size) == 0) {
			return strncmp(name + size, ".alt", 4) == 0 ? examination->named_second[i]
			                                            : examination->named[i] || examination->is_python;
		}
	}
	return false;
}

/* Where the loader would find them for this program: as what is preloaded by name is looked for alike. */
static void look_along_search_path(struct examination *examination, const struct executable *program, const char *how)
{
	char names[NAMES_BYTES];
	struct loader_list found;

	list_names(names);
	if (loader_list(program->loader, program->path, names, &found) != 0) {
		return;
	}
	for (size_t i = 0; i < found.count; i++) {
		const char *slash = strrchr(found.list[i].name, '/');

		if (found.list[i].path && is_wanted(examination, slash ? slash + 1 : found.list[i].name)) {
			(void)doctor_compiler(examination->findings, &examination->seen, found.list[i].path, how);
		}
	}
	loader_list_free(&found);
}

static void look_at_matches(struct examination *examination, const char *directory, const char *pattern,
                            const char *how)
{
	char *whole;
	glob_t found;

	if (asprintf(&whole, "%s/%s", directory, pattern) < 0) {
		return;
	}
	if (glob(whole, GLOB_NOSORT, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];

			if (is_wanted(examination, strrchr(path, '/') + 1)) {
				(void)doctor_compiler(examination->findings, &examination->seen, path, how);
			}
		}
		globfree(&found);
	}
	free(whole);
}

/* NVIDIA's wheels, and those that carry copies. */
static void look_at_packages(struct examination *examination, char *directories)
{
	static const char *const patterns[] = {"nvidia/*/lib/libnvrtc.*", "nvidia/*/lib/libnvJitLink.*",
	                                       "nvidia/*/lib/libnvvm.*",  "nvidia/*/nvvm/lib64/libnvvm.*",
	                                       "*/lib/libnvrtc[.-]*",     "*.libs/libnvrtc[.-]*",
	                                       "*/lib/libnvJitLink[.-]*", "*.libs/libnvJitLink[.-]*"};
	char *rest;

	for (char *line = strtok_r(directories, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		for (size_t i = 0; line[0] == '/' && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
			look_at_matches(examination, line, patterns[i], "in a package of Python's");
		}
	}
}

static void look_at_toolkit(struct examination *examination)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
	const char *roots[] = {getenv(variables[0]), getenv(variables[1]), "/usr/local/cuda"};

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (roots[i] && roots[i][0] == '/') {
			look_at_matches(examination, roots[i], "lib64/libnvrtc.so.*", "in the toolkit");
			look_at_matches(examination, roots[i], "lib64/libnvJitLink.so.*", "in the toolkit");
			look_at_matches(examination, roots[i], "nvvm/lib64/libnvvm.so.*", "in the toolkit");
		}
	}
}

/* ---- all of it ---- */

static void note_trouble(struct findings *findings, const char *name, const struct executable *program)
{
	const char *path = program->path;

	switch (program->trouble) {
	case EXECUTABLE_NOT_FOUND:
		finding_add(findings, FINDING_FAIL, "program", "%s: there is no such program%s", name,
		            strchr(name, '/') ? "" : " in PATH");
		break;
	case EXECUTABLE_NOT_EXECUTABLE:
		finding_add(findings, FINDING_FAIL, "program", "%s may not be run: no permission, or no file", path);
		break;
	case EXECUTABLE_NO_INTERPRETER:
		finding_add(findings, FINDING_FAIL, "program", "%s cannot start: what runs it, '%s', is not there",
		            name, path);
		break;
	case EXECUTABLE_UNKNOWN:
		finding_add(findings, FINDING_FAIL, "program", "%s is neither a script nor a program that is known",
		            path);
		break;
	case EXECUTABLE_OTHER_MACHINE:
		finding_add(findings, FINDING_FAIL, "program",
		            "%s is a program of %d bits for another machine than the library", path, program->bits);
		break;
	case EXECUTABLE_STATIC:
		finding_add(findings, FINDING_FAIL, "program", "%s is linked statically: LD_PRELOAD does nothing",
		            path);
		break;
	case EXECUTABLE_NOT_GLIBC:
		finding_add(findings, FINDING_FAIL, "program", "%s has %s for a loader; the library needs glibc", path,
		            program->loader);
		break;
	case EXECUTABLE_PRIVILEGED:
		finding_add(findings, FINDING_FAIL, "program",
		            "%s is setuid, setgid or has capabilities: such programs are passed through", path);
		break;
	case EXECUTABLE_FINE:
		break;
	}
}

/* The compilers that can be seen from outside. */
static void look_for_compilers(struct examination *examination, const struct executable *program, char *directories,
                               const char *library)
{
	struct findings *findings = examination->findings;
	size_t before = findings->count;
	bool named = false;

	look_at_objects(examination, program, library);
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		named |= examination->named[i];
	}
	if (named || examination->is_python) {
		look_along_search_path(examination, program, "reached through dlopen");
		if (directories) {
			look_at_packages(examination, directories);
		}
		look_at_toolkit(examination);
	}
	if (findings->count == before && program->script_count > 0 && !examination->is_python) {
		finding_add(findings, FINDING_WARN, "compiler",
		            "a script: what it starts cannot be seen from here; --run tells more");
	} else if (findings->count == before) {
		finding_add(findings, FINDING_WARN, "compiler",
		            named ? "it names a compiler's library, and none is found"
		                  : "no compiler is seen: not linked, not named; --run tells more");
	}
}

static void examine(struct examination *examination, const struct executable *program, char *directories,
                    const char *library)
{
	struct findings *findings = examination->findings;
	int error;

	if (!loader_is_one(program->loader)) {
		finding_add(findings, FINDING_WARN, "program", "%s: its loader '%s' cannot be asked", program->path,
		            program->loader);
		return;
	}
	error = loader_list(program->loader, program->path, library ? library : "", &examination->libraries);
	if (error != 0) {
		finding_add(findings, FINDING_FAIL, "program", "%s cannot be asked about %s: %s", program->loader,
		            program->path, strerror(-error));
		return;
	}
	if (note_loader(examination, library)) {
		look_for_compilers(examination, program, directories, library);
	}
	loader_list_free(&examination->libraries);
}

bool doctor_program(struct findings *findings, const char *library, const char *name)
{
	struct examination examination = {.findings = findings};
	size_t before = findings->failures;
	struct executable program;
	char *directories = NULL;

	executable_find(name, &program);
	if (program.trouble == EXECUTABLE_FINE) {
		examination.is_python = executable_is_python(program.path);
		directories = examination.is_python ? python_directories(program.path) : NULL;
		if (program.script_count > 0) {
			finding_add(findings, FINDING_OK, "program", "%s is a script that %s runs", program.scripts[0],
			            program.path);
		} else {
			finding_add(findings, FINDING_OK, "program", "program: %s", program.path);
		}
	}
	note_trouble(findings, name, &program);
	if (program.trouble == EXECUTABLE_FINE) {
		examine(&examination, &program, directories, library);
	}
	doctor_seen_free(&examination.seen);
	free(directories);
	/* a compiler that cannot be cached is no reason not to run it */
	return program.trouble == EXECUTABLE_FINE || findings->failures == before;
}
