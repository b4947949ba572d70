/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/container.h"

#include <ctype.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sections of CUBINs without bytes, as SHT_NOBITS. */
#define SHT_CUDA_GLOBAL 0x70000007
#define SHT_CUDA_LOCAL  0x70000009
#define SHT_CUDA_SHARED 0x7000000a

/* The head of a fatbin. The struct that nvcc places before a fatbin has another magic, and contains pointers. */
struct fatbin_head {
	uint32_t magic;
	uint16_t version, head_size;
	uint64_t size; /* of the members */
};

struct member_head {
	uint16_t kind, version;
	uint32_t head_size;
	uint64_t size;
	uint32_t packed_size;
	uint32_t options; /* offset of the offset of a string; 0: none */
	uint16_t minor, major;
	uint32_t architecture, name, name_size;
};

struct ltoir_head {
	uint32_t magic, versions[2];
	uint16_t versions_at, unused;
	uint32_t digest_at, code_at, kinds[3], digest_skip;
};

struct archive_head {
	char name[16], unused[32], size[10], end[2];
};

#define FATBIN_MAGIC  "\x50\xed\x55\xba"
#define ARCHIVE_MAGIC "!<arch>\n"
#define THIN_MAGIC    "!<thin>\n"
#define LTOIR_MAGIC   "\xed\x43\x4e\x7f"

#define ARCHIVE_DIGITS 10

/* Everything from a position to the end of the input. */
struct rest {
	const char *bytes;
	size_t size;
};

static bool begins_with(struct rest rest, const char *magic)
{
	size_t size = strlen(magic);

	return rest.size >= size && memcmp(rest.bytes, magic, size) == 0;
}

static bool fits(struct rest rest, uint64_t offset, uint64_t size)
{
	return offset <= rest.size && size <= rest.size - offset;
}

static struct rest rest_from(struct rest rest, size_t offset)
{
	return (struct rest){rest.bytes + offset, rest.size - offset};
}

static bool read_at(struct rest rest, uint64_t offset, void *ret_head, size_t size)
{
	if (!fits(rest, offset, size)) {
		return false;
	}
	memcpy(ret_head, rest.bytes + offset, size);
	return true;
}

/* ---- LTO-IR ---- */

#define LTOIR_READ 64

/* Up to 13.3, nvJitLink reads less than LTOIR_READ bytes at these offsets while it adds LTO-IR. It links a copy. */
static bool is_whole_ltoir(struct rest rest)
{
	struct ltoir_head head;

	return read_at(rest, 0, &head, sizeof(head)) &&
	       fits(rest, (uint64_t)head.versions_at + head.digest_at + head.digest_skip, LTOIR_READ);
}

/* ---- fatbins ---- */

/* The options of ptxas are a string. Its offset is behind the head. */
static bool are_whole_options(struct rest rest, uint32_t options)
{
	uint32_t offset;

	return options == 0 || (read_at(rest, options, &offset, sizeof(offset)) && offset < rest.size &&
	                        memchr(rest.bytes + offset, '\0', rest.size - offset));
}

static bool read_whole_member(struct rest rest, struct member_head *ret_head)
{
	struct rest content;

	if (!read_at(rest, 0, ret_head, sizeof(*ret_head)) || ret_head->head_size < sizeof(*ret_head) ||
	    !fits(rest, ret_head->head_size, ret_head->size)) {
		return false;
	}
	content = rest_from(rest, ret_head->head_size);
	return ret_head->packed_size <= ret_head->size && are_whole_options(rest, ret_head->options) &&
	       fits(rest, ret_head->name, ret_head->name_size) &&
	       (!begins_with(content, LTOIR_MAGIC) || is_whole_ltoir(content));
}

static bool is_whole_fatbin(struct rest rest)
{
	struct fatbin_head head;
	struct member_head member;

	if (!read_at(rest, 0, &head, sizeof(head)) || head.head_size < sizeof(head) ||
	    !fits(rest, head.head_size, head.size)) {
		return false;
	}
	rest = (struct rest){rest.bytes + head.head_size, head.size};
	while (rest.size > 0) {
		if (!read_whole_member(rest, &member)) {
			return false;
		}
		rest = rest_from(rest, member.head_size + member.size);
	}
	return true;
}

/* ---- objects ---- */

