/* SPDX-License-Identifier: MIT */
#include "cli/doctor_compiler.h"

#include "cli/image.h"
#include "interpose/compilers.h"
#include "interpose/elf/next_symbol.h"
#include "interpose/node.h"
#include "interpose/watch/watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the library these are the dlsym and dlvsym behind its own (interpose/door/arch); the command has none of its own. */
void *next_symbol_functions[NEXT_SYMBOL_COUNT];

/* "release 13.0, V13.0.88" stands in all of NVIDIA's. */
static bool find_release(const struct image *image, char ret_text[64])
{
	static const char mark[] = "release ";
	const char *at = image->bytes, *end = image->bytes + image->size;

	while ((at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1)) != NULL) {
		char text[64] = "", *digits;

		at += sizeof(mark) - 1;
		memcpy(text, at, (size_t)(end - at) < sizeof(text) - 1 ? (size_t)(end - at) : sizeof(text) - 1);
		digits = text + strspn(text, "0123456789.");
		if (digits > text && strncmp(digits, ", V", 3) == 0) {
			digits[3 + strspn(digits + 3, "0123456789.")] = '\0';
			strcpy(ret_text, digits + 3);
			return ret_text[0] != '\0';
		}
	}
	return false;
}

/* Else of the file's name, libnvrtc.so.12.9.86; else the oldest release that has all of its functions. */
static void spell_release(const struct node *node, const struct image *image, const char *real, char ret_text[64])
{
	const char *slash = strrchr(real, '/'), *tail = strstr(slash ? slash : real, ".so.");
	int least = node->floor;

	if (find_release(image, ret_text)) {
		return;
	}
	if (!node->compiler->hallmark && tail && strchr(tail + 4, '.') && strlen(tail + 4) < 64) {
		strcpy(ret_text, tail + 4);
		return;
	}
	for (size_t i = 0; i < node->compiler->function_count; i++) {
		int since = node->compiler->functions[i].since;

		if (since > least && elf_symbol(&image->object, node_name(node, i), NULL) != 0) {
			least = since;
		}
	}
	snprintf(ret_text, 64, "%d.%d or later", least / 100, least % 100);
}

static bool is_seen(struct doctor_seen *seen, const char *real)
{
	char **grown;

	for (size_t i = 0; i < seen->count; i++) {
		if (strcmp(seen->list[i], real) == 0) {
			return true;
		}
	}
	grown = realloc(seen->list, (seen->count + 1) * sizeof(*grown));
	if (grown) {
		seen->list = grown;
		grown[seen->count] = strdup(real);
		seen->count += grown[seen->count] != NULL;
	}
	return false;
}

/* A library that defines a compiler's functions, and none that we know. */
static bool is_strange(const struct image *image, const struct compiler **ret_compiler)
{
	for (size_t i = 0; i < COMPILER_COUNT; i++) {
		if (elf_symbol(&image->object, compilers[i]->nodes[0].landmark, NULL) != 0) {
			*ret_compiler = compilers[i];
			return true;
		}
	}
	return false;
}

bool doctor_compiler(struct findings *findings, struct doctor_seen *seen, const char *path, const char *how)
{
	const struct compiler *compiler;
	char real[PATH_MAX], release[64];
	const struct node *node;
	struct image image;
	bool is_one = true;

	if (!realpath(path, real) || image_open(real, &image) != 0) {
		return false;
	}
	node = image.has_dynamic ? compiler_node_of(&image.object) : NULL;
	if (node && !is_seen(seen, real)) {
		const char *obstacle = watch_obstacle(&image.object);

		spell_release(node, &image, real, release);
		if (obstacle) {
			finding_add(findings, FINDING_FAIL, "compiler",
			            "%s: %s %s, %s: imports %s, which cannot be watched: nothing is cached", how,
			            node->compiler->title, release, path, obstacle);
		} else {
			finding_add(findings, FINDING_OK, "compiler", "%s: %s %s, %s", how, node->compiler->title,
			            release, path);
		}
	} else if (!node) {
		is_one = image.has_dynamic && is_strange(&image, &compiler);
		if (is_one && !is_seen(seen, real)) {
			finding_add(findings, FINDING_FAIL, "compiler",
			            "%s: %s of a release that is not known, %s: it is passed through", how,
			            compiler->title, path);
		}
	}
	image_close(&image);
	return is_one;
}

void doctor_seen_free(struct doctor_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		free(seen->list[i]);
	}
	free(seen->list);
	*seen = (struct doctor_seen){0};
}
