/* SPDX-License-Identifier: MIT */
#include "interpose/compiler.h"
#include "interpose/compile/artifacts.h"
#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/request.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvjitlink/functions.h"
#include "interpose/nvjitlink/link.h"
#include "interpose/nvjitlink/nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tag of nvJitLink in the call run (keygen/surroundings.h). */
#define TAG_KIND 24

enum kind { KIND_COMPLETE = 1, KIND_ADD = 2 };

static struct missed missed;

_Static_assert(NVJITLINK_FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {"nvJitLinkVersion"};

/*
 * The variables that nvJitLink reads (interpose/watch/environment.h explains the kinds).
 *
 * Some are read when a handle is created or an input is added, so their values at that moment go into the creation run.
 * FINALIZER_CUBIE is left out on purpose: 13.5 writes the CUBIN to the file that the variable names, so a result with
 * it must not be cached.
 */

/* X(kind, name) */
#define NVJITLINK_VARIABLES(X)                    \
	X(LOAD, AS_SECURE_LOG_FILE)               \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API)   \
	X(LOAD, LLVM_IGNORED_ENV_VAR)             \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)           \
	X(LOAD, OPENSSL_ia32cap)                  \
	X(LOAD, bar)                              \
	X(CALL, CAN_FINALIZE_DEBUG)               \
	X(CALL, DUMP_KNOBS_TO_FILE)               \
	X(CALL, FINALIZER_USE_LEGACY_ELF_BUILDER) \
	X(CALL, LIBNVVM_NVVM_VERSION)             \
	X(CALL, NVJITLINK_TRACE_MESSAGES)         \
	X(CALL, NVVM_IR_VER_CHK)                  \
	X(CALL, NV_NVVM_VERSION)                  \
	X(PLAIN, MAKEFLAGS) /* 13.5: a job server, how many threads */

