/* SPDX-License-Identifier: MIT */
/*
 * call_log: a line of the log for each call that makes something: how it ended and why, how long it took, key, program
 *
 * Threads, fork, signals, errors: as of log.h.
 */
#ifndef INTERPOSE_COMPILE_CALL_LOG_H
#define INTERPOSE_COMPILE_CALL_LOG_H

struct event;
struct event_subject;

void call_log_write(const struct event_subject *subject, const struct event *event);

#endif
