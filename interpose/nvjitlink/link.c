/* SPDX-License-Identifier: MIT */
/*
 * The creation run: CREATION format, (OPTION)*, told, (TYPE, NAME?, WHOLE | DIGEST, ANSWER?, told, (STEP, SEEN?)?)*.
 * `told` stands for the variables of put_told().
 */
#include "interpose/nvjitlink/link.h"

#include "interpose/compile/handle.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/ptxas_options.h"
#include "interpose/compile/recorder.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/nvjitlink/functions.h"
#include "interpose/nvjitlink/nodes.h"
#include "interpose/watch/environment.h"
#include "keygen/about.h"
#include "keygen/stream.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum own_tag {
	TAG_CREATION = 1,
	TAG_OPTION = 2,
	TAG_VARIABLE = 3,
	TAG_VALUE = 4,
	TAG_TYPE = 5,
	TAG_NAME = 6,
	TAG_WHOLE = 8,
	TAG_DIGEST = 9,
	TAG_ANSWER = 10,
	TAG_SEEN = 11,
	TAG_STEP = 12
};

_Static_assert(offsetof(struct link, handle) == 0, "a handle's record is a link's, and NULL stays NULL");

/*
 * The limit for the copies of inputs. Larger inputs are added immediately: copies that the host did not ask for must
 * not exhaust its memory, and of a large archive the library reads less than a copy would.
 */
#define COPIES_MAX ((size_t)8 << 20)

/*
 * Part of the format: entries of format 0 may contain text from the address of a name after the host had reused it, and
 * in those of format 1 a size precedes each artifact.
 */
#define LINK_FORMAT (UINT64_C(2) << 8)

/*
 * The first release in which adding PTX may be a step. How far 12.0 to 12.3 read beyond the end of PTX was not
 * measured.
 */
#define STEPS_SINCE 1204

/*
 * Flags of one option, used only in this file. SPEAKS: ptxas adds to the log. NO_CACHE: the driver's cache is not used
 * (from 12.5 on).
 */
enum { SPEAKS = 0x100, NO_CACHE = 0x200 };

/*
 * Options without an effect on later links, measured on 12.0, 12.4, 12.9, 13.0 and 13.5. With -split-compile-extended,
 * and from 13.5 on with -g and -Ofc, the output has other bytes from link to link; with -O0 (12.3 to 13.5), the order
 * of variables changes with the addresses of a process.
 */
static const struct compiler_option cleared[] = {
    {"-arch=", 0},
    {"-O", 0},
    {"-O0", LINK_OPTIONS_VARIES},
    {"-O1", 0},
    {"-O2", 0},
    {"-O3", 0},
    {"-lineinfo", 0},
    {"-ftz=", 0},
    {"-prec-div=", 0},
    {"-prec-sqrt=", 0},
    {"-fma=", 0},
    {"-maxrregcount=", 0},
    {"-kernels-used=", 0},
    {"-variables-used=", 0},
    {"-optimize-unused-variables", 0},
    {"-split-compile=", 0},
    {"-jump-table-density=", 0},
    {"-r", 0},
    {"-nvvm-latest", 0},
    {"-lto", LINK_OPTIONS_LTO},
    {"-ptx", 0},
    {"-g", LINK_OPTIONS_VARIES},
    {"-split-compile-extended=", LINK_OPTIONS_VARIES},
    {"-Ofc=", LINK_OPTIONS_VARIES},
    {"-no-cache", NO_CACHE},
    {"-verbose", LINK_OPTIONS_LOGS},
    {"-time", LINK_OPTIONS_LOGS},
};

static unsigned read_one(const char *option)
{
	static const char ptxas[] = "-Xptxas=";
	const char *value = option + sizeof(ptxas) - 1;

	if (strncmp(option, ptxas, sizeof(ptxas) - 1) != 0) {
		return compiler_option_what(cleared, sizeof(cleared) / sizeof(cleared[0]), option,
		                            LINK_OPTIONS_UNCLEARED);
	}
	return !ptxas_options_cleared(value)                   ? LINK_OPTIONS_UNCLEARED
	       : strstr(value, "-v") || strstr(value, "-warn") ? SPEAKS
	                                                       : 0;
}

