/* SPDX-License-Identifier: MIT */
/*
 * The facts are read for the calling thread, not the process: capabilities, labels and effective ids can differ
 * between threads.
 */
#include "keygen/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#define GROUPS_KNOWN 256
#define LABEL_BYTES  512

struct facts {
	uint64_t user;
	uint64_t group;
	uint64_t space; /* user namespace */
	struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
	gid_t groups[GROUPS_KNOWN];
	char label[LABEL_BYTES];
};

/*
 * Reads the label that SELinux or AppArmor gave the thread. If the kernel has neither, later calls do not ask again.
 * Returns false if there may be a label and it cannot be read whole.
 */
static bool read_label(char ret_label[LABEL_BYTES])
{
	static _Atomic bool unlabelled;
	ssize_t size;
	int file;

	if (atomic_load_explicit(&unlabelled, memory_order_relaxed)) {
		return true;
	}
	file = open("/proc/thread-self/attr/current", O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		atomic_store_explicit(&unlabelled, errno == ENOENT, memory_order_relaxed);
		return errno == ENOENT;
	}
	size = read(file, ret_label, LABEL_BYTES);
	if (size < 0 && errno == EINVAL) {
		atomic_store_explicit(&unlabelled, true, memory_order_relaxed);
		size = 0;
	}
	(void)close(file);
	return size >= 0 && size < LABEL_BYTES;
}

void credentials_look(struct credentials *ret_credentials)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct facts facts;
	struct stat space;
	XXH128_hash_t hash;
	bool known = true;
	int count;

	/* Cleared, because the padding is hashed too. */
	memset(&facts, 0, sizeof(facts));
	facts.user = geteuid();
	facts.group = getegid();
	count = getgroups(GROUPS_KNOWN, facts.groups);
	known = count >= 0 && syscall(SYS_capget, &header, facts.capabilities) == 0 && read_label(facts.label) &&
	        stat("/proc/self/ns/user", &space) == 0;
	facts.space = known ? (uint64_t)space.st_ino : 0;
	hash = XXH3_128bits(&facts, sizeof(facts));
	memcpy(ret_credentials->who, &hash, sizeof(ret_credentials->who));
	ret_credentials->confined = !known || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0;
}
