/* SPDX-License-Identifier: MIT */
#include "interpose/compile/artifacts.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/request.h"
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "interpose/nvvm/program.h"

/* Tags of libNVVM in the call run (keygen/surroundings.h). */
enum own_tag { TAG_OPTION = 24, TAG_WORK = 25 };

static struct missed missed;

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {NVVM_PLAIN(COMPILER_TEXT)};

/* The variables that libNVVM reads (interpose/watch/environment.h explains the kinds). */

/*
 * X(kind, name). All releases read NVVM_IR_VER_CHK; 12.9 and later also read LIBNVVM_NVVM_VERSION and NV_NVVM_VERSION,
 * at each call, while NVRTC reads the latter only once.
 */
#define NVVM_VARIABLES(X)                       \
	X(LOAD, AS_SECURE_LOG_FILE)             \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API) \
	X(LOAD, LLVM_IGNORED_ENV_VAR)           \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)         \
	X(LOAD, OPENSSL_ia32cap)                \
	X(LOAD, bar)                            \
	X(CALL, LIBNVVM_NVVM_VERSION)           \
	X(CALL, NVVM_IR_VER_CHK)                \
	X(CALL, NV_NVVM_VERSION)

static const struct variable variables[] = {NVVM_VARIABLES(ENVIRONMENT_VARIABLE)};

static struct environment environment = ENVIRONMENT_OF(NVVM_VARIABLES, variables);

struct node nvvm_nodes[1] = {
    {.compiler = &nvvm_compiler, .name = "libnvvm.so.4", .landmark = "nvvmCreateProgram", .floor = 1108}};

/*
 * In its first compilation libNVVM initialises static objects, which takes a lock of libc (__cxa_atexit) that another
 * thread's dlclose() may hold at the fork. A module that is empty or cannot be parsed does not get that far.
 */
static void compile_sample(const struct library *library, size_t stack_left)
{
	static const char module[] =
	    "target triple = \"nvptx64-nvidia-cuda\"\n"
	    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
	    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
	    "define void @k(i32* %p) {\n  store i32 1, i32* %p\n  ret void\n}\n"
	    "!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @k, !\"kernel\", i32 1}\n"
	    "!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n";
	void *program = NULL;

	if (stack_left < LIBRARY_WAKING_STACK || LIBRARY_REAL(library, nvvmCreateProgram)(&program) != RESULT_SUCCESS) {
		return;
	}
	(void)LIBRARY_REAL(library, nvvmAddModuleToProgram)(program, module, sizeof(module) - 1, "k");
	(void)LIBRARY_REAL(library, nvvmCompileProgram)(program, 0, NULL);
	(void)LIBRARY_REAL(library, nvvmDestroyProgram)(&program);
}

/*
 * The call run consists of request_begin_run(), WORK, OPTION*, request_end_run(). libNVVM
 * opens no file and asks for no directory, so there are no roots.
 *
 * All releases read NVVM_IR_VER_CHK after they have parsed the modules, and 12.9 and later read other variables before
 * that. So with 12.0 and 12.4 a module that cannot be parsed looks like a call that was not watched: its result is not
 * cached.
 */
static enum counter describe_work(struct handle *handle, const struct call *call, struct surroundings *around,
                                  const struct snapshot *told, struct request *ret_request)
{
	(void)handle;
	(void)told;
	request_begin_run(ret_request, around);
	stream_number(&ret_request->run, TAG_WORK, (uint64_t)call->kind);
	for (int i = 0; i < call->option_count; i++) {
		stream_string(&ret_request->run, TAG_OPTION, call->options[i]);
	}
	ret_request->traits |= REQUEST_ASKS_VARIABLES;
	return request_end_run(ret_request, around);
}

/* What options do: bits. */
enum { OPTION_STICKY = 1, OPTION_UNCLEARED = 2, OPTION_WRITES = 4 };

/*
 * Those without an effect on later calls were run before plain compilations with 12.0, 12.4, 12.9, 13.0 and 13.5, and
 * changed nothing (tests/nvvm/options.py). -restrict affects every later compilation from 12.4 on, as with NVRTC, and
 * so does -split-compile= with 12.0. -Xopt and -Xllc are followed by an option of LLVM itself, which are process-wide
 * and may write files. All of this applies to all releases, which report the same version.
 */
static const struct compiler_option options[] = {
    {"-g", 0},
    {"-gen-lto", 0},
    {"-generate-line-info", 0},
    {"-inline-info", 0},
    {"-fast-math", 0},
    {"-numba-debug", 0},
    {"-nvvm-latest", 0},
    {"-arch=", 0},
    {"-opt=", 0},
    {"-ftz=", 0},
    {"-prec-sqrt=", 0},
    {"-prec-div=", 0},
    {"-fma=", 0},
    {"-maxreg=", 0},
    {"-jump-table-density=", 0},
    {"-opt-fdiv=", 0},
    {"-host-ref-ek=", 0},
    {"-nvvm-version=", 0},
    {"-Ofast-compile=", 0},
    {"-restrict", OPTION_STICKY},
    {"-split-compile=", OPTION_STICKY},
    {"-Xopt", OPTION_STICKY | OPTION_WRITES},
    {"-Xllc", OPTION_STICKY | OPTION_WRITES},
};

