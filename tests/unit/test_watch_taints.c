/* SPDX-License-Identifier: MIT */
#include "watch_fixture.h"

#include <locale.h>
#include <sys/socket.h>

WATCHED(watch_taints);

/* Taints. */

#define EXPECT_TAINT(taint, ...)                                                               \
	do {                                                                                   \
		begin();                                                                       \
		__VA_ARGS__;                                                                   \
		live_end(&trace);                                                              \
		cr_expect_eq(trace.tainted, (taint), "%#x from " #__VA_ARGS__, trace.tainted); \
		cr_expect_gt(trace.calls, 0);                                                  \
		trace_free(&trace);                                                            \
	} while (0)

Test(watch_taints, writing_taints)
{
	char pattern[] = "fileXXXXXX";

	EXPECT_TAINT(TAINT_WRITE, fclose(LIB(patched, fopen)("w", "w")));
	EXPECT_TAINT(TAINT_WRITE, fclose(LIB(patched, fopen)("w", "a")));
	EXPECT_TAINT(TAINT_WRITE, fclose(LIB(patched, fopen)("w", "r+")));
	EXPECT_TAINT(TAINT_WRITE, fclose(LIB(patched, fopen)("w", "w+b")));
	EXPECT_TAINT(TAINT_WRITE, close(LIB(patched, open)("w", O_WRONLY, 0)));
	EXPECT_TAINT(TAINT_WRITE, close(LIB(patched, open)("c", O_RDONLY | O_CREAT, 0640)));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, mkdir)("d", 0700));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, rmdir)("d"));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, rename)("w", "v"));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, unlink)("v"));
	EXPECT_TAINT(TAINT_WRITE, close(LIB(patched, mkstemp)(pattern)));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, fopen)("/nonexistent/w", "w"));
}

Test(watch_taints, opening_the_existing_lock_file_does_not_taint)
{
#define EXPECT_LOCK(taint, ...)                                           \
	do {                                                              \
		begin();                                                  \
		trace.lock = "top//d/lock";                               \
		(void)__VA_ARGS__;                                        \
		live_end(&trace);                                         \
		cr_expect_eq(trace.tainted, (taint), "%s", #__VA_ARGS__); \
	} while (0)

	EXPECT_LOCK(0, LIB(patched, mkdir)("top", 0700));
	EXPECT_LOCK(0, LIB(patched, mkdir)("top/", 0700));
	EXPECT_LOCK(0, LIB(patched, mkdir)("top//d", 0700));
	EXPECT_LOCK(0, LIB(patched, open)("top//d/lock", O_RDWR | O_CREAT, 0640));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, open)("top//d/lock", O_RDWR | O_CREAT | O_TRUNC, 0640));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, open)("top//d/loc", O_RDWR | O_CREAT, 0640));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, open)("top//d/lock.old", O_RDWR | O_CREAT, 0640));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, fopen)("top//d/lock", "a"));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, mkdir)("to", 0700));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, mkdir)("", 0700));
	EXPECT_LOCK(TAINT_WRITE, LIB(patched, unlink)("top//d/lock"));
}

Test(watch_taints, the_mode_of_a_new_file_is_passed_on)
{
	umask(0);
	close(LIB(patched, open)("mode", O_RDWR | O_CREAT, 0614));
	cr_assert_eq(stat("mode", &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0614);
}

Test(watch_taints, running_programs_taints)
{
	char *words[] = {"true", NULL};

	EXPECT_TAINT(TAINT_PROCESS, cr_expect_eq(LIB(patched, system)("exit 3") >> 8, 3));
	EXPECT_TAINT(TAINT_PROCESS, cr_expect_eq(LIB(patched, execv)("/nonexistent/program", words), -1));
	EXPECT_TAINT(TAINT_PROCESS, {
		pid_t child = LIB(patched, fork)();

		if (child == 0) {
			_exit(0);
		}
		waitpid(child, NULL, 0);
	});
}

Test(watch_taints, chdir_taints)
{
	EXPECT_TAINT(TAINT_CHANGED_PLACE, LIB(patched, chdir)("."));
}

Test(watch_taints, calls_with_outside_effects_taint)
{
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, close(LIB(patched, socket)(AF_UNIX, SOCK_STREAM, 0)));
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, LIB(patched, setenv)("WATCHED_TEST", "1", 1));
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, LIB(patched, sendmmsg)(-1, NULL, 0, 0));
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, LIB(patched, recvmmsg)(-1, NULL, 0, 0, NULL));
}