unsigned link_options_read(const struct call *call)
{
	unsigned what = 0;

	for (int i = 0; i < call->option_count; i++) {
		what |= read_one(call->options[i]);
	}
	if ((what & (SPEAKS | NO_CACHE)) == SPEAKS) {
		what |= LINK_OPTIONS_LOGS;
	}
	return what & ~(unsigned)(SPEAKS | NO_CACHE);
}

static int release_of(const struct link *link)
{
	return link->handle.library->major * 100 + link->handle.library->minor;
}

/* Adds the variables that are set, because the library may read them in the call in progress. */
static void put_told(struct stream *stream)
{
	struct environment_value values[ENVIRONMENT_MAX];
	size_t count = environment_values(&nvjitlink_environment, values);

	for (size_t i = 0; i < count; i++) {
		if (values[i].value) {
			stream_string(stream, TAG_VARIABLE, values[i].name);
			stream_string(stream, TAG_VALUE, values[i].value);
		}
	}
}

void link_add(nvjitlink_handle value, struct library *library, enum reach reach, const struct call *call)
{
	const unsigned options = link_options_read(call);
	struct link *link;
	enum counter reason;

	if (options & LINK_OPTIONS_UNCLEARED) {
		lasting_note(library, 1);
	}
	link = handle_add(sizeof(*link), value, library, reach);
	if (!link) {
		return;
	}
	link->options = options;
	stream_number(&link->handle.creation, TAG_CREATION, REQUEST_FORMAT + LINK_FORMAT);
	for (int i = 0; i < call->option_count; i++) {
		stream_string(&link->handle.creation, TAG_OPTION, call->options[i]);
		recorder_text(&link->handle, RECORDING_OPTION, call->options[i]);
	}
	put_told(&link->handle.creation);
	link->head_size = link->handle.creation.size;
	reason = link->options & LINK_OPTIONS_UNCLEARED ? COUNTER_BYPASSED_uncleared_options
	         : link->options & LINK_OPTIONS_LOGS    ? COUNTER_BYPASSED_logs
	                                                : library_prepare(library);
	if (reason != COUNTER_NONE) {
		handle_unkey(&link->handle, reason);
	}
}

struct link *link_find(nvjitlink_handle value)
{
	return link_of(handle_find_of(&nvjitlink_compiler, value));
}

enum link_way link_way(const struct link *link, const struct link_input *input)
{
	const bool copied = link_input_only_copied(input);
	char decimals[ENVIRONMENT_DECIMALS_MAX];

	if (!link->handle.keyed || link->is_complete || (release_of(link) < STEPS_SINCE && !copied) ||
	    !link_input_understood(input)) {
		return LINK_WAY_FORWARD;
	}
	if (copied && link->handle.call_count == 0) {
		return LINK_WAY_AT_ONCE;
	}
	/* ptxas would parse numbers by the separator, but a deferred step is performed with dots */
	return environment_decimals(decimals) ? LINK_WAY_FORWARD : LINK_WAY_STEP;
}

static void put_input(struct link *link, const struct link_input *input)
{
	const struct content_tags tags = {TAG_WHOLE, TAG_DIGEST};
	const struct runtime *runtime = runtime_get();
	struct stream *stream = &link->handle.creation;

	stream_number(stream, TAG_TYPE, (uint64_t)input->type);
	if (input->name) {
		stream_string(stream, TAG_NAME, input->name);
	}
	(void)content_put(stream, tags, runtime->memory ? &runtime->secret : NULL, input->data, input->size);
	put_told(stream);
	recorder_text(&link->handle, RECORDING_NAME, input->name);
	recorder_data(&link->handle, RECORDING_BYTES, input->data, input->size);
	recorder_number(&link->handle, RECORDING_TYPE, (uint64_t)input->type);
	link->has_cubins |= input->type == NVJITLINK_CUBIN;
	if (!link->handle.name && input->name && input->name[0]) {
		link->handle.name = strdup(input->name);
	}
}

