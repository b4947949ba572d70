/* SPDX-License-Identifier: MIT */
#include "interpose/compile/event.h"
#include "interpose/compile/replay.h"
#include "interpose/nvrtc/artifacts.h"
#include "interpose/nvrtc/decoder.h"
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/nodes.h"
#include "interpose/nvrtc/pch.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/runs.h"
#include "interpose/nvrtc/scan.h"
#include "interpose/nvrtc/sticky.h"
#include "interpose/nvrtc/texts.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct missed missed;

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

/* The last two are this library's own. */
static const char *const plain[] = {NVRTC_PLAIN(COMPILER_TEXT) "nvrtccache_library_version",
                                    "nvrtccache_library_replay"};

/*
 * The variables that NVRTC reads (interpose/watch/environment.h explains the kinds).
 *
 * NVRTC_APPEND_FLAGS and NVRTCWIZ, which enables it, are left out on purpose: they add options that this library has
 * not read. So while one of them is set, no result is cached or served.
 */

/* X(kind, name) */
#define NVRTC_VARIABLES(X)                                                      \
	X(LOAD, AS_SECURE_LOG_FILE)                                             \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API)                                 \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)                                         \
	X(LOAD, NVRTC_DISABLE_CONCURRENT_NVVM)                                  \
	X(LOAD, NVRTC_DISABLE_PCH)                                              \
	X(LOAD, NVRTC_INTERNAL_GLOBAL_LOCK)                                     \
	X(LOAD, NVRTC_PCH_HEAP_SIZE)                                            \
	X(LOAD, NV_NVVM_VERSION)                                                \
	X(LOAD, bar)                                                            \
	X(CALL, CAN_FINALIZE_DEBUG)                                             \
	X(CALL, DUMP_KNOBS_TO_FILE)                                             \
	X(CALL, EDG_BASE)                                                       \
	X(CALL, EDG_MODULES_PATH)                                               \
	X(CALL, LIBNVVM_NVVM_VERSION)                                           \
	X(CALL, NVVM_IR_VER_CHK)                                                \
	X(CALL, TZ)                                                             \
	X(PLAIN, CUDA_CACHE_DISABLE) /* NVRTC's own cache: same results */      \
	X(PLAIN, MAKEFLAGS)          /* 13.5: a job server, how many threads */ \
	X(PLAIN, TMPDIR)             /* where a precompiled header would lie */ \
	X(PLACE, PWD)

static const struct variable variables[] = {NVRTC_VARIABLES(ENVIRONMENT_VARIABLE)};

static struct environment environment = ENVIRONMENT_OF(NVRTC_VARIABLES, variables);

