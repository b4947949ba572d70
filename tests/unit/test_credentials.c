/* SPDX-License-Identifier: MIT */
#include "keygen/credentials.h"
#include "tests/unit/support.h"

#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

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

static bool drop_effective(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) != 0) {
		return false;
	}
	data[0].effective &= ~(1u << CAP_DAC_READ_SEARCH) & ~(1u << CAP_DAC_OVERRIDE);
	return syscall(SYS_capset, &header, data) == 0;
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

Test(credentials, a_thread_that_cannot_get_new_privileges_is_confined)
{
	struct credentials credentials;

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	credentials_look(&credentials);
	cr_expect(credentials.confined);
}