static unsigned read_options(const struct call *call)
{
	unsigned what = 0;

	if (call->option_count > 0 && !handle_call_sound(call)) {
		return OPTION_UNCLEARED | OPTION_WRITES;
	}
	for (int i = 0; i < call->option_count; i++) {
		what |= compiler_option_what(options, sizeof(options) / sizeof(options[0]), call->options[i],
		                             OPTION_UNCLEARED | OPTION_WRITES);
	}
	return what;
}

static struct lasting lasting_options(const struct call *call)
{
	unsigned what = read_options(call);

	return (struct lasting){what & OPTION_STICKY, (what & OPTION_UNCLEARED) != 0};
}

static bool may_write(const struct call *call)
{
	return (read_options(call) & OPTION_WRITES) != 0;
}

/*
 * The fields are set before the call, because a signal handler of the host may jump out of it, and then the entry must
 * not answer.
 */
static int run_work(const struct handle *handle, const struct call *call)
{
	struct nvvm_program *program = nvvm_program_of(handle);
	const bool compiles = call->kind == WORK_COMPILE;
	nvvmCompileProgram_function *work = compiles ? LIBRARY_REAL(handle->library, nvvmCompileProgram)
	                                             : LIBRARY_REAL(handle->library, nvvmVerifyProgram);

	program->latest = (enum nvvm_work)call->kind;
	program->log = NULL;
	program->result = compiles ? NULL : program->result;
	return work(handle->value, call->option_count, call->options);
}

static void note_served(struct handle *handle, const struct entry *entry)
{
	struct nvvm_program *program = nvvm_program_of(handle);

	program->log = entry;
	if (handle->calls[handle->call_count - 1].call.kind == WORK_COMPILE) {
		program->result = entry;
	}
}

static const struct entry *answer_from(struct handle *handle, size_t artifact)
{
	const struct nvvm_program *program = nvvm_program_of(handle);

	return artifact == ARTIFACT_LOG ? program->log : program->result;
}

static enum counter refuse_result(const struct handle *handle, const struct request *request, struct event *event)
{
	(void)event;
	(void)request;
	return lasting_spoils(handle->library, OPTION_STICKY, 0);
}

/* PTX and log include their NUL, LTO-IR has none, and an empty artifact consists of a single NUL. */
static const struct compiler_artifact artifacts[ARTIFACT_COUNT] = {
    [ARTIFACT_RESULT] = {"compiled result", FUNCTION_nvvmGetCompiledResultSize, FUNCTION_nvvmGetCompiledResult},
    [ARTIFACT_LOG] = {"log", FUNCTION_nvvmGetProgramLogSize, FUNCTION_nvvmGetProgramLog},
};

static int collect_artifacts(const struct handle *handle, struct result *result)
{
	int error =
	    nvvm_program_of(handle)->latest == WORK_COMPILE ? artifact_collect(handle, ARTIFACT_RESULT, result) : 0;

	return error ? error : artifact_collect(handle, ARTIFACT_LOG, result);
}

/*
 * Returns true for a log that is not empty. The log of a failure has no fixed words: "NAME (190, 2): parse ...", "NAME:
 * link error: ...".
 */
static bool explains_failure(const struct handle *handle, const struct result *result)
{
	const struct section *log = result_section(result, RESULT_TAG_OWN + ARTIFACT_LOG);

	(void)handle;
	return log && !result_says_shortage(log) && log->size > 1;
}

static const enum outcome outcomes[] = {
    [RESULT_SUCCESS] = OUTCOME_SUCCESS,
    [RESULT_OUT_OF_MEMORY] = OUTCOME_NO_MEMORY,
    [RESULT_INVALID_INPUT] = OUTCOME_REFUSED_CALL,
    [RESULT_INVALID_PROGRAM] = OUTCOME_REFUSED_CALL,
    [RESULT_INVALID_IR] = OUTCOME_FAILURE,
    [RESULT_INVALID_OPTION] = OUTCOME_REFUSED_OPTIONS,
    [RESULT_NO_MODULE_IN_PROGRAM] = OUTCOME_REFUSED_CALL,
    [RESULT_COMPILATION] = OUTCOME_FAILURE,
};

const struct compiler nvvm_compiler = {
    .name = "nvvm",
    .title = "libNVVM",
    .unnamed = "<unnamed>",
    .internal_error = RESULT_INVALID_PROGRAM, /* libNVVM has no code for internal errors */
    .share = COUNTER_NVVM,
    .past = PAST_IS_NOTHING,
    .hallmark = "__nvvmHandle",
    .nodes = nvvm_nodes,
    .node_count = 1,
    .missed = &missed,
    .functions = nvvm_functions,
    .function_count = FUNCTION_COUNT,
    .environment = &environment,
    .prefix = "nvvm",
    .plain = plain,
    .plain_count = sizeof(plain) / sizeof(plain[0]),
    .opens = "__nvvmHandle",
    .version = "nvvmVersion", /* 2.0 in ten releases of CUDA; only shown to people */
    .wake = compile_sample,
    .describe = describe_work,
    .served = note_served,
    .run = run_work,
    .lasting = lasting_options,
    .outcomes = outcomes,
    .outcome_count = sizeof(outcomes) / sizeof(outcomes[0]),
    .refuses = refuse_result,
    .may_write = may_write,
    .artifacts = artifacts,
    .artifact_count = ARTIFACT_COUNT,
    .answer_from = answer_from,
    .fields = nvvm_shown,
    .steps = {[WORK_VERIFY] = "verify", [WORK_COMPILE] = "compile"},
    .collect = collect_artifacts,
    .explains_failure = explains_failure,
};
