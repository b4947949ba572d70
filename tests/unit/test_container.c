/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/container.h"
#include "tests/unit/support.h"

#include <elf.h>

struct fatbin {
	uint32_t magic;
	uint16_t version, head_size;
	uint64_t size;
	uint16_t kind, member_version;
	uint32_t member_head_size;
	uint64_t member_size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t architecture, name, name_size, padding[6];
	char text[8];
};

static struct fatbin fatbin(void)
{
	return (struct fatbin){.magic = 0xba55ed50u,
	                       .head_size = 16,
	                       .size = sizeof(struct fatbin) - 16,
	                       .member_head_size = 64,
	                       .member_size = 8,
	                       .text = "members"};
}

struct object {
	Elf64_Ehdr head;
	char names[8];
	struct fatbin fatbin;
	Elf64_Shdr sections[3];
};

static struct object object(void)
{
	struct object object = {.head = {.e_ident = ELFMAG,
	                                 .e_shoff = offsetof(struct object, sections),
	                                 .e_shentsize = sizeof(Elf64_Shdr),
	                                 .e_shnum = 3,
	                                 .e_shstrndx = 1},
	                        .fatbin = fatbin(),
	                        .sections = {[1] = {.sh_type = SHT_STRTAB,
	                                            .sh_offset = offsetof(struct object, names),
	                                            .sh_size = sizeof(object.names)},
	                                     [2] = {.sh_type = SHT_PROGBITS,
	                                            .sh_offset = offsetof(struct object, fatbin),
	                                            .sh_size = sizeof(object.fatbin)}}};

	object.head.e_ident[EI_CLASS] = ELFCLASS64;
	return object;
}

/* A copy without a byte behind it, so that AddressSanitizer sees each read behind the size. */
static bool is_whole(const void *bytes, size_t size)
{
	void *copy = memcpy(malloc(size), bytes, size);
	bool whole = container_is_whole(copy, size);

	free(copy);
	return whole;
}

