/* SPDX-License-Identifier: MIT */
/*
 * An Aho-Corasick automaton: a tree of all needles, in which each node also knows where to go on when the next byte
 * does not fit. Seven lanes walk it at once over bytes that may be wide characters: one reads each byte, two each
 * second byte and four each fourth, where the bytes between must be zero.
 */
#include "keygen/needles.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * initialiser: the constants in an initialiser, as PTX spells them (NVRTC 11.8 to 13.5)
 *
 *     .global .align 1 .b8 $str[12] = {47, 116, 109, 112};                       bytes, of wide strings too
 *     .global .align 8 .u64 s[3] = {generic($str), 7886981044170129415, 7219};   words, where a pointer is among them
 *
 * Calling sequence: where initialiser_begins(), initialiser_next() from behind the brace until TOKEN_END.
 * Errors: none: what is no number is TOKEN_OTHER.
 */

enum token { TOKEN_NUMBER, TOKEN_OTHER, TOKEN_END };

struct initialiser {
	const uint8_t *at;
	const uint8_t *end;
};

struct initialiser_number {
	uint64_t magnitude;
	bool negative;
};

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static unsigned decimal_value(uint8_t byte)
{
	return (unsigned)byte - '0';
}

static unsigned hexadecimal_value(uint8_t byte)
{
	unsigned letter = ((unsigned)byte | 0x20) - 'a';

	return letter < 6 ? letter + 10 : decimal_value(byte);
}

static bool ends_element(uint8_t byte)
{
	return byte == ',' || byte == '{' || byte == '}' || byte == ';';
}

static void read_number(struct initialiser *list, struct initialiser_number *ret_number)
{
	static const char prefixes[] = {'x', 'X', 'f', 'F', 'd', 'D'};
	const uint8_t *at = list->at;
	const uint8_t *end = list->end;
	struct initialiser_number number = {.negative = *at == '-'};

	at += number.negative;
	if (end - at > 2 && at[0] == '0' && memchr(prefixes, at[1], sizeof(prefixes))) {
		/* 0x..., and the bits of 0f... and 0d... */
		for (at += 2; at < end && hexadecimal_value(*at) < 16; at++) {
			number.magnitude = number.magnitude * 16 + hexadecimal_value(*at);
		}
	} else {
		for (; at < end && decimal_value(*at) < 10; at++) {
			number.magnitude = number.magnitude * 10 + decimal_value(*at);
		}
	}
	list->at = at;
	*ret_number = number;
}

static enum token initialiser_next(struct initialiser *list, struct initialiser_number *ret_number)
{
	enum token token = TOKEN_OTHER;

	while (list->at < list->end && (is_blank(*list->at) || *list->at == ',')) {
		list->at++;
	}
	if (list->at == list->end || ends_element(*list->at)) {
		return TOKEN_END;
	}
	if (decimal_value(*list->at) < 10 || *list->at == '-') {
		read_number(list, ret_number);
		token = TOKEN_NUMBER;
	}
	while (list->at < list->end && !ends_element(*list->at)) {
		list->at++;
	}
	return token;
}

/* The number itself, or one that needs as many bytes as a negative one. */
static uint64_t initialiser_span(const struct initialiser_number *number)
{
	if (!number->negative || number->magnitude == 0) {
		return number->magnitude;
	}
	return number->magnitude > INT64_MAX ? UINT64_MAX : (number->magnitude - 1) * 2;
}

/*
 * The least width that all numbers fit into. Where the declared one is larger, text that runs over the border of two
 * words would have made a number too large for this one.
 */
static size_t initialiser_width(struct initialiser list)
{
	struct initialiser_number number;
	uint64_t most = 0;
	enum token token;

	while ((token = initialiser_next(&list, &number)) != TOKEN_END) {
		if (token == TOKEN_NUMBER) {
			most |= initialiser_span(&number);
		}
	}
	if (most <= UINT8_MAX) {
		return 1;
	}
	if (most <= UINT16_MAX) {
		return 2;
	}
	return most <= UINT32_MAX ? 4 : 8;
}

/* Does the '{' at `brace` begin one? Then the text before it is "= ", or, for lists of lists, another brace or a comma.
 */
static bool initialiser_begins(const uint8_t *text, const uint8_t *brace)
{
	while (brace > text && is_blank(brace[-1])) {
		brace--;
	}
	return brace > text && (brace[-1] == '=' || brace[-1] == '{' || brace[-1] == ',');
}

