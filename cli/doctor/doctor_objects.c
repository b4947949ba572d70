/* SPDX-License-Identifier: MIT */
/*
 * doctor: finds compilers inside the files that a run loaded
 *
 * Calls to a statically linked compiler cannot be intercepted, so the run's trace does not show them. The symbol tables
 * of the loaded files do: a file that defines a landmark function contains a copy of the compiler, and a file that
 * imports one of its functions calls the compiler.
 */
#include "cli/doctor/doctor.h"

#include "cli/doctor/elf_file.h"

#include <string.h>

/*
 * The prefix of each compiler's function names, a function that every copy of the compiler defines (landmark), and a
 * message of its own, by which a copy without symbols is found; NULL: none is known.
 */
static const struct {
	const char *name, *title, *prefix, *landmark, *message;
} compilers[DOCTOR_COMPILERS] = {
    {"nvrtc", "NVRTC", "nvrtc", "nvrtcCreateProgram", "nvrtc: error: invalid value for --gpu-architecture"},
    {"nvjitlink", "nvJitLink", "nvJitLink", "nvJitLinkCreate", NULL},
    {"nvvm", "libNVVM", "nvvm", "nvvmCreateProgram", NULL},
};

int doctor_compiler(const char *name)
{
	for (int i = 0; i < DOCTOR_COMPILERS; i++) {
		if (strcmp(name, compilers[i].name) == 0) {
			return i;
		}
	}
	return -1;
}

struct seen {
	bool is_inside[DOCTOR_COMPILERS], is_imported[DOCTOR_COMPILERS];
};

/*
 * Returns the name without leading underscores. Functions of nvJitLink have the release in their names, as in
 * __nvJitLinkCreate_12_0; some are also defined as nvJitLinkCreate.
 */
static const char *plain_name(const char *name)
{
	return strncmp(name, "__nvJitLink", 11) == 0 ? name + 2 : name;
}

static bool is_landmark(const char *name, const char *landmark)
{
	const char *plain = plain_name(name);
	size_t size = strlen(landmark);

	return strncmp(plain, landmark, size) == 0 && (plain[size] == '\0' || (plain != name && plain[size] == '_'));
}

static void see_symbol(const struct elf_file_symbol *symbol, void *context)
{
	struct seen *seen = context;

	for (int i = 0; i < DOCTOR_COMPILERS; i++) {
		if (!symbol->is_defined) {
			seen->is_imported[i] |=
			    strncmp(plain_name(symbol->name), compilers[i].prefix, strlen(compilers[i].prefix)) == 0;
		} else if (symbol->is_function && is_landmark(symbol->name, compilers[i].landmark)) {
			seen->is_inside[i] = true;
		}
	}
}

static bool has_text(const struct elf_file *file, const char *text)
{
	return memmem(file->bytes, file->size, text, strlen(text)) != NULL;
}

/* Returns what makes cuDNN use the libnvrtc of the system. Its releases know one variable each. */
static const char *way_out(const struct elf_file *file)
{
	return has_text(file, "CUDNN_NVRTC_RUNTIME_LINKING")
	           ? "; CUDNN_NVRTC_RUNTIME_LINKING=1 (nvrtccache run --cudnn) makes it load libnvrtc"
	       : has_text(file, "CUDNN_NVRTC_OVERRIDE_PATH")
	           ? "; CUDNN_NVRTC_OVERRIDE_PATH=/path/of/libnvrtc.so.N makes it load that"
	           : "";
}

void doctor_object(struct findings *findings, const char *path, const enum doctor_calls calls[DOCTOR_COMPILERS])
{
	struct seen seen = {.is_inside = {false}};
	const char *slash = strrchr(path, '/'), *base = slash ? slash : path;
	const char *advice = "";
	struct elf_file file;

	if (elf_file_open(path, &file) != 0) {
		return;
	}
	elf_file_each_symbol(&file, see_symbol, &seen);
	for (int i = 0; i < DOCTOR_COMPILERS; i++) {
		/* this reads the whole file, so it is done only if nothing of that compiler was seen */
		seen.is_inside[i] |=
		    calls[i] == DOCTOR_CALLS_NONE && compilers[i].message && has_text(&file, compilers[i].message);
	}
	if (seen.is_inside[0]) {
		advice = way_out(&file);
	}
	elf_file_close(&file);
	for (int i = 0; i < DOCTOR_COMPILERS; i++) {
		/* the compiler's own library contains the prefix in its name, even if it was renamed */
		bool is_library = strstr(base, compilers[i].prefix) != NULL;

		if (seen.is_inside[i] && is_library && calls[i] == DOCTOR_CALLS_NONE) {
			finding_add(
			    findings, FINDING_WARN, "compiler",
			    "loaded: %s, and no call reached the cache: none was made, or by private functions, as "
			    "cuTile does",
			    path);
		} else if (seen.is_inside[i] && !is_library) {
			finding_add(findings, FINDING_FAIL, "compiler",
			            "inside: %s is linked statically into %s, where the cache cannot intercept it: not "
			            "cached%s",
			            compilers[i].title, path, advice);
			/* an import is reported only if calls are missing from the trace */
		} else if (seen.is_imported[i] && calls[i] != DOCTOR_CALLS_SEEN) {
			finding_add(findings, FINDING_WARN, "compiler", "linked: %s imports functions of %s, %s", path,
			            compilers[i].title,
			            calls[i] == DOCTOR_CALLS_NONE
			                ? "and no call reached the cache: none was made, or they bypass it"
			                : "some of which bypass the cache");
		}
	}
}
