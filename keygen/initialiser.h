/* SPDX-License-Identifier: MIT */
/*
 * initialiser: the constants in an initialiser, as PTX spells them (NVRTC 11.8 to 13.5)
 *
 *     .global .align 1 .b8 $str[12] = {47, 116, 109, 112};                       bytes, of wide strings too
 *     .global .align 8 .u64 s[3] = {generic($str), 7886981044170129415, 7219};   words, where a pointer is among them
 *
 * Calling sequence: where initialiser_begins(), initialiser_next() from behind the brace until TOKEN_END.
 * Errors: none: what is no number is TOKEN_OTHER.
 */
#ifndef KEYGEN_INITIALISER_H
#define KEYGEN_INITIALISER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token { TOKEN_NUMBER, TOKEN_OTHER, TOKEN_END };

struct initialiser {
	const uint8_t *at;
	const uint8_t *end;
};

struct initialiser_number {
	uint64_t magnitude;
	bool negative;
};

/* Does the '{' at `brace` begin one? Then the text before it is "= ", or, for lists of lists, another brace or a comma.
 */
bool initialiser_begins(const uint8_t *text, const uint8_t *brace);
enum token initialiser_next(struct initialiser *list, struct initialiser_number *ret_number);
/* The number itself, or one that needs as many bytes as a negative one. */
uint64_t initialiser_span(const struct initialiser_number *number);
/*
 * The least width that all numbers fit into. Where the declared one is larger, text that runs over the border of two
 * words would have made a number too large for this one.
 */
size_t initialiser_width(struct initialiser list);

#endif
