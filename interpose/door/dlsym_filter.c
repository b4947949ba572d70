/* SPDX-License-Identifier: MIT */
/*
 * RTLD_DEFAULT and RTLD_NEXT depend on the caller, which the loader recognises by the return address; in a call from
 * here that would be this library. So each is first resolved by other means. If those give no certain answer, dlsym.S
 * makes the real look-up by a jump, with the caller's own return address.
 */
#include "interpose/door/dlsym_filter.h"

#include "interpose/compilers.h"
#include "interpose/door/doors.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loader.h"

#include <errno.h>
#include <stdbool.h>

/* The bounds of this object, which the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/*
 * Replaces an export of this library by the next definition in load order, which is the real one. The exports have the
 * compilers' versions, so dlvsym in the global scope finds them even if no such library is loaded.
 */
static void *behind_us(void *found, const char *name, const char *version, enum next_symbol_which which)
{
	return is_ours(found) ? next_symbol(RTLD_NEXT, name, version, which) : found;
}

/* Resolves RTLD_DEFAULT for this caller, if that is possible from here; otherwise NULL. */
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

/*
 * Returns true if the real look-up would find only this library's export. The failed look-up here has set the dlerror
 * text.
 */
static bool finds_only_ours(void *handle, const char *name, const char *version, void *caller,
                            enum next_symbol_which which)
{
	if (which < NEXT_SYMBOL_DLVSYM_OLD || !is_ours(next_symbol(RTLD_DEFAULT, name, version, which)) ||
	    (handle == RTLD_NEXT && elf_next_symbol((uintptr_t)caller, name, version))) {
		return false;
	}
	return next_symbol(RTLD_NEXT, name, version, which) == NULL;
}

/*
 * Resolves RTLD_NEXT for this caller. Returns NULL unless a search of the loaded objects and the loader's answer for
 * this library agree.
 */
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

	if (!compiler || !compiler->wants_door(name) || elf_another_copy_is_active()) {
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
