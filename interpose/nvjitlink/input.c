/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/input.h"

#include "interpose/compile/host_data.h"
#include "interpose/nvjitlink/container.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_LEAST 4096 /* the smallest page size */
#define NAME_ROOM  4096 /* the least room for a copied name, because the host may replace it by a longer one */

static bool is_text(const struct link_input *input)
{
	return container_kind(input->data, input->size) == CONTAINER_NONE;
}

/*
 * PTX is a string for nvJitLink, whatever the size says. A text whose NUL is the first byte behind the size is usual,
 * as programs pass strlen(). At the end of a page that byte may not exist, so it is not looked at.
 */
static bool text_ends(const struct link_input *input)
{
	const char *text = input->data, *behind = text + input->size;

	return behind[-1] == '\0' ||
	       ((input->type == NVJITLINK_PTX || (uintptr_t)behind % PAGE_LEAST != 0) && *behind == '\0');
}

/* An input whose own heads reach behind its size would be read there, so only whole ones are copied and compared. */
bool link_input_understood(const struct link_input *input)
{
	static const enum container_kind kinds[] = {
	    [NVJITLINK_LTOIR] = CONTAINER_LTOIR,
	    [NVJITLINK_FATBIN] = CONTAINER_FATBIN,
	    [NVJITLINK_OBJECT] = CONTAINER_ELF,
	    [NVJITLINK_LIBRARY] = CONTAINER_ARCHIVE,
	};
	const int type = input->type;

	if (!input->data || input->size == 0) {
		return false;
	}
	if (type == NVJITLINK_CUBIN) {
		return true;
	}
	if (type == NVJITLINK_PTX || (type == NVJITLINK_ANY && is_text(input))) {
		return text_ends(input);
	}
	if (type != NVJITLINK_ANY && (type < NVJITLINK_LTOIR || type > NVJITLINK_LIBRARY ||
	                              kinds[type] != container_kind(input->data, input->size))) {
		return false;
	}
	return container_is_whole(input->data, input->size);
}

/* The copy ends with a NUL, because nvJitLink reads a text to its NUL. */
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

void link_input_refresh_name(struct link_input *input)
{
	size_t got = host_data_memory(input->name_copy, input->name, input->name_room);

	if (got > 0 && !memchr(input->name_copy, '\0', got)) {
		input->name_copy[got < input->name_room ? got : got - 1] = '\0';
	}
}

#define FILE_LEAST 2 /* for a file of one byte the library reports another error than for one byte of data */
#define FILE_MAX   ((size_t)16 << 20)

int link_file_read(const char *path, void **ret_bytes, size_t *ret_size)
{
	return host_data_file(path, FILE_LEAST, FILE_MAX, ret_bytes, ret_size);
}
