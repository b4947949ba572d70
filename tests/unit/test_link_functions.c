/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/functions.h"
#include "interpose/nvjitlink/nodes.h"
#include "tests/unit/support.h"

/* Only the functions: the compiler's own table would link everything that it refers to, with our dlsym. */
static const struct compiler compiler = {.functions = nvjitlink_functions, .function_count = NVJITLINK_FUNCTION_COUNT};
struct node nvjitlink_nodes[NVJITLINK_NODE_COUNT] = {
#define NODE_ROW(id, soname, lowest, mark, ...) \
	[NVJITLINK_NODE_##id] = {.compiler = &compiler, .name = #soname, .floor = (lowest)},
    NVJITLINK_NODES(NODE_ROW, )
#undef NODE_ROW
};

static const struct node *const of_12 = &nvjitlink_nodes[NVJITLINK_NODE_12];
static const struct node *const of_13 = &nvjitlink_nodes[NVJITLINK_NODE_13];

Test(link_functions, names_are_recognized_by_their_prefix)
{
	EACH_STRING(name, cr_expect(nvjitlink_owns(name), "%s", name), "nvJitLinkCreate", "__nvJitLinkCreate_12_0",
	            "__nvJitLinkAPI", "nvJitLinkOfTheFuture");
	EACH_STRING(name, cr_expect_not(nvjitlink_owns(name), "%s", name), "nvJitLin", "_nvJitLinkCreate",
	            "nvrtcVersion", "");
}

Test(link_functions, a_name_with_any_release_suffix_matches)
{
	cr_expect(nvjitlink_names("nvJitLinkCreate", "nvJitLinkCreate"));
	cr_expect(nvjitlink_names("__nvJitLinkCreate_12_0", "nvJitLinkCreate"));
	cr_expect(nvjitlink_names("__nvJitLinkCreate_13_12", "nvJitLinkCreate"));
	cr_expect(nvjitlink_names("__nvJitLinkGetLinkedCubinSize_12_9", "nvJitLinkGetLinkedCubinSize"));
}

Test(link_functions, similar_names_do_not_match)
{
	EACH_STRING(name, cr_expect_not(nvjitlink_names(name, "nvJitLinkCreate"), "%s", name), "__nvJitLinkCreate",
	            "__nvJitLinkCreate_", "__nvJitLinkCreate_12", "__nvJitLinkCreate_12_", "__nvJitLinkCreate_12_x",
	            "__nvJitLinkCreate_x_1", "__nvJitLinkCreate_12_0_", "nvJitLinkCreate_12_0",
	            "__nvJitLinkCreateX_12_0", "__nvJitLinkCreate_12_0x", "__nvJitLinkCreat_12_0", "__");
	cr_expect_not(nvjitlink_names("__nvJitLinkGetLinkedCubinSize_12_9", "nvJitLinkGetLinkedCubin"));
}

Test(link_functions, each_soname_has_a_name_that_all_its_releases_export)
{
	cr_expect_str_eq(nvjitlink_name_on(of_12, FUNCTION_nvJitLinkComplete), "__nvJitLinkComplete_12_0");
	cr_expect_str_eq(nvjitlink_name_on(of_13, FUNCTION_nvJitLinkComplete), "nvJitLinkComplete");
	for (size_t i = 0; i < NVJITLINK_FUNCTION_COUNT; i++) {
		cr_expect(nvjitlink_names(nvjitlink_name_on(of_12, i), nvjitlink_functions[i].name));
		cr_expect(nvjitlink_names(nvjitlink_name_on(of_13, i), nvjitlink_functions[i].name));
	}
}

Test(link_functions, only_names_of_every_release_of_the_soname_are_exported)
{
	cr_expect(nvjitlink_exports(of_12, "__nvJitLinkCreate_12_0"));
	EACH_STRING(name, cr_expect_not(nvjitlink_exports(of_12, name), "%s", name), "__nvJitLinkCreate_12_1",
	            "__nvJitLinkCreate_12_8", "nvJitLinkCreate", "__nvJitLinkCreate_13_0");
	cr_expect(nvjitlink_exports(of_13, "nvJitLinkCreate"));
	cr_expect(nvjitlink_exports(of_13, "__nvJitLinkCreate_13_0"));
	EACH_STRING(name, cr_expect_not(nvjitlink_exports(of_13, name), "%s", name), "__nvJitLinkCreate_13_1",
	            "__nvJitLinkCreate_12_0", "nvJitLinkGetLinkedLTOIR", "__nvJitLinkGetLinkedLTOIR_13_0",
	            "nvJitLinkOfTheFuture");
}

Test(link_functions, every_function_except_the_version_getter_is_intercepted)
{
	cr_expect_not(nvjitlink_wants_door("nvJitLinkVersion"));
	cr_expect(nvjitlink_wants_door("nvJitLinkCreate"));
	cr_expect(nvjitlink_wants_door("nvJitLinkOfTheFuture"));
	cr_expect(nvjitlink_opens("__nvJitLinkAPI"));
	cr_expect_not(nvjitlink_opens("nvJitLinkCreate"));
}
