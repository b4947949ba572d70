/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/compiler.h"

#include "interpose/compile/attempt.h"
#include "interpose/watch/environment.h"
#include "keygen/directories.h"
#include "tests/compilers/npiece/artifacts.h"
#include "tests/compilers/npiece/doors.h"
#include "tests/compilers/npiece/nodes.h"
#include "tests/compilers/npiece/work.h"

#include <errno.h>

/* A tag of npiece's own in the call run (keygen/surroundings.h) */
#define TAG_OPTION 24

/* It asks for none. */
#define NPIECE_VARIABLES(X)

static const struct variable variables[] = {NPIECE_VARIABLES(ENVIRONMENT_VARIABLE)};
static struct environment environment = ENVIRONMENT_OF(NPIECE_VARIABLES, variables);

struct node npiece_nodes[NPIECE_NODE_COUNT] = {
#define NODE_ROW(id, soname, lowest, ...) \
	[NPIECE_NODE_##                   \
	    id] = {.compiler = &npiece_compiler, .name = #soname, .landmark = "npieceCreate", .floor = (lowest)},
    NPIECE_NODES(NODE_ROW, )
#undef NODE_ROW
};

static int release(const struct library *library, int *ret_major, int *ret_minor)
{
	int (*version)(int *major, int *minor) =
	    (int (*)(int *, int *))elf_symbol(&library->object, "npieceVersion", library->node->name);

	return version && version(ret_major, ret_minor) == RESULT_SUCCESS ? 0 : -ENOSYS;
}

/*
 * The call run: surroundings_begin(), surroundings_compute(), OPTION*, surroundings_end(). Without roots: a path is a
 * piece, and stays as it is spelled; one that is relative follows the working directory as the library does.
 */
static enum counter describe(struct handle *handle, const struct call *call, struct surroundings *around,
                             const struct snapshot *told, struct request *ret_request)
{
	const struct request_name name = {"", NAME_WITHOUT_DIRECTORY};
	const struct directories none = {.count = 0};
	struct stream stream = STREAM_EMPTY;

	(void)handle;
	(void)told;
	surroundings_begin(&stream, around, &name, around->cwd ? &none : NULL);
	surroundings_compute(&stream, around);
	for (int i = 0; i < call->option_count; i++) {
		stream_string(&stream, TAG_OPTION, call->options[i]);
	}
	surroundings_end(&stream, around);
	if (stream.failed) {
		stream_free(&stream);
		return COUNTER_ERRORS_memory;
	}
	ret_request->run = stream;
	ret_request->traits = REQUEST_LOOKS_COUNT | (around->cwd ? 0 : REQUEST_BOUND);
	return COUNTER_NONE;
}

static int run(const struct handle *handle, const struct call *call, enum cancellation cancellation)
{
	int (*complete)(void *) = (int (*)(void *))handle->library->real[FUNCTION_npieceComplete];
	int ours, result;

	(void)call; /* its options went into the handle when it was made */
	ours = handle_enter_real(handle, cancellation);
	result = complete(handle->value);
	handle_leave_real(ours);
	return result;
}

static enum outcome outcome(int return_code)
{
	switch (return_code) {
	case RESULT_SUCCESS:
		return OUTCOME_SUCCESS;
	case RESULT_BAD_PIECE:
		return OUTCOME_FAILURE;
	case RESULT_UNKNOWN_OPTION:
		return OUTCOME_REFUSED_OPTIONS;
	case RESULT_INVALID_INPUT:
	case RESULT_ALREADY_COMPLETED:
		return OUTCOME_REFUSED_CALL;
	case RESULT_OUT_OF_MEMORY:
		return OUTCOME_NO_MEMORY;
	default:
		return OUTCOME_OTHER;
	}
}

const struct compiler npiece_compiler = {
    .name = "npiece",
    .title = "npiece",
    .unnamed = "pieces",
    .internal_error = RESULT_INTERNAL_ERROR,
    .past = PAST_LEAVES,
    .nodes = npiece_nodes,
    .node_count = NPIECE_NODE_COUNT,
    .functions = npiece_functions,
    .function_count = FUNCTION_COUNT,
    .thunks = npiece_thunks,
    .thunk_count = FUNCTION_COUNT,
    .environment = &environment,
    .owns = npiece_owns,
    .wants_door = npiece_wants_door,
    .only_gives = npiece_only_gives,
    .release = release,
    .free_handle = npiece_work_free,
    .describe = describe,
    .run = run,
    .outcome = outcome,
    .about = npiece_work_about,
    .artifacts = npiece_artifacts,
    .artifact_count = ARTIFACT_COUNT,
    .answer_from = npiece_answer_from,
    .no_room = npiece_no_room,
    .collect = artifact_collect_all,
    .explains_failure = npiece_explains_failure,
};
