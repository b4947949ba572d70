/* SPDX-License-Identifier: MIT */
#include "interpose/compile/compile.h"

#include "interpose/compile/admit.h"
#include "interpose/compile/events.h"
#include "interpose/compile/linked_callers.h"
#include "interpose/compile/log.h"
#include "interpose/compile/renew.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/verify.h"
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/sticky.h"
#include "interpose/nvrtc/texts.h"
#include "interpose/nvrtc/versions.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * More compiles of one handle than this are passed through: each makes the next key longer, and a miss after hits does
 * all of them again.
 */
#define HISTORY_MAX 32

typedef int compile_function(nvrtcProgram program, int option_count, const char *const *options);
typedef int flow_setter(nvrtcProgram program, flow_callback *callback, void *payload);

/* The host's own state of cancellation holds in the real compile, and only there: our opens and reads are cancellation
 * points, and a thread cancelled in one would leave descriptors and references behind. */
static int real_compile(const struct program *program, int option_count, const char *const *options)
{
	compile_function *compile = (compile_function *)program->library->real[FUNCTION_nvrtcCompileProgram];
	struct lingering lingering;
	int ours, result;

	lingering_begin(program->library, option_count, options, &lingering);
	(void)pthread_setcancelstate(program->cancel_state, &ours);
	result = compile(program->handle, option_count, options);
	(void)pthread_setcancelstate(ours, NULL);
	lingering_end(&lingering, result);
	return result;
}

/* The host's thread is cancelled inside the real compile, or in its own callback. */
static void abandon(void *context)
{
	struct attempt *attempt = context;

	attempt_abandon(attempt);
	attempt_free(attempt);
	free(attempt);
}

static void abandon_entry(void *entry)
{
	entry_unref(entry);
}

/* The callback of the host, which must find its thread as in the real compile, and may never come back. */
static bool host_cancels(const struct program *program, struct attempt *attempt, struct entry *entry)
{
	int ours;
	bool cancels;

	pthread_cleanup_push(abandon, attempt);
	pthread_cleanup_push(abandon_entry, entry);
	(void)pthread_setcancelstate(program->cancel_state, &ours);
	cancels = program->callback(program->payload, NULL) != 0;
	(void)pthread_setcancelstate(ours, NULL);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return cancels;
}

static bool arguments_sound(int option_count, const char *const *options)
{
	if (option_count < 0 || (option_count > 0 && !options)) {
		return false;
	}
	for (int i = 0; i < option_count; i++) {
		if (!options[i]) {
			return false;
		}
	}
	return true;
}

/* From here on no request of this program can be named by a key. */
static void no_longer_keyed(struct program *program, enum counter reason)
{
	program->keyed = false;
	program->reason = reason;
	stream_free(&program->creation);
}

/* The real compile, and nothing else. The handle's past is no longer known in full. */
static int pass_through(struct program *program, int option_count, const char *const *options, enum counter reason)
{
	bool was_served = program->served != NULL;
	int result;

	runtime_count(reason, 1);
	log_write(LOG_INFO, "passed through: %s", counter_name(reason));
	(void)replay(program);
	result = real_compile(program, option_count, options);
	if (was_served && program->base && result == RESULT_INVALID_INPUT) {
		replay_take_back(program);
	}
	no_longer_keyed(program, reason);
	return result;
}

static bool holds(void *context, const void *conditions, size_t size)
{
	struct attempt *attempt = context;
	bool wanted = log_wanted(LOG_INFO);
	char why[512];

	free(attempt->anew);
	attempt->anew = NULL;
	if (conditions_hold_anew(conditions, size, &attempt->roots, wanted ? why : NULL, sizeof(why), &attempt->anew)) {
		return true;
	}
	if (wanted) {
		log_write(LOG_INFO, "a result does not hold: %s", why);
	}
	return false;
}

