/* SPDX-License-Identifier: MIT */
#include "tests/unit/compile_lock_fixture.h"

TestSuite(compile_lock_file, .init = compile_lock_set_up, .fini = compile_lock_tear_down, .timeout = 300);

static struct compile_lock_file held; /* by each test */

static enum compile_lock_file_state take_key(const uint8_t *key, enum compile_lock_file_patience patience,
                                             struct compile_lock_file *ret_file)
{
	return compile_lock_file_acquire(&here.directory, key, compile_lock_far(), patience, ignore, NULL, ret_file);
}

/* Takes the lock without waiting. */
static enum compile_lock_file_state take(struct compile_lock_file *ret_file)
{
	return take_key(compile_lock_key, COMPILE_LOCK_FILE_TRY, ret_file);
}

static void take_and_release(enum compile_lock_file_outcome outcome)
{
	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	compile_lock_file_release(&held, outcome);
}

static enum compile_lock_file_state probe(void)
{
	struct compile_lock_file file;
	enum compile_lock_file_state state = take(&file);

	if (state == COMPILE_LOCK_FILE_TAKEN) {
		compile_lock_file_release(&file, COMPILE_LOCK_FILE_ENDED_WITHOUT);
	}
	return state;
}

struct waiter {
	pthread_t thread;
	_Atomic pid_t id;
	enum compile_lock_file_state state;
	struct compile_lock_file file;
};

static void say_opened(void *context, const struct compile_lock_file *file)
{
	struct waiter *waiter = context;

	atomic_store(&waiter->id, file->fd >= 0 ? (pid_t)syscall(SYS_gettid) : 0);
}

static void *wait_in_thread(void *context)
{
	struct waiter *waiter = context;

	waiter->state = compile_lock_file_acquire(&here.directory, compile_lock_key, compile_lock_far(), true,
	                                          say_opened, waiter, &waiter->file);
	return NULL;
}

static void start_waiter(struct waiter *waiter)
{
	cr_assert_eq(pthread_create(&waiter->thread, NULL, wait_in_thread, waiter), 0);
	compile_lock_until_sleeping(&waiter->id);
}

static enum compile_lock_file_state end_waiter(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	return waiter->state;
}

Test(compile_lock_file, a_released_lock_can_be_taken_again)
{
	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN);
	expect_no_descriptor_left();
}

static void release_to_waiters(enum compile_lock_file_outcome how, enum compile_lock_file_state expected)
{
	struct waiter waiters[3] = {0};

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	for (int i = 0; i < 3; i++) {
		start_waiter(&waiters[i]);
	}
	compile_lock_file_release(&held, how);
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(end_waiter(&waiters[i]), expected);
	}
}

Test(compile_lock_file, waiters_learn_that_the_result_was_cached)
{
	release_to_waiters(COMPILE_LOCK_FILE_ENDED_KEPT, COMPILE_LOCK_FILE_KEPT);
	expect_no_descriptor_left();
}

Test(compile_lock_file, waiters_and_later_callers_learn_that_the_result_was_not_cached)
{
	release_to_waiters(COMPILE_LOCK_FILE_ENDED_NOT_KEPT, COMPILE_LOCK_FILE_NOT_KEPT);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_NOT_KEPT);
	cr_expect_eq(take_key(other_key, COMPILE_LOCK_FILE_TRY, &held), COMPILE_LOCK_FILE_TAKEN);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
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

static off_t place_of(const uint8_t *key)
{
	uint64_t place;

	memcpy(&place, key, sizeof(place));
	return (off_t)(place >> 2);
}

Test(compile_lock_file, a_foreign_file_in_its_place_is_not_written)
{
	static const char thesis[] = "My thesis, chapter one.\n";
	char *found;
	size_t size;

	take_and_release(COMPILE_LOCK_FILE_ENDED_KEPT);
	cr_assert(file_write(here.file, thesis, strlen(thesis)));
	cr_expect_eq(take(&held), COMPILE_LOCK_FILE_NONE);
	found = file_read(here.file, &size);
	cr_expect_str_eq(found, thesis);
	cr_expect_eq(size, strlen(thesis));
	free(found);
}

/* If these calls waited, the test would time out. */
Test(compile_lock_file, a_lock_on_the_whole_file_blocks_no_caller, .timeout = 60)
{
	int fd;

	take_and_release(COMPILE_LOCK_FILE_ENDED_WITHOUT);
	fd = hold(0, 0);
	cr_expect_eq(take_key(compile_lock_key, COMPILE_LOCK_FILE_WAIT, &held), COMPILE_LOCK_FILE_GIVEN_UP);
	close(fd);
}

