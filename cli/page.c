/* SPDX-License-Identifier: MIT */
#include "cli/page.h"

#include "cache/digits.h"
#include "cache/version.h"
#include "keygen/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_BYTES 16

/* What lies in cli/report/ becomes part of the command. The makefile knows that it hangs on these files. */
#define PART(name, file)                                                                                       \
	extern const char name[], name##_end[];                                                                \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"cli/report/" file "\"\n" #name "_end:\n.byte 0\n" \
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

static uint32_t number_of(struct page *page, struct texts *texts, const char *at, size_t size)
{
	uint32_t number = 0;

	if (texts_number(texts, at, size, &number) != 0) {
		page->failed = true;
	}
	return number;
}

static bool is_called(const struct timeline_member *member, const char *name)
{
	return member->level == TIMELINE_OF_EVENT && member->name.size == strlen(name) &&
	       memcmp(member->name.at, name, member->name.size) == 0;
}

/* A shape's items: "s:name" is a text of the event, "n.cost" a number of its args, "o" anything else, as JSON. */
static void note_member(void *context, const struct timeline_member *member)
{
	struct page *page = context;
	const char item[3] = {"sno"[member->kind], member -> level == TIMELINE_OF_ARGS ? '.' : ':', '\0'};
	uint32_t number;

	buffer_print(&page->shape, "%s\"%s", page->shape.size > 0 ? "," : "", item);
	buffer_json(&page->shape, member->name.at, member->name.size, BUFFER_INSIDE);
	buffer_add(&page->shape, "\"", 1);
	if (member->kind == TIMELINE_NUMBER) {
		buffer_add(&page->values, ",", 1);
		buffer_add(&page->values, member->value.at, member->value.size);
		if (is_called(member, "dur")) {
			page->us = strtod(member->value.at, NULL);
		}
		return;
	}
	if (member->kind == TIMELINE_STRING) {
		number = number_of(page, &page->texts, member->value.at, member->value.size);
	} else {
		struct buffer quoted = {0};

		buffer_json(&quoted, member->value.at, member->value.size, BUFFER_PLAIN);
		page->failed |= quoted.failed;
		number = number_of(page, &page->texts, quoted.size > 0 ? quoted.at : "", quoted.size);
		buffer_free(&quoted);
	}
	buffer_print(&page->values, ",%" PRIu32, number);
	if (member->kind == TIMELINE_STRING && is_called(member, "cat")) {
		page->category = number;
		page->categorised = true;
	}
}

static void add_up(struct page *page)
{
	size_t i = 0;

	while (i < page->category_count && page->categories[i].text != page->category) {
		i++;
	}
	if (i == PAGE_CATEGORIES) {
		i = PAGE_CATEGORIES - 1;
	}
	if (i == page->category_count) {
		page->categories[page->category_count++] = (struct page_category){.text = page->category};
	}
	page->categories[i].count++;
	page->categories[i].us += page->us;
}

static void begin_event(struct page *page)
{
	page->shape.size = 0;
	page->values.size = 0;
	page->us = 0;
	page->categorised = false;
}

static void note_end(void *context)
{
	struct page *page = context;
	uint32_t shape = number_of(page, &page->shapes, page->shape.size > 0 ? page->shape.at : "", page->shape.size);

	buffer_print(&page->rows, "%s%u,%" PRIu32, page->events > 0 ? ",\n" : "", page->file_count, shape);
	buffer_add(&page->rows, page->values.at != NULL ? page->values.at : "", page->values.size);
	if (page->categorised) {
		add_up(page);
	}
	page->events++;
	begin_event(page);
}

enum timeline_ending page_take(struct page *page, const struct page_source *source, struct timeline_fault *ret_fault)
{
	const struct timeline_reader reader = {note_member, note_end, page};
	uint64_t before = page->events;
	enum timeline_ending ending;

	begin_event(page);
	ending = timeline_read(source->text, source->size, &reader, ret_fault);
	buffer_add(&page->files, page->file_count > 0 ? ",\n{\"name\":\"" : "{\"name\":\"",
	           page->file_count > 0 ? 11 : 9);
	buffer_json(&page->files, source->name, strlen(source->name), BUFFER_PLAIN);
	buffer_print(&page->files, "\",\"events\":%" PRIu64 ",\"written\":%" PRId64 ",\"cut\":%s}",
	             page->events - before, source->written, ending == TIMELINE_CUT ? "true" : "false");
	page->file_count++;
	return ending;
}

