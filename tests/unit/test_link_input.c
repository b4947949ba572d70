/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/input.h"
#include "tests/unit/support.h"

#include <elf.h>

enum kind { UNKNOWN, COPIED, WORKED_ON };

static enum kind kind(int type, const void *bytes, size_t size)
{
	const struct link_input input = {.type = type, .data = (void *)(uintptr_t)bytes, .size = size};

	return !link_input_understood(&input) ? UNKNOWN : link_input_only_copied(&input) ? COPIED : WORKED_ON;
}

/* Returns the bytes at the end of a page; the next page is not readable. */
static const char *before_nothing(const char *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(mprotect(pages + page, page, PROT_NONE), 0);
	return memcpy(pages + page - size, bytes, size);
}

Test(link_input, cubins_and_lto_ir_are_only_copied)
{
	cr_expect_eq(kind(NVJITLINK_CUBIN, "anything", 8), COPIED);
	cr_expect_eq(kind(NVJITLINK_LTOIR, (const char[64]){"\xed\x43\x4e\x7f"}, 64), COPIED);
}

Test(link_input, lto_ir_shorter_than_its_head_is_left_to_nvjitlink)
{
	char ir[64] = "\xed\x43\x4e\x7f";

	cr_expect_eq(kind(NVJITLINK_LTOIR, ir, 63), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_ANY, ir, 63), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_ANY, ir, 64), WORKED_ON);
}

Test(link_input, inputs_without_bytes_are_left_to_nvjitlink)
{
	cr_expect_eq(kind(NVJITLINK_CUBIN, NULL, 8), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_PTX, "", 0), UNKNOWN);
}

Test(link_input, the_nul_of_a_text_is_found_inside_or_directly_after_it)
{
	static const char aligned[16] __attribute__((aligned(16))) = "ptx";

	cr_expect_eq(kind(NVJITLINK_PTX, "ptx", 4), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_ANY, aligned, 3), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_PTX, "ptx", 3), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_PTX, "ptx", 2), UNKNOWN);
}

/* The byte after `size` belongs to no object of the host, so it may not be read. */
Test(link_input, no_byte_after_a_binary_input_is_read)
{
	char *archive = strdup("!<arch>\nX"), *ir = strdup("\xed\x43\x4e\x7fX");

	cr_expect_eq(kind(NVJITLINK_ANY, archive, 8), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_ANY, ir, 4), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_CUBIN, "x", 1), COPIED);
	cr_expect_eq(kind(NVJITLINK_LIBRARY, archive, 8), WORKED_ON);
	free(archive);
	free(ir);
}

Test(link_input, for_no_type_the_next_page_is_read)
{
	EACH_STRING(known,
	            cr_expect_eq(kind(NVJITLINK_ANY, before_nothing(known, strlen(known)), strlen(known)), WORKED_ON),
	            "!<arch>\n", "!<thin>\n");
	EACH_STRING(known,
	            cr_expect_eq(kind(NVJITLINK_ANY, before_nothing(known, strlen(known)), strlen(known)), UNKNOWN),
	            "\xed\x43\x4e\x7f", "\x50\xed\x55\xba", ELFMAG);
	cr_expect_eq(kind(NVJITLINK_ANY, before_nothing("BC\xc0\xde", 4), 4), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_ANY, before_nothing("ptx", 4), 4), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_LIBRARY, before_nothing("!<arch>", 7), 7), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_CUBIN, before_nothing("x", 1), 1), COPIED);
}

Test(link_input, a_container_of_another_type_or_with_a_cut_member_is_left_to_nvjitlink)
{
	char cut[128] = "!<arch>\n", whole[128] = "!<arch>\n";

	snprintf(whole + 8, 100, "%-48s%-10u`\n", "/", 0);
	snprintf(cut + 8, 100, "%-48s%-10u`\n", "/", 1);
	cr_expect_eq(kind(NVJITLINK_LIBRARY, whole, 68), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_ANY, whole, 68), WORKED_ON);
	cr_expect_eq(kind(NVJITLINK_OBJECT, whole, 68), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_FATBIN, whole, 68), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_LIBRARY, cut, 68), UNKNOWN);
	cr_expect_eq(kind(NVJITLINK_ANY, cut, 68), UNKNOWN);
}

Test(link_input, unknown_types_are_left_to_nvjitlink)
{
	cr_expect_eq(kind(0, "x", 1), UNKNOWN);
	cr_expect_eq(kind(7, "x", 1), UNKNOWN);
	cr_expect_eq(kind(99, "x", 1), UNKNOWN);
}

/* Expects that a copied name is `said` after the host replaced "name" by `later`. */
static void expect_name(const char *later, const char *said)
{
	char memory[8192] = "name";
	const struct link_input from = {.type = NVJITLINK_PTX, .data = "ptx", .size = 4, .name = memory};
	struct link_input input;

	cr_assert(link_input_copy(&input, &from));
	cr_expect_str_eq(input.name_copy, "name");
	strcpy(memory, later);
	link_input_refresh_name(&input);
	cr_expect_str_eq(input.name_copy, said);
	link_input_free(&input);
}

Test(link_input, a_copied_name_is_refreshed_from_the_hosts_memory)
{
	char long_name[6000];

	memset(long_name, 'n', sizeof(long_name));
	long_name[5999] = '\0';
	expect_name("name", "name");
	expect_name("", "");
	expect_name("a longer name", "a longer name");
	/* no more than there is room for */
	expect_name(long_name, long_name + 5999 - 4095);
}

Test(link_input, the_copy_of_a_name_that_became_unreadable_is_used)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct link_input from = {.type = NVJITLINK_PTX, .data = "ptx", .size = 4, .name = page + 4090};
	struct link_input input;

	strcpy(page + 4090, "name");
	cr_assert(link_input_copy(&input, &from));
	cr_assert_eq(munmap(page, 4096), 0);
	link_input_refresh_name(&input);
	cr_expect_str_eq(input.name_copy, "name");
	link_input_free(&input);
}

Test(link_input, nvjitlink_keeps_the_name_pointer_for_every_type_except_lto_ir)
{
	static const int types[] = {NVJITLINK_CUBIN,  NVJITLINK_PTX,     NVJITLINK_FATBIN,
	                            NVJITLINK_OBJECT, NVJITLINK_LIBRARY, NVJITLINK_ANY};

	for (size_t i = 0; i < COUNT(types); i++) {
		cr_expect(link_input_keeps_name(&(struct link_input){.type = types[i], .name = "name"}));
		cr_expect_not(link_input_keeps_name(&(struct link_input){.type = types[i]}));
	}
	cr_expect_not(link_input_keeps_name(&(struct link_input){.type = NVJITLINK_LTOIR, .name = "name"}));
}
