/* SPDX-License-Identifier: MIT */
#include "keygen/credentials.h"
#include "tests/unit/support.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static bool changes_who(bool (*change)(void))
{
	struct credentials before, after;

	credentials_look(&before);
	cr_assert(change());
	credentials_look(&after);
	return memcmp(before.who, after.who, sizeof(before.who)) != 0;
}

static bool change_nothing(void)
{
	return true;
}

static bool change_file_user(void)
{
	(void)setfsuid(7);
	return setfsuid(-1) == 7;
}

static bool change_file_group(void)
{
	(void)setfsgid(7);
	return setfsgid(-1) == 7;
}

static bool change_groups(void)
{
	const gid_t groups[] = {7, 8};

	return setgroups(2, groups) == 0;
}

static struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

static bool drop_effective(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0) {
		return false;
	}
	data[0].effective &= ~(1u << CAP_DAC_READ_SEARCH) & ~(1u << CAP_DAC_OVERRIDE);
	return syscall(SYS_capset, &header, data) == 0;
}

static bool write_map(const char *path, const char *map)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool written = write(file, map, strlen(map)) == (ssize_t)strlen(map);

	return close(file) == 0 && written;
}

/* Root of the new namespace has the ids and the capabilities that it had in the old one. */
static bool enter_user_namespace(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, data) == 0 && unshare(CLONE_NEWUSER) == 0 &&
	       write_map("/proc/self/uid_map", "0 0 1") && write_map("/proc/self/setgroups", "deny") &&
	       write_map("/proc/self/gid_map", "0 0 1") && syscall(SYS_capset, &header, data) == 0;
}

Test(credentials, a_thread_has_the_same_rights_as_before)
{
	cr_expect_not(changes_who(change_nothing));
}

/* setfsuid() changes the rights of a thread on files, and no other user id. */
Test(credentials, every_right_on_files_counts)
{
	skip_unless(geteuid() == 0, "only root can change them");
	cr_expect(changes_who(change_groups));
	cr_expect(changes_who(change_file_group));
	cr_expect(changes_who(drop_effective));
	cr_expect(changes_who(change_file_user));
}

/* A thread of its own would share the namespace with the others, so a child enters it. */
Test(credentials, the_same_ids_in_another_user_namespace_are_other_rights)
{
	struct credentials before, after;
	int status;
	pid_t child = fork();

	if (child == 0) {
		bool entered = setgroups(0, NULL) == 0;

		credentials_look(&before);
		entered = entered && enter_user_namespace();
		credentials_look(&after);
		_exit(!entered ? 2 : memcmp(before.who, after.who, sizeof(before.who)) == 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	skip_unless(WEXITSTATUS(status) != 2, "only root that may make user namespaces keeps its ids in one");
	cr_expect_eq(WEXITSTATUS(status), 0);
}

Test(credentials, a_thread_that_cannot_get_new_privileges_is_confined)
{
	struct credentials credentials;

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	credentials_look(&credentials);
	cr_expect(credentials.confined);
}
