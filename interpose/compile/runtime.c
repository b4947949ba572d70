/* SPDX-License-Identifier: MIT */
/*
 * The set-up runs once, on the thread of the first caller. pthread_once() is not used, because it is not in libc before
 * 2.34. A child that was forked during the set-up starts it again.
 */
#include "interpose/compile/runtime.h"

#include "cache/calls.h"
#include "cache/compile_lock.h"
#include "cache/directory.h"
#include "cache/trust.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/log.h"
#include "interpose/elf/elf.h"
#include "interpose/elf/loaded.h"
#include "interpose/watch/live.h"
#include "interpose/watch/watch.h"
#include "keygen/dependencies.h"
#include "keygen/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

/*
 * pthread_atfork() by its LSB name, which libc itself has even before 2.34. `object`: unloading that object removes the
 * handlers.
 */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

static struct runtime runtime;

/* 0 at first, then the id of the process that sets up, then READY. */
#define READY (-1)
static _Atomic int progress;
#define SET_UP_LOOK 1000000 /* nanoseconds between two looks of a thread that waits for READY */

/* Takes no lock: a handler of the host, which runs later, may wait for a thread that needs it (cache/fork_mutex.h). */
static void fork_prepare(void)
{
	int saved = errno, cancelling;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	library_fork_prepare();
	loaded_fork_prepare();
	(void)pthread_setcancelstate(cancelling, NULL);
	errno = saved;
}

static void fork_child(void)
{
	loaded_fork_child();
	handle_fork_child();
	memory_fork_child(runtime.memory);
	live_fork_child();
	compile_lock_fork_child();
	library_fork_child();
	events_fork_child();
}

enum layer { LAYER_OWN, LAYER_LOWER };
static struct store store_of(const char *directory, enum layer layer)
{
	const struct settings *settings = &runtime.settings;

	return (struct store){.directory = {directory, settings->shared},
	                      .max_size = settings->max_size,
	                      .read_only = layer == LAYER_LOWER || settings->read_only,
	                      .fsync = settings->fsync,
	                      .keeps_root = layer == LAYER_OWN};
}

/* Adds the lower caches of a list "dir:dir:dir", whose paths stay allocated. */
static void add_lower(const char *list)
{
	/* each but the last takes two bytes of the list or more */
	runtime.lower = list ? calloc(strlen(list) / 2 + 1, sizeof(struct store)) : NULL;
	while (runtime.lower && *list) {
		size_t size = strcspn(list, ":");
		char *path = size > 0 ? strndup(list, size) : NULL;

		if (path) {
			directory_strip(path);
			runtime.lower[runtime.lower_count++] = store_of(path, LAYER_LOWER);
		}
		list += size + (list[size] == ':');
	}
}

static int read_facts(const struct key *name, void *bytes, size_t room)
{
	return runtime.store ? store_get_facts(runtime.store, name->bytes, bytes, room) : -ENXIO;
}

static void write_facts(const struct key *name, const void *bytes, size_t size)
{
	int error = runtime.store ? store_put_beside(runtime.store, name->bytes, DIRECTORY_FACTS, bytes, size) : -ENXIO;

	if (error == 0) {
		log_write(LOG_INFO, "kept the contents of files that were read");
	}
}

/*
 * With NVRTCCACHE_DISABLE only the record is open, because bypassed calls are counted. Without a secret there is no
 * memory front: fingerprints could then be forged.
 */
static void open_layers(pid_t process)
{
	static const struct facts_file facts_file = {read_facts, write_facts};
	const struct settings *settings = &runtime.settings;

	runtime.directory = (struct directory){.path = settings->directory, .shared = settings->shared};
	ground_settle(settings->directory, settings->base_length, settings->base_is_home);
	dependencies_ask_paths(path_functions_agree);
	facts_keep_in(&facts_file);
	if (!settings->read_only) {
		events_open(&runtime.directory, process);
	}
	if (settings->disable) {
		runtime.off_reason = COUNTER_BYPASSED_disabled;
		return;
	}
	add_lower(settings->lower);
	if (digest_random_secret(&runtime.secret) == 0) {
		runtime.memory = memory_open(settings->memory_size);
	}
	if (settings->directory) {
		static struct store store;

		store = store_of(settings->directory, LAYER_OWN);
		runtime.store = &store;
	} else {
		log_write(LOG_WARNING, "no cache directory: results are cached in memory only");
	}
	runtime.agent = (struct agent_options){
	    .said = runtime.store ? settings->agent : NULL,
	    .directory = runtime.directory,
	    .wait_ms = settings->agent_wait_ms,
	};
}

static void log_unknown(const char *name, size_t size, const char *suggestion, void *context)
{
	(void)context;
	log_write(LOG_WARNING, "%.*s: unknown variable%s", (int)size, name, suggestion);
}

