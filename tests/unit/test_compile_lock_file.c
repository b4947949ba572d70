/* SPDX-License-Identifier: MIT */
#include "tests/unit/compile_lock_fixture.h"

TestSuite(compile_lock_file, .init = compile_lock_set_up, .fini = compile_lock_tear_down, .timeout = 300);

static struct compile_lock_file held = COMPILE_LOCK_FILE_CLOSED; /* by each test */

/* Takes the lock without waiting. */
static enum compile_lock_file_state take_key(const uint8_t *key, struct compile_lock_file *file)
{
	return compile_lock_file_acquire(file, &here.directory, key, 0);
}

static enum compile_lock_file_state wait_for(struct compile_lock_file *file)
{
	return compile_lock_file_acquire(file, &here.directory, compile_lock_key, compile_lock_far());
}

static void take(void)
{
	cr_assert_eq(take_key(compile_lock_key, &held), COMPILE_LOCK_FILE_TAKEN);
}

static void take_and_release(void)
{
	take();
	compile_lock_file_release(&held);
}

static enum compile_lock_file_state probe(void)
{
	return compile_lock_seen_from_outside(compile_lock_key);
}

struct waiter {
	pthread_t thread;
	_Atomic pid_t id;
	enum compile_lock_file_state state;
	struct compile_lock_file file;
};

static void *wait_in_thread(void *context)
{
	struct waiter *waiter = context;

	atomic_store(&waiter->id, (pid_t)syscall(SYS_gettid));
	waiter->state = wait_for(&waiter->file);
	return NULL;
}

static void start_waiter(struct waiter *waiter)
{
	waiter->file = (struct compile_lock_file)COMPILE_LOCK_FILE_CLOSED;
	cr_assert_eq(pthread_create(&waiter->thread, NULL, wait_in_thread, waiter), 0);
	while (waiter->file.fd < 0) {
		sched_yield();
	}
	compile_lock_until_sleeping(&waiter->id);
}

static enum compile_lock_file_state end_waiter(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	return waiter->state;
}

Test(compile_lock_file, a_released_lock_can_be_taken_again)
{
	take();
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_file_release(&held);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN);
	expect_no_descriptor_left();
}

Test(compile_lock_file, a_key_whose_result_was_not_cached_is_not_locked)
{
	take();
	compile_lock_file_note(&held);
	compile_lock_file_release(&held);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_NOT_KEPT);
	cr_expect_eq(compile_lock_seen_from_outside(other_key), COMPILE_LOCK_FILE_TAKEN);
	expect_no_descriptor_left();
}

/* Locks bytes of the file like a process that compiles nothing. */
static int hold(off_t start, off_t length)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
	int fd = open(here.file, O_RDWR | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(fcntl(fd, F_OFD_SETLK, &range), 0);
	return fd;
}

Test(compile_lock_file, a_foreign_file_in_its_place_is_not_written)
{
	static const char thesis[] = "My thesis, chapter one.\n";
	char *found;
	size_t size;

	take_and_release();
	cr_assert(file_write(here.file, thesis, strlen(thesis)));
	cr_expect_eq(take_key(compile_lock_key, &held), COMPILE_LOCK_FILE_NONE);
	found = file_read(here.file, &size);
	cr_expect_str_eq(found, thesis);
	cr_expect_eq(size, strlen(thesis));
	free(found);
}

/* If the call waited, the test would time out. */
static void expect_nobody_waits_for(off_t start, off_t length)
{
	struct compile_lock_file waiter = COMPILE_LOCK_FILE_CLOSED;
	int fd;

	take_and_release();
	fd = hold(start < 0 ? held.place : start, length);
	cr_expect_eq(wait_for(&waiter), COMPILE_LOCK_FILE_GIVEN_UP);
	close(fd);
}

ROW(compile_lock_file, a_lock_on_the_whole_file_blocks_no_caller, expect_nobody_waits_for(0, 0))
ROW(compile_lock_file, a_lock_on_a_keys_first_byte_alone_blocks_no_caller, expect_nobody_waits_for(-1, 1))
ROW(compile_lock_file, a_lock_longer_than_any_code_blocks_no_caller, expect_nobody_waits_for(-1, HOLDER_CODE_MAX + 2))