/* Expects that the struct stops being whole if the field has this value, and if it is shorter. */
#define EXPECT_BROKEN(make, field, value)                                              \
	do {                                                                           \
		__auto_type broken = make();                                           \
		cr_assert(is_whole(&broken, sizeof(broken)));                          \
		broken.field = (value);                                                \
		cr_expect_not(is_whole(&broken, sizeof(broken)), #field " = " #value); \
	} while (0)

Test(container, of_no_size_but_its_own_a_fatbin_or_an_object_is_whole)
{
	const struct fatbin one = fatbin();
	const struct object other = object();

	for (size_t size = 4; size < sizeof(one); size++) {
		cr_expect_not(is_whole(&one, size), "fatbin, %zu", size);
	}
	for (size_t size = 4; size < sizeof(other); size++) {
		cr_expect_not(is_whole(&other, size), "object, %zu", size);
	}
	cr_expect(is_whole(&one, sizeof(one)));
	cr_expect(is_whole(&other, sizeof(other)));
}

Test(container, no_part_of_a_fatbin_ends_behind_it)
{
	EXPECT_BROKEN(fatbin, size, sizeof(struct fatbin) - 15);
	EXPECT_BROKEN(fatbin, size, UINT64_MAX);
	EXPECT_BROKEN(fatbin, head_size, 17);
	EXPECT_BROKEN(fatbin, head_size, 15);
	EXPECT_BROKEN(fatbin, magic, 0x466243b1u); /* with pointers, whose targets the bytes do not contain */
	EXPECT_BROKEN(fatbin, member_head_size, 65);
	EXPECT_BROKEN(fatbin, member_head_size, 0);
	EXPECT_BROKEN(fatbin, member_size, 9);
	EXPECT_BROKEN(fatbin, member_size, UINT64_MAX - 63);
	EXPECT_BROKEN(fatbin, packed_size, 9);
	EXPECT_BROKEN(fatbin, options, sizeof(struct fatbin));
	EXPECT_BROKEN(fatbin, name, sizeof(struct fatbin));
	EXPECT_BROKEN(fatbin, name_size, sizeof(struct fatbin));
}

Test(container, the_options_of_a_fatbins_member_end_inside)
{
	struct fatbin fat = fatbin();

	fat.options = 48;
	fat.padding[2] = 64;
	cr_expect(is_whole(&fat, sizeof(fat)));
	fat.padding[2] = 72;
	cr_expect_not(is_whole(&fat, sizeof(fat)));
	fat.padding[2] = 64;
	memset(fat.text, 'x', sizeof(fat.text));
	cr_expect_not(is_whole(&fat, sizeof(fat)));
}

Test(container, no_part_of_an_object_ends_behind_it)
{
	EXPECT_BROKEN(object, head.e_ident[EI_CLASS], ELFCLASS32);
	EXPECT_BROKEN(object, head.e_shoff, offsetof(struct object, sections) + 1);
	EXPECT_BROKEN(object, head.e_shoff, UINT64_MAX);
	EXPECT_BROKEN(object, head.e_shnum, 0);
	EXPECT_BROKEN(object, head.e_shnum, 4);
	EXPECT_BROKEN(object, head.e_shentsize, 40);
	EXPECT_BROKEN(object, head.e_shstrndx, 3);
	EXPECT_BROKEN(object, sections[1].sh_name, sizeof(object().names));
	EXPECT_BROKEN(object, names[7], 'x');
	EXPECT_BROKEN(object, sections[1].sh_size, 0);
	EXPECT_BROKEN(object, sections[2].sh_offset, sizeof(struct object));
	EXPECT_BROKEN(object, sections[2].sh_size, UINT64_MAX);
	EXPECT_BROKEN(object, fatbin.member_size, sizeof(struct object));
}

Test(container, a_section_without_bytes_may_have_any_size)
{
	struct object file = object();

	file.sections[0].sh_size = UINT64_MAX;
	file.sections[2].sh_type = SHT_NOBITS;
	file.sections[2].sh_size = UINT64_MAX;
	cr_expect(is_whole(&file, sizeof(file)));
}

/* Writes an archive of a table of symbols and an object, with the size of the last member as given. */
static size_t archive(char *bytes, const char *magic, const char *last_size)
{
	const struct object member = object();
	size_t size = (size_t)sprintf(bytes, "%s%-48s%-10u`\n1234%-48s%-10s`\n", magic, "/", 3, "m.o/", last_size);

	memcpy(bytes + size, &member, sizeof(member));
	return size + sizeof(member);
}

static bool is_whole_archive(const char *last_size, long more)
{
	char bytes[1024];
	size_t size = archive(bytes, "!<arch>\n", last_size);

	return is_whole(bytes, size + (size_t)more);
}

Test(container, an_archive_is_whole_if_its_last_member_ends_with_it)
{
	char size[24];

	snprintf(size, sizeof(size), "%zu", sizeof(struct object));
	cr_expect(is_whole_archive(size, 0));
	cr_expect(is_whole_archive(size, -(long)sizeof(struct object) - 60), "the table alone");
	for (long less = 1; less < (long)sizeof(struct object) + 60; less++) {
		cr_expect_not(is_whole_archive(size, -less), "%ld less", less);
	}
	cr_expect_not(is_whole_archive(size, 1));
	snprintf(size, sizeof(size), "%zu", sizeof(struct object) + 2);
	cr_expect_not(is_whole_archive(size, 0));
}

Test(container, the_size_of_a_member_is_a_number_and_nothing_else)
{
	EACH_STRING(size, cr_expect_not(is_whole_archive(size, 0), "'%s'", size), "", " 376", "-1", "376x", "0x178",
	            "+376", "9999999999", "3 6");
}

Test(container, the_members_of_a_thin_archive_are_elsewhere)
{
	char bytes[1024];
	size_t size = archive(bytes, "!<thin>\n", "9999999999") - sizeof(struct object);

	cr_expect(is_whole(bytes, size));
	cr_expect_not(is_whole(bytes, size - 1));
}

Test(container, a_member_that_is_no_object_is_not_understood)
{
	char bytes[1024];
	const size_t size = archive(bytes, "!<arch>\n", "60");

	memset(bytes + size - sizeof(struct object), 'x', 60);
	cr_expect_not(is_whole(bytes, size - sizeof(struct object) + 60));
}

struct ltoir {
	uint32_t magic, versions[2];
	uint16_t versions_at, unused;
	uint32_t digest_at, code_at, kinds[3], digest_skip;
	char rest[88];
};

static struct ltoir ltoir(void)
{
	return (struct ltoir){.magic = 0x7f4e43ed, .versions_at = 24, .digest_at = 40};
}

Test(container, what_the_head_of_lto_ir_refers_to_is_inside)
{
	const struct ltoir ir = ltoir();

	for (size_t size = 4; size < sizeof(ir); size++) {
		cr_expect_not(is_whole(&ir, size), "%zu", size);
	}
	EXPECT_BROKEN(ltoir, versions_at, 25);
	EXPECT_BROKEN(ltoir, digest_at, UINT32_MAX);
	EXPECT_BROKEN(ltoir, digest_skip, 1);
}

Test(container, lto_ir_in_a_fatbin_is_whole)
{
	struct {
		struct fatbin head;
		struct ltoir ir;
	} fat = {fatbin(), ltoir()};

	fat.head.member_head_size += sizeof(fat.head.text);
	fat.head.member_size = sizeof(fat.ir);
	fat.head.size += sizeof(fat.ir);
	cr_expect(is_whole(&fat, sizeof(fat)));
	fat.ir.digest_skip = 1;
	cr_expect_not(is_whole(&fat, sizeof(fat)));
}

Test(container, texts_and_nothing_are_no_containers)
{
	cr_expect_not(container_is_whole("text", 4));
	cr_expect_not(container_is_whole("", 0));
	cr_expect_eq(container_kind("", 0), CONTAINER_NONE);
	cr_expect_eq(container_kind("\x7f"
	                            "EL",
	                            3),
	             CONTAINER_NONE);
}