struct node nvrtc_nodes[NVRTC_NODE_COUNT] = {
#define NODE_ROW(id, soname, lowest, ...) \
	[NVRTC_NODE_##                    \
	    id] = {.compiler = &nvrtc_compiler, .name = #soname, .landmark = "nvrtcCreateProgram", .floor = (lowest)},
    NVRTC_NODES(NODE_ROW, )
#undef NODE_ROW
};

/* Writes a number below 100. */
static char *put_number(char *at, int number)
{
	if (number >= 10) {
		*at++ = (char)('0' + number / 10 % 10);
	}
	*at++ = (char)('0' + number % 10);
	return at;
}

/*
 * "libnvrtc.alt.so.13" and 13.0 give "libnvrtc-builtins.alt.so.13.0". Without snprintf(), whose first call of a process
 * takes 6 us of a hit.
 */
static void name_companion(const struct library *library, char ret_name[NAME_MAX])
{
	const char *node = library->node->name + strlen("libnvrtc");
	char *at = stpcpy(ret_name, "libnvrtc-builtins");

	at = mempcpy(at, node, (size_t)(strstr(node, ".so.") - node));
	at = put_number(stpcpy(at, ".so."), library->major);
	*at++ = '.';
	*put_number(at, library->minor) = '\0';
}

static bool compile_sample(const struct library *library, const char *source, int option_count)
{
	static const char *const options[] = {"-arch=sm_80"};
	nvrtcProgram program = NULL;
	int result = LIBRARY_REAL(library, nvrtcCreateProgram)(&program, source, "", 0, NULL, NULL);

	if (result == RESULT_SUCCESS) {
		result = LIBRARY_REAL(library, nvrtcCompileProgram)(program, option_count, options);
		(void)LIBRARY_REAL(library, nvrtcDestroyProgram)(&program);
	}
	return result == RESULT_SUCCESS;
}

/*
 * NVRTC loads its builtins first, and in each stage initialises static objects, which takes a lock of libc
 * (__cxa_atexit) that another thread's dlclose() may hold at the fork. The host's own compilation would have done all
 * that. Where there is little stack, a program that fails at once loads the builtins at least (with 13.0.88 it needs a
 * third of the stack).
 */
static void compile_samples(const struct library *library, size_t stack_left)
{
	static const char kernel[] = "__global__ void k(int *p) { *p = 1; }";

	if (stack_left < LIBRARY_WAKING_STACK) {
		(void)compile_sample(library, "#error", 0);
	} else if (!compile_sample(library, kernel, 1)) {
		(void)compile_sample(library, kernel, 0); /* a later release without sm_80 */
	}
}

/*
 * Linked hosts call functions that are not exported on their node directly, so the entry must have no answer for those.
 */
static bool can_reach(const struct handle *handle, const struct entry *entry)
{
	struct section section;

	for (uint32_t product = 0; handle->reach == REACH_EXPORT && product < PRODUCT_COUNT; product++) {
		if (entry_section(entry, RESULT_TAG_OWN + product, &section) && section.size > 0 &&
		    !node_exports(handle->library->node, nvrtc_products[product].bytes)) {
			return false;
		}
	}
	return true;
}

/* A result that was cached in spite of time macros means that the texts, which were not scanned, contain some. */
static void note_served(struct handle *handle, const struct entry *entry)
{
	struct program *program = program_of(handle);

	if (!program->texts_known && (result_sloppiness(entry) & SLOPPINESS_TIME_MACROS)) {
		program->findings |= SCAN_TIME;
	}
}

/* A callback that never returns leaves the compile going on, as with NVRTC. Without memory, getters see no call. */
static bool host_stops(struct handle *handle)
{
	struct program *program = program_of(handle);
	bool stops;

	program->going_on = artifacts_while_compiling();
	stops = program->callback(program->payload, NULL) != 0;
	entry_unref(program->going_on);
	program->going_on = NULL;
	return stops;
}

static int say_whether_to_stop(void *stop, void *reserved)
{
	(void)reserved;
	return stop != NULL;
}

static void let_answer(struct handle *handle, enum answer who)
{
	const struct program *program = program_of(handle);
	nvrtcSetFlowCallback_function *set = LIBRARY_REAL(handle->library, nvrtcSetFlowCallback);

	if (who == ANSWER_HOST) {
		(void)set(handle->value, program->callback, program->payload);
	} else {
		(void)set(handle->value, say_whether_to_stop, who == ANSWER_STOP ? handle : NULL);
	}
}

static void free_program(struct handle *handle)
{
	struct program *program = program_of(handle);

	for (size_t i = 0; i < program->name_count; i++) {
		free(program->names[i]);
	}
	free(program->names);
	free(program->lent);
	decoder_free(program->decoder);
}

static int run_compile(const struct handle *handle, const struct call *call)
{
	nvrtcCompileProgram_function *compile = LIBRARY_REAL(handle->library, nvrtcCompileProgram);
	struct decoder *decoder = program_of(handle)->decoder;
	int result;

	if (decoder) {
		decoder_give(decoder, call);
	}
	result = compile(handle->value, call->option_count, call->options);
	if (decoder) {
		decoder_gave(decoder);
	}
	return result;
}

/*
 * Reads the texts, and adds what earlier --pch compilations read. Refuses the result if NVRTC unpacked bundled headers,
 * which a hit would not do, or if only this process has them.
 */
static enum counter complete_trace(struct handle *handle, const struct call *call, const struct request *request,
                                   struct trace *trace)
{
	const struct options *options = options_of(request);
	uint32_t watched = atomic_load(&trace->tainted);

