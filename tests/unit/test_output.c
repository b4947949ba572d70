/* SPDX-License-Identifier: MIT */
/* output: a write never raises a signal in the host, whatever changes meanwhile */
#include "cache/output.h"
#include "tests/unit/support.h"

static volatile sig_atomic_t raised;

static void count(int signal)
{
	raised++;
}

static int temporary(void)
{
	FILE *file = tmpfile();

	cr_assert_not_null(file);
	return fileno(file);
}

static void set_limit(rlim_t size)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

Test(output, a_write_that_exceeds_the_limit_writes_nothing)
{
	int file = temporary();

	(void)signal(SIGXFSZ, count);
	for (rlim_t limit = 0; limit < 20; limit++) {
		set_limit(limit);
		cr_expect_eq(output_at(file, 10, "0123456789", 10), -EFBIG);
		cr_expect_eq(lseek(file, 0, SEEK_END), 0);
	}
	set_limit(20);
	cr_expect_eq(output_at(file, 10, "0123456789", 10), 0);
	cr_expect_eq(output_at(file, 10, "0123456789", (size_t)-1), -EFBIG);
	set_limit(RLIM_INFINITY);
	cr_expect_eq(raised, 0);
}

static atomic_bool done;

static void *move_limit(void *unused)
{
	while (!atomic_load(&done)) {
		set_limit(0);
		set_limit(RLIM_INFINITY);
	}
	return unused;
}

Test(output, a_limit_that_changes_meanwhile_raises_no_signal)
{
	int file = temporary();
	unsigned failed = 0;
	pthread_t thread;

	(void)signal(SIGXFSZ, count);
	cr_assert_eq(pthread_create(&thread, NULL, move_limit, NULL), 0);
	for (int i = 0; i < 200000; i++) {
		failed += output_line(file, "x", 1) == -EFBIG;
		failed += output_at(file, 0, "0123456789", 10) == -EFBIG;
	}
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	set_limit(RLIM_INFINITY);
	cr_expect_gt(failed, 0, "the limit was never in the way");
	cr_expect_eq(raised, 0);
}

Test(output, blocked_and_pending_signals_of_the_host_are_preserved)
{
	sigset_t blocked, found;
	int file = temporary();

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGXFSZ);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	set_limit(0);
	cr_expect_eq(output_line(file, "x", 1), -EFBIG);
	(void)sigpending(&found);
	cr_expect_not(sigismember(&found, SIGXFSZ), "ours is taken back");
	(void)raise(SIGXFSZ);
	cr_expect_eq(output_line(file, "x", 1), -EFBIG);
	(void)sigpending(&found);
	cr_expect(sigismember(&found, SIGXFSZ), "the host's is not");
	(void)sigprocmask(SIG_BLOCK, NULL, &found);
	cr_expect(sigismember(&found, SIGXFSZ));
	cr_expect_not(sigismember(&found, SIGPIPE));
	set_limit(RLIM_INFINITY);
}

Test(output, truncating_never_makes_a_file_longer)
{
	int file = temporary();

	cr_assert_eq(output_at(file, 0, "0123456789", 10), 0);
	cr_expect_eq(output_cut(file, 20), 0);
	cr_expect_eq(lseek(file, 0, SEEK_END), 10);
	cr_expect_eq(output_cut(file, 4), 0);
	cr_expect_eq(lseek(file, 0, SEEK_END), 4);
}
