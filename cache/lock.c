/* SPDX-License-Identifier: MIT */
/* A wait is a loop of tries and pauses. After a wait that timed out, the whole process stops waiting for a while. */
#include "cache/lock.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/statfs.h>

#define LOCK_NAME     "lock"
#define LOCK_PAUSE_US 500 /* a store holds the lock of its key for about as long */

/* EINTR counts as held, so that lock_bytes() tries again after a pause. */
static bool is_held(void)
{
	return errno == EAGAIN || errno == EACCES || errno == EINTR;
}

/*
 * Open-file-description locks belong to the open file. Classic POSIX locks belong to the process: a host that closes
 * any descriptor of the file would release them.
 */
static int set_lock(int file, struct lock_range range, short type)
{
	struct flock flock = {.l_type = type, .l_whence = SEEK_SET, .l_start = range.at, .l_len = range.size};

	return fcntl(file, F_OFD_SETLK, &flock);
}

/*
 * Not F_OFD_SETLKW: it would wait without limit for a stopped process, and a timer that ends the wait needs a signal,
 * which the host would receive. The clock ends it: a pause may take much longer than asked for (timer slack, load).
 */
enum lock_result lock_bytes(int file, struct lock_range range, unsigned wait_us)
{
	int64_t now, deadline = 0;

	while (set_lock(file, range, F_WRLCK) < 0) {
		if (!is_held()) {
			return LOCK_NONE;
		}
		now = call_clock_straight();
		deadline = deadline ? deadline : now + wait_us * INT64_C(1000);
		if (now >= deadline) {
			return LOCK_HELD;
		}
		call_pause(LOCK_PAUSE_US * 1000L);
	}
	return LOCK_TAKEN;
}

void lock_release_bytes(int file, struct lock_range range)
{
	(void)set_lock(file, range, F_UNLCK);
}

/*
 * A process that is stopped while it holds a lock (a lock of another program on the whole file) must cost each process
 * one wait, not one per store. After a wait that timed out, no thread waits until a lock was acquired at once.
 */
static _Atomic bool impatient;

/*
 * A lock file that cannot be opened is treated like a file system without locks, because storing without a lock is
 * better than not storing. Two keys rarely share a byte. If they do, their holders only wait for each other.
 */
int lock_take(const struct directory *directory, int home, const uint8_t *key, unsigned wait_us, int *ret_lock)
{
	const bool waits = wait_us > 0 && !atomic_load_explicit(&impatient, memory_order_relaxed);
	uint64_t byte = LOCK_EVICTION;
	enum lock_result result;
	int lock;

	*ret_lock = -1;
	if (directory_open_file(directory, home, LOCK_NAME, O_RDWR | O_CREAT, &lock, NULL) < 0) {
		return 0;
	}
	if (key) {
		memcpy(&byte, key, sizeof(byte));
		byte >>= 2; /* below LOCK_EVICTION */
	}
	result = lock_bytes(lock, (struct lock_range){(off_t)byte, 1}, waits ? wait_us : 0);
	if (wait_us > 0 && result != LOCK_NONE) {
		atomic_store_explicit(&impatient, result == LOCK_HELD, memory_order_relaxed);
	}
	if (result != LOCK_TAKEN) {
		close(lock);
		return result == LOCK_HELD ? -EAGAIN : 0;
	}
	*ret_lock = lock;
	return 0;
}

void lock_release(int lock)
{
	if (lock >= 0) {
		lock_release_bytes(lock, LOCK_WHOLE);
		close(lock);
	}
}

/* The magic number of statfs(2) decides, because no system call reports whether locks are local. */
bool lock_is_remote(int file)
{
	/* NFS, SMB, CIFS, SMB2, FUSE, Lustre, GPFS, AFS, kAFS, Coda, NCP, 9P, Ceph, OCFS2, GFS2, BeeGFS, PanFS,
	 * VirtualBox, OrangeFS, VMware, Parallels, StorNext, IBRIX, ACFS */
	static const uint32_t kinds[] = {
	    0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546, 0x0bd00bd0, 0x47504653, 0x5346414f,
	    0x6b414653, 0x73757245, 0x564c,     0x01021997, 0x00c36400, 0x7461636f, 0x01161970, 0x19830326,
	    0xaad7aaea, 0x786f4256, 0x20030528, 0xbacbacbc, 0x7c7c6673, 0xbeefdead, 0x013111a8, 0x61636673,
	};
	struct statfs found;

	if (fstatfs(file, &found) < 0) {
		return true;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((uint32_t)found.f_type == kinds[i]) {
			return true;
		}
	}
	return false;
}
