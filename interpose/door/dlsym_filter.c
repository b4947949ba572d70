/* SPDX-License-Identifier: MIT */
/*
 * dlsym_filter: decides what the host's dlsym and dlvsym return (docs/DESIGN.md)
 *
 * Purpose: doors.S calls door_prepare() for every symbol that begins with 'n', '_' or 'd'; it decides in a few
 * comparisons whether the name is a compiler's, or dlsym's own, and looks at objects that were loaded since. For all
 * other names dlsym.S jumps to the next dlsym in load order (next_symbol.h).
 *
 * Rules: the real look-up is done once, with the host's handle. If it fails, the host gets that failure with the real
 * dlerror text. A name that the real library lacks stays NULL. errno does not change. For a name that is no compiler's
 * there is no log, no allocation, no environment and no lock. A door of a compiler may set up the library (a private
 * name gives the compiler up, which is recorded).
 *
 * RTLD_DEFAULT and RTLD_NEXT depend on the caller, which the loader recognises by the return address; in a call from
 * here that would be this library. So each is first resolved by other means. If those give no certain answer, dlsym.S
 * makes the real look-up by a jump, with the caller's own return address.
 *
 * RTLD_DEFAULT: a name that the global scope has is the same definition for every caller, so it can be looked up from
 * here. Otherwise, if the caller is a library, its own scope is searched through its handle. If neither has the name,
 * the real look-up runs with the real caller. RTLD_NEXT: a caller that asks for the next definition is another
 * interposer. It may forward some of a compiler's functions and not others, so it gets doors too. The objects after the
 * caller are searched, and the result is used if the loader gives this library the same answer; otherwise the real
 * look-up runs.
 *
 * dlsym, dlvsym: another library that hooks these and comes behind this one must not get the functions of this library
 * for the real ones, because they call its own (tests/integration/54-hooks.sh).
 */
#include "interpose/compilers.h"
#include "interpose/door/doors.h"
#include "interpose/door/modules.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loaded.h"
#include "interpose/elf/next_symbol.h"
#include "interpose/elf/plain.h"

#include <errno.h>
#include <stdbool.h>

/* A host's call of dlsym or dlvsym. */
struct lookup {
	void *handle;
	const char *name;
	const char *version; /* of dlvsym */
	void *caller;
	enum next_symbol_which which;
};

/* Makes the real look-up with another handle. */
static void *look_in(const struct lookup *lookup, void *handle)
{
	return next_symbol(handle, lookup->name, lookup->version, lookup->which);
}

/*
 * Replaces an export of this library by the next definition in load order, which is the real one. The exports have the
 * compilers' versions, so dlvsym in the global scope finds them even if no such library is loaded.
 */
static void *look_behind_us(const struct lookup *lookup, void *handle)
{
	void *found = look_in(lookup, handle);

	return elf_is_ours((uintptr_t)found) ? look_in(lookup, RTLD_NEXT) : found;
}

/* Resolves RTLD_DEFAULT for this caller, if that is possible from here; otherwise NULL. */
static void *default_symbol(const struct lookup *lookup)
{
	struct elf_object object;
	void *found = look_behind_us(lookup, RTLD_DEFAULT);

	return found || !elf_object_at((uintptr_t)lookup->caller, &object) || !object.path[0]
	           ? found
	           : next_symbol_in(object.path, lookup->name, lookup->version, lookup->which);
}

/*
 * Resolves RTLD_NEXT for this caller. Returns NULL unless a search of the loaded objects and the loader's answer for
 * this library agree.
 */
static void *following_symbol(const struct lookup *lookup)
{
	void *walked = (void *)elf_next_symbol((uintptr_t)lookup->caller, lookup->name, lookup->version);

	return walked && walked == look_in(lookup, RTLD_NEXT) ? walked : NULL;
}

/*
 * Returns true if the real look-up would find only this library's export. The failed look-up here has set the dlerror
 * text.
 */
static bool finds_only_ours(const struct lookup *lookup)
{
	return lookup->which >= NEXT_SYMBOL_DLVSYM_OLD && elf_is_ours((uintptr_t)look_in(lookup, RTLD_DEFAULT)) &&
	       (lookup->handle != RTLD_NEXT ||
	        !elf_next_symbol((uintptr_t)lookup->caller, lookup->name, lookup->version)) &&
	       !look_in(lookup, RTLD_NEXT);
}

/* ---- other hooks of dlsym ---- */

