/* SPDX-License-Identifier: MIT */
/*
 * An input is accepted only if its own headers agree with the size that the host passed. Otherwise the library may read
 * other bytes than the key covers, so the host's call is forwarded.
 */
#include "interpose/nvjitlink/input.h"

#include "interpose/compile/attempt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* The header of a fatbin. The struct that nvcc places before a fatbin has another magic, and contains pointers. */
struct fatbin {
	uint32_t magic;
	uint16_t version, head_size;
	uint64_t size;
};

#define PAGE_LEAST 4096 /* the smallest page size */
#define NAME_ROOM  4096 /* the least room for a copied name, because the host may replace it by a longer one */

#define FATBIN_MAGIC 0xba55ed50u
#define LTOIR_MAGIC  "\xed\x43\x4e\x7f"

static bool begins_with(const struct link_input *input, const char *magic)
{
	size_t size = strlen(magic);

	return input->size >= size && memcmp(input->data, magic, size) == 0;
}

static bool is_fatbin(const struct link_input *input)
{
	uint32_t magic;

	if (input->size < sizeof(struct fatbin)) {
		return false;
	}
	memcpy(&magic, input->data, sizeof(magic));
	return magic == FATBIN_MAGIC;
}

static bool is_whole_fatbin(const struct link_input *input)
{
	struct fatbin head;

	if (!is_fatbin(input)) {
		return false;
	}
	memcpy(&head, input->data, sizeof(head));
	return head.size == input->size - head.head_size && head.head_size <= input->size;
}

static bool read_head(const struct link_input *input, Elf64_Ehdr *ret_head)
{
	if (!begins_with(input, ELFMAG) || input->size < sizeof(*ret_head)) {
		return false;
	}
	memcpy(ret_head, input->data, sizeof(*ret_head));
	return ret_head->e_ident[EI_CLASS] == ELFCLASS64;
}

/* Compilers and assemblers place the section table last, so the end of the table is the end of the object. */
static bool is_whole_object(const struct link_input *input)
{
	Elf64_Ehdr head;

	return read_head(input, &head) && head.e_shoff == input->size - (uint64_t)head.e_shnum * head.e_shentsize &&
	       head.e_shnum > 0;
}

static bool is_cubin(const struct link_input *input)
{
	Elf64_Ehdr head;

	return read_head(input, &head) && head.e_machine == EM_CUDA;
}

static bool is_archive(const struct link_input *input)
{
	return begins_with(input, "!<arch>\n") || begins_with(input, "!<thin>\n");
}

static bool is_text(const struct link_input *input)
{
	return !begins_with(input, ELFMAG) && !is_archive(input) && !is_fatbin(input) &&
	       !begins_with(input, LTOIR_MAGIC);
}

enum link_text_end link_input_end(const struct link_input *input)
{
	const char *text = input->data;

	if (input->type != NVJITLINK_PTX && (input->type != NVJITLINK_ANY || !is_text(input))) {
		return LINK_TEXT_NONE;
	}
	if (text[input->size - 1] == '\0') {
		return LINK_TEXT_ENDS_INSIDE;
	}
	if (input->type == NVJITLINK_ANY && (uintptr_t)(text + input->size) % PAGE_LEAST == 0) {
		return LINK_TEXT_DOES_NOT_END;
	}
	return text[input->size] == '\0' ? LINK_TEXT_ENDS_BEHIND : LINK_TEXT_DOES_NOT_END;
}

static bool is_understood(const struct link_input *input)
{
	switch (input->type) {
	case NVJITLINK_PTX:
		return link_input_end(input) != LINK_TEXT_DOES_NOT_END;
	case NVJITLINK_FATBIN:
		return is_whole_fatbin(input);
	case NVJITLINK_OBJECT:
		return is_whole_object(input);
	case NVJITLINK_LIBRARY:
		return is_archive(input);
	case NVJITLINK_ANY:
		return is_cubin(input) || is_archive(input) || begins_with(input, LTOIR_MAGIC) ||
		       is_whole_fatbin(input) || is_whole_object(input) ||
		       (is_text(input) && link_input_end(input) != LINK_TEXT_DOES_NOT_END);
	default:
		return false;
	}
}

enum link_input_kind link_input_kind(const struct link_input *input)
{
	if (!input->data || input->size == 0) {
		return LINK_INPUT_UNKNOWN;
	}
	if (input->type == NVJITLINK_CUBIN || input->type == NVJITLINK_LTOIR) {
		return LINK_INPUT_COPIED;
	}
	return is_understood(input) ? LINK_INPUT_WORKED_ON : LINK_INPUT_UNKNOWN;
}

bool link_input_copy(struct link_input *input, const struct link_input *from)
{
	size_t name_size = from->name ? strlen(from->name) + 1 : 0;

	*input = (struct link_input){.type = from->type, .size = from->size, .name = from->name};
	input->name_room = name_size > NAME_ROOM ? name_size : NAME_ROOM;
	input->data = malloc(from->size + 1);
	input->name_copy = from->name ? malloc(input->name_room) : NULL;
	if (!input->data || (from->name && !input->name_copy)) {
		link_input_free(input);
		return false;
	}
	memcpy(input->data, from->data, from->size);
	((char *)input->data)[from->size] = '\0';
	if (from->name) {
		memcpy(input->name_copy, from->name, name_size);
	}
	return true;
}

void link_input_free(struct link_input *input)
{
	free(input->data);
	free(input->name_copy);
	input->data = NULL;
	input->name_copy = NULL;
}

bool link_input_keeps_name(const struct link_input *input)
{
	return input->name && input->type != NVJITLINK_LTOIR;
}

/* Reads through the kernel, so that memory that the host has unmapped causes an error and not a crash. */
static size_t read_host(char *to, const char *from, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

void link_input_refresh_name(struct link_input *input)
{
	size_t at = 0, got;

	do {
		const char *from = input->name + at;
		size_t size = PAGE_LEAST - (uintptr_t)from % PAGE_LEAST;

		size = size < input->name_room - at ? size : input->name_room - at;
		got = read_host(input->name_copy + at, from, size);
		if (got > 0 && memchr(input->name_copy + at, '\0', got)) {
			return;
		}
		at += got;
	} while (got > 0 && at < input->name_room);
	if (at > 0) {
		input->name_copy[at < input->name_room ? at : at - 1] = '\0';
	}
}

#define FILE_LEAST 2 /* for a file of one byte the library reports another error than for one byte of data */
#define FILE_MAX   ((size_t)16 << 20)

int link_file_read(const char *path, void **ret_bytes, size_t *ret_size)
{
	return identity_read_file(path, FILE_LEAST, FILE_MAX, ret_bytes, ret_size);
}
