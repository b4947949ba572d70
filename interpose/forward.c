/* SPDX-License-Identifier: MIT */
#include "interpose/forward.h"

#include "interpose/doors.h"
#include "interpose/elf.h"
#include "interpose/plain.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

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

/* Of our own object, as the linker lays it out. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/*
 * Our exports carry NVRTC's versions, so a dlvsym that looks through the global scope finds them whether there is an
 * NVRTC or not. What is behind us counts (A6).
 */
static void *behind_us(void *found, const char *name, const char *version, enum forward_which which)
{
	return is_ours(found) ? next_symbol(RTLD_NEXT, name, version, which) : found;
}

/* What RTLD_DEFAULT means for this caller, as far as that can be told from here. */
static void *default_symbol(const char *name, const char *version, void *caller, enum forward_which which)
{
	struct elf_object object;
	void *found = behind_us(next_symbol(RTLD_DEFAULT, name, version, which), name, version, which);
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

/* Would the real look-up, for want of anything else, find our own export? dlerror then says what is missing. */
static bool finds_only_ours(void *handle, const char *name, const char *version, void *caller, enum forward_which which)
{
	if (which < FORWARD_DLVSYM_OLD || !is_ours(next_symbol(RTLD_DEFAULT, name, version, which)) ||
	    (handle == RTLD_NEXT && elf_next_symbol((uintptr_t)caller, name, version))) {
		return false;
	}
	return next_symbol(RTLD_NEXT, name, version, which) == NULL;
}

/* What RTLD_NEXT means for this caller, where looking along the loaded objects and the loader's own answer for us
 * agree. */
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
			return (struct forward_answer){NULL, finds_only_ours(handle, name, version, caller, which)};
		}
	} else {
		address = behind_us(next_symbol(handle, name, version, which), name, version, which);
		if (!address) {
			return (struct forward_answer){NULL, 1};
		}
	}
	errno = saved;
	return (struct forward_answer){doors_for_symbol(name, address), 1};
}
