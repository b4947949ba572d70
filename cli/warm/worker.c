/* SPDX-License-Identifier: MIT */
/*
 * The functions of the compilers are declared here as their headers do; the command is not linked with any compiler.
 * Each function must be one of the library's: otherwise the compiler is not intercepted, and nothing judges the
 * options.
 */
#include "cli/warm/worker.h"

#include "cache/replay.h"
#include "cli/warm/requests.h"
#include "keygen/about.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASTE(a)  #a
#define STRING(a) PASTE(a)

#define NVVM_COMPILE 2 /* the number of that call (interpose/nvvm/functions.h) */

typedef void anyhow(void);

/* A function of the compiler with these parameters; all of them return a code. */
#define CALL(worker, name, ...) ((int (*)(__VA_ARGS__))function(worker, name))

struct worker {
	void *compiler; /* of dlopen() */
	const char *arch;
	struct replay_order *order;
	struct recording recording;
	void *handle; /* NULL: not created yet */
	/* the arguments that were read so far; there is room for all fields */
	const char *source, *name;
	struct span input;
	const char **options, **names, **texts;
	size_t option_count, header_count;
	struct about_arch seen;
};

static struct verdict verdict;
static int parent; /* reads the verdict in this file, behind the request */

/* exit() and not _exit(): the library records there what it has not recorded yet. */
__attribute__((noreturn)) static void finish(enum job_outcome outcome)
{
	verdict.outcome = outcome;
	exit(lseek(parent, 0, SEEK_END) < 0 || write(parent, &verdict, sizeof(verdict)) < 0);
}

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(verdict.why, sizeof(verdict.why), format, arguments);
	va_end(arguments);
	finish(JOB_FAILED);
}

/*
 * A variable is data of the request, like its options. LD_PRELOAD, TMPDIR or DUMP_KNOBS_TO_FILE from a forged request
 * would let it run code or choose a file to write, so only names that are known to do neither are set. The others are
 * on the compilers' lists, but may name a file to write.
 */
#define SETTABLE                                                                                               \
	" TZ PWD NVRTCCACHE_NAMESPACE NVRTCCACHE_SLOPPINESS NV_NVVM_VERSION LIBNVVM_NVVM_VERSION "             \
	"NVVM_IR_VER_CHK LLVM_OVERRIDE_PRODUCER NVRTC_DISABLE_CONCURRENT_NVVM LIBNVVM_DISABLE_CONCURRENT_API " \
	"NVRTC_DISABLE_PCH NVRTC_INTERNAL_GLOBAL_LOCK NVRTC_PCH_HEAP_SIZE CAN_FINALIZE_DEBUG "                 \
	"FINALIZER_USE_LEGACY_ELF_BUILDER "
#define UNSETTABLE                                                                         \
	" AS_SECURE_LOG_FILE LLVM_IGNORED_ENV_VAR OPENSSL_ia32cap bar DUMP_KNOBS_TO_FILE " \
	"NVJITLINK_TRACE_MESSAGES EDG_BASE EDG_MODULES_PATH "

/* A name with a blank would match two neighbours. */
static bool is_word(const char *list, const char *name)
{
	char word[64];

	return strchr(name, ' ') == NULL && snprintf(word, sizeof(word), " %s ", name) < (int)sizeof(word) &&
	       strstr(list, word) != NULL;
}

/* A variable without a value is unset; if one follows, it is set afterwards. */
static void set_variables(const struct recording *recording)
{
	struct cursor cursor = cursor_over(recording->head.bytes, recording->head.size);
	const char *name = "";
	struct span field;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field)) {
		if (tag == RECORDING_VARIABLE) {
			name = field.bytes;
			if (is_word(SETTABLE UNSETTABLE, name)) {
				(void)unsetenv(name);
			}
		} else if (tag == RECORDING_VALUE && !is_word(SETTABLE, name)) {
			fail("the variable %s was set", name);
		} else if (tag == RECORDING_VALUE && setenv(name, field.bytes, 1) != 0) {
			fail("%s", strerror(errno));
		}
	}
}

/*
 * A path-dependent request has its directory in the key, so a result from another directory would never be found. Any
 * other request compiles anywhere, as its program would.
 */
static void enter_directory(const struct recording *recording)
{
	const char *directory = recording->texts[RECORDING_DIRECTORY] ? recording->texts[RECORDING_DIRECTORY] : "";

	if (chdir(directory) != 0 && (recording->numbers[RECORDING_BOUND] || chdir("/") != 0)) {
		fail("the directory %s cannot be entered: %s", directory, strerror(errno));
	}
}