/* The directory, then the read-only ones below it, in order (C6). What one of them has is enough. */
static int look_on_disk(struct attempt *attempt, struct entry **ret_entry, enum origin *ret_origin)
{
	const struct runtime *runtime = runtime_get();
	int error = runtime->store ? store_get(runtime->store, attempt->key.bytes, holds, attempt, ret_entry) : -ENOENT;

	*ret_origin = ORIGIN_DIRECTORY;
	if (error != 0 && error != -ENOENT && error != -ESTALE) {
		log_write(LOG_INFO, "look-up failed: error %d", -error);
		runtime_count_read_error(error);
	}
	for (int i = 0; i < runtime->lower_count && error != 0; i++) {
		int below = store_get(runtime->lower[i], attempt->key.bytes, holds, attempt, ret_entry);

		error = below == 0 || below == -ESTALE ? below : error;
		*ret_origin = ORIGIN_BELOW;
	}
	return error;
}

static void remember(const struct attempt *attempt, struct entry *entry)
{
	const struct runtime *runtime = runtime_get();

	if (runtime->memory) {
		memory_put(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high, entry);
	}
}

/* The entry that answers this attempt, with a reference, or NULL. */
static struct entry *look_up(struct attempt *attempt)
{
	const struct runtime *runtime = runtime_get();
	struct entry *entry = NULL;
	enum origin origin = ORIGIN_DIRECTORY;
	int error;

	digest_fingerprint(&runtime->secret, attempt->spans, attempt->span_count, &attempt->fingerprint);
	if (runtime->settings.recache) {
		digest_key(attempt->spans, attempt->span_count, &attempt->key);
		return NULL;
	}
	if (runtime->memory) {
		entry =
		    memory_get(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high, holds, attempt);
	}
	if (entry && entry_reader(entry) != ENTRY_ANYBODY && entry_reader(entry) != geteuid()) {
		entry_unref(entry);
		entry = NULL;
	}
	if (entry) {
		memcpy(attempt->key.bytes, entry_info(entry)->key, sizeof(attempt->key.bytes));
		attempt->from_memory = true;
		if (attempt->anew) {
			entry = renew(attempt, entry, origin);
			remember(attempt, entry);
		}
		return entry;
	}
	digest_key(attempt->spans, attempt->span_count, &attempt->key);
	error = look_on_disk(attempt, &entry, &origin);
	attempt->stale = error == -ESTALE;
	if (error != 0) {
		return NULL;
	}
	entry = renew(attempt, entry, origin);
	remember(attempt, entry);
	return entry;
}

/* Linked hosts reach functions that are not exported on their node past us, so a hit must have nothing for them. */
static bool reachable(const struct program *program, const struct entry *entry)
{
	static const enum nvrtc_function getters[PRODUCT_COUNT] = {
#define PRODUCT_GETTER(name) [PRODUCT_##name] = FUNCTION_nvrtcGet##name,
	    NVRTC_PRODUCTS(PRODUCT_GETTER)
#undef PRODUCT_GETTER
	};

	for (int product = 0; program->reach == REACH_EXPORT && product < PRODUCT_COUNT; product++) {
		size_t size;

		if (result_has_product(entry, (enum nvrtc_product)product, &size) && size &&
		    !library_exports(program->library, getters[product])) {
			return false;
		}
	}
	return true;
}

static int always_cancel(void *payload, void *reserved)
{
	(void)payload;
	(void)reserved;
	return 1;
}

/* The host's callback said stop: the real library is made to stop, which leaves it in the state that the host expects.
 */
static int cancelled(struct program *program, int option_count, const char *const *options)
{
	flow_setter *set = (flow_setter *)program->library->real[FUNCTION_nvrtcSetFlowCallback];
	int result;

	runtime_count(COUNTER_BYPASSED_cancelled, 1);
	(void)replay(program);
	(void)set(program->handle, always_cancel, NULL);
	result = real_compile(program, option_count, options);
	(void)set(program->handle, program->callback, program->payload);
	no_longer_keyed(program, COUNTER_BYPASSED_history);
	return result;
}

/* True when the program is now served. */
static bool serve(struct program *program, int option_count, const char *const *options, struct attempt *attempt,
                  struct entry *entry, int64_t start)
{
	uint64_t cost = entry_info(entry)->cost_ns;
	uint64_t asked = digest_half(&runtime_get()->secret, attempt->spans);
	uint64_t spent;

