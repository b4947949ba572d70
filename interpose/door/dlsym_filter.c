/* SPDX-License-Identifier: MIT */
#include "interpose/door/dlsym_filter.h"

#include "interpose/compilers.h"
#include "interpose/door/doors.h"
#include "interpose/elf/copies.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loader.h"

#include <errno.h>
#include <stdbool.h>

/* Of our own object, as the linker lays it out. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/*
 * Our exports carry compilers' versions, so a dlvsym that looks through the global scope finds them whether there is
 * such a library or not. What is behind us counts (A6).
 */
static void *behind_us(void *found, const char *name, const char *version, enum next_symbol_which which)
{
	return is_ours(found) ? next_symbol(RTLD_NEXT, name, version, which) : found;
}

/* What RTLD_DEFAULT means for this caller, as far as that can be told from here. */
static void *default_symbol(const char *name, const char *version, void *caller, enum next_symbol_which which)
{
	struct elf_object object;
	void *found = behind_us(next_symbol(RTLD_DEFAULT, name, version, which), name, version, which);
	void *handle;

	if (found || !elf_object_at((uintptr_t)caller, &object) || !object.path[0]) {
		return found;
	}
	handle = loader_open_again(object.path, 0);
	if (handle) {
		found = next_symbol(handle, name, version, which);
		dlclose(handle);
	}
	return found;
}

/* Would the real look-up, for want of anything else, find our own export? dlerror then says what is missing. */
static bool finds_only_ours(void *handle, const char *name, const char *version, void *caller,
                            enum next_symbol_which which)
{
	if (which < NEXT_SYMBOL_DLVSYM_OLD || !is_ours(next_symbol(RTLD_DEFAULT, name, version, which)) ||
	    (handle == RTLD_NEXT && elf_next_symbol((uintptr_t)caller, name, version))) {
		return false;
	}
	return next_symbol(RTLD_NEXT, name, version, which) == NULL;
}

/* What RTLD_NEXT means for this caller, where looking along the loaded objects and the loader's own answer for us
 * agree. */
static void *following_symbol(const char *name, const char *version, void *caller, enum next_symbol_which which)
{
	uintptr_t walked = elf_next_symbol((uintptr_t)caller, name, version);

	if (walked && walked == (uintptr_t)next_symbol(RTLD_NEXT, name, version, which)) {
		return (void *)walked;
	}
	return NULL;
}

struct dlsym_answer dlsym_filter(void *handle, const char *name, const char *version, void *caller,
                                 enum next_symbol_which which)
{
	const struct dlsym_answer not_ours = {NULL, 0};
	int saved = errno;
	void *address;

	const struct compiler *compiler = compiler_of_name(name);

	if (!compiler || !compiler->wants_door(name) || copies_another_is_active()) {
		return not_ours;
	}
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
		address = handle == RTLD_DEFAULT ? default_symbol(name, version, caller, which)
		                                 : following_symbol(name, version, caller, which);
		if (!address) {
			errno = saved;
			return (struct dlsym_answer){NULL, finds_only_ours(handle, name, version, caller, which)};
		}
	} else {
		address = behind_us(next_symbol(handle, name, version, which), name, version, which);
		if (!address) {
			return (struct dlsym_answer){NULL, 1};
		}
	}
	errno = saved;
	return (struct dlsym_answer){doors_for_symbol(name, address), 1};
}
