/* SPDX-License-Identifier: MIT */
#include "interpose/compilers.h"
#include "tests/unit/support.h"

static const struct compiler_function functions[] = {{"nvJitLinkComplete", 1200, 9999, NULL}};
static const struct compiler compiler = {.functions = functions, .function_count = COUNT(functions)};

Test(node, a_name_with_any_release_suffix_matches)
{
	cr_expect(node_names("nvJitLinkCreate", "nvJitLinkCreate"));
	cr_expect(node_names("__nvrtcCPEx", "__nvrtcCPEx"));
	cr_expect(node_names("__nvJitLinkCreate_12_0", "nvJitLinkCreate"));
	cr_expect(node_names("__nvJitLinkCreate_13_12", "nvJitLinkCreate"));
	cr_expect(node_names("__nvJitLinkGetLinkedCubinSize_12_9", "nvJitLinkGetLinkedCubinSize"));
}

Test(node, similar_names_do_not_match)
{
	EACH_STRING(name, cr_expect_not(node_names(name, "nvJitLinkCreate"), "%s", name), "__nvJitLinkCreate",
	            "__nvJitLinkCreate_", "__nvJitLinkCreate_12", "__nvJitLinkCreate_12_", "__nvJitLinkCreate_12_x",
	            "__nvJitLinkCreate_x_1", "__nvJitLinkCreate_12_0_", "nvJitLinkCreate_12_0",
	            "__nvJitLinkCreateX_12_0", "__nvJitLinkCreate_12_0x", "__nvJitLinkCreat_12_0", "__");
	cr_expect_not(node_names("__nvJitLinkGetLinkedCubinSize_12_9", "nvJitLinkGetLinkedCubin"));
}

Test(node, the_functions_of_a_node_with_a_suffix_have_names_with_it)
{
	const struct node with = {.compiler = &compiler, .suffix = "_12_0"}, without = {.compiler = &compiler};
	char room[NODE_NAME_BYTES];

	cr_expect_str_eq(node_name(&with, 0, room), "__nvJitLinkComplete_12_0");
	cr_expect_str_eq(node_name(&without, 0, room), "nvJitLinkComplete");
}
