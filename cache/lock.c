/* SPDX-License-Identifier: MIT */
#include "cache/lock.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#define LOCK_NAME         "lock"
#define LOCK_SLEEP_MIN_US 100
#define LOCK_SLEEP_MAX_US 5000

static uint64_t byte_of(const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t byte;

	memcpy(&byte, key, sizeof(byte));
	return byte >> 2; /* below LOCK_USAGE_INDEX */
}

static int set_range(int lock, uint64_t byte, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};

	return call_lock(lock, F_OFD_SETLK, &range);
}

static bool is_held(void)
{
	return errno == EAGAIN || errno == EACCES || errno == EINTR;
}

/*
 * Who stands still with a lock (a stopped `prune`, a stranger's lock on the whole file) must cost a process one wait,
 * and not one in each of its stores: after a wait in vain nobody waits until a lock of that kind was had.
 */
enum lock_kind { LOCK_OF_KEY, LOCK_OF_USAGE_INDEX, LOCK_KINDS };
static _Atomic bool impatient[LOCK_KINDS];

static void lose_patience(void)
{
	for (int kind = 0; kind < LOCK_KINDS; kind++) {
		atomic_store_explicit(&impatient[kind], true, memory_order_relaxed);
	}
}

enum taken { TAKEN, HELD, NO_LOCKS };

static enum taken take(int lock, uint64_t byte, unsigned wait_us)
{
	_Atomic bool *tired = &impatient[byte < LOCK_USAGE_INDEX ? LOCK_OF_KEY : LOCK_OF_USAGE_INDEX];
	long pause_us = LOCK_SLEEP_MIN_US;
	unsigned waited_us = 0;

	while (set_range(lock, byte, F_WRLCK) < 0) {
		if (!is_held()) {
			return NO_LOCKS;
		}
		if (waited_us >= wait_us || atomic_load_explicit(tired, memory_order_relaxed)) {
			if (wait_us > 0) {
				lose_patience();
			}
			return HELD;
		}
		call_pause(pause_us * 1000);
		waited_us += (unsigned)pause_us;
		if (pause_us < LOCK_SLEEP_MAX_US) {
			pause_us *= 2;
		}
	}
	atomic_store_explicit(tired, false, memory_order_relaxed);
	return TAKEN;
}

int lock_take(const struct directory *directory, int home, uint64_t byte, unsigned wait_us, int *ret_lock)
{
	enum taken taken;
	int lock = -1;

	if (directory_open_file(directory, home, LOCK_NAME, O_RDWR | O_CREAT, &lock) < 0) {
		*ret_lock = -1;
		return 0;
	}
	taken = take(lock, byte, wait_us);
	if (taken != TAKEN) {
		call_close(lock);
		lock = -1;
	}
	if (taken == HELD) {
		return -EAGAIN;
	}
	*ret_lock = lock;
	return 0;
}

int lock_take_key(const struct directory *directory, int home, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us,
                  int *ret_lock)
{
	return lock_take(directory, home, byte_of(key), wait_us, ret_lock);
}

void lock_begin(const struct directory *directory, int home, int *ret_lock)
{
	if (directory_open_file(directory, home, LOCK_NAME, O_RDWR | O_CREAT, ret_lock) < 0) {
		*ret_lock = -1;
	}
}

bool lock_add_key(int lock, const uint8_t key[ENTRY_KEY_BYTES])
{
	return lock < 0 || set_range(lock, byte_of(key), F_WRLCK) == 0 || !is_held();
}

bool lock_wait_key(int lock, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us)
{
	return lock < 0 || take(lock, byte_of(key), wait_us) != HELD;
}

void lock_release_key(int lock, const uint8_t key[ENTRY_KEY_BYTES])
{
	if (lock >= 0) {
		(void)set_range(lock, byte_of(key), F_UNLCK);
	}
}

void lock_release(int lock)
{
	struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	if (lock >= 0) {
		/* said aloud: a child forked meanwhile has the descriptor too, and closing ours would not release it */
		(void)call_lock(lock, F_OFD_SETLK, &all);
		call_close(lock);
	}
}
