/* SPDX-License-Identifier: MIT */
#include "keygen/digest.h"
#include "tests/unit/support.h"

#include <sys/auxv.h>
#include <sys/prctl.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

Test(secret, two_secrets_differ_in_every_part)
{
	struct secret one, other;

	cr_assert_eq(digest_random_secret(&one), 0);
	cr_assert_eq(digest_random_secret(&other), 0);
	for (size_t at = 0; at + 8 <= SECRET_BYTES; at += 8) {
		cr_assert_neq(memcmp(one.low + at, other.low + at, 8), 0);
		cr_assert_neq(memcmp(one.high + at, other.high + at, 8), 0);
		cr_assert_neq(memcmp(one.low + at, one.high + at, 8), 0);
	}
}

/* Makes getrandom fail with ENOSYS in this process. Returns false if seccomp filters are not allowed here. */
static bool refuse_getrandom(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = COUNT(filter), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Test(secret, without_getrandom_the_secret_comes_from_at_random)
{
	const void *started_with = (const void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
	struct secret secret, expected;
	uint8_t byte;

	skip_unless(refuse_getrandom() && syscall(SYS_getrandom, &byte, 1, 0) == -1,
	            "system calls cannot be refused here");
	digest_secret(started_with, 16, &expected);
	cr_assert_eq(digest_random_secret(&secret), 0);
	cr_assert_eq(memcmp(&secret, &expected, sizeof(secret)), 0);
}