/* Redirects standard output and standard error into files, and returns their text. */
static const char *written_by(void (*act)(void))
{
	static char text[256];
	int out = dup(1), err = dup(2), file = open("out", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	ssize_t size;

	fflush(NULL);
	dup2(file, 1);
	dup2(file, 2);
	act();
	fflush(NULL);
	dup2(out, 1);
	dup2(err, 2);
	size = pread(file, text, sizeof(text) - 1, 0);
	text[size < 0 ? 0 : size] = '\0';
	close(file);
	close(out);
	close(err);
	return text;
}

static void speak(void)
{
	int (*print)(const char *, int, const char *, double) = dlsym(patched.handle, "lib_printf");
	int (*print_to)(FILE *, const char *, int, const char *, double) = dlsym(patched.handle, "lib_fprintf");

	EXPECT_TAINT(TAINT_WRITE, LIB(patched, write)(1, "a", 1));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, write)(2, "b", 1));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, puts)("c"); fflush(stdout));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, fputs)("d", stderr));
	EXPECT_TAINT(TAINT_WRITE, LIB(patched, fwrite)("e", 1, 1, stdout); fflush(stdout));
	EXPECT_TAINT(TAINT_WRITE, print("%d %s %.1f ", 1, "f", 2.5); fflush(stdout));
	EXPECT_TAINT(TAINT_WRITE, print_to(stderr, "%d %s %.1f", 3, "g", 4.5));
}

Test(watch_taints, printing_taints_and_is_performed)
{
	cr_expect_str_eq(written_by(speak), "abc\nde1 f 2.5 3 g 4.5");
}

Test(watch_taints, printing_into_memory_does_not_taint)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	EXPECT_TAINT(0, {
		LIB(patched, fputs)("memory", stream);
		LIB(patched, getcwd)((char[PATH_MAX]){0}, PATH_MAX);
	});
	fclose(stream);
	cr_expect_str_eq(text, "memory");
	free(text);
}

Test(watch_taints, raw_system_calls_taint_except_harmless_ones)
{
	long (*raw)(long, long, long, long, long, long, long) = dlsym(patched.handle, "lib_syscall");

	EXPECT_TAINT(0, cr_expect_eq(raw(SYS_gettid, 0, 0, 0, 0, 0, 0), syscall(SYS_gettid)));
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, cr_expect_lt(raw(SYS_openat, -1, (long)"no", 0, 0, 0, 0), 0));
}

Test(watch_taints, all_six_words_of_a_raw_system_call_are_passed_on)
{
	long (*raw)(long, long, long, long, long, long, long) = dlsym(patched.handle, "lib_syscall");
	long page = sysconf(_SC_PAGESIZE);
	const char *mapped;
	int file;

	write_text("two", "");
	cr_assert_eq(truncate("two", 2 * page), 0);
	file = open("two", O_RDWR);
	cr_assert_eq(pwrite(file, "second", 6, page), 6);
	mapped = (const char *)raw(SYS_mmap, 0, page, PROT_READ, MAP_PRIVATE, file, page);
	cr_assert_neq((void *)mapped, MAP_FAILED);
	cr_expect_str_eq(mapped, "second");
	munmap((void *)mapped, page);
	close(file);
}

Test(watch_taints, locales_other_than_c_and_the_present_one_taint)
{
	char before[512];

	setlocale(LC_CTYPE, "C.UTF-8");
	snprintf(before, sizeof(before), "%s", setlocale(LC_ALL, NULL));
	EXPECT_TAINT(0, {
		LIB(patched, setlocale)(LC_ALL, NULL);
		LIB(patched, setlocale)(LC_ALL, "C");
		LIB(patched, setlocale)(LC_ALL, before);
	});
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, LIB(patched, setlocale)(LC_ALL, "xx_YY"));
	EXPECT_TAINT(0, freelocale(LIB(patched, newlocale)(LC_ALL_MASK, "C", NULL)));
	EXPECT_TAINT(TAINT_UNKNOWN_CALL, LIB(patched, newlocale)(LC_ALL_MASK, "xx_YY", NULL));
}

Test(watch_taints, a_working_watch_counts_getcwd)
{
	char text[PATH_MAX];

	begin();
	cr_expect_eq(trace.calls, 0);
	cr_expect_not_null(LIB(patched, getcwd)(text, sizeof(text)));
	cr_expect_eq(trace.calls, 1);
	cr_expect_eq(trace.count, 0);
	live_end(&trace);
	cr_expect_eq(trace.tainted, 0);
}

Test(watch_taints, queried_variables_are_recorded_once)
{
	begin();
	LIB(patched, getenv)("WATCHED_TEST");
	LIB(patched, getenv)("WATCHED_TEST");
	live_end(&trace);
	cr_expect_eq(count_asked(&trace), 1);
	cr_expect(asked("WATCHED_TEST"));
	cr_expect_eq(trace.calls, 2);
}
