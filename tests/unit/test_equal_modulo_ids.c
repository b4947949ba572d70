/* SPDX-License-Identifier: MIT */
/* Compares results except for the ids that NVRTC generates in each process. */
#include "interpose/compile/result.h"
#include "tests/unit/support.h"

static bool alike(const char *a, const char *b)
{
	return equal_modulo_ids(a, strlen(a) + 1, b, strlen(b) + 1);
}

Test(equal_modulo_ids, module_ids_of_other_processes_count_as_equal)
{
	cr_assert(alike("x_1f2e3d4c_12345 y", "x_a1b2c3d4_54321 y"));
	cr_assert(alike("x_1f2e3d4c_999 y", "x_1f2e3d4c_1000 y"));
	cr_assert_not(alike("x_1f2e3d4c_999 y", "x_1f2e3d4c_999 z"));
	cr_assert_not(alike("x_1f2e3d4_999 y", "x_1f2e3d5_999 y"), "seven digits are no module id");
}

static bool hidden(const char *a, const char *b)
{
	return differ_by_hidden_ids(a, strlen(a) + 1, b, strlen(b) + 1);
}

Test(equal_modulo_ids, ids_of_different_lengths_may_hide_equality)
{
	cr_assert(
	    hidden("_ZN40_GLOBAL__N__00000000_4_1f2e3d4c_9991kE", "_ZN41_GLOBAL__N__00000000_4_a1b2c3d4_10001kE"));
	cr_assert_not(hidden("x_1f2e3d4c_999 y", "x_a1b2c3d4_888 z"), "as long as the other");
	cr_assert_not(hidden("_ZN3foo1kE", "_ZN4foox1kE"), "no module id");
	cr_assert_not(hidden("x_1f2e3d4c_999 y", "y"), "in one alone");
}

Test(equal_modulo_ids, sealed_artifacts_and_debug_information_may_hide_ids)
{
	cr_assert(hidden("\xed\x43\x4e\x7f one", "\xed\x43\x4e\x7f other"));
	cr_assert(hidden("a.debug_info b", "a.debug_info c"));
	cr_assert_not(hidden("a.debug_info b", "c"));
}

Test(equal_modulo_ids, call_numbers_and_compile_times_count_as_equal)
{
	cr_assert(alike("// callseq 9, 0\n", "// callseq 10, 0\n"));
	cr_assert(alike("Compile time = 1.871 ms", "Compile time = 12.3 ms"));
	cr_assert_not(alike("Compile time = 1.871 ms", "Compile time = 1.871 s"));
}