static void add_texts(struct buffer *data, const struct texts *texts, const char *opening, const char *closing,
                      bool escaped)
{
	for (size_t i = 0; i < texts->count; i++) {
		buffer_print(data, "%s%s", i > 0 ? ",\n" : "", opening);
		if (escaped) {
			buffer_add(data, texts->list[i].at, texts->list[i].size);
		} else {
			buffer_json(data, texts->list[i].at, texts->list[i].size, BUFFER_INSIDE);
		}
		buffer_print(data, "%s", closing);
	}
}

static void make_data(const struct page *page, struct buffer *data)
{
	buffer_print(data, "{\"version\":\"%s\",\n\"files\":[", NVRTCCACHE_VERSION);
	buffer_add(data, page->files.at, page->files.size);
	buffer_print(data, "],\n\"texts\":[");
	add_texts(data, &page->texts, "\"", "\"", false);
	buffer_print(data, "],\n\"shapes\":[");
	add_texts(data, &page->shapes, "[", "]", true);
	buffer_print(data, "],\n\"rows\":[");
	buffer_add(data, page->rows.at != NULL ? page->rows.at : "", page->rows.size);
	buffer_print(data, "]}");
	data->failed |=
	    page->failed || page->files.failed || page->rows.failed || page->shape.failed || page->values.failed;
}

/* For who has no script: what there is of each outcome. */
static void make_summary(const struct page *page, struct buffer *summary)
{
	buffer_print(summary, "<table><thead><tr><th>outcome<th>events<th>seconds</thead><tbody>\n");
	for (size_t i = 0; i < page->category_count && i < page->texts.count; i++) {
		const struct page_category *category = &page->categories[i];
		const struct text *text = &page->texts.list[category->text];

		buffer_print(summary, "<tr><td>");
		if (i == PAGE_CATEGORIES - 1) {
			buffer_print(summary, "others");
		} else {
			buffer_html(summary, text->at, text->size);
		}
		buffer_print(summary, "<td>%" PRIu64 "<td>%.3f\n", category->count, category->us / 1e6);
	}
	buffer_print(summary, "</tbody></table>");
}

static struct part part_of(const struct buffer *buffer)
{
	return (struct part){buffer->at != NULL ? buffer->at : "", buffer->at != NULL ? buffer->at + buffer->size : ""};
}

/* "@NAME@" in the frame is replaced by the part of that name. */
int page_write(struct page *page, int (*put)(void *context, const void *bytes, size_t size), void *context)
{
	struct buffer data = {0}, summary = {0}, nonce = {0}, script = {0};
	const char *at = page_frame, *mark;
	struct span span;
	char digits[DIGITS_BYTES(NONCE_BYTES)];
	struct key key;
	int error = 0;

	make_data(page, &data);
	make_summary(page, &summary);
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		buffer_add(&script, scripts[i].begin, (size_t)(scripts[i].end - scripts[i].begin));
	}
	span = (struct span){data.at, data.size};
	digest_key(&span, 1, &key);
	buffer_print(&nonce, "%s", digits_spell(key.bytes, NONCE_BYTES, digits));
	if (data.failed || summary.failed || nonce.failed || script.failed) {
		error = -ENOMEM;
		goto out;
	}
	{
		const struct {
			const char *name;
			struct part part;
		} parts[] = {{"@NONCE@", part_of(&nonce)},
		             {"@STYLE@", WHOLE(page_style)},
		             {"@SUMMARY@", part_of(&summary)},
		             {"@DATA@", part_of(&data)},
		             {"@SCRIPT@", part_of(&script)}};

		while (error == 0 && (mark = strchr(at, '@')) != NULL) {
			size_t i = 0;

			error = put(context, at, (size_t)(mark - at));
			while (strncmp(mark, parts[i].name, strlen(parts[i].name)) != 0) {
				i++;
			}
			if (error == 0) {
				error = put(context, parts[i].part.begin,
				            (size_t)(parts[i].part.end - parts[i].part.begin));
			}
			at = mark + strlen(parts[i].name);
		}
	}
	if (error == 0) {
		error = put(context, at, strlen(at));
	}
out:
	buffer_free(&data);
	buffer_free(&summary);
	buffer_free(&nonce);
	buffer_free(&script);
	return error;
}

void page_free(struct page *page)
{
	texts_free(&page->texts);
	texts_free(&page->shapes);
	buffer_free(&page->files);
	buffer_free(&page->rows);
	buffer_free(&page->shape);
	buffer_free(&page->values);
}