/* Where nvJitLink looks for fatbins in objects was not measured, so all are found. */
static bool are_whole_fatbins(struct rest rest)
{
	const char *at = rest.bytes, *end = at + rest.size;

	for (; (at = memmem(at, (size_t)(end - at), FATBIN_MAGIC, strlen(FATBIN_MAGIC))); at++) {
		if (!is_whole_fatbin((struct rest){at, (size_t)(end - at)})) {
			return false;
		}
	}
	return true;
}

static bool is_whole_section(struct rest rest, const Elf64_Shdr *section)
{
	switch (section->sh_type) {
	case SHT_NULL:
	case SHT_NOBITS:
	case SHT_CUDA_GLOBAL:
	case SHT_CUDA_LOCAL:
	case SHT_CUDA_SHARED:
		return true;
	case SHT_STRTAB:
		return section->sh_size > 0 && fits(rest, section->sh_offset, section->sh_size) &&
		       rest.bytes[section->sh_offset + section->sh_size - 1] == '\0';
	default:
		return fits(rest, section->sh_offset, section->sh_size);
	}
}

static bool is_whole_object(struct rest rest)
{
	Elf64_Ehdr head;
	Elf64_Shdr section, names;

	if (!read_at(rest, 0, &head, sizeof(head)) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shnum == 0 ||
	    head.e_shentsize != sizeof(section) || head.e_shstrndx >= head.e_shnum ||
	    !read_at(rest, head.e_shoff + head.e_shstrndx * sizeof(section), &names, sizeof(names))) {
		return false;
	}
	for (unsigned i = 0; i < head.e_shnum; i++) {
		if (!read_at(rest, head.e_shoff + i * sizeof(section), &section, sizeof(section)) ||
		    !is_whole_section(rest, &section) || section.sh_name >= names.sh_size) {
			return false;
		}
	}
	return true;
}

/* ---- archives ---- */

/* Reads a number as ar(5) writes it: digits, then blanks up to the end. */
static bool read_number(const char *digits, size_t *ret_number)
{
	char text[ARCHIVE_DIGITS + 1] = "", *end;

	memcpy(text, digits, ARCHIVE_DIGITS);
	*ret_number = strtoull(text, &end, 10);
	return isdigit((unsigned char)text[0]) && end[strspn(end, " ")] == '\0' &&
	       !memchr(digits, '\0', ARCHIVE_DIGITS);
}

/* The table of symbols or of long names. */
static bool is_table(const struct archive_head *head)
{
	return head->name[0] == '/' && (head->name[1] < '0' || head->name[1] > '9');
}

static bool is_whole_archive(struct rest rest)
{
	const bool is_thin = begins_with(rest, THIN_MAGIC);
	struct archive_head head;
	size_t size;

	rest = rest_from(rest, strlen(ARCHIVE_MAGIC));
	while (rest.size > 0) {
		if (!read_at(rest, 0, &head, sizeof(head)) || !read_number(head.size, &size)) {
			return false;
		}
		rest = rest_from(rest, sizeof(head));
		/* the members of a thin archive are files, which nvJitLink reads itself */
		if (is_thin && !is_table(&head)) {
			continue;
		}
		size += size % 2;
		if (!fits(rest, 0, size) ||
		    !(is_table(&head) || (begins_with(rest, ELFMAG) && is_whole_object(rest)))) {
			return false;
		}
		rest = rest_from(rest, size);
	}
	return true;
}

enum container_kind container_kind(const void *bytes, size_t size)
{
	const struct rest rest = {bytes, size};

	if (begins_with(rest, ARCHIVE_MAGIC) || begins_with(rest, THIN_MAGIC)) {
		return CONTAINER_ARCHIVE;
	}
	if (begins_with(rest, ELFMAG)) {
		return CONTAINER_ELF;
	}
	if (begins_with(rest, LTOIR_MAGIC)) {
		return CONTAINER_LTOIR;
	}
	return begins_with(rest, FATBIN_MAGIC) ? CONTAINER_FATBIN : CONTAINER_NONE;
}

bool container_is_whole(const void *bytes, size_t size)
{
	const struct rest rest = {bytes, size};

	switch (container_kind(bytes, size)) {
	case CONTAINER_ARCHIVE:
		return is_whole_archive(rest) && are_whole_fatbins(rest);
	case CONTAINER_ELF:
		return is_whole_object(rest) && are_whole_fatbins(rest);
	case CONTAINER_FATBIN:
		return is_whole_fatbin(rest);
	case CONTAINER_LTOIR:
		return is_whole_ltoir(rest);
	default:
		return false;
	}
}
