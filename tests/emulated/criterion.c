/* SPDX-License-Identifier: MIT */
/*
 * criterion: runs the unit tests where Criterion's library cannot, that is under qemu and under ThreadSanitizer
 *
 *     unit-tests [--filter PATTERN] [--unfit FILE] [--timeout SECONDS]
 *
 * Criterion runs every test in a new process of the same program, which a kernel starts only if it is of its own machine,
 * and hands it memory at an address that ThreadSanitizer does not let it have.
 * Here are those functions of the library that the macros of its headers call, and a main(): the tests and their asserts
 * are the same, each test runs in a forked child. A test fails where an assert failed in it, or in a process or a thread
 * of its own, and where the child did not come to its end. PATTERN is of "suite/name". A line of FILE is a pattern and a
 * reason: such tests are skipped. Speaks TAP; a failed test's words follow it.
 */
#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 4096

/* The linker's: where the headers' macros have put the tests and the suites. */
extern struct criterion_test *tests_begin[] __asm__("__start_cr_tst");
extern struct criterion_test *tests_end[] __asm__("__stop_cr_tst");
extern struct criterion_suite *suites_begin[] __asm__("__start_cr_sts");
extern struct criterion_suite *suites_end[] __asm__("__stop_cr_sts");

struct criterion_options criterion_options;
/* The headers call them constant. */
const struct criterion_test *current_test __asm__("criterion_current_test");
const struct criterion_suite *current_suite __asm__("criterion_current_suite");

/* Of the running test, and shared with all of its processes. */
static struct {
	atomic_bool failed;
	atomic_bool skipped;
	atomic_bool ended;
	char reason[200];
} *state;

static FILE *words; /* of the running test; all processes write at the end of it */
static jmp_buf end_of_body;
static struct unfit {
	char pattern[200];
	char reason[200];
} unfit[MANY];
static size_t unfit_count;

/* ---- what the macros call ---- */

int cr_vasprintf(char **ret_text, const char *format, va_list arguments)
{
	return vasprintf(ret_text, format, arguments);
}

int cr_asprintf(char **ret_text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vasprintf(ret_text, format, arguments);
	va_end(arguments);
	return size;
}

void cr_asprintf_free(char *text)
{
	free(text);
}

char *cr_translate_assert_msg(int message, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, message);
	text = strdup(va_arg(arguments, const char *));
	va_end(arguments);
	return text;
}

void criterion_send_assert(struct criterion_assert_stats *assert)
{
	state->failed = true;
	fprintf(words, "%s:%u: not so: %s\n", assert->file, assert->line, assert->message);
	fflush(words);
}

void cr_log(enum criterion_severity severity, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(words, format, arguments);
	va_end(arguments);
	fputc('\n', words);
	fflush(words);
}

void cri_asserts_passed_incr(void)
{
}

void criterion_continue_test(void)
{
}

void criterion_abort_test(void)
{
	longjmp(end_of_body, 1);
}

void criterion_skip_test(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(state->reason, sizeof(state->reason), format, arguments);
	va_end(arguments);
	state->skipped = true;
	_exit(0);
}

void criterion_internal_test_setup(void)
{
	const struct criterion_test_extra_data *suite = current_suite->data;
	const struct criterion_test_extra_data *test = current_test->data;

	if (suite && suite->init) {
		suite->init();
	}
	if (test->init) {
		test->init();
	}
}

void criterion_internal_test_main(void (*body)(void))
{
	if (setjmp(end_of_body) == 0) {
		body();
	}
}

void criterion_internal_test_teardown(void)
{
	const struct criterion_test_extra_data *suite = current_suite->data;
	const struct criterion_test_extra_data *test = current_test->data;

	if (test->fini) {
		test->fini();
	}
	if (suite && suite->fini) {
		suite->fini();
	}
}

/* ---- running ---- */

static const struct criterion_suite *suite_of(const struct criterion_test *test)
{
	static struct criterion_suite without_data;

	for (struct criterion_suite **suite = suites_begin; suite < suites_end; suite++) {
		if (*suite && strcmp((*suite)->name, test->category) == 0) {
			return *suite;
		}
	}
	without_data.name = test->category;
	return &without_data;
}

