/* SPDX-License-Identifier: MIT */
/*
 * page: time lines as one HTML page (cli/report/page/), with all that it needs in it
 *
 * Purpose: the events stand in it as the traces have them, one JSON value of which the page's own script makes all that
 * is seen. Nothing in them can leave the element that they stand in: `<`, `>` and `&` are escaped. The page's policy
 * lets nothing in but what it holds: its script and style carry a number that the digest of all data gives, so that no
 * data can name it. The same traces give the same page.
 *
 * Calling sequence: page_begin(), page_take() for each file, page_write() once, page_free(). Errors: of page_take()
 * those of timeline.h; a page for which there was no memory says so in page_write(), -ENOMEM, which otherwise returns
 * what `put` does. Threads: one. Memory: all of the traces.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cache/json.h"
#include "cli/console/timeline.h"

#include <stdbool.h>
#include <stdint.h>

struct page {
	struct json json; /* what its script reads */
	uint64_t events;
	unsigned file_count;
};

struct page_source {
	const char *name;
	const char *text; /* a zero behind it */
	size_t size;
	int64_t written; /* seconds since 1970 */
};

void page_begin(struct page *ret_page);
enum timeline_ending page_take(struct page *page, const struct page_source *source, struct timeline_fault *ret_fault);
int page_write(struct page *page, int (*put)(void *context, const void *bytes, size_t size), void *context);
void page_free(struct page *page);

#endif