/* Logs bad values and unknown variables. The environment is examined only if a log is written. */
static void log_settings(const struct settings *settings)
{
	for (int i = 0; i < settings->complaint_count; i++) {
		log_write(LOG_WARNING, "%s: bad value: it takes %s; using the default", settings->complaints[i],
		          settings_wanted(settings->complaints[i]));
	}
	if (log_wanted(LOG_WARNING)) {
		settings_each_unknown(environ, log_unknown, NULL);
	}
}

/* ---- at the end of the process ---- */

/* Prints one line on stderr, if NVRTCCACHE_STATS asks for it. */
static void print_stats(void)
{
#define HERE(counter) counters_here(COUNTER_##counter)
	log_stderr("hits: %" PRIu64 " in memory, %" PRIu64 " on disk; misses: %" PRIu64 ", %" PRIu64 " stored, %" PRIu64
	           " not cached; %" PRIu64 " bypassed; %" PRIu64 " verified, %" PRIu64 " mismatches; %" PRIu64
	           " ms saved",
	           HERE(TOTAL_hits_memory), HERE(TOTAL_hits_disk), HERE(TOTAL_misses), HERE(TOTAL_stores),
	           HERE(TOTAL_not_kept), HERE(TOTAL_bypassed), HERE(TOTAL_verified), HERE(ERRORS_mismatch),
	           HERE(TOTAL_saved_ns) / 1000000);
#undef HERE
}

/*
 * For atexit(): the destructors of other preloads (libfaketime, fakeroot, tracers), whose wrappers of libc may crash
 * afterwards, run later.
 */
static void record_rest(void)
{
	(void)events_tell_counts(EVENTS_NOW);
	if (runtime.settings.stats) {
		print_stats();
	}
}

/* ---- the set-up ---- */

static void set_up_cache(pid_t process)
{
	runtime = (struct runtime){0}; /* a child that was forked during the set-up starts with a half-written struct */
	if (elf_another_copy_is_active()) {
		runtime.off_reason = COUNTER_BYPASSED_disabled;
	} else if (getauxval(AT_SECURE)) {
		runtime.off_reason = COUNTER_BYPASSED_secure;
	} else if (settings_read(secure_getenv, &runtime.settings) != 0) {
		runtime.off_reason = COUNTER_BYPASSED_disabled;
	} else {
		log_open(runtime.settings.log, runtime.settings.log_level);
		log_settings(&runtime.settings);
		open_layers(process);
	}
	/*
	 * The set-up never runs in a fork handler, where glibc 2.28 to 2.35 would deadlock in __register_atfork() (BZ
	 * 24595), because no host compiles in a fork handler.
	 */
	if (__register_atfork(fork_prepare, loaded_fork_parent, fork_child, NULL) != 0 || atexit(record_rest) != 0) {
		runtime.off_reason = COUNTER_ERRORS_memory;
	}
}

/*
 * One thread sets up, and the others sleep until it has finished. A child that was forked meanwhile finds its parent's
 * id in `progress`, and starts again. This is a function of its own, so that runtime_get() is a single load afterwards.
 */
__attribute__((noinline)) static void set_up_once(void)
{
	int process = (int)getpid();
	int seen = atomic_load_explicit(&progress, memory_order_acquire);
	int saved = errno;
	int cancelling;

	/* a cancelled thread would never finish, and the others would wait for it */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	while (seen != READY) {
		if (seen == process) {
			call_pause(SET_UP_LOOK);
			seen = atomic_load_explicit(&progress, memory_order_acquire);
		} else if (atomic_compare_exchange_strong(&progress, &seen, process)) {
			set_up_cache(process);
			atomic_store(&progress, READY);
			seen = READY;
		}
	}
	(void)pthread_setcancelstate(cancelling, NULL);
	errno = saved;
}

const struct runtime *runtime_get(void)
{
	if (atomic_load_explicit(&progress, memory_order_acquire) != READY) {
		set_up_once();
	}
	return &runtime;
}

int64_t runtime_clock(void)
{
	return call_clock_ns(CLOCK_MONOTONIC);
}

enum counter runtime_error_counter(int error, enum counter otherwise)
{
	switch (-error) {
	case EPERM:
		return COUNTER_ERRORS_untrusted;
	case EBADMSG:
		return COUNTER_ERRORS_damaged;
	case ENOSPC:
	case EDQUOT:
		return COUNTER_ERRORS_no_space;
	case ENOTDIR:
	case ENXIO:
		return COUNTER_ERRORS_directory;
	case ENOMEM:
		return COUNTER_ERRORS_memory;
	case EROFS:
		return COUNTER_BYPASSED_read_only;
	case EFBIG:
		return COUNTER_BYPASSED_too_large;
	default:
		return otherwise;
	}
}