/* Of a longer needle only the beginning is looked for: found too often is safe. */
#define NEEDLE_MOST ((size_t)PATH_MAX)
#define ROOT        0
#define NONE        UINT32_MAX

struct node {
	uint32_t child; /* ROOT: none */
	uint32_t sibling;
	uint32_t fail;
	uint32_t needle; /* that ends here, or NONE */
	uint8_t byte;
	bool reported;
};

struct needles {
	struct node *node;
	uint32_t node_count;
	uint32_t *same; /* of each needle: the next one of the same bytes, or NONE */
	bool *found;
	size_t left;     /* not found so far */
	int first;       /* the byte that all needles begin with, or -1 */
	uint32_t narrow; /* the lanes: where each is in the tree */
	uint32_t wide[6];
	size_t position;
};

static uint32_t child_of(const struct needles *needles, uint32_t node, uint8_t byte)
{
	uint32_t child = needles->node[node].child;

	while (child != ROOT && needles->node[child].byte != byte) {
		child = needles->node[child].sibling;
	}
	return child;
}

static uint32_t step(const struct needles *needles, uint32_t node, uint8_t byte)
{
	uint32_t child = child_of(needles, node, byte);

	while (child == ROOT && node != ROOT) {
		node = needles->node[node].fail;
		child = child_of(needles, node, byte);
	}
	return child;
}

/* All needles that end where the node ends; no node is looked at twice. */
static void report(struct needles *needles, uint32_t node)
{
	for (; node != ROOT && !needles->node[node].reported; node = needles->node[node].fail) {
		needles->node[node].reported = true;
		for (uint32_t i = needles->node[node].needle; i != NONE; i = needles->same[i]) {
			needles->found[i] = true;
			needles->left--;
		}
	}
}

static void walk(struct needles *needles, uint32_t *lane, uint8_t byte)
{
	*lane = step(needles, *lane, byte);
	if (*lane != ROOT && !needles->node[*lane].reported) {
		report(needles, *lane);
	}
}

static void insert(struct needles *needles, uint32_t index, const uint8_t *text, size_t size)
{
	uint32_t node = ROOT;

	for (size_t i = 0; i < size; i++) {
		uint32_t child = child_of(needles, node, text[i]);

		if (child == ROOT) {
			child = needles->node_count++;
			needles->node[child] =
			    (struct node){.byte = text[i], .sibling = needles->node[node].child, .needle = NONE};
			needles->node[node].child = child;
		}
		node = child;
	}
	needles->same[index] = needles->node[node].needle;
	needles->node[node].needle = index;
}

/* Breadth first: a node fails to one that is nearer to the root, so that one is ready. */
static void link_failures(struct needles *needles, uint32_t *queue)
{
	uint32_t end = 0;

	queue[end++] = ROOT;
	for (uint32_t at = 0; at < end; at++) {
		uint32_t node = queue[at];

		for (uint32_t child = needles->node[node].child; child != ROOT; child = needles->node[child].sibling) {
			needles->node[child].fail =
			    node == ROOT ? ROOT : step(needles, needles->node[node].fail, needles->node[child].byte);
			queue[end++] = child;
		}
	}
}

static size_t searched_size(const struct needle *needle)
{
	return needle->size < NEEDLE_MOST ? needle->size : NEEDLE_MOST;
}

int needles_new(const struct needle *list, size_t count, struct needles **ret_needles)
{
	struct needles *needles = calloc(1, sizeof(*needles));
	uint32_t *queue;
	size_t nodes = 1;

	for (size_t i = 0; i < count; i++) {
		nodes += searched_size(&list[i]);
	}
	queue = nodes < NONE ? calloc(nodes, sizeof(*queue)) : NULL;
	if (needles) {
		needles->node = nodes < NONE ? calloc(nodes, sizeof(*needles->node)) : NULL;
		needles->same = calloc(count + 1, sizeof(*needles->same));
		needles->found = calloc(count + 1, sizeof(*needles->found));
	}
	if (!queue || !needles || !needles->node || !needles->same || !needles->found) {
		free(queue);
		needles_free(needles);
		return -ENOMEM;
	}
	needles->node[ROOT].needle = NONE;
	needles->node_count = 1;
	for (size_t i = 0; i < count; i++) {
		if (list[i].size > 0) {
			insert(needles, (uint32_t)i, (const uint8_t *)list[i].text, searched_size(&list[i]));
			needles->left++;
		}
	}
	link_failures(needles, queue);
	free(queue);
	needles->first = -1;
	if (needles->node[ROOT].child != ROOT && needles->node[needles->node[ROOT].child].sibling == ROOT) {
		needles->first = needles->node[needles->node[ROOT].child].byte;
	}
	*ret_needles = needles;
	return 0;
}

