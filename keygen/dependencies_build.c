/* SPDX-License-Identifier: MIT */
/*
 * The writer stores as hints what each look-up would otherwise have to find out: whether opening a directory saves
 * time.
 */
#include "keygen/dependencies_build.h"

#include "keygen/dependencies.h"
#include "keygen/dependencies_format.h"
#include "keygen/dependencies_items.h"
#include "keygen/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Measured: opening a directory costs as much time as it saves on four or five names. If the directory does not exist,
 * the failed open costs as much as a stat, but no name has to be looked up.
 */
#define NAMES_FOR_DIRECTORY  4
#define ABSENT_FOR_DIRECTORY 2
#define CALLS_FOR_BASE       4

/* Learns the file's content if its stamp is settled. Stats it again, because the trace does not record mounts. */
static void learn_item(const struct item *item, int64_t start_ns, struct facts *facts)
{
	const struct facts_mount *mount;
	struct file_stamp now;
	uint64_t number;

	if (stamp_look(AT_FDCWD, item->event->path, &now, &number) != 0) {
		return;
	}
	mount = facts_mount(facts, item->event->path, now.device, number);
	if (file_stamp_same(&now, &item->event->stamp) && facts_settled(&now, mount, start_ns)) {
		facts_learn(facts, NULL, &now, mount, item->event->digest.bytes);
	}
}

static void learn_items(const struct items *items, int64_t start_ns)
{
	struct facts facts;

	facts_begin(&facts);
	for (size_t i = 0; i < items->count; i++) {
		if (item_kind(&items->item[i]) == ITEM_CONTENT) {
			learn_item(&items->item[i], start_ns, &facts);
		}
	}
	facts_end(&facts);
}

/* Times, and sizes of files that were not read, are written only if the result contains them: others may change. */
static void write_item(const struct item *item, bool exact, struct stream *stream)
{
	const struct file_stamp *stamp = &item->event->stamp;
	const uint32_t kind = item_kind(item);
	struct fixed_item head = {
	    .kind = kind,
	    .size = (uint32_t)strlen(item->name),
	    .number = kind == ITEM_ABSENT ? (uint32_t)item_absence(item->event->error) : item->class,
	};
	struct fixed_identity identity = {.type = stamp->mode & S_IFMT};

	stream_bytes(stream, &head, sizeof(head));
	stream_bytes(stream, item->name, head.size);
	if (kind == ITEM_ABSENT) {
		return;
	}
	if (!S_ISDIR(stamp->mode)) {
		identity.size = exact || kind == ITEM_CONTENT ? stamp->size : 0;
		identity.mtime_ns = exact ? stamp->mtime_ns : 0;
	}
	stream_bytes(stream, &identity, sizeof(identity));
	if (kind == ITEM_CONTENT) {
		stream_bytes(stream, item->event->digest.bytes, sizeof(struct fixed_content));
	}
}

/* Returns the index after the last item of the group that begins at `first`: the items of one directory. */
static size_t group_end(const struct items *items, size_t first)
{
	size_t end = first + 1;

	while (end < items->count && items_by_directory(&items->item[first], &items->item[end]) == 0) {
		end++;
	}
	return end;
}

/* Returns true if opening the group's directory saves time at a hit. */
static bool opens_directory(const struct items *items, size_t first, size_t end)
{
	if (end - first >= NAMES_FOR_DIRECTORY) {
		return true;
	}
	for (size_t i = first; i < end; i++) {
		if (item_absence(items->item[i].event->error) != ENOENT) {
			return false;
		}
	}
	return end - first >= ABSENT_FOR_DIRECTORY;
}

static bool opens_base(const struct items *items, size_t first)
{
	uint32_t base = items->item[first].base;
	size_t end = first;

	while (end < items->count && items->item[end].base == base) {
		end++;
	}
	return base != BASE_CWD && base != BASE_LITERAL && end - first >= CALLS_FOR_BASE;
}

/* Whether the base directory is opened is decided once for all groups of a base, because they share its descriptor. */
static void write_groups(const struct items *items, bool exact, struct stream *stream)
{
	bool base = false;
	size_t end;

	for (size_t first = 0; first < items->count; first = end) {
		const struct item *head = &items->item[first];
		uint32_t hints = 0;

		end = group_end(items, first);
		if (first == 0 || head->base != items->item[first - 1].base) {
			base = opens_base(items, first);
		}
		hints |= opens_directory(items, first, end) ? HINT_OPEN_DIRECTORY : 0;
		hints |= base ? HINT_OPEN_BASE : 0;
		stream_u32(stream, head->base);
		stream_u32(stream, hints);
		stream_u32(stream, (uint32_t)(end - first));
		stream_u32(stream, (uint32_t)head->directory_size);
		stream_bytes(stream, head->directory, head->directory_size);
		for (size_t i = first; i < end; i++) {
			write_item(&items->item[i], exact, stream);
		}
	}
}

