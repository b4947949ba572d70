/* SPDX-License-Identifier: MIT */
/*
 * page: writes traces as one self-contained HTML page (cli/report/page/)
 *
 * Purpose: the page contains the events of the traces as one JSON value, from which its script draws everything. `<`,
 * `>` and `&` are escaped in the events, so that no event can end the element that contains it. The page's
 * Content-Security-Policy allows only the script and the style with the page's nonce. The nonce is a digest of that
 * JSON value, so that the value cannot contain it. The same traces give the same page.
 *
 * Calling sequence: page_begin(), page_take() for each file, page_write() once, page_free(). Errors: page_take()
 * returns what json_reader_trace() does. page_write() returns -ENOMEM if memory ran out in any of the calls, else the
 * first error of `put`. Threads: one. Memory: the events of all traces.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cache/json.h"
#include "cli/console/json_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct page {
	struct json json; /* the data that the page's script reads */
	uint64_t events;
	unsigned file_count;
};

struct page_source {
	const char *name;
	const char *text; /* `size` bytes */
	size_t size;
	int64_t written; /* modification time, seconds since 1970; 0: unknown */
};

void page_begin(struct page *ret_page);
bool page_take(struct page *page, const struct page_source *source, struct json_reader_fault *ret_fault);
int page_write(struct page *page, int (*put)(void *context, const void *bytes, size_t size), void *context);
void page_free(struct page *page);

#endif
