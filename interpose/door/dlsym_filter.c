/* SPDX-License-Identifier: MIT */
/*
 * RTLD_DEFAULT and RTLD_NEXT depend on the caller, which the loader recognises by the return address; in a call from
 * here that would be this library. So each is first resolved by other means. If those give no certain answer, dlsym.S
 * makes the real look-up by a jump, with the caller's own return address.
 */
#include "interpose/door/dlsym_filter.h"

#include "interpose/compilers.h"
#include "interpose/door/doors.h"
#include "interpose/door/modules.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/next_symbol.h"
#include "interpose/elf/plain.h"

#include <errno.h>
#include <stdbool.h>

/*
 * Replaces an export of this library by the next definition in load order, which is the real one. The exports have the
 * compilers' versions, so dlvsym in the global scope finds them even if no such library is loaded.
 */
static void *behind_us(void *found, const char *name, const char *version, enum next_symbol_which which)
{
	return elf_is_ours((uintptr_t)found) ? next_symbol(RTLD_NEXT, name, version, which) : found;
}

/* Resolves RTLD_DEFAULT for this caller, if that is possible from here; otherwise NULL. */
static void *default_symbol(const char *name, const char *version, void *caller, enum next_symbol_which which)
{
	struct elf_object object;
	void *found = behind_us(next_symbol(RTLD_DEFAULT, name, version, which), name, version, which);

	return found || !elf_object_at((uintptr_t)caller, &object) || !object.path[0]
	           ? found
	           : next_symbol_in(object.path, name, version, which);
}

/*
 * Returns true if the real look-up would find only this library's export. The failed look-up here has set the dlerror
 * text.
 */
static bool finds_only_ours(void *handle, const char *name, const char *version, void *caller,
                            enum next_symbol_which which)
{
	if (which < NEXT_SYMBOL_DLVSYM_OLD ||
	    !elf_is_ours((uintptr_t)next_symbol(RTLD_DEFAULT, name, version, which)) ||
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

/* ---- other hooks of dlsym ---- */

struct hooks {
	const char *name, *version;
	const void *caller;
	bool is_behind;     /* the walk has passed this library */
	bool is_hidden;     /* a definition before this library hides its own */
	bool called_behind; /* the caller's object comes behind this library */
	int definitions;    /* of any version, behind this library */
	uintptr_t found;
};

/* If a version is asked for, only a definition that has one counts, as for dlvsym. */
static bool is_defined(const struct elf_object *object, const struct hooks *hooks, uintptr_t *ret_address)
{
	return elf_finds(object, hooks->name, hooks->version, ret_address) &&
	       (!hooks->version || elf_symbol_version(object, hooks->name));
}

/*
 * Objects come in load order. A hook before this library hides it: then this library's dlsym was not called for that
 * look-up, and nothing has to be found.
 */
static int view_hook(const struct elf_object *object, void *context)
{
	struct hooks *hooks = context;
	uintptr_t address;
	bool is_caller;

	if (elf_is_ours((uintptr_t)object->dynamic)) {
		hooks->is_behind = true;
		return 0;
	}
	if (!hooks->is_behind) {
		hooks->is_hidden = is_defined(object, hooks, &address);
		return hooks->is_hidden;
	}
	is_caller = elf_contains(object, (uintptr_t)hooks->caller);
	hooks->called_behind = hooks->called_behind || is_caller;
	if (!elf_finds(object, hooks->name, NULL, &address) || elf_is_copy(object)) {
		return 0;
	}
	hooks->definitions++;
	if (!hooks->found && !is_caller && is_defined(object, hooks, &address)) {
		hooks->found = address;
	}
	return 0;
}

/*
 * This library's dlsym forwards to the next one, which may be another hook's. If that hook looks up the real dlsym and
 * gets this library's, the two call each other without end. So if there is a hook behind this library, an object behind
 * it gets the first definition behind it that is not in that object itself. All others get this library's, so that what
 * they look up is cached.
 */
static void *symbol_for_hook(void *handle, const char *name, const char *version, void *caller)
{
	struct hooks hooks = {.name = name, .version = version, .caller = caller};

	if (!plain_equal(name, "dlsym") && !plain_equal(name, "dlvsym")) {
		return NULL;
	}
	if (handle == RTLD_DEFAULT || handle == loaded_list()) {
		(void)elf_each_object(view_hook, &hooks);
	}
	return !hooks.is_hidden && hooks.called_behind && hooks.definitions > 1 ? (void *)hooks.found : NULL;
}

struct dlsym_answer {
	void *address;
	bool handled; /* false: the next dlsym answers */
};

/*
 * Names of compilers get a door, unless the real look-up finds nothing. With a handle of a library, its new modules are
 * looked at first, because a plugin may have been loaded since. dlerror's state is that of the real look-up.
 */
static struct dlsym_answer dlsym_filter(void *handle, const char *name, const char *version, void *caller,
                                        enum next_symbol_which which)
{
	const struct dlsym_answer not_ours = {NULL, false};
	int saved = errno;
	void *address = name ? symbol_for_hook(handle, name, version, caller) : NULL;
	const struct compiler *compiler = name ? compiler_to_intercept(name) : NULL;

	if (handle != RTLD_DEFAULT && handle != RTLD_NEXT) {
		modules_settle();
		errno = saved;
	}
	if (address) {
		return (struct dlsym_answer){address, true};
	}
	if (!compiler || elf_another_copy_is_active()) {
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
			return (struct dlsym_answer){NULL, true};
		}
	}
	errno = saved;
	return (struct dlsym_answer){doors_for_symbol(name, address), true};
}

static void *give(void *answer)
{
	return answer;
}

void *door_prepare(unsigned number, uintptr_t arguments[6], void *caller)
{
	enum next_symbol_which which = (enum next_symbol_which)(number - DOORS_UNKNOWN_MAX);
	const char *name = (const char *)arguments[1];
	struct dlsym_answer answer = {NULL, true};
	void *next;

	if (number < DOORS_UNKNOWN_MAX) {
		return doors_prepare_unknown(number, arguments);
	}
	next = next_symbol_function(which);
	if (next) {
		const char *version = which >= NEXT_SYMBOL_DLVSYM_OLD ? (const char *)arguments[2] : NULL;

		answer = dlsym_filter((void *)arguments[0], name, version, caller, which);
	}
	if (answer.handled) {
		arguments[0] = (uintptr_t)answer.address;
	}
	return answer.handled ? (void *)give : next;
}