/* Returns a function of the compiler as the library gives it to programs. */
static anyhow *function(const struct worker *worker, const char *name)
{
	void *found = dlsym(worker->compiler, name);
	Dl_info ours, its;

	if (!found) {
		fail("the compiler has no function %s", name);
	}
	if (dladdr(worker->order, &ours) == 0 || dladdr(found, &its) == 0 || ours.dli_fbase != its.dli_fbase) {
		fail("the library does not intercept %s", name);
	}
	return (anyhow *)(uintptr_t)found;
}

static int create_nvrtc(struct worker *worker)
{
	return CALL(worker, "nvrtcCreateProgram", void **, const char *, const char *, int, const char **,
	            const char **)(&worker->handle, worker->source, worker->name, (int)worker->header_count,
	                           worker->texts, worker->names);
}

static int create_nvjitlink(struct worker *worker)
{
	return CALL(worker, "nvJitLinkCreate", void **, uint32_t,
	            const char **)(&worker->handle, (uint32_t)worker->option_count, worker->options);
}

static int create_nvvm(struct worker *worker)
{
	return CALL(worker, "nvvmCreateProgram", void **)(&worker->handle);
}

static void add_nvjitlink(struct worker *worker, const void *bytes, uint64_t type)
{
	(void)CALL(worker, "nvJitLinkAddData", void *, int, const void *, size_t,
	           const char *)(worker->handle, (int)type, bytes, worker->input.size, worker->name);
}

static void add_nvvm(struct worker *worker, const void *bytes, uint64_t type)
{
	(void)CALL(worker, type ? "nvvmLazyAddModuleToProgram" : "nvvmAddModuleToProgram", void *, const void *, size_t,
	           const char *)(worker->handle, bytes, worker->input.size, worker->name);
}

/*
 * Options of nvJitLink are those of its creation. `call`: the functions that do the work, by the number of the call;
 * all but nvJitLink's get the options.
 */
static const struct kind {
	const char *name;
	int (*create)(struct worker *);
	void (*add)(struct worker *, const void *bytes, uint64_t type); /* NULL: there are no inputs */
	const char *work[2];
} kinds[] = {
    {"nvrtc", create_nvrtc, NULL, {"nvrtcCompileProgram", "nvrtcCompileProgram"}},
    {"nvjitlink", create_nvjitlink, add_nvjitlink, {NULL}},
    {"nvvm", create_nvvm, add_nvvm, {"nvvmVerifyProgram", "nvvmCompileProgram"}},
};

/* The options are those of this call: a compilation after it brings its own. */
static int make_call(struct worker *worker, const struct kind *kind, uint64_t number)
{
	const char *name = kind->work[number == NVVM_COMPILE];
	int result = name ? CALL(worker, name, void *, int, const char **)(worker->handle, (int)worker->option_count,
	                                                                   worker->options)
	                  : CALL(worker, "nvJitLinkComplete", void *)(worker->handle);

	worker->option_count = 0;
	return result;
}

/* Inputs are copied, with a NUL behind them as texts have it. */
static void add_input(struct worker *worker, const struct kind *kind, uint64_t type)
{
	char *copy = calloc(1, worker->input.size + 1);

	if (!copy || !kind->add) {
		fail("the request is damaged");
	}
	memcpy(copy, worker->input.bytes, worker->input.size);
	kind->add(worker, copy, type);
	worker->name = NULL;
}

/* Decides how the request ended by what the library said of the last call, which depends on those before it. */
__attribute__((noreturn)) static void judge(const struct worker *worker, int result)
{
	const struct replay_order *order = worker->order;
	bool is_link = strcmp(worker->recording.texts[RECORDING_COMPILER], "nvjitlink") == 0;

	memcpy(verdict.key, order->key, sizeof(verdict.key));
	if (order->outcome == REPLAY_HIT || order->outcome == REPLAY_STORED) {
		/* a failure that is none with this compiler is as good as a success */
		if (result != 0 && (uint64_t)result != worker->recording.numbers[RECORDING_RESULT]) {
			fail("the compiler refused it (%d); 'nvrtccache extract %.12s --%slog' says why", result,
			     order->key, is_link ? "error-" : "");
		}
		finish(order->outcome == REPLAY_HIT ? JOB_THERE : JOB_STORED);
	}
	if (order->outcome == REPLAY_NO_CALL) {
		fail("the compiler was not called");
	}
	fail("%s%s", order->outcome == REPLAY_BYPASSED ? "not sent: " : "", order->why[0] ? order->why : "no entry");
}

/*
 * Returns a copy of an option. If it names an architecture, as `seen` finds, `arch` replaces that, and the form stays:
 * compute_90a becomes compute_100a with "sm_100", and compute_100f with "sm_100f". NULL: no memory.
 */
