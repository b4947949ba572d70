/* SPDX-License-Identifier: MIT */
#include "cli/explain/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool span_equal(struct span a, struct span b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

bool span_is(struct span span, const char *text)
{
	return span_equal(span, (struct span){text, strlen(text)});
}

/* What stands behind `head` in it; false: it does not begin so. */
bool span_behind(struct span span, const char *head, struct span *ret_rest)
{
	size_t size = strlen(head);

	if (span.size < size || memcmp(span.bytes, head, size) != 0) {
		return false;
	}
	*ret_rest = (struct span){(const char *)span.bytes + size, span.size - size};
	return true;
}

/* A text that does not look like an option is the value of the one before it, which has none yet. */
static bool is_value(const struct request *request, struct span text)
{
	const struct request_option *last = request->option_count ? &request->options[request->option_count - 1] : NULL;

	return last && !last->value.bytes && text.size > 0 && *(const char *)text.bytes != '-' &&
	       !memchr(last->text.bytes, '=', last->text.size);
}

/* Room for each kind was made beforehand. */
static int take_fact(const struct about_fact *fact, void *context)
{
	struct request *request = context;
	const struct span text = {fact->text, fact->size};

	switch (fact->kind) {
	case ABOUT_COMPILER:
		request->compiler = text;
		break;
	case ABOUT_TITLE:
		request->title = text;
		break;
	case ABOUT_RELEASE:
		request->release = text;
		break;
	case ABOUT_BUILD:
		request->build = text;
		break;
	case ABOUT_PROGRAM:
		request->program = text;
		break;
	case ABOUT_STEP:
		request->step = text;
		break;
	case ABOUT_OPTION:
		if (is_value(request, text)) {
			request->options[request->option_count - 1].value = text;
		} else {
			request->options[request->option_count++] = (struct request_option){.text = text};
		}
		break;
	case ABOUT_EXPRESSION:
		request->expressions[request->expression_count++] = text;
		break;
	case ABOUT_ROOT:
		request->roots[request->root_count++] = text;
		break;
	case ABOUT_BOUND:
		request->bound[request->bound_count++] = text;
		break;
	case ABOUT_PART:
		request->parts[request->part_count++] = (struct request_part){text, fact->digest};
		break;
	default:
		break;
	}
	return 0;
}

static int count_fact(const struct about_fact *fact, void *context)
{
	size_t *counts = context;

	counts[fact->kind]++;
	return 0;
}

int request_read(const void *about, size_t size, struct request *ret_request)
{
	struct request request = {.option_count = 0};
	size_t counts[ABOUT_BUILD + 1] = {0};
	int error = about_read(about, size, count_fact, counts);

	if (error != 0) {
		return error;
	}
	request.options = calloc(counts[ABOUT_OPTION] + 1, sizeof(*request.options));
	request.expressions = calloc(counts[ABOUT_EXPRESSION] + 1, sizeof(*request.expressions));
	request.roots = calloc(counts[ABOUT_ROOT] + 1, sizeof(*request.roots));
	request.bound = calloc(counts[ABOUT_BOUND] + 1, sizeof(*request.bound));
	request.parts = calloc(counts[ABOUT_PART] + 1, sizeof(*request.parts));
	if (!request.options || !request.expressions || !request.roots || !request.bound || !request.parts) {
		request_free(&request);
		return -ENOMEM;
	}
	(void)about_read(about, size, take_fact, &request);
	*ret_request = request;
	return 0;
}

void request_free(struct request *request)
{
	free(request->options);
	free(request->expressions);
	free(request->roots);
	free(request->bound);
	free(request->parts);
	*request = (struct request){.option_count = 0};
}

const uint8_t *request_part(const struct request *request, const char *name)
{
	for (size_t i = 0; i < request->part_count; i++) {
		if (span_is(request->parts[i].name, name)) {
			return request->parts[i].digest;
		}
	}
	return NULL;
}

const struct request_part *request_find(const struct request *request, struct span name)
{
	for (size_t i = 0; i < request->part_count; i++) {
		if (span_equal(request->parts[i].name, name)) {
			return &request->parts[i];
		}
	}
	return NULL;
}

/* Only bound requests have their place among their parts. */
bool request_is_bound(const struct request *request)
{
	return request_part(request, "working directory") != NULL;
}

bool request_binds(struct span option)
{
	static const char *const binders[] = {
	    "-G",        "--device-debug", "-lineinfo",    "--generate-line-info", "-dlto", "--dlink-time-opt",
	    "-optix-ir", "--optix-ir",     "-gen-opt-lto", "--gen-opt-lto",        "-pch",  "--pch",
	};

	for (size_t i = 0; i < sizeof(binders) / sizeof(binders[0]); i++) {
		if (span_is(option, binders[i])) {
			return true;
		}
	}
	return false;
}

struct span span_base(struct span path)
{
	const char *slash = path.size ? memrchr(path.bytes, '/', path.size) : NULL;
	size_t head = slash ? (size_t)(slash + 1 - (const char *)path.bytes) : 0;

	return (struct span){(const char *)path.bytes + head, path.size - head};
}