	texts_read(handle, call, request, trace);
	if (options_do(options, OPTION_PCH) && pch_complete(handle, call, request, watched, trace) != 0) {
		return COUNTER_BYPASSED_precompiled_header;
	}
	return options->bundle && ((watched & TAINT_WRITE) || describe_unpacked_here(options))
	           ? COUNTER_BYPASSED_bundled_headers
	           : COUNTER_NONE;
}

/*
 * Performs deferred calls if the host asks for a product that results omit. Several threads of the host may do so at
 * once.
 */
static const struct entry *answer_from(struct handle *handle, size_t product)
{
	struct decoder *decoder = program_of(handle)->decoder;
	bool idle = false;

	if (!artifacts_omit(handle, product) || program_of(handle)->going_on) {
		return artifacts_product_from(handle, product);
	}
	if (atomic_compare_exchange_strong(&decoder->performing, &idle, true)) {
		if (handle->served) {
			(void)replay_all(handle);
		}
		atomic_store(&decoder->performing, false);
	}
	while (atomic_load(&decoder->performing)) {
		(void)sched_yield();
	}
	return NULL;
}

/* The log of a program with encoded texts may cite them. */
static bool has_log(const struct handle *handle)
{
	nvrtcGetProgramLogSize_function *get_size = LIBRARY_REAL(handle->library, nvrtcGetProgramLogSize);
	size_t size = 0;

	return !get_size || get_size(handle->value, &size) != RESULT_SUCCESS || size > 1;
}

static enum counter refuse_result(const struct handle *handle, const struct request *request, struct event *event)
{
	const struct decoder *decoder = program_of(handle)->decoder;

	if (decoder && (decoder->odd || has_log(handle))) {
		return COUNTER_BYPASSED_extensions;
	}
	if (options_do(options_of(request), OPTION_TELLS)) {
		event_explain_refusal(event, "with these options the log depends on the process");
		return COUNTER_BYPASSED_history;
	}
	return sticky_spoils(handle->library, options_of(request));
}

static const enum outcome outcomes[] = {
    [RESULT_SUCCESS] = OUTCOME_SUCCESS,
    [RESULT_OUT_OF_MEMORY] = OUTCOME_NO_MEMORY,
    [RESULT_INVALID_INPUT] = OUTCOME_REFUSED_CALL,
    [RESULT_INVALID_OPTION] = OUTCOME_REFUSED_OPTIONS,
    [RESULT_COMPILATION] = OUTCOME_FAILURE,
};

const struct compiler nvrtc_compiler = {
    .name = "nvrtc",
    .title = "NVRTC",
    .unnamed = "default_program",
    .internal_error = RESULT_INTERNAL_ERROR,
    .share = COUNTER_NVRTC,
    .past = PAST_LEAVES,
    .nodes = nvrtc_nodes,
    .node_count = NVRTC_NODE_COUNT,
    .missed = &missed,
    .functions = nvrtc_functions,
    .function_count = FUNCTION_COUNT,
    .environment = &environment,
    .reader = texts_reader,
    .prefix = "nvrtc",
    .inner = "__nvrtc_builtins",
    .plain = plain,
    .plain_count = sizeof(plain) / sizeof(plain[0]),
    .version = "nvrtcVersion",
    .companion = name_companion,
    .wake = compile_samples,
    .free_handle = free_program,
    .describe = describe_compile,
    .free_request = describe_free,
    .reachable = can_reach,
    .served = note_served,
    .host_stops = host_stops,
    .let_answer = let_answer,
    .run = run_compile,
    .lasting = sticky_options,
    .outcomes = outcomes,
    .outcome_count = sizeof(outcomes) / sizeof(outcomes[0]),
    .unwatched = complete_trace,
    .refuses = refuse_result,
    .may_write = options_may_write,
    .artifacts = nvrtc_products,
    .artifact_count = PRODUCT_COUNT,
    .answer_from = answer_from,
    .no_room = artifacts_no_room,
    .fields = runs_shown,
    .collect = artifacts_collect,
    .explains_failure = artifacts_explain_failure,
    .spells_plainly = scan_spells_plainly,
    .search_code = artifacts_search_code,
    .comparable = artifacts_comparable,
    .hides_ids = true,
};
