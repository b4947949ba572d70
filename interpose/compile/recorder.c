/* SPDX-License-Identifier: MIT */
#include "interpose/compile/recorder.h"

#include "cache/directory.h"
#include "interpose/compile/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"
#include "interpose/watch/environment.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL if nothing is to be recorded: not asked for, or the handle had something that a request cannot have. */
static struct stream *stream_of(struct handle *handle)
{
	struct stream *stream = &handle->recorded;

	if (!runtime_get()->settings.record || stream->failed) {
		return NULL;
	}
	if (stream->size > RECORDING_MAX / 2) {
		recorder_refuse(handle);
		return NULL;
	}
	return stream;
}

/* Sticks to the handle: a later call of it depends on the part that was not recorded. */
void recorder_refuse(struct handle *handle)
{
	stream_free(&handle->recorded);
	handle->recorded.failed = true;
}

void recorder_data(struct handle *handle, enum recording_tag tag, const void *bytes, size_t size)
{
	struct stream *stream = stream_of(handle);

	if (stream) {
		stream_field(stream, (uint8_t)tag, bytes, size);
	}
}

void recorder_text(struct handle *handle, enum recording_tag tag, const char *text)
{
	if (text) {
		recorder_data(handle, tag, text, strlen(text) + 1);
	}
}

void recorder_number(struct handle *handle, enum recording_tag tag, uint64_t value)
{
	value = htole64(value);
	recorder_data(handle, tag, &value, sizeof(value));
}

static void put_variable(struct stream *head, const char *name, const char *value)
{
	recording_put_text(head, RECORDING_VARIABLE, name);
	recording_put_text(head, RECORDING_VALUE, value);
}

/* Writes every variable that affects the key, set or not. */
static void put_variables(struct stream *head, struct environment *environment)
{
	const struct settings *settings = &runtime_get()->settings;
	struct environment_value values[ENVIRONMENT_MAX];
	size_t count = environment_values(environment, values);

	for (size_t i = 0; i < count; i++) {
		put_variable(head, values[i].name, values[i].value);
	}
	put_variable(head, "PWD", environment_get("PWD"));
	put_variable(head, "NVRTCCACHE_NAMESPACE", settings->namespace_name);
	put_variable(head, "NVRTCCACHE_SLOPPINESS", settings->sloppiness);
}

/* Writes the state of the process. Returns false if a worker could not have it: the thread has a locale of its own. */
static bool put_head(struct stream *head, const struct request *request, const struct entry *entry)
{
	const struct library *library = request->library;
	char text[ENVIRONMENT_DECIMALS_MAX], cwd[PATH_MAX], release[32];
	const char *decimals = environment_decimals(text);

	if (decimals && text[strlen(text) - 1] != '\n') {
		return false;
	}
	(void)snprintf(release, sizeof(release), "%d.%d", library->major, library->minor);
	recording_put_text(head, RECORDING_COMPILER, library->compiler->name);
	recording_put_text(head, RECORDING_RELEASE, release);
	stream_number(head, RECORDING_COST, entry_info(entry)->cost_ns);
	stream_number(head, RECORDING_RESULT, (uint64_t)(unsigned)result_value(entry, RESULT_TAG_RETURN_CODE, 0));
	stream_number(head, RECORDING_FLOATING_POINT, arithmetic_mode());
	recording_put_text(head, RECORDING_DIRECTORY, getcwd(cwd, sizeof(cwd)));
	stream_number(head, RECORDING_BOUND, (request->traits & REQUEST_BOUND) != 0);
	recording_put_text(head, RECORDING_LOCALE, decimals ? setlocale(LC_NUMERIC, NULL) : NULL);
	put_variables(head, library->compiler->environment);
	return true;
}

/*
 * Once for each key: the second process that compiles the same, or hits it, finds the file and writes nothing. A
 * failure costs the request and never the result.
 */
static void write_request(const struct stream *calls, const struct attempt *attempt, const struct entry *entry)
{
	const struct runtime *runtime = runtime_get();
	const uint8_t *key = attempt->finding.key.bytes;
	struct stream head = STREAM_EMPTY, file;
	char text[ERROR_TEXT_BYTES];
	int error;

	if (!runtime->store || store_has(runtime->store, key, DIRECTORY_BESIDE)) {
		return;
	}
	if (put_head(&head, &attempt->request, entry)) {
		file = recording_seal(&head, calls);
		error = file.failed ? -ENOMEM
		                    : store_put_beside(runtime->store, key, DIRECTORY_BESIDE, file.bytes, file.size);
		if (error != 0) {
			log_write(LOG_INFO, "cannot record the request: %s: %s", runtime->settings.directory,
			          error_text(error, text));
		}
		stream_free(&file);
	}
	stream_free(&head);
}

/*
 * A step of a link is not written: the recorded link contains it. Calls that do not depend on earlier ones are written
 * without those.
 */
void recorder_call(struct handle *handle, const struct call *call, const struct attempt *attempt,
                   const struct entry *entry)
{
	enum past past = handle->library->compiler->past;
	size_t before = handle->recorded.size;

	if (!stream_of(handle) || (past == PAST_GROWS && call->kind != 0)) {
		return;
	}
	for (int i = 0; i < call->option_count; i++) {
		recorder_text(handle, RECORDING_OPTION, call->options[i]);
	}
	recorder_number(handle, RECORDING_CALL, (uint64_t)call->kind);
	if (entry && stream_of(handle)) {
		write_request(&handle->recorded, attempt, entry);
	}
	if (past != PAST_LEAVES && !handle->recorded.failed) {
		handle->recorded.size = before;
	}
}