struct hooks {
	const struct lookup *lookup;
	bool is_behind;     /* the walk has passed this library */
	bool called_behind; /* the caller's object comes behind this library */
	int definitions;    /* of any version, behind this library */
	uintptr_t found;
};

/* If a version is asked for, only a definition that has one counts, as for dlvsym. */
static bool is_defined(const struct elf_object *object, const struct lookup *lookup, uintptr_t *ret_address)
{
	return elf_finds(object, lookup->name, lookup->version, ret_address) &&
	       (!lookup->version || elf_symbol_version(object, lookup->name));
}

/* Objects come in load order. Returns 1 for a definition before this library. */
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
		return is_defined(object, hooks->lookup, &address);
	}
	is_caller = elf_contains(object, (uintptr_t)hooks->lookup->caller);
	hooks->called_behind = hooks->called_behind || is_caller;
	if (!elf_finds(object, hooks->lookup->name, NULL, &address) || elf_is_copy(object)) {
		return 0;
	}
	hooks->definitions++;
	if (!hooks->found && !is_caller && is_defined(object, hooks->lookup, &address)) {
		hooks->found = address;
	}
	return 0;
}

/*
 * This library's dlsym forwards to the next one, which may be another hook's. If that hook looks up the real dlsym and
 * gets this library's, the two call each other without end. So if there is a hook behind this library, an object behind
 * it gets the first definition behind it that is not in that object itself. All others get this library's, so that what
 * they look up is cached. A hook before this library hides it: then this library's dlsym was not called for that
 * look-up, and nothing has to be found.
 */
static void *symbol_for_hook(const struct lookup *lookup)
{
	struct hooks hooks = {.lookup = lookup};

	if ((!plain_equal(lookup->name, "dlsym") && !plain_equal(lookup->name, "dlvsym")) ||
	    (lookup->handle != RTLD_DEFAULT && lookup->handle != loaded_list()) ||
	    elf_each_object(view_hook, &hooks) == 1) {
		return NULL;
	}
	return hooks.called_behind && hooks.definitions > 1 ? (void *)hooks.found : NULL;
}

/*
 * Returns true if *ret_answer is the host's; false: the next dlsym answers. Names of compilers get a door, unless the
 * real look-up finds nothing. With a handle of a library, its new modules are looked at first, because a plugin may
 * have been loaded since. dlerror's state is that of the real look-up.
 */
static bool dlsym_filter(const struct lookup *lookup, void **ret_answer)
{
	bool for_caller = lookup->handle == RTLD_DEFAULT || lookup->handle == RTLD_NEXT;
	void *address;

	if (!for_caller) {
		modules_settle();
	}
	*ret_answer = symbol_for_hook(lookup);
	if (*ret_answer) {
		return true;
	}
	if (!compiler_to_intercept(lookup->name) || elf_another_copy_is_active()) {
		return false;
	}
	address = lookup->handle == RTLD_DEFAULT ? default_symbol(lookup)
	          : lookup->handle == RTLD_NEXT  ? following_symbol(lookup)
	                                         : look_behind_us(lookup, lookup->handle);
	if (!address) {
		return !for_caller || finds_only_ours(lookup);
	}
	*ret_answer = doors_for_symbol(lookup->name, address);
	return true;
}

static void *give(void *answer)
{
	return answer;
}

/*
 * Returns the function to which a call of a door (doors.S) with these arguments must jump. Numbers from
 * DOORS_UNKNOWN_MAX on are dlsym.S's: they jump to the next dlsym, or to a function that returns arguments[0], which is
 * then the answer.
 */
void *door_prepare(unsigned number, uintptr_t arguments[6], void *caller);
void *door_prepare(unsigned number, uintptr_t arguments[6], void *caller)
{
	struct lookup lookup = {.handle = (void *)arguments[0], .name = (const char *)arguments[1], .caller = caller};
	int host_errno = errno;
	void *answer = NULL, *next;

	if (number < DOORS_UNKNOWN_MAX) {
		next = doors_prepare_unknown(number, arguments);
		errno = host_errno;
		return next;
	}
	lookup.which = (enum next_symbol_which)(number - DOORS_UNKNOWN_MAX);
	lookup.version = lookup.which >= NEXT_SYMBOL_DLVSYM_OLD ? (const char *)arguments[2] : NULL;
	next = next_symbol_function(lookup.which);
	if (!next || (lookup.name && dlsym_filter(&lookup, &answer))) {
		arguments[0] = (uintptr_t)answer;
		next = (void *)give;
	}
	errno = host_errno;
	return next;
}
