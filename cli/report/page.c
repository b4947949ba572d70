/* SPDX-License-Identifier: MIT */
/*
 * The parts of the page are embedded with .incbin, so the command needs no files at run time. frame.html contains the
 * marks @NONCE@, @STYLE@, @DATA@ and @SCRIPT@, which page_write() replaces while it writes. Only the events of the
 * traces are copied to memory.
 */
#include "cli/report/page.h"

#include "cache/digits.h"
#include "cache/json.h"
#include "cache/version.h"
#include "keygen/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_BYTES 16

/*
 * The makefile lists the files of cli/report/page/ as prerequisites of this object, because the compiler's dependency
 * output does not contain files of .incbin.
 */
#define PART(name, file)                                                                                            \
	extern const char name[], name##_end[];                                                                     \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"cli/report/page/" file "\"\n" #name "_end:\n.byte 0\n" \
	        ".popsection")

PART(page_frame, "frame.html");
PART(page_style, "style.css");
PART(page_format, "format.js");
PART(page_model, "model.js");
PART(page_band, "band.js");
PART(page_tables, "tables.js");
PART(page_main, "main.js");

struct part {
	const char *begin, *end;
};

#define WHOLE(name) {name, name##_end}

static const struct part scripts[] = {WHOLE(page_format), WHOLE(page_model), WHOLE(page_band), WHOLE(page_tables),
                                      WHOLE(page_main)};

/*
 * Appends an event and escapes the characters that could end the script element in HTML. In JSON, these characters
 * occur only within strings, where \u is allowed.
 */
static void take_event(void *context, struct span event)
{
	struct page *page = context;
	const char *text = event.bytes;
	/* each byte becomes at most "\u003c" */
	char *safe = malloc(6 * event.size + 1);
	size_t size = 0;

	if (!safe) {
		page->json.failed = true;
		return;
	}
	for (size_t i = 0; i < event.size; i++) {
		if (strchr("<>&", text[i]) != NULL) {
			size += (size_t)sprintf(safe + size, "\\u%04x", text[i]);
		} else {
			safe[size++] = text[i];
		}
	}
	json_raw(&page->json, NULL, safe, size);
	free(safe);
	page->events++;
}

void page_begin(struct page *ret_page)
{
	*ret_page = (struct page){.json = json_growing(JSON_BYTES_SCRIPT, 4)};
	json_begin_object(&ret_page->json, NULL);
	json_string(&ret_page->json, "version", NVRTCCACHE_VERSION);
	json_begin_array(&ret_page->json, "files");
}

bool page_take(struct page *page, const struct page_source *source, struct json_reader_fault *ret_fault)
{
	bool is_whole;

	json_begin_object(&page->json, NULL);
	json_string(&page->json, "name", source->name);
	json_integer(&page->json, "written", source->written);
	json_begin_array(&page->json, "events");
	is_whole = json_reader_trace(source->text, source->size, take_event, page, ret_fault);
	json_end(&page->json);
	json_bool(&page->json, "cut", !is_whole && !ret_fault->what);
	json_end(&page->json);
	page->file_count++;
	return is_whole;
}

/*
 * Spells the nonce of the page's Content-Security-Policy. The nonce is a digest of the page's data, so that the data
 * cannot contain it, and the same traces give the same page.
 */
static void spell_nonce(const struct json *json, char ret_digits[DIGITS_BYTES(NONCE_BYTES)])
{
	const struct span span = {json->bytes, json->size};
	struct key key;

	digest_key(&span, 1, &key);
	(void)digits_spell(key.bytes, NONCE_BYTES, ret_digits);
}

static int put_scripts(int (*put)(void *context, const void *bytes, size_t size), void *context)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		error = put(context, scripts[i].begin, (size_t)(scripts[i].end - scripts[i].begin));
	}
	return error;
}

/* Writes the frame with each "@NAME@" replaced by the part of that name. */
int page_write(struct page *page, int (*put)(void *context, const void *bytes, size_t size), void *context)
{
	char nonce[DIGITS_BYTES(NONCE_BYTES)];
	const char *at = page_frame, *mark;
	struct json *json = &page->json;
	int error;

	json_end(json);
	json_end(json);
	if (json->failed) {
		return -ENOMEM;
	}
	spell_nonce(json, nonce);
	for (error = 0; error == 0 && (mark = strchr(at, '@')) != NULL; at = strchr(mark + 1, '@') + 1) {
		error = put(context, at, (size_t)(mark - at));
		if (error != 0) {
			break;
		}
		/* the first letter identifies NONCE and DATA, the second letter STYLE and SCRIPT */
		if (mark[1] == 'N') {
			error = put(context, nonce, strlen(nonce));
		} else if (mark[1] == 'D') {
			error = put(context, json->bytes, json->size);
		} else if (mark[2] == 'T') {
			error = put(context, page_style, (size_t)(page_style_end - page_style));
		} else {
			error = put_scripts(put, context);
		}
	}
	return error ? error : put(context, at, strlen(at));
}

void page_free(struct page *page)
{
	json_free(&page->json);
}
