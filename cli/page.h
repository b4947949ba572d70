/* SPDX-License-Identifier: MIT */
/*
 * page: time lines as one HTML page (cli/report/), with all that it needs in it
 *
 * Purpose: the events become rows of numbers; every text, and every list of an event's members, stands once. The page
 * reads them with JSON.parse(), and draws them. Nothing in them can leave the element that they stand in: `<`, `>` and
 * `&` are escaped, and so are line separators and what is no UTF-8. The page's policy lets nothing in but what it holds:
 * its script and style carry a number that the digest of all data gives, so that no data can name it. The same time
 * lines give the same page.
 *
 * Calling sequence: zeroed, page_take() for each file, page_write() once, page_free(). Errors: of page_take() those of
 * timeline.h; a page for which there was no memory says so in page_write(), -ENOMEM, which otherwise returns what `put`
 * does. Threads: one. Memory: some 100 bytes an event.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/buffer.h"
#include "cli/texts.h"
#include "cli/timeline.h"

#include <stdbool.h>
#include <stdint.h>

#define PAGE_CATEGORIES 24

struct page {
	struct texts texts, shapes;
	struct buffer files, rows;
	struct buffer shape, values; /* of the event that is being read */
	struct page_category {
		uint32_t text;
		uint64_t count;
		double us;
	} categories[PAGE_CATEGORIES]; /* the last one: all others */
	size_t category_count;
	uint32_t category;
	bool categorised;
	double us;
	uint64_t events;
	unsigned file_count;
	bool failed;
};

struct page_source {
	const char *name;
	const char *text; /* a zero behind it */
	size_t size;
	int64_t written; /* seconds since 1970 */
};

enum timeline_ending page_take(struct page *page, const struct page_source *source, struct timeline_fault *ret_fault);
int page_write(struct page *page, int (*put)(void *context, const void *bytes, size_t size), void *context);
void page_free(struct page *page);

#endif
