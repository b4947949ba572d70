/* SPDX-License-Identifier: MIT */
#include "cli/library.h"

#include "cli/console.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif

#define LIBRARY "libnvrtccache.so"
/* Debian keeps the libraries of each machine in a directory of their own. */
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu/"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu/"
#endif

static bool is_file(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, R_OK) == 0;
}

/* Absolute path of this executable's directory, with a slash at its end; "" when it cannot be had. */
static void own_directory(char ret_path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	char *slash;

	ret_path[length > 0 ? length : 0] = '\0';
	slash = strrchr(ret_path, '/');
	if (slash != NULL) {
		slash[1] = '\0';
	}
}

char *library_find(void)
{
	static const char *const beside[] = {LIBRARY, "../lib/" LIBRARY, "../lib64/" LIBRARY,
	                                     "../lib/" MULTIARCH LIBRARY};
	static const char *const places[] = {LIBDIR "/" LIBRARY, "/usr/lib/" LIBRARY, "/usr/lib64/" LIBRARY,
	                                     "/usr/lib/" MULTIARCH LIBRARY};
	const char *asked = getenv("NVRTCCACHE_LIBRARY");
	char directory[PATH_MAX];
	char path[PATH_MAX + sizeof("../lib/" MULTIARCH LIBRARY)];

	if (asked != NULL && asked[0] != '\0') {
		char *real = is_file(asked) ? realpath(asked, NULL) : NULL;

		if (real == NULL) {
			console_error("NVRTCCACHE_LIBRARY: '%s' is no file that can be read", asked);
		}
		return real;
	}
	own_directory(directory);
	for (size_t i = 0; directory[0] != '\0' && i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", directory, beside[i]);
		if (is_file(path)) {
			return realpath(path, NULL);
		}
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (is_file(places[i])) {
			return realpath(places[i], NULL);
		}
	}
	console_error("%s is not found; NVRTCCACHE_LIBRARY may say where it is", LIBRARY);
	return NULL;
}

/* The name that a loaded object was given when it was linked; NULL: none. */
static const char *own_name(void *handle)
{
	struct link_map *map;
	const char *strings = NULL;
	const ElfW(Dyn) *name = NULL;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
		return NULL;
	}
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_STRTAB) {
			strings = (const char *)entry->d_un.d_ptr;
		} else if (entry->d_tag == DT_SONAME) {
			name = entry;
		}
	}
	return strings != NULL && name != NULL ? strings + name->d_un.d_val : NULL;
}

bool library_loads(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const char *name;

	if (handle == NULL) {
		console_error("the library cannot be loaded: %s", dlerror());
		return false;
	}
	name = own_name(handle);
	if (name != NULL && strcmp(name, LIBRARY) == 0) {
		return true;
	}
	console_error("'%s' is another library than %s", path, LIBRARY);
	return false;
}