Test(compile_lock_file, a_note_with_a_future_time_is_ignored)
{
	const int64_t future = compile_lock_far();
	int64_t note[2] = {0};
	off_t at = 0;
	int fd;

	take();
	compile_lock_file_note(&held);
	compile_lock_file_release(&held);
	fd = open(here.file, O_RDWR | O_CLOEXEC);
	while (pread(fd, note, sizeof(note), at) == sizeof(note) && note[0] != (int64_t)held.tag) {
		at += (off_t)sizeof(note);
	}
	cr_assert_eq(note[0], (int64_t)held.tag);
	cr_assert_eq(pwrite(fd, &future, sizeof(future), at + (off_t)sizeof(note[0])), sizeof(future));
	close(fd);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN);
}

/* Starts a process that takes the key, reports it, and calls `then`. */
static pid_t start_holder(void (*then)(struct compile_lock_file *))
{
	int said[2];
	char byte;
	pid_t child;

	cr_assert_eq(pipe(said), 0);
	child = fork();
	if (child == 0) {
		struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;
		enum compile_lock_file_state state = take_key(compile_lock_key, &file);

		(void)!write(said[1], state == COMPILE_LOCK_FILE_TAKEN ? "y" : "n", 1);
		alarm(300);
		then(&file);
		_exit(0);
	}
	cr_assert_eq(read(said[0], &byte, 1), 1);
	cr_assert_eq(byte, 'y');
	close(said[0]);
	close(said[1]);
	return child;
}

static void stay(struct compile_lock_file *file)
{
	pause();
}

static int leash[2];

/* The grandchild lives until the test closes the leash. */
static void leave_a_child(struct compile_lock_file *file)
{
	char byte;

	close(leash[1]);
	if (fork() == 0) {
		(void)!read(leash[0], &byte, 1);
		_exit(0);
	}
	kill(getpid(), SIGKILL);
	stay(file);
}

static void end(pid_t process)
{
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
}

Test(compile_lock_file, a_process_that_hangs_is_not_waited_for)
{
	pid_t holder = start_holder(stay);
	struct waiter waiter = {0};

	start_waiter(&waiter);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_GIVEN_UP);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
	end(holder);
}

/* The child was forked without handlers, and inherited the lock with the descriptor. */
Test(compile_lock_file, a_dead_holder_with_a_living_child_is_not_waited_for)
{
	struct waiter waiter = {0};
	pid_t holder;

	cr_assert_eq(pipe(leash), 0);
	holder = start_holder(leave_a_child);
	cr_assert_eq(waitpid(holder, NULL, 0), holder);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
	start_waiter(&waiter);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_GIVEN_UP);
	close(leash[1]);
	close(leash[0]);
}

/* The child that inherits the lock does nothing, and lives longer. */
Test(compile_lock_file, an_inherited_descriptor_does_not_hold_a_released_lock)
{
	int told[2];
	struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;
	char byte;
	pid_t child;

	cr_assert_eq(take_key(compile_lock_key, &file), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(pipe(leash), 0);
	cr_assert_eq(pipe(told), 0);
	child = fork();
	if (child == 0) {
		close(leash[1]);
		(void)!write(told[1], "y", 1);
		(void)!read(leash[0], &byte, 1);
		_exit(0);
	}
	cr_assert_eq(read(told[0], &byte, 1), 1);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP, "the child unlocked it");
	compile_lock_file_release(&file);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN, "the child keeps it locked");
	close(leash[1]);
	waitpid(child, NULL, 0);
}