Test(compile_lock_file, a_lock_on_a_keys_byte_without_a_note_blocks_no_caller, .timeout = 60)
{
	struct compile_lock_file other;
	int fd;

	cr_assert_eq(take_key(other_key, COMPILE_LOCK_FILE_WAIT, &other), COMPILE_LOCK_FILE_TAKEN);
	fd = hold(place_of(compile_lock_key), 1);
	cr_expect_eq(take_key(compile_lock_key, COMPILE_LOCK_FILE_WAIT, &held), COMPILE_LOCK_FILE_GIVEN_UP,
	             "the note there is another key's");
	close(fd);
	compile_lock_file_release(&other, COMPILE_LOCK_FILE_ENDED_KEPT);
	fd = hold(place_of(compile_lock_key), 1);
	cr_expect_eq(take_key(compile_lock_key, COMPILE_LOCK_FILE_WAIT, &held), COMPILE_LOCK_FILE_GIVEN_UP);
	close(fd);
}

Test(compile_lock_file, keys_with_colliding_notes_get_different_slots)
{
	struct compile_lock_file other;
	unsigned found[2] = {0};
	uint64_t *notes;
	size_t size;

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(take_key(other_key, COMPILE_LOCK_FILE_WAIT, &other), COMPILE_LOCK_FILE_TAKEN);
	notes = file_read(here.file, &size);
	cr_assert_not_null(notes);
	for (size_t i = 0; i < size / sizeof(*notes); i++) {
		found[0] += notes[i] == held.tag;
		found[1] += notes[i] == other.tag;
	}
	free(notes);
	cr_expect(found[0] == 1 && found[1] == 1, "%u and %u notes", found[0], found[1]);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
	compile_lock_file_release(&other, COMPILE_LOCK_FILE_ENDED_KEPT);
}

Test(compile_lock_file, a_note_with_a_future_time_is_ignored)
{
	enum { SLOT = 64, ENDED = 16 };
	uint64_t future = (uint64_t)compile_lock_far();
	char slot[SLOT] = "";
	off_t at = SLOT; /* after the magic */
	int fd;

	take_and_release(COMPILE_LOCK_FILE_ENDED_NOT_KEPT);
	fd = open(here.file, O_RDWR | O_CLOEXEC);
	while (pread(fd, slot, 1, at) == 1 && slot[0] == 0) {
		at += SLOT;
	}
	cr_assert_eq(pwrite(fd, &future, sizeof(future), at + ENDED), sizeof(future));
	close(fd);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN);
}

Test(compile_lock_file, one_waiter_takes_over_a_lock_released_without_an_outcome)
{
	struct waiter waiters[4] = {0};
	bool seen[4] = {false};

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	for (int i = 0; i < 4; i++) {
		start_waiter(&waiters[i]);
	}
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_WITHOUT);
	for (int left = 4; left > 0;) {
		for (int i = 0; i < 4; i++) {
			if (seen[i] || pthread_tryjoin_np(waiters[i].thread, NULL) != 0) {
				continue;
			}
			seen[i] = true;
			left--;
			if (waiters[i].state == COMPILE_LOCK_FILE_TAKEN) {
				cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
				compile_lock_file_release(&waiters[i].file, COMPILE_LOCK_FILE_ENDED_WITHOUT);
			} else {
				cr_expect_eq(waiters[i].state, COMPILE_LOCK_FILE_OVER);
			}
		}
		sched_yield();
	}
	expect_no_descriptor_left();
}

Test(compile_lock_file, past_the_deadline_a_caller_does_not_wait)
{
	struct compile_lock_file mine;

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	cr_expect_eq(compile_lock_file_acquire(&here.directory, compile_lock_key, call_clock_straight(),
	                                       COMPILE_LOCK_FILE_WAIT, ignore, NULL, &mine),
	             COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
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
		struct compile_lock_file file;
		enum compile_lock_file_state state = take(&file);

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

static void stop_and_stay(struct compile_lock_file *file)
{
	raise(SIGSTOP);
	stay(file);
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

Test(compile_lock_file, a_killed_process_loses_the_lock)
{
	pid_t holder = start_holder(stay);
	struct waiter waiter = {0};

	start_waiter(&waiter);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP);
	end(holder);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_TAKEN);
	compile_lock_file_release(&waiter.file, COMPILE_LOCK_FILE_ENDED_KEPT);
}

Test(compile_lock_file, a_stopped_process_is_not_waited_for)
{
	pid_t holder = start_holder(stop_and_stay);
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
	cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_in_thread, &waiter), 0);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_GIVEN_UP);
	close(leash[1]);
	close(leash[0]);
}