void link_record(struct link *link, const struct link_input *input, int return_code)
{
	put_input(link, input);
	link->keeps_names |= link_input_keeps_name(input);
	link->has_failed |= return_code != NVJITLINK_SUCCESS;
	stream_number(&link->handle.creation, TAG_ANSWER, (uint64_t)(unsigned)return_code);
}

/*
 * The input is copied, because the host may free its buffer as soon as the call returns, and a deferred step runs
 * later.
 */
int link_step(struct link *link, const struct link_input *input)
{
	struct link_input *inputs;

	if (input->size > COPIES_MAX - link->copied) {
		return -EFBIG;
	}
	inputs = realloc(link->inputs, (link->input_count + 1) * sizeof(*inputs));
	if (!inputs) {
		return -ENOMEM;
	}
	link->inputs = inputs;
	if (!link_input_copy(&inputs[link->input_count], input)) {
		return -ENOMEM;
	}
	link->copied += input->size;
	link->adding = (int)++link->input_count;
	put_input(link, input);
	return link->adding;
}

void link_stepped(struct link *link, int kind)
{
	struct link_input *input = &link->inputs[kind - 1];

	if (!handle_has_deferred(&link->handle)) {
		link_input_free(input);
	}
	link->keeps_names |= link_input_keeps_name(input);
	link->adding = 0;
}

const char *link_step_name(struct link *link, int kind)
{
	struct link_input *input = &link->inputs[kind - 1];

	/* a deferred step may run when the host's pointer is no longer valid, so it gets the copy */
	input->is_added_by_copy = kind != link->adding && input->name;
	return input->is_added_by_copy ? input->name_copy : input->name;
}

void link_refresh_names(struct link *link)
{
	for (size_t i = 0; i < link->input_count; i++) {
		if (link->inputs[i].is_added_by_copy) {
			link_input_refresh_name(&link->inputs[i]);
		}
	}
}

/*
 * Later steps depend on everything that this step depended on, including its call run (the rounding mode at that time)
 * and members of archives in other files.
 */
void link_grown(struct handle *handle, const struct entry *entry)
{
	const int return_code = result_value(entry, RESULT_TAG_RETURN_CODE, NVJITLINK_INTERNAL);
	struct link *link = link_of(handle);
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	link->has_failed |= return_code != NVJITLINK_SUCCESS;
	/*
	 * The key replaces everything that was added so far, so that a link of many steps does not digest the first
	 * ones again and again.
	 */
	handle->creation.size = link->head_size;
	stream_field(&handle->creation, TAG_STEP, entry_info(entry)->key, KEY_BYTES);
	if (size) {
		stream_field(&handle->creation, TAG_SEEN, dependencies, size);
	}
}

const struct shown_field link_shown[OWN_TAGS] = {
    [TAG_OPTION] = {ABOUT_OPTION, NULL},         [TAG_NAME] = {ABOUT_PART, NULL},
    [TAG_WHOLE] = {ABOUT_PART, "input "},        [TAG_DIGEST] = {ABOUT_PART, "input "},
    [TAG_STEP] = {ABOUT_PART, "earlier inputs"},
};

void link_settle(struct link *link, enum counter reason)
{
	if (handle_has_deferred(&link->handle)) {
		(void)replay_all(&link->handle);
	}
	if (link->handle.keyed) {
		handle_unkey(&link->handle, reason);
	}
}

void link_free(struct handle *handle)
{
	struct link *link = link_of(handle);

	for (size_t i = 0; i < link->input_count; i++) {
		link_input_free(&link->inputs[i]);
	}
	free(link->inputs);
}