/* The text of the root directory is empty and cannot be found in an output, so it is always a dependency. */
static bool is_literal(const struct dependencies_input *input, size_t root)
{
	return input->roots->root[root].size == 0 || (input->root_is_literal && input->root_is_literal[root]);
}

static void write_roots(const struct dependencies_input *input, struct stream *stream)
{
	for (size_t i = 0; i < input->roots->count; i++) {
		const struct root *root = &input->roots->root[i];

		if (!is_literal(input, i)) {
			stream_u32(stream, ROOT_FREE);
			continue;
		}
		stream_u32(stream, (uint32_t)root->size);
		stream_bytes(stream, root->text, root->size);
	}
}

/* The order is that of dependencies_format.h, which walk_dependencies() reads. */
static int write_all(const struct dependencies_input *input, const struct items *items, struct stream *ret_stream)
{
	struct stream bytes = STREAM_EMPTY;
	struct stream *stream = &bytes;
	const struct trace *trace = input->trace;
	uint32_t groups = 0;

	for (size_t first = 0; first < items->count; first = group_end(items, first)) {
		groups++;
	}
	stream_u32(stream, DEPENDENCIES_MAGIC);
	stream_u32(stream, (input->exact ? DEPENDENCIES_EXACT : 0) | (input->arithmetic ? DEPENDENCIES_ARITHMETIC : 0) |
	                       (trace->answer_count > 0 ? DEPENDENCIES_MACHINE : 0) |
	                       (input->companion ? DEPENDENCIES_COMPANION : 0));
	stream_u32(stream, (uint32_t)input->roots->count);
	stream_u32(stream, groups);
	stream_u32(stream, (uint32_t)items->count);
	stream_u32(stream, items->classes);
	if (input->companion) {
		stream_bytes(stream, input->companion->bytes, KEY_BYTES);
	}
	if (input->arithmetic) {
		stream_bytes(stream, roots_arithmetic(input->roots)->bytes, KEY_BYTES);
	}
	if (trace->answer_count > 0) {
		stream_u32(stream, (uint32_t)trace->answer_count);
		stream_bytes(stream, trace->answers, trace->answer_count * sizeof(trace->answers[0]));
	}
	write_roots(input, stream);
	write_groups(items, input->exact, stream);
	if (stream->failed) {
		stream_free(stream);
		return -ENOMEM;
	}
	*ret_stream = bytes;
	return 0;
}

static int pass_over(const struct dependency *dependency, void *context)
{
	(void)dependency;
	(void)context;
	return 0;
}

/* A result whose dependencies cannot be read back would be stored by every process, and never be found. */
static int check_readable(const struct stream *stream)
{
	int error = dependencies_tell(stream->bytes, stream->size, NULL, false, pass_over, NULL);

	return error == 0 || error == -ENOMEM ? error : -EINVAL;
}

static bool any_literal_root(const struct dependencies_input *input)
{
	for (size_t i = 0; i < input->roots->count; i++) {
		if (is_literal(input, i)) {
			return true;
		}
	}
	return false;
}

int dependencies_build(const struct dependencies_input *input, struct stream *ret_stream)
{
	const struct trace *trace = input->trace;
	struct stream stream = STREAM_EMPTY;
	struct items items = {0};
	int error = 0;

	/* Dependencies do not record the entries of a directory or the target of a link. */
	if (trace->failed || atomic_load(&trace->tainted) != 0 || trace_has(trace, TRACE_LISTING) ||
	    (input->arithmetic && !roots_arithmetic(input->roots)) || trace->count > UINT32_MAX / 4) {
		return -EINVAL;
	}
	/* If no file was opened, probes served only #pragma once and do not affect the output. */
	if (input->has_memory_headers || input->exact || trace_has(trace, TRACE_OPEN)) {
		error = items_collect(input, &items);
	}
	if (error == 0 && items.count > DEPENDENCIES_PATHS_MAX) {
		error = -EINVAL;
	}
	if (error == 0 && (items.count > 0 || input->arithmetic || input->companion || trace->answer_count > 0 ||
	                   any_literal_root(input))) {
		error = write_all(input, &items, &stream);
	}
	if (error == 0) {
		error = check_readable(&stream);
	}
	if (error == 0) {
		learn_items(&items, trace->start_ns);
	}
	items_free(&items);
	if (error != 0) {
		stream_free(&stream);
		return error;
	}
	*ret_stream = stream;
	return 0;
}