/* A child inherits the lock and forgets it or does nothing. The parent releases it while the child still lives. */
static void with_child(bool forgets)
{
	int told[2];
	struct compile_lock_file file;
	char byte;
	pid_t child;

	cr_assert_eq(take(&file), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(pipe(leash), 0);
	cr_assert_eq(pipe(told), 0);
	child = fork();
	if (child == 0) {
		close(leash[1]);
		if (forgets) {
			compile_lock_file_forget(&file);
		}
		(void)!write(told[1], "y", 1);
		(void)!read(leash[0], &byte, 1);
		_exit(0);
	}
	cr_assert_eq(read(told[0], &byte, 1), 1);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_GIVEN_UP, "the child unlocked it");
	compile_lock_file_release(&file, COMPILE_LOCK_FILE_ENDED_WITHOUT);
	cr_expect_eq(probe(), COMPILE_LOCK_FILE_TAKEN, "the child keeps it locked");
	close(leash[1]);
	waitpid(child, NULL, 0);
}

ROW(compile_lock_file, forgetting_in_a_child_leaves_the_parents_lock, with_child(true))
ROW(compile_lock_file, an_inherited_descriptor_does_not_hold_a_released_lock, with_child(false))

Test(compile_lock_file, a_descriptor_number_reused_by_the_host_is_not_touched)
{
	struct compile_lock_file other, copy;

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(dup3(STDIN_FILENO, held.fd, O_CLOEXEC), held.fd);
	copy = held;
	compile_lock_file_release(&copy, COMPILE_LOCK_FILE_ENDED_KEPT);
	cr_expect_eq(fcntl(held.fd, F_GETFD), FD_CLOEXEC);
	close(held.fd);
	/* nor is another lock that got this number */
	cr_assert_eq(take_key(other_key, COMPILE_LOCK_FILE_TRY, &other), COMPILE_LOCK_FILE_TAKEN);
	cr_assert_eq(other.fd, held.fd);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
	cr_expect_eq(take_key(other_key, COMPILE_LOCK_FILE_TRY, &copy), COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_file_release(&other, COMPILE_LOCK_FILE_ENDED_KEPT);
	expect_no_descriptor_left();
}

Test(compile_lock_file, a_waiter_whose_descriptor_the_host_reused_stops_waiting)
{
	struct waiter waiter = {0};
	int number;

	cr_assert_eq(take(&held), COMPILE_LOCK_FILE_TAKEN);
	number = held.fd + 1; /* the lowest free number */
	start_waiter(&waiter);
	cr_assert_eq(dup2(STDIN_FILENO, number), number);
	cr_expect_eq(end_waiter(&waiter), COMPILE_LOCK_FILE_NONE);
	cr_expect_geq(fcntl(number, F_GETFD), 0);
	close(number);
	compile_lock_file_release(&held, COMPILE_LOCK_FILE_ENDED_KEPT);
}

static int take_without_standard_descriptors(void)
{
	for (int i = 0; i < 3; i++) {
		close(i);
	}
	return take(&held) == COMPILE_LOCK_FILE_TAKEN && held.fd > 2 && fcntl(0, F_GETFD) < 0 &&
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
	state = take(&held);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect_eq(state, COMPILE_LOCK_FILE_NONE);
	take_and_release(COMPILE_LOCK_FILE_ENDED_KEPT);
}

static mode_t mode_made(bool shared)
{
	struct stat found = {0};
	mode_t before = umask(0);

	here.directory.shared = shared;
	take_and_release(COMPILE_LOCK_FILE_ENDED_KEPT);
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
	take_and_release(COMPILE_LOCK_FILE_ENDED_KEPT);
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
	here.directory.path = (char *)"/dev/null/nowhere";
	expect_no_lock("no directory");
	here.directory.path = (char *)"/proc/nvrtccache";
	expect_no_lock("one that cannot be made");
	expect_no_descriptor_left();
}
