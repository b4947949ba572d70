/* SPDX-License-Identifier: MIT */
/*
 * recorder: keeps the arguments of a handle's calls, and writes them beside the entry (NVRTCCACHE_RECORD)
 *
 * Purpose: `nvrtccache warm` makes the calls of such a file again (keygen/recording.h). The creation run of a handle is
 * not enough for that: it has digests of large inputs, and it is freed after the first compilation.
 *
 * Calling sequence: recorder_text() and the like when the host passes an argument, recorder_call() when an entry was
 * served or stored, recorder_refuse() for a handle whose texts are not to be written. Without the setting, all of them
 * do nothing. Errors: without memory, or if the arguments are too large, the request is not written. Threads: those of
 * the handle. Ownership: the handle owns its arguments (`recorded`).
 */
#ifndef INTERPOSE_COMPILE_RECORDER_H
#define INTERPOSE_COMPILE_RECORDER_H

#include "interpose/compile/attempt.h"
#include "keygen/recording.h"

/* `text` may be NULL: then nothing is added. */
void recorder_text(struct handle *handle, enum recording_tag tag, const char *text);
void recorder_data(struct handle *handle, enum recording_tag tag, const void *bytes, size_t size);
void recorder_number(struct handle *handle, enum recording_tag tag, uint64_t value);
void recorder_refuse(struct handle *handle);
/*
 * Adds the call to the arguments, and writes the request if it is complete, has an entry and was not written before.
 * `entry` NULL: the call has no entry.
 */
void recorder_call(struct handle *handle, const struct call *call, const struct attempt *attempt,
                   const struct entry *entry);

#endif
