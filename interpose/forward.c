/* SPDX-License-Identifier: MIT */
#include "interpose/forward.h"

#include "interpose/doors.h"
#include "interpose/elf.h"
#include "interpose/plain.h"

#include <dlfcn.h>
#include <errno.h>

#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#else
#define LIBC_FIRST "GLIBC_2.17"
#endif

typedef void *dlsym_function(void *handle, const char *name);
typedef void *dlvsym_function(void *handle, const char *name, const char *version);

/* Filled by whoever comes first; two threads store the same values. */
void forward_bootstrap(void)
{
	static const struct {
		const char *name;
		const char *version;
	} wanted[FORWARD_COUNT] = {
	    [FORWARD_DLSYM_OLD] = {"dlsym", LIBC_FIRST},
	    [FORWARD_DLSYM] = {"dlsym", "GLIBC_2.34"},
	    [FORWARD_DLVSYM_OLD] = {"dlvsym", LIBC_FIRST},
	    [FORWARD_DLVSYM] = {"dlvsym", "GLIBC_2.34"},
	};
	uintptr_t found[FORWARD_COUNT];

	for (int i = 0; i < FORWARD_COUNT; i++) {
		found[i] = elf_next_symbol_early(wanted[i].name, wanted[i].version);
	}
	for (int i = 0; i < FORWARD_COUNT && !found[i] && !found[i ^ 1]; i++) {
		found[i] = elf_next_symbol((uintptr_t)&forward_bootstrap, wanted[i].name, wanted[i].version);
	}
	/* Before glibc 2.34 there is only the old version (in libdl); nobody refers to the new one there but us. */
	for (int i = 0; i < FORWARD_COUNT; i++) {
		uintptr_t address = found[i] ? found[i] : found[i ^ 1];

		__atomic_store_n(&forward_next[i], (void *)address, __ATOMIC_RELEASE);
	}
}

static void *next_symbol(void *handle, const char *name, const char *version, enum forward_which which)
{
	void *next = __atomic_load_n(&forward_next[which], __ATOMIC_ACQUIRE);

	if (which >= FORWARD_DLVSYM_OLD) {
		return ((dlvsym_function *)next)(handle, name, version);
	}
	return ((dlsym_function *)next)(handle, name);
}

void *forward_dlvsym(void *handle, const char *name, const char *version)
{
	return next_symbol(handle, name, version, FORWARD_DLVSYM);
}

uintptr_t forward_global(const char *name, const char *version)
{
	uintptr_t address = 0;

	if (version) {
		address = (uintptr_t)next_symbol(RTLD_DEFAULT, name, version, FORWARD_DLVSYM);
	}
	return address ? address : (uintptr_t)next_symbol(RTLD_DEFAULT, name, NULL, FORWARD_DLSYM);
}

/* What RTLD_DEFAULT means for this caller, as far as that can be told from here. */
static void *default_symbol(const char *name, const char *version, void *caller, enum forward_which which)
{
	struct elf_object object;
	void *found = next_symbol(RTLD_DEFAULT, name, version, which);
	void *handle;

	if (found || !elf_object_at((uintptr_t)caller, &object) || !object.path[0]) {
		return found;
	}
	handle = dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		found = next_symbol(handle, name, version, which);
		dlclose(handle);
	}
	return found;
}

/* What RTLD_NEXT means for this caller, where looking along the loaded objects and the loader's own answer for us agree. */
static void *following_symbol(const char *name, const char *version, void *caller, enum forward_which which)
{
	uintptr_t walked = elf_next_symbol((uintptr_t)caller, name, version);

	if (walked && walked == (uintptr_t)next_symbol(RTLD_NEXT, name, version, which)) {
		return (void *)walked;
	}
	return NULL;
}

struct forward_answer forward_filter(void *handle, const char *name, const char *version, void *caller,
				     enum forward_which which)
{
	const struct forward_answer not_ours = {NULL, 0};
	int saved = errno;
	void *address;

	if (!plain_begins(name, "nvrtc") && !plain_begins(name, "__nvrtc")) {
		return not_ours;
	}
	if (!doors_wanted(name)) {
		return not_ours;
	}
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
		address = handle == RTLD_DEFAULT ? default_symbol(name, version, caller, which)
						 : following_symbol(name, version, caller, which);
		if (!address) {
			errno = saved;
			return not_ours;
		}
	} else {
		address = next_symbol(handle, name, version, which);
		if (!address) {
			return (struct forward_answer){NULL, 1};
		}
	}
	errno = saved;
	return (struct forward_answer){doors_for_symbol(name, address), 1};
}
