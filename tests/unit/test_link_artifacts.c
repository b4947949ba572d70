/* SPDX-License-Identifier: MIT */
#include "interpose/compile/artifacts.h"
#include "interpose/compile/event.h"
#include "interpose/nvjitlink/link.h"
#include "interpose/nvjitlink/nodes.h"
#include "tests/unit/support.h"

#define TAG (RESULT_TAG_OWN + NVJITLINK_ARTIFACT_ErrorLog)

static struct section section_of(const char *bytes, size_t written, int value)
{
	return (struct section){TAG, value, bytes, written};
}

static struct entry *entry_of(const struct section *section)
{
	static const uint8_t key[ENTRY_KEY_BYTES];
	struct entry *entry;

	cr_assert_eq(entry_build(key, 0, NULL, 0, section, section ? 1 : 0, &entry), 0);
	return entry;
}

/* Expects what a host gets: the codes, the size, and the number of bytes written. */
static void expect(const struct section *section, int size_code, size_t size, int code, size_t written)
{
	struct entry *entry = entry_of(section);
	char bytes[32];
	size_t told = 42, given = sizeof(bytes);

	memset(bytes, '?', sizeof(bytes));
	cr_expect_eq(artifact_get(&nvjitlink_compiler, entry, NVJITLINK_ARTIFACT_ErrorLog, GETTER_SIZE, &told),
	             size_code);
	cr_expect_eq(told, size);
	cr_expect_eq(artifact_get(&nvjitlink_compiler, entry, NVJITLINK_ARTIFACT_ErrorLog, GETTER_BYTES, bytes), code);
	while (given > 0 && bytes[given - 1] == '?') {
		given--;
	}
	cr_expect_eq(given, written, "%zu", given);
	entry_unref(entry);
}

Test(link_artifacts, the_host_gets_the_recorded_size_bytes_and_codes)
{
	struct section section = section_of("text", 5, 0);

	expect(&section, 0, 5, 0, 5);
	section = section_of("text", 4, 1 << 17); /* 12.0 leaves the NUL out */
	expect(&section, 0, 5, 0, 4);
	section = section_of("", 1, 1 << 16); /* and other releases write a NUL if there is no text */
	expect(&section, 0, 0, 0, 1);
	section = section_of("", 0, 6 | 5 << 8);
	expect(&section, 6, 42, 5, 0);
}

Test(link_artifacts, no_more_bytes_are_written_than_the_size_getter_returned)
{
	struct section section = section_of("text", 2, 1 << 16);

	expect(&section, NVJITLINK_INTERNAL, 42, NVJITLINK_INTERNAL, 0);
	section = section_of("text", 5, 6); /* the size getter failed, so a host knows no size */
	expect(&section, 6, 42, 0, 0);
	section = section_of("text", 5, 5 << 8);
	expect(&section, 0, 5, 5, 0);
}

Test(link_artifacts, a_missing_artifact_is_an_error)
{
	expect(NULL, NVJITLINK_INTERNAL, 42, NVJITLINK_INTERNAL, 0);
}

Test(link_artifacts, a_null_pointer_returns_the_code_of_the_release)
{
	struct library library = {.major = 12};
	const struct handle handle = {.library = &library};

	cr_expect_eq(nvjitlink_compiler.no_room(&handle), NVJITLINK_INVALID_INPUT);
	library.major = 13;
	cr_expect_eq(nvjitlink_compiler.no_room(&handle), NVJITLINK_NULL_INPUT);
}

static bool explains(const struct link *link, const char *log)
{
	struct result result = {.count = 1};

	result.sections[0] = section_of(log, strlen(log) + 1, 0);
	return nvjitlink_compiler.explains_failure(&link->handle, &result);
}

Test(link_artifacts, an_error_in_the_log_other_than_no_memory_explains_a_failure)
{
	const struct link link = {.has_failed = false};

	cr_expect(explains(&link, "error: it is broken"));
	cr_expect(explains(&link, "fatal   : no"));
	EACH_STRING(log, cr_expect_not(explains(&link, log), "%s", log), "", "warning: something",
	            "error: out of memory", "error: std::bad_alloc");
	cr_expect_not(nvjitlink_compiler.explains_failure(&link.handle, &(struct result){.count = 0}));
}

Test(link_artifacts, after_a_failed_input_the_log_explains_nothing)
{
	const struct link link = {.has_failed = true};

	cr_expect_not(explains(&link, "error: of that input"));
}

static const char *logged[2]; /* errors, information */

#define LOG_GETTERS(which, index)                                      \
	static int which##_size(void *handle, size_t *size)            \
	{                                                              \
		*size = logged[index] ? strlen(logged[index]) + 1 : 0; \
		return 0;                                              \
	}                                                              \
	static int which##_bytes(void *handle, void *bytes)            \
	{                                                              \
		strcpy(bytes, logged[index] ? logged[index] : "");     \
		return 0;                                              \
	}
LOG_GETTERS(error, 0)
LOG_GETTERS(information, 1)

static bool refuses(const struct link *link)
{
	struct event event = {0};

	return nvjitlink_compiler.refuses(&link->handle, NULL, &event) == COUNTER_BYPASSED_logs;
}

static bool may_name(const char *errors, const char *information)
{
	struct library library = {.major = 13};
	struct link link = {.handle.library = &library, .keeps_names = true};

	library.real[FUNCTION_nvJitLinkGetErrorLogSize] = (real_function *)error_size;
	library.real[FUNCTION_nvJitLinkGetErrorLog] = (real_function *)error_bytes;
	library.real[FUNCTION_nvJitLinkGetInfoLogSize] = (real_function *)information_size;
	library.real[FUNCTION_nvJitLinkGetInfoLog] = (real_function *)information_bytes;
	logged[0] = errors;
	logged[1] = information;
	return refuses(&link);
}

Test(link_artifacts, a_log_of_known_harmless_lines_names_no_earlier_input)
{
	cr_expect_not(may_name(NULL, NULL));
	cr_expect_not(may_name("", ""));
	cr_expect_not(may_name("ptxas fatal   : no\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (name)\n", NULL));
	cr_expect_not(may_name(NULL, "INFO: NVVM70 LTOIR Container created (2148 bytes)\nptxas warning : no\n"));
	cr_expect(may_name("error   : Undefined reference to 'f' in 'name'\nERROR 9: finish\n", NULL));
	cr_expect(may_name("ptxas fatal   : no\nerror   : Undefined reference to 'f' in 'name'\n", NULL));
	cr_expect(may_name(NULL, "ptxas info    : 0 bytes gmem\nsomething else\n"));
}

Test(link_artifacts, an_unreadable_log_may_name_any_input)
{
	struct library library = {.major = 13, .node = nvjitlink_compiler.nodes};
	const struct link link = {.handle.library = &library, .keeps_names = true};

	cr_assert(elf_object_at((uintptr_t)entry_of, &library.object)); /* this program, which has no such getters */
	cr_expect(refuses(&link));
}