static const struct variable variables[] = {NVJITLINK_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvjitlink_environment = ENVIRONMENT_OF(NVJITLINK_VARIABLES, variables);

struct node nvjitlink_nodes[NVJITLINK_NODE_COUNT] = {
#define NODE_ROW(id, soname, lowest, mark, ending, ...)           \
	[NVJITLINK_NODE_##id] = {.compiler = &nvjitlink_compiler, \
	                         .name = #soname,                 \
	                         .landmark = (mark),              \
	                         .floor = (lowest),               \
	                         .suffix = (ending)},
    NVJITLINK_NODES(NODE_ROW, )
#undef NODE_ROW
};

/*
 * Finds the release of 12.0 to 12.2. They have no nvJitLinkVersion, but each exports names for its own and all earlier
 * releases.
 */
static int release_by_names(const struct library *library, int *ret_major, int *ret_minor)
{
	char name[64];

	for (int minor = 2; minor >= 0; minor--) {
		(void)snprintf(name, sizeof(name), "__nvJitLinkCreate_12_%d", minor);
		if (elf_symbol(&library->object, name, library->node->name)) {
			*ret_major = 12;
			*ret_minor = minor;
			return 0;
		}
	}
	return -ENOSYS;
}

/*
 * The call run consists of request_begin_run(), KIND, request_end_run(). Everything else is in the creation run. There
 * are no roots, because no directory reaches the output. Members of thin archives are dependencies, and a relative
 * member follows the working directory as in the library.
 */
static enum counter describe_link(struct handle *handle, const struct call *call, struct surroundings *around,
                                  const struct snapshot *told, struct request *ret_request)
{
	const struct link *link = link_of(handle);

	(void)told;
	request_begin_run(ret_request, around);
	stream_number(&ret_request->run, TAG_KIND, call->kind == LINK_COMPLETE ? KIND_COMPLETE : KIND_ADD);
	ret_request->traits |= REQUEST_LOOKS_COUNT | (link->options & LINK_OPTIONS_VARIES ? REQUEST_VARIES : 0);
	/*
	 * NVVM always reads a variable before it compiles. ptxas does not: up to 13.0 it reads one only after it has
	 * parsed the text, in 13.5 only for sm_90 and later. For steps of ptxas, only the watch's check of the slots,
	 * before and after, shows that they were watched.
	 */
	if (call->kind == LINK_COMPLETE && (link->options & LINK_OPTIONS_LTO)) {
		ret_request->traits |= REQUEST_ASKS_VARIABLES;
	}
	return request_end_run(ret_request, around);
}

/* Returns the input of a step; NULL for completing the link. */
static const struct link_input *input_of(const struct handle *handle, const struct call *call)
{
	return call->kind == LINK_COMPLETE ? NULL : &link_of(handle)->inputs[call->kind - 1];
}

static int run_link(const struct handle *handle, const struct call *call)
{
	nvJitLinkComplete_function *complete = LIBRARY_REAL(handle->library, nvJitLinkComplete);
	nvJitLinkAddData_function *add = LIBRARY_REAL(handle->library, nvJitLinkAddData);
	struct link *link = link_of(handle);
	const struct link_input *input = input_of(handle, call);
	const char *name = input ? link_step_name(link, call->kind) : NULL;

	/* names are not refreshed for a deferred step, which is added with the names that it had */
	if (call->kind == link->adding) {
		link_refresh_names(link);
	}
	return input ? add(handle->value, input->type, input->data, input->size, name) : complete(handle->value);
}

/* Logs are part of the result of each step, because a host may read them between steps. */

#define LOG_SLACK 16                /* bytes after the size that a getter returned */
#define LOG_MAX   ((size_t)1 << 20) /* a longer log is not searched */

typedef int size_getter(void *handle, size_t *size);
typedef int bytes_getter(void *handle, void *bytes);

static const struct compiler_artifact artifacts[NVJITLINK_ARTIFACT_COUNT] = {
#define ARTIFACT_ROW(name, ...) \
	[NVJITLINK_ARTIFACT_##name] = {#name, FUNCTION_nvJitLinkGet##name##Size, FUNCTION_nvJitLinkGet##name},
    NVJITLINK_ARTIFACTS(ARTIFACT_ROW, )
#undef ARTIFACT_ROW
};

/*
 * Returns true if the log names an error in the input; false if the library ran out of memory, or if an earlier input
 * failed.
 */
static bool explains_failure(const struct handle *handle, const struct result *result)
{
	static const char *const errors[] = {"error", "fatal", "Undefined reference"};
	const struct section *log = result_section(result, RESULT_TAG_OWN + NVJITLINK_ARTIFACT_ErrorLog);

	/* the log also has earlier errors, and a failure for lack of memory may add none */
	return !link_of(handle)->has_failed && log && !result_says_shortage(log) && RESULT_SAYS(log, errors);
}

/*
 * Returns true for a line that names no earlier input. A line of ptxas names what its text defines, and belongs to the
 * input that is being added. The others are reports of 13.4 and later about LTO-IR, and those of
 * NVJITLINK_TRACE_MESSAGES.
 */
static bool line_names_none(const char *line)
{
	static const char *const known[] = {"ptxas ", "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (",
	                                    "INFO: NVVM70 LTOIR Container created (",
	                                    "SUCCESS: NVVM70 LTOIR Container created (", "no driver "};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(line, known[i], strlen(known[i])) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * Returns true if the log may name an input. The library reads the name by the host's pointer, whose text may have
 * changed. A log that cannot be read counts as one with a name.
 */
static bool log_may_name(const struct handle *handle, enum nvjitlink_artifact artifact)
{
	size_getter *get_size = (size_getter *)library_real(handle->library, artifacts[artifact].size);
	bytes_getter *get_bytes = (bytes_getter *)library_real(handle->library, artifacts[artifact].bytes);
	size_t size = 0;
	char *text, *line;
	bool named = true;

	if (!get_size || !get_bytes || get_size(handle->value, &size) != NVJITLINK_SUCCESS || size > LOG_MAX) {
		return true;
	}
	text = calloc(1, size + LOG_SLACK);
	if (text && get_bytes(handle->value, text) == NVJITLINK_SUCCESS) {
		for (line = text; *line && line_names_none(line); line += *line == '\n') {
			line += strcspn(line, "\n");
		}
		named = *line != '\0';
	}
	free(text);
	return named;
}

static bool may_name_inputs(const struct handle *handle)
{
	return log_may_name(handle, NVJITLINK_ARTIFACT_ErrorLog) || log_may_name(handle, NVJITLINK_ARTIFACT_InfoLog);
}

static int code_of_no_room(const struct handle *handle)
{
	return handle->library->major < 13 ? NVJITLINK_INVALID_INPUT : NVJITLINK_NULL_INPUT;
}

/* With machine code as input, the results of 12.0 to 12.2 contain uninitialised bytes, so they are not cached. */
static enum counter refuse_result(const struct handle *handle, const struct request *request, struct event *event)
{
	const struct library *library = handle->library;
	const struct link *link = link_of(handle);

	(void)request;
	if (link->has_cubins && library->major == 12 && library->minor < 3) {
		return COUNTER_BYPASSED_arguments;
	}
	if (link->keeps_names && may_name_inputs(handle)) {
		event_explain_refusal(event, "the log may contain an input name that the program has overwritten");
		return COUNTER_BYPASSED_logs;
	}
	return lasting_spoils(library, 0, 0);
}

static const enum outcome outcomes[] = {
    [NVJITLINK_SUCCESS] = OUTCOME_SUCCESS,
    [NVJITLINK_PTX_COMPILE] = OUTCOME_FAILURE,
    [NVJITLINK_NVVM_COMPILE] = OUTCOME_FAILURE,
    [NVJITLINK_INTERNAL] = OUTCOME_FAILURE,
};

const struct compiler nvjitlink_compiler = {
    .name = "nvjitlink",
    .title = "nvJitLink",
    .unnamed = "link",
    .internal_error = NVJITLINK_INTERNAL,
    .share = COUNTER_NVJITLINK,
    .past = PAST_GROWS,
    .nodes = nvjitlink_nodes,
    .node_count = NVJITLINK_NODE_COUNT,
    .missed = &missed,
    .functions = nvjitlink_functions,
    .function_count = NVJITLINK_FUNCTION_COUNT,
    .environment = &nvjitlink_environment,
    .prefix = "nvJitLink",
    .plain = plain,
    .plain_count = sizeof(plain) / sizeof(plain[0]),
    .opens = "__nvJitLinkAPI",
    .version = "nvJitLinkVersion",
    .release = release_by_names,
    .free_handle = link_free,
    .describe = describe_link,
    .served = link_grown,
    .run = run_link,
    .outcomes = outcomes,
    .outcome_count = sizeof(outcomes) / sizeof(outcomes[0]),
    .refuses = refuse_result,
    .artifacts = artifacts,
    .artifact_count = NVJITLINK_ARTIFACT_COUNT,
    .no_room = code_of_no_room,
    .fields = link_shown,
    .steps = {[LINK_COMPLETE] = "link", "add", "add"},
    .collect = artifact_collect_all,
    .explains_failure = explains_failure,
};
