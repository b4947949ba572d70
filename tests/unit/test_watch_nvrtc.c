/* SPDX-License-Identifier: MIT */
#include "watch_fixture.h"

IN_PLACE(watched_nvrtc);

/* The real library. */

typedef void *program;

struct real_compiler {
	char path[PATH_MAX];
	struct patched patched;
	int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
	int (*compile)(program, int, const char *const *);
	int (*destroy)(program *);
};

static struct real_compiler load_compiler(void)
{
	struct real_compiler compiler;

	memset(&compiler, 0, sizeof(compiler));
	compiler.patched.handle = load_nvrtc(compiler.path);
	compiler.patched.object = object_of(compiler.patched.handle, "nvrtcVersion");
	compiler.create = (__typeof__(compiler.create))dlsym(compiler.patched.handle, "nvrtcCreateProgram");
	compiler.compile = (__typeof__(compiler.compile))dlsym(compiler.patched.handle, "nvrtcCompileProgram");
	compiler.destroy = (__typeof__(compiler.destroy))dlsym(compiler.patched.handle, "nvrtcDestroyProgram");
	return compiler;
}

static void patch_compiler(struct real_compiler *compiler)
{
	const char *reason = NULL;
	int error = watch_patch(&compiler->patched.object, elf_global_symbol, &compiler->patched.watch, &reason);

	cr_assert_eq(error, 0, "%d %s", error, reason ? reason : "");
	keep(compiler->patched.watch);
}

/* PTX, CUBIN and log of one program, one behind the other, and the return code. */
struct made {
	int code;
	size_t size;
	char *bytes;
};

static void append_artifact(struct made *outcome, const struct real_compiler *compiler, program made, const char *name)
{
	char getter[64];
	size_t size = 0;
	int (*get_size)(program, size_t *);
	int (*get)(program, char *);

	snprintf(getter, sizeof(getter), "nvrtcGet%sSize", name);
	get_size = (int (*)(program, size_t *))dlsym(compiler->patched.handle, getter);
	snprintf(getter, sizeof(getter), "nvrtcGet%s", name);
	get = (int (*)(program, char *))dlsym(compiler->patched.handle, getter);
	cr_assert_eq(get_size(made, &size), 0);
	outcome->bytes = realloc(outcome->bytes, outcome->size + size + 1);
	cr_assert_not_null(outcome->bytes);
	cr_assert_eq(get(made, outcome->bytes + outcome->size), 0);
	outcome->size += size;
}

static struct made compile(const struct real_compiler *compiler, const char *source, struct trace *trace)
{
	static const char *const options[] = {"-default-device", "-arch=compute_90"};
	struct made outcome = {0, 0, NULL};
	program made;

	cr_assert_eq(compiler->create(&made, source, NULL, 0, NULL, NULL), 0);
	if (trace) {
		begin(trace);
	}
	outcome.code = compiler->compile(made, 2, options);
	if (trace) {
		watch_end(trace);
	}
	append_artifact(&outcome, compiler, made, "PTX");
	append_artifact(&outcome, compiler, made, "CUBIN");
	append_artifact(&outcome, compiler, made, "ProgramLog");
	compiler->destroy(&made);
	return outcome;
}

static void expect_same(struct made *one, struct made *other)
{
	cr_expect_eq(one->code, other->code);
	cr_assert_eq(one->size, other->size);
	cr_expect_eq(memcmp(one->bytes, other->bytes, one->size), 0);
	free(one->bytes);
	free(other->bytes);
}

/* An event by the last part of its path: newer versions spell all paths absolutely. */
static const struct trace_event *event_named(const struct trace *trace, const char *name, enum trace_kind kind)
{
	for (size_t i = 0; i < trace->count; i++) {
		const char *slash = strrchr(trace->events[i].path, '/');
		const char *last = slash ? slash + 1 : trace->events[i].path;

		if (trace->events[i].kind == kind && strcmp(last, name) == 0) {
			return &trace->events[i];
		}
	}
	return NULL;
}

#define SOURCE "#include \"a.h\"\nextern \"C\" __global__ void k(int *p) { *p = A; }\n"

Test(watched_nvrtc, an_ordinary_compile_is_seen_whole_and_untainted)
{
	struct real_compiler compiler = load_compiler();
	struct trace trace;
	struct made outcome;

	patch_compiler(&compiler);
	write_text("a.h", "#define A 1\n");
	setenv("PWD", "/", 1); /* compared with "." where it is set */
	outcome = compile(&compiler, SOURCE, &trace);
	cr_expect_eq(outcome.code, 0);
	cr_expect_eq(trace.tainted, 0);
	cr_expect_not(trace.failed);
	cr_expect_gt(trace.calls, 10);
	cr_assert_not_null(event_named(&trace, "default_program", TRACE_PROBE));
	cr_expect_eq(event_named(&trace, "default_program", TRACE_PROBE)->error, ENOENT);
	cr_expect_not_null(event_named(&trace, "__nv_nvrtc_builtin_header.h", TRACE_PROBE));
	cr_assert_not_null(event_named(&trace, "a.h", TRACE_PROBE));
	cr_expect_eq(event_named(&trace, "a.h", TRACE_PROBE)->error, 0);
	cr_assert_not_null(event_named(&trace, "a.h", TRACE_OPEN));
	cr_expect_eq(event_named(&trace, "a.h", TRACE_OPEN)->stamp.size, 12);
	cr_expect_not_null(event_named(&trace, "__nv_name_map", TRACE_PROBE));
	cr_expect_not_null(event_named(&trace, ".", TRACE_PROBE));
	cr_expect(asked(&trace, "PWD"));
	cr_expect(watch_verify(compiler.patched.watch));
	free(outcome.bytes);
	trace_free(&trace);
}

Test(watched_nvrtc, a_missing_header_is_seen_as_absent_and_the_failure_is_untainted)
{
	struct real_compiler compiler = load_compiler();
	struct trace trace;
	struct made outcome;

	patch_compiler(&compiler);
	outcome = compile(&compiler, SOURCE, &trace);
	cr_expect_eq(outcome.code, 6);
	/* log10(), for the width of line numbers in the log */
	cr_expect_eq(trace.tainted & ~(uint32_t)TAINT_ARITHMETIC, 0);
	cr_assert_not_null(event_named(&trace, "a.h", TRACE_OPEN));
	cr_expect_eq(event_named(&trace, "a.h", TRACE_OPEN)->error, ENOENT);
	free(outcome.bytes);
	trace_free(&trace);
}

Test(watched_nvrtc, a_watched_compile_gives_the_same_bytes)
{
	struct real_compiler compiler = load_compiler();
	struct made before;
	struct made watched;
	struct trace trace;

	write_text("a.h", "#define A 1\n");
	before = compile(&compiler, SOURCE "__device__ int unused() { int x; return 0; }\n", NULL);
	patch_compiler(&compiler);
	watched = compile(&compiler, SOURCE "__device__ int unused() { int x; return 0; }\n", &trace);
	expect_same(&before, &watched);
	trace_free(&trace);
}

Test(watched_nvrtc, a_header_with_a_time_macro_taints)
{
	struct real_compiler compiler = load_compiler();
	struct trace trace;

	patch_compiler(&compiler);
	write_text("a.h", "#define A (__TIME__[0])\n");
	free(compile(&compiler, SOURCE, &trace).bytes);
	cr_expect_eq(trace.tainted, TAINT_TIME_MACRO);
	trace_free(&trace);
}