Test(compile_lock_file, a_descriptor_number_reused_by_the_host_is_not_touched)
{
	struct compile_lock_file other = COMPILE_LOCK_FILE_CLOSED;
	struct compile_lock_file copy;

	take();
	cr_assert_eq(dup3(STDIN_FILENO, held.fd, O_CLOEXEC), held.fd);
	memcpy(&copy, &held, sizeof(copy));
	compile_lock_file_release(&copy);
	cr_expect_eq(fcntl(held.fd, F_GETFD), FD_CLOEXEC);
	close(held.fd);
	/* nor is another lock that got this number */
	cr_assert_eq(take_key(other_key, &other), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(other.fd, held.fd);
	compile_lock_file_release(&held);
	cr_expect_eq(compile_lock_seen_from_outside(other_key), COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_file_release(&other);
	expect_no_descriptor_left();
}

/* Between a look at the descriptor and a write, another thread may close it, and open other files. */
Test(compile_lock_file, the_files_that_a_host_opens_after_closefrom_get_other_numbers)
{
	struct rlimit limit;
	int files[100], number;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	skip_unless(limit.rlim_cur >= 1024, "the limit of descriptors is below 1024");
	take();
	number = held.fd;
	cr_assert_eq(close_range((unsigned)number, ~0u, 0), 0);
	for (size_t i = 0; i < COUNT(files); i++) {
		files[i] = dup(STDIN_FILENO);
		cr_expect_lt(files[i], number);
	}
	compile_lock_file_release(&held);
	for (size_t i = 0; i < COUNT(files); i++) {
		close(files[i]);
	}
}

Test(compile_lock_file, in_a_low_limit_the_file_stays_where_it_is)
{
	const struct rlimit limit = {400, 400};

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	take();
	cr_expect_lt(held.fd, 400);
	compile_lock_file_release(&held);
}

Test(compile_lock_file, a_waiter_whose_descriptor_the_host_reused_stops_waiting)
{
	struct waiter waiter = {0};
	int number;

	take();
	number = held.fd + 1; /* the lowest free number */
	start_waiter(&waiter);
	cr_assert_eq(dup2(STDIN_FILENO, number), number);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_ENDED);
	cr_expect_geq(fcntl(number, F_GETFD), 0);
	close(number);
	compile_lock_file_release(&held);
}

static int take_without_standard_descriptors(void)
{
	for (int i = 0; i < 3; i++) {
		close(i);
	}
	return take_key(compile_lock_key, &held) == COMPILE_LOCK_FILE_TAKEN && held.fd > 2 && fcntl(0, F_GETFD) < 0 &&
	               fcntl(held.fd, F_GETFD) == FD_CLOEXEC
	           ? 0
	           : 1;
}

Test(compile_lock_file, the_file_never_gets_a_standard_descriptor)
{
	cr_expect_eq(in_child(take_without_standard_descriptors()), 0);
}

Test(compile_lock_file, the_last_descriptors_are_left_to_the_host)
{
	struct rlimit before, few;
	enum compile_lock_file_state state;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 200;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	state = take_key(compile_lock_key, &held);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect_eq(state, COMPILE_LOCK_FILE_NONE);
	take_and_release();
}

static mode_t mode_made(bool shared)
{
	struct stat found = {0};
	mode_t before = umask(0);

	here.directory.shared = shared;
	take_and_release();
	umask(before);
	cr_assert_eq(stat(here.file, &found), 0);
	return found.st_mode & 07777;
}

ROW(compile_lock_file, the_file_has_mode_0600, cr_expect_eq(mode_made(false), 0600))
ROW(compile_lock_file, in_a_shared_directory_the_file_has_mode_0660, cr_expect_eq(mode_made(true), 0660))

static void expect_no_lock(const char *why)
{
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_NONE, "%s", why);
	(void)remove(here.file);
}

Test(compile_lock_file, an_untrusted_file_or_directory_gives_no_lock)
{
	take_and_release();
	cr_assert_eq(chmod(here.file, 0666), 0);
	expect_no_lock("others can write the file");
	cr_assert_eq(symlink("../CACHEDIR.TAG", here.file), 0);
	expect_no_lock("a symbolic link");
	cr_assert_eq(mkfifo(here.file, 0600), 0);
	expect_no_lock("a pipe");
	cr_assert_eq(mkdir(here.file, 0700), 0);
	expect_no_lock("a directory");
	cr_assert_eq(chmod(here.path, 0777), 0);
	expect_no_lock("others can write the directory");
	here.directory.path = "/dev/null/nowhere";
	expect_no_lock("no directory");
	here.directory.path = "/proc/nvrtccache";
	expect_no_lock("one that cannot be made");
	expect_no_descriptor_left();
}