	if (program_add_call(program, option_count, options, &attempt->key, asked, false) != 0) {
		no_longer_keyed(program, COUNTER_ERRORS_memory);
		return false;
	}
	if (program_serve(program, entry) != 0) {
		program->call_count--;
		return false;
	}
	program->closed_names = true;
	if (!program->texts_known && runtime_get()->settings.sloppy_time_macros && result_is_sloppy(entry)) {
		program->findings |= SCAN_TIME;
	}
	stream_free(&program->creation);
	spent = (uint64_t)(runtime_clock() - start);
	runtime_count(attempt->from_memory ? COUNTER_TOTAL_hits_memory : COUNTER_TOTAL_hits_disk, 1);
	runtime_count(COUNTER_TOTAL_saved_ns, cost > spent ? cost - spent : 0);
	log_write(LOG_INFO, "hit %s", attempt->from_memory ? "in memory" : "on disk");
	return true;
}

/*
 * From 12.9 on NVRTC takes what ptxas makes from a cache of the driver's, and then has nothing of what ptxas said: a
 * log that was asked for would be kept without it. So such a compile goes past that cache. In front: the host's last
 * option may lack its value, and would take ours.
 */
static bool add_no_cache(const struct library *library, int option_count, const char *const *options,
                         struct attempt *attempt)
{
	static const char no_cache[] = "--no-cache";

	if (!attempt->options.ptxas_speaks || !nvrtc_differs(DIFFERENCE_OWN_CACHE, library->major, library->minor)) {
		return true;
	}
	for (int i = 0; i < option_count; i++) {
		if (strcmp(options[i], no_cache) == 0 || strcmp(options[i], no_cache + 1) == 0) {
			return true;
		}
	}
	attempt->more = calloc((size_t)option_count + 1, sizeof(char *));
	if (!attempt->more) {
		return false;
	}
	attempt->more[0] = no_cache;
	memcpy(attempt->more + 1, options, (size_t)option_count * sizeof(char *));
	return true;
}

/* The real compile under watch; keeps the result if it may be kept. `expected`: an entry to be compared (B14). */
static int compile_for_real(struct program *program, int option_count, const char *const *options,
                            struct attempt *attempt, const struct entry *expected)
{
	bool watched = library_watched(program->library);
	int64_t start;
	int result;

	if (!replay(program)) {
		attempt->doubt = COUNTER_BYPASSED_history;
	}
	if (!add_no_cache(program->library, option_count, options, attempt)) {
		attempt->doubt = COUNTER_ERRORS_memory;
	}
	attempt_watch(attempt, program->library, watched);
	start = runtime_clock();
	pthread_cleanup_push(abandon, attempt);
	result = attempt->more ? real_compile(program, option_count + 1, attempt->more)
	                       : real_compile(program, option_count, options);
	pthread_cleanup_pop(0);
	attempt->cost_ns = (uint64_t)(runtime_clock() - start);
	attempt_unwatch(attempt, program->library);
	runtime_count(COUNTER_TOTAL_compile_ns, attempt->cost_ns);
	if (!watched) {
		attempt->doubt = COUNTER_BYPASSED_unwatchable;
	}
	if (!attempt->doubt && attempt->watched && !still_asked(program, option_count, options, attempt)) {
		attempt->doubt = COUNTER_BYPASSED_environment;
	}
	if (!expected) {
		runtime_count(COUNTER_TOTAL_misses, 1);
		runtime_count(COUNTER_TOTAL_stale, attempt->stale);
		attempt->findings = texts_read(program, attempt, option_count, options);
		admit_result(program, attempt, result);
	} else {
		runtime_count(COUNTER_TOTAL_verified, 1);
		verify_compare(program, attempt, attempt->more ? option_count + 1 : option_count,
		               attempt->more ? attempt->more : options, result, expected);
	}
	if (attempt->doubt == COUNTER_BYPASSED_history) {
		no_longer_keyed(program, COUNTER_BYPASSED_history);
	} else if (program_add_call(program, option_count, options, &attempt->key, attempt->fingerprint.low, true) !=
	           0) {
		no_longer_keyed(program, COUNTER_ERRORS_memory);
	} else if (result != RESULT_SUCCESS && result != RESULT_COMPILATION && result != RESULT_INVALID_OPTION) {
		no_longer_keyed(program, COUNTER_BYPASSED_history);
	} else {
		program->calls[program->call_count - 1].refused = result == RESULT_INVALID_OPTION;
	}
	if (program->keyed && result != RESULT_INVALID_OPTION) {
		stream_free(&program->creation);
	}
	return result;
}