void needles_free(struct needles *needles)
{
	if (needles) {
		free(needles->node);
		free(needles->same);
		free(needles->found);
		free(needles);
	}
}

bool needles_found(const struct needles *needles, size_t index)
{
	return needles->found[index];
}

static void restart(struct needles *needles)
{
	needles->narrow = ROOT;
	memset(needles->wide, 0, sizeof(needles->wide));
	needles->position = 0;
}

/* wide[0..1]: characters of two bytes that begin at an even and an odd place; wide[2..5]: the same for four. */
static void walk_wide(struct needles *needles, uint8_t byte)
{
	size_t two = needles->position % 2;
	size_t four = 2 + needles->position % 4;

	for (size_t i = 0; i < 6; i++) {
		if (i == two || i == four) {
			walk(needles, &needles->wide[i], byte);
		} else if (byte != 0) {
			needles->wide[i] = ROOT;
		}
	}
	needles->position++;
}

static bool is_idle(const struct needles *needles)
{
	uint32_t any = 0;

	for (size_t i = 0; i < 6; i++) {
		any |= needles->wide[i];
	}
	return any == ROOT;
}

static void search_narrow(struct needles *needles, const uint8_t *text, const uint8_t *end)
{
	restart(needles);
	while (text < end && needles->left > 0) {
		if (needles->narrow == ROOT && needles->first >= 0) {
			text = memchr(text, needles->first, (size_t)(end - text));
			if (!text) {
				return;
			}
		}
		walk(needles, &needles->narrow, *text++);
	}
}

static void search_wide(struct needles *needles, const uint8_t *text, const uint8_t *end)
{
	restart(needles);
	while (text < end && needles->left > 0) {
		if (needles->first >= 0 && is_idle(needles)) {
			const uint8_t *next = memchr(text, needles->first, (size_t)(end - text));

			if (!next) {
				return;
			}
			needles->position += (size_t)(next - text);
			text = next;
		}
		walk_wide(needles, *text++);
	}
}

static void search_words(struct needles *needles, struct initialiser *list, size_t width, bool *ret_too_wide)
{
	struct initialiser_number number;
	enum token token;

	restart(needles);
	while ((token = initialiser_next(list, &number)) != TOKEN_END) {
		uint64_t value;

		if (token == TOKEN_OTHER) {
			restart(needles);
			continue;
		}
		if (width == 1 && initialiser_span(&number) > UINT8_MAX) {
			*ret_too_wide = true;
			return;
		}
		value = number.negative ? 0 - number.magnitude : number.magnitude;
		for (size_t i = 0; i < width; i++) {
			uint8_t byte = (uint8_t)(value >> (8 * i));

			walk(needles, &needles->narrow, byte);
			walk_wide(needles, byte);
		}
	}
}

/* Nearly all lists are of bytes: the others show it by a number that is too large. */
static void search_list(struct needles *needles, struct initialiser *list)
{
	struct initialiser again = *list;
	bool too_wide = false;

	search_words(needles, list, 1, &too_wide);
	if (too_wide) {
		*list = again;
		search_words(needles, list, initialiser_width(again), &too_wide);
	}
}

static void search_lists(struct needles *needles, const uint8_t *text, size_t size)
{
	struct initialiser list = {.at = text, .end = text + size};

	while (needles->left > 0 && (list.at = memchr(list.at, '{', (size_t)(list.end - list.at)))) {
		const uint8_t *brace = list.at++;

		if (initialiser_begins(text, brace)) {
			search_list(needles, &list);
		}
	}
}

void needles_search(struct needles *needles, const void *text, size_t size)
{
	const uint8_t *begin = text;
	const uint8_t *zero;

	if (size == 0) {
		return;
	}
	search_narrow(needles, begin, begin + size);
	search_lists(needles, begin, size);
	/* Wide literals in a binary begin one byte before a zero; PTX and logs have a single one, at their end. */
	zero = memchr(begin, '\0', size);
	if (zero) {
		search_wide(needles, zero > begin ? zero - 1 : zero, begin + size);
	}
}
