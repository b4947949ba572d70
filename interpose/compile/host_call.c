/* SPDX-License-Identifier: MIT */
/*
 * Getters may run in a signal handler, so they neither lock nor allocate: they find the record without a lock, then
 * copy from its entry.
 */
#include "interpose/compile/host_call.h"

#include "cache/replay.h"
#include "interpose/compile/about.h"
#include "interpose/compile/log.h"
#include "interpose/compile/runtime.h"

/* Begins the event of a call that is not cached: because the cache is off, or for `reason`. Returns the reason. */
static enum counter begin_event(const struct compiler *compiler, const struct library *library, enum reach reach,
                                const char *name, enum counter reason, struct event *ret_event)
{
	const enum counter off = runtime_get()->off_reason;

	event_begin(ret_event, compiler, library, reach, name);
	return off ? off : reason;
}

void host_call_begin_bypass(const struct door *door, const char *name, enum counter reason, struct event *ret_event)
{
	event_bypass(ret_event,
	             begin_event(door_compiler(door), door->library, door_reach(door), name, reason, ret_event));
}

void host_call_end_bypass(const struct call *call, int result, struct event *event)
{
	if (event_needs_about(event)) {
		about_request(event, NULL, call, NULL);
	}
	event_tell(event, result);
}

void host_call_private(struct library *library, const char *function)
{
	struct event event;

	event_bypass(&event, begin_event(library->compiler, library, REACH_THUNK, function,
	                                 COUNTER_BYPASSED_private_functions, &event));
	host_call_end_bypass(NULL, 0, &event);
}

/* The module's calls are not counted as bypasses, because their number is not known. */
void host_call_unreached(const struct compiler *compiler, const char *module)
{
	struct event event;
	enum counter reason = begin_event(compiler, NULL, REACH_EXPORT, module, COUNTER_BYPASSED_exports, &event);

	event_end(&event, EVENT_BYPASSED, reason, NULL);
	event_explain_refusal(&event, "the module %s calls the compiler without the cache", module);
	counters_add(COUNTER_TOTAL_unreached, 1);
	log_write(LOG_WARNING, "%s", event.refusal);
	host_call_end_bypass(NULL, 0, &event);
}

struct library *host_call_made(const struct door *door, void *value, const char *name)
{
	bool off = runtime_get()->off_reason != COUNTER_NONE;
	struct library *library = off ? NULL : library_of_door(door);

	if (!library) {
		handle_free(handle_take(value));
	}
	if (!library && !off) {
		struct event event;

		host_call_begin_bypass(door, name, COUNTER_BYPASSED_slots, &event);
		host_call_end_bypass(NULL, 0, &event);
	}
	return library;
}

/* Without a handle, the library does not read the options. */
int host_call_unrecorded(struct door *door, size_t function, void *value, const struct call *call)
{
	typedef int work_function(void *handle, int option_count, const char *const *options);
	typedef int finish_function(void *handle);
	const struct compiler *compiler = door_compiler(door);
	const enum counter off = runtime_get()->off_reason;
	struct library *library = !off && value && call && compiler->lasting ? library_of_door(door) : NULL;
	struct event event;
	struct lasting lasting = {0};
	int result;

	if (REPLAY_FORBIDS()) {
		return compiler->internal_error;
	}
	if (off) {
		host_call_begin_bypass(door, NULL, off, &event);
	}
	if (library) {
		lasting = lasting_begin(library, call);
	}
	result = call ? HOST_CALL_AS(work_function, NULL, function, value, call->option_count, call->options)
	              : HOST_CALL_AS(finish_function, NULL, function, value);
	if (library) {
		lasting_end(library, &lasting, result);
	}
	if (off) {
		host_call_end_bypass(call, result, &event);
	}
	return result;
}

int host_call_destroy(struct door *door, size_t function, void *value, void *argument)
{
	typedef int destroy_function(void *);
	/*
	 * handle_take() comes before the real call, because another thread may get the same value as soon as the handle
	 * is destroyed
	 */
	struct handle *known = handle_find_of(door_compiler(door), value) ? handle_take(value) : NULL;
	int result = HOST_CALL_AS(destroy_function, known ? known->library : NULL, function, argument);

	if (known && handle_outcome(known->library->compiler, result) != OUTCOME_SUCCESS) {
		(void)handle_put_back(known); /* without memory the record leaks: the real handle may refer to it */
	} else {
		handle_free(known);
	}
	return result;
}

int host_call_get(struct door *door, enum getter getter, size_t artifact, void *value, void *answer)
{
	typedef int get_function(void *handle, void *answer);
	const struct compiler *compiler = door_compiler(door);
	const struct compiler_artifact *row = &compiler->artifacts[artifact];
	struct handle *handle = handle_find_of(compiler, value);
	const struct entry *entry = !handle                 ? NULL
	                            : compiler->answer_from ? compiler->answer_from(handle, artifact)
	                                                    : handle->served;

	if (!entry || (!answer && !compiler->no_room)) {
		return HOST_CALL_AS(get_function, handle ? handle->library : NULL,
		                    getter == GETTER_SIZE ? row->size : row->bytes, value, answer);
	}
	if (!answer) {
		return compiler->no_room(handle);
	}
	return artifact_get(compiler, entry, artifact, getter, answer);
}