/*
 * After a miss: true when all is to be looked at anew (what the key is made of too: the host runs on while we wait).
 * Nobody waits for a compile with a flow callback, which is host code that may wait for others, or the other way round,
 * as it may want to stop.
 */
static bool wait_for_others(const struct program *program, struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	const struct flight_options options = {
	    .directory = settings->directory,
	    .shared = settings->shared,
	    .read_only = settings->read_only,
	    .wait_seconds = program->callback || settings->recache ? 0 : settings->wait,
	};

	return flight_wait(&attempt->flight, &options, attempt->key.bytes);
}

static int attempt_compile(struct program *program, int option_count, const char *const *options,
                           struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	int64_t start = runtime_clock();
	struct entry *entry;
	int result;

	do {
		enum counter reason;

		attempt_forget_request(attempt);
		reason = describe(program, program->call_count, option_count, options, attempt);
		if (reason != COUNTER_NONE) {
			flight_land(&attempt->flight, FLIGHT_ABANDONED);
			return pass_through(program, option_count, options, reason);
		}
		entry = look_up(attempt);
	} while (!entry && wait_for_others(program, attempt));
	if (entry) {
		flight_land(&attempt->flight, FLIGHT_KEPT);
	}
	if (!entry || !reachable(program, entry) || !(settings->verify || replay_allows(program, entry)) ||
	    !result_applies(entry, settings->sloppy_time_macros)) {
		result = compile_for_real(program, option_count, options, attempt, NULL);
	} else if (program->callback && host_cancels(program, attempt, entry)) {
		result = cancelled(program, option_count, options);
	} else if (settings->verify || !serve(program, option_count, options, attempt, entry, start)) {
		result = compile_for_real(program, option_count, options, attempt, entry);
	} else {
		result = result_return_code(entry);
	}
	events_write(!program->served       ? "compile"
	             : attempt->from_memory ? "hit in memory"
	                                    : "hit on disk",
	             program->name, start, runtime_clock(), result);
	entry_unref(entry);
	return result;
}

/*
 * An attempt is not on the stack: a host may leave its callback by longjmp or an exception, which NVRTC bears, and then
 * the trace stays in the watch, where compiles of other threads find it.
 */
int compile_program(struct program *program, int option_count, const char *const *options)
{
	const struct runtime *runtime = runtime_get();
	struct attempt *attempt;
	int result;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &program->cancel_state);
	if (runtime->off) {
		result = pass_through(program, option_count, options, runtime->off_reason);
	} else if (!program->keyed) {
		result = pass_through(program, option_count, options, program->reason);
	} else if (linked_callers_pass_by(program->library)) {
		result = pass_through(program, option_count, options, COUNTER_BYPASSED_exports);
	} else if (program->call_count >= HISTORY_MAX) {
		result = pass_through(program, option_count, options, COUNTER_BYPASSED_history);
	} else if (!arguments_sound(option_count, options)) {
		result = pass_through(program, option_count, options, COUNTER_BYPASSED_arguments);
	} else if (!(attempt = calloc(1, sizeof(*attempt)))) {
		result = pass_through(program, option_count, options, COUNTER_ERRORS_memory);
	} else {
		result = attempt_compile(program, option_count, options, attempt);
		attempt_free(attempt);
		free(attempt);
	}
	runtime_flush();
	(void)pthread_setcancelstate(program->cancel_state, NULL);
	return result;
}
