/* SPDX-License-Identifier: MIT */
/* The creation run: CREATION format, (KIND, NAME, BYTES)* */
#include "tests/compilers/npiece/work.h"

#include "keygen/about.h"
#include "keygen/surroundings.h"
#include "tests/compilers/npiece/compiler.h"

#include <stddef.h>
#include <stdlib.h>

enum own_tag { TAG_CREATION = 1, TAG_KIND = 2, TAG_NAME = 3, TAG_BYTES = 4 };

_Static_assert(offsetof(struct work, handle) == 0, "a handle's record is a work's");

static void forget(void *value)
{
	handle_free(handle_take(value));
}

void npiece_work_add(void *value, struct library *library, enum reach reach, const struct call *call)
{
	struct work *work = calloc(1, sizeof(*work));
	char **options = handle_copy_options(call);

	if (!work || !options) {
		free(work);
		free(options);
		forget(value);
		return;
	}
	work->call = (struct call){call->option_count, (const char *const *)options, 0};
	stream_number(&work->handle.creation, TAG_CREATION, REQUEST_FORMAT);
	(void)handle_add(&work->handle, value, library, reach);
}

struct work *npiece_work_find(void *value)
{
	return (struct work *)handle_find_of(&npiece_compiler, value);
}

void npiece_work_add_piece(struct work *work, int kind, const char *name, const void *bytes, size_t size)
{
	struct handle *handle = &work->handle;

	/* After a call the creation run is no part of the key any more. */
	if (handle->call_count > 0) {
		handle_unkey(handle, COUNTER_BYPASSED_history);
		return;
	}
	stream_number(&handle->creation, TAG_KIND, (uint64_t)kind);
	stream_string(&handle->creation, TAG_NAME, name);
	stream_field(&handle->creation, TAG_BYTES, bytes, size);
	if (handle->creation.failed) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
	}
}

void npiece_work_free(struct handle *handle)
{
	free((void *)((struct work *)handle)->call.options);
}

void npiece_work_about(const struct handle *handle, const struct call *call, struct stream *about)
{
	const struct span pieces = {handle->creation.bytes, handle->creation.size};

	(void)call;
	about_part(about, "pieces", &pieces, 1);
}