/* The child's status, or -1 where its time was over. */
static int wait_for(pid_t child, double seconds)
{
	struct timespec step = {.tv_nsec = 2000000};
	struct timespec begin, now;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (waitpid(child, &status, WNOHANG) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - begin.tv_sec) > seconds) {
			kill(-child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
		nanosleep(&step, NULL);
	}
	return status;
}

static void show_words(void)
{
	char line[1000];

	rewind(words);
	while (fgets(line, sizeof(line), words)) {
		printf("#   %s", line);
	}
}

/* False where it failed. */
static bool run(const struct criterion_test *test, double seconds)
{
	int status;
	pid_t child;

	current_test = test;
	current_suite = suite_of(test);
	if (test->data->timeout > seconds) {
		seconds = test->data->timeout;
	}
	memset(state, 0, sizeof(*state));
	rewind(words);
	if (ftruncate(fileno(words), 0) != 0) {
		return false;
	}
	fflush(stdout);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		test->test();
		state->ended = true;
		fflush(NULL);
		_exit(0);
	}
	setpgid(child, child);
	status = wait_for(child, seconds);
	if (status == -1) {
		fprintf(words, "not at its end after %.0f seconds\n", seconds);
	} else if (status != 0) {
		fprintf(words, "%s %d\n", WIFSIGNALED(status) ? "ended by signal" : "exit code",
		        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	} else if (!state->ended && !state->skipped) {
		fprintf(words, "exit in the middle\n");
	}
	return status == 0 && !state->failed && (state->ended || state->skipped);
}

static const char *unfit_reason(const char *name)
{
	for (size_t i = 0; i < unfit_count; i++) {
		if (fnmatch(unfit[i].pattern, name, 0) == 0) {
			return unfit[i].reason;
		}
	}
	return NULL;
}

static bool read_unfit(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file) {
		return false;
	}
	while (unfit_count < MANY &&
	       fscanf(file, "%199s %199[^\n]", unfit[unfit_count].pattern, unfit[unfit_count].reason) == 2) {
		unfit_count += unfit[unfit_count].pattern[0] != '#';
	}
	fclose(file);
	return true;
}

static int by_name(const void *left, const void *right)
{
	const struct criterion_test *const *one = left;
	const struct criterion_test *const *other = right;

	return strcmp((*one)->data->identifier_, (*other)->data->identifier_);
}

int main(int argc, char **argv)
{
	const char *filter = "*";
	double seconds = 600;
	int ran = 0;
	int failed = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--filter") == 0) {
			filter = argv[i + 1];
		} else if (strcmp(argv[i], "--timeout") == 0) {
			seconds = atof(argv[i + 1]);
		} else if (strcmp(argv[i], "--unfit") != 0 || !read_unfit(argv[i + 1])) {
			fprintf(stderr, "%s: cannot take %s %s\n", argv[0], argv[i], argv[i + 1]);
			return 2;
		}
	}
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	words = tmpfile();
	if (state == MAP_FAILED || !words) {
		fprintf(stderr, "%s: no memory or no file\n", argv[0]);
		return 2;
	}
	qsort(tests_begin, (size_t)(tests_end - tests_begin), sizeof(*tests_begin), by_name);
	for (struct criterion_test **test = tests_begin; test < tests_end; test++) {
		const char *name = (*test)->data->identifier_;
		const char *reason;

		if (fnmatch(filter, name, 0) != 0) {
			continue;
		}
		ran++;
		reason = unfit_reason(name);
		if (reason) {
			printf("ok %d - %s # SKIP %s\n", ran, name, reason);
		} else if (!run(*test, seconds)) {
			failed++;
			printf("not ok %d - %s\n", ran, name);
			show_words();
		} else if (state->skipped) {
			printf("ok %d - %s # SKIP %s\n", ran, name, state->reason);
		} else {
			printf("ok %d - %s\n", ran, name);
		}
	}
	printf("1..%d\n", ran);
	return failed ? 1 : 0;
}