static char *replace_arch(struct about_arch *seen, const char *option, const char *arch)
{
	const char *before = seen->text, *under = NULL, *end, *digits = strchr(arch, '_');
	char *copy = NULL;
	int suffix;

	about_see_arch(seen, option, strlen(option));
	if (seen->text && seen->text != before) {
		under = memchr(seen->text, '_', seen->size);
	}
	if (!under || !digits) {
		return strdup(option);
	}
	digits++;
	end = seen->text + seen->size;
	/* the recorded suffix stays unless `arch` has one */
	suffix = end[-1] > '9' && digits[strlen(digits) - 1] <= '9';
	return asprintf(&copy, "%.*s%s%.*s%s", (int)(under + 1 - option), option, digits, suffix, end - suffix, end) < 0
	           ? NULL
	           : copy;
}

/*
 * The fields come in the order of the calls (keygen/recording.h), so the first field that is an argument of a later
 * call than the creation creates the handle.
 */
__attribute__((noreturn)) static void run(struct worker *worker, const struct kind *kind)
{
	struct cursor cursor = worker->recording.calls;
	struct span field;
	int result = 0;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field)) {
		if ((tag == RECORDING_EXPRESSION || tag == RECORDING_TYPE || tag == RECORDING_CALL) &&
		    !worker->handle && kind->create(worker) != 0) {
			fail("the compiler refused the program or its options");
		}
		switch (tag) {
		case RECORDING_SOURCE:
			worker->source = field.bytes;
			break;
		case RECORDING_NAME:
			worker->name = field.bytes;
			break;
		case RECORDING_HEADER_NAME:
			worker->texts[worker->header_count] = "";
			worker->names[worker->header_count++] = field.bytes;
			break;
		case RECORDING_HEADER_TEXT:
			worker->texts[worker->header_count ? worker->header_count - 1 : 0] = field.bytes;
			break;
		case RECORDING_EXPRESSION:
			(void)CALL(worker, "nvrtcAddNameExpression", void *, const char *)(worker->handle, field.bytes);
			break;
		case RECORDING_OPTION:
			worker->options[worker->option_count] = replace_arch(&worker->seen, field.bytes, worker->arch);
			if (!worker->options[worker->option_count++]) {
				fail("%s", strerror(ENOMEM));
			}
			break;
		case RECORDING_BYTES:
			worker->input = field;
			break;
		case RECORDING_TYPE:
			add_input(worker, kind, recording_number(&field));
			break;
		case RECORDING_CALL:
			result = make_call(worker, kind, recording_number(&field));
			break;
		default:
			fail("the request is damaged");
		}
	}
	judge(worker, result);
}

/* The number of fields bounds the number of arguments of any kind, so the arrays never grow. */
static void read_request(struct worker *worker)
{
	void *bytes;

	if (requests_load(STDIN_FILENO, &bytes, &worker->recording) != 0) {
		fail("the request is damaged");
	}
	worker->options = calloc(worker->recording.call_fields + 1, sizeof(char *));
	worker->names = calloc(worker->recording.call_fields + 1, sizeof(char *));
	worker->texts = calloc(worker->recording.call_fields + 1, sizeof(char *));
	if (!worker->options || !worker->names || !worker->texts) {
		fail("%s", strerror(ENOMEM));
	}
}

/* What a request has of its process is set before the compiler is loaded, as a program that has it would do. */
int worker_main(int count, char **words)
{
	struct worker worker = {.arch = count > 2 ? words[2] : ""};
	const char *locale;

	parent = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (count != 4 || parent < 0) {
		fail("a worker is started by 'nvrtccache warm' only");
	}
	worker.order = dlsym(RTLD_DEFAULT, STRING(REPLAY_SYMBOL));
	if (!worker.order) {
		fail("the library is not preloaded");
	}
	read_request(&worker);
	(void)dup2(STDERR_FILENO, STDIN_FILENO); /* compilers do not find the request there */
	set_variables(&worker.recording);
	enter_directory(&worker.recording);
	worker.order->mode = words[3][0] == '1' ? REPLAY_COMPILE : REPLAY_CHECK;
	worker.order->floating_point = worker.recording.numbers[RECORDING_FLOATING_POINT];
	/* with a slash it is a file, which may be anybody's */
	locale = worker.recording.texts[RECORDING_LOCALE];
	if (locale && (strchr(locale, '/') || !setlocale(LC_NUMERIC, locale))) {
		fail("the locale %s is missing", locale);
	}
	worker.compiler = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
	if (!worker.compiler) {
		fail("%s", dlerror());
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, worker.recording.texts[RECORDING_COMPILER]) == 0) {
			run(&worker, &kinds[i]);
		}
	}
	fail("the request is damaged");
}
