/* SPDX-License-Identifier: MIT */
/*
 * One question is one connection: nothing is kept between calls that a host could close or a fork could share. The
 * breaker and the time that useless answers took are the only state. Its clock is read from the kernel, because a wait
 * must end under libfaketime too.
 */
#include "cache/agent.h"

#include "cache/agent_message.h"
#include "cache/agent_socket.h"
#include "cache/breaker.h"
#include "cache/calls.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)

#define NOTICED (3 * MS) /* an idle agent answers within this time, so a shorter useless wait is not counted */

static const struct breaker_rule rule = {.failures = 1, .first_ns = 5 * SECOND, .longest_ns = 300 * SECOND};
static struct breaker breaker;
static _Atomic int64_t wasted; /* nanoseconds of useless waits since the last useful one */

static const struct {
	const char *name;
	const char *words;
} outcomes[] = {
#define AGENT_ROW(name, word, words) {word, words},
    AGENT_OUTCOMES(AGENT_ROW)
#undef AGENT_ROW
};

/* The names in the log, in the trace and in explain --json. */
const char *agent_outcome_name(enum agent_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *agent_outcome_words(enum agent_outcome outcome)
{
	return outcomes[outcome].words;
}

/* The socket of one question. Hosts close descriptors that they do not know: then the number may be the host's. */
struct question {
	int socket; /* -1: none */
	dev_t device;
	ino_t inode;
};

static int64_t read_clock(void)
{
	struct timespec now = {0};

	call_clock_straight(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* An agent that is alive answers at once that it has begun: a third of the time is enough for that. */
static int64_t first_limit(const struct agent_options *options)
{
	return options->wait_ms * MS / 3;
}

static bool is_ours(const struct question *question)
{
	struct stat found;

	return question->socket >= 0 && call_fstat(question->socket, &found) == 0 && found.st_dev == question->device &&
	       found.st_ino == question->inode;
}

/* A number that the host has reused is left open: it is the host's file. */
static void close_question(struct question *question)
{
	if (is_ours(question)) {
		call_close(question->socket);
	}
	question->socket = -1;
}

static enum agent_outcome connect_to(const struct agent_options *options, struct question *question)
{
	char path[PATH_MAX];
	struct stat found;

	if (agent_socket_path(options->said, options->directory.path, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	question->socket = agent_socket_new();
	if (question->socket < 0 || call_fstat(question->socket, &found) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	question->device = found.st_dev;
	question->inode = found.st_ino;
	if (agent_socket_reach(question->socket, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	return agent_socket_trusted(question->socket, path, &options->directory) ? AGENT_FETCH_FOUND
	                                                                         : AGENT_FETCH_STRANGER;
}

/* The directory is named by device and inode, as the agent may know it by another path. */
static enum agent_outcome make_message(const struct agent_options *options, enum agent_kind kind,
                                       const uint8_t key[ENTRY_KEY_BYTES], struct agent_message *ret_message)
{
	*ret_message = (struct agent_message){
	    .magic = AGENT_MAGIC,
	    .version = AGENT_VERSION,
	    .kind = (uint16_t)kind,
	    .wait_ms = options->wait_ms,
	};
	_Static_assert(sizeof(ret_message->key) == ENTRY_KEY_BYTES, "a message has room for a key");
	memcpy(ret_message->key, key, sizeof(ret_message->key));
	return agent_socket_place(&options->directory, &ret_message->device, &ret_message->inode) < 0
	           ? AGENT_FETCH_NOBODY
	           : AGENT_FETCH_FOUND;
}

static enum agent_outcome send_message(const struct question *question, struct agent_message *message)
{
	struct iovec part = {message, sizeof(*message)};
	const struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	if (!is_ours(question)) {
		return AGENT_FETCH_BROKEN;
	}
	do {
		sent = call_sendmsg(question->socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*message) ? AGENT_FETCH_FOUND : AGENT_FETCH_BROKEN;
}

/* AGENT_FETCH_FOUND: the message is on its way. */
static enum agent_outcome begin_question(struct question *question, const struct agent_options *options,
                                         enum agent_kind kind, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct agent_message message;
	enum agent_outcome outcome = make_message(options, kind, key, &message);

	if (outcome == AGENT_FETCH_FOUND) {
		outcome = connect_to(options, question);
	}
	return outcome == AGENT_FETCH_FOUND ? send_message(question, &message) : outcome;
}

/*
 * 1: something came; 0: the time is over; -1: nothing can come. An answer that came while this thread could not run is
 * taken, however late that is: poll() is asked at least once.
 */
static int wait_until(const struct question *question, int64_t deadline)
{
	short events;

	for (;;) {
		int64_t left = deadline - read_clock();
		int ready = call_poll(question->socket, POLLIN, left > 0 ? left : 0, &events);

		if (ready >= 0) {
			return ready;
		}
		/* a profiler's timer interrupts poll() again and again: the deadline ends that */
		if (errno != EINTR || left <= 0) {
			return errno == EINTR ? 0 : -1;
		}
	}
}

/* Returns the kind of the answer; 0: not an answer; -1: nothing could be read. */
static int read_answer(const struct question *question)
{
	struct agent_message message;
	struct iovec part = {&message, sizeof(message)};
	struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t size;

	if (!is_ours(question)) {
		return 0;
	}
	size = call_recvmsg(question->socket, &whole, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return -1;
	}
	if (size != (ssize_t)sizeof(message) || (whole.msg_flags & MSG_TRUNC) || message.magic != AGENT_MAGIC ||
	    message.version != AGENT_VERSION) {
		return 0;
	}
	return message.kind;
}

static enum agent_outcome await_answer(const struct question *question, const struct agent_options *options,
                                       int64_t began)
{
	int64_t deadline = began + first_limit(options);
	bool started = false;

	for (;;) {
		int ready = wait_until(question, deadline);

		if (ready <= 0) {
			return ready == 0 ? AGENT_FETCH_TIMEOUT : AGENT_FETCH_BROKEN;
		}
		switch (read_answer(question)) {
		case -1:
			break;
		case AGENT_STARTED:
			if (started) { /* an agent that repeats this would hold the host up for ever */
				return AGENT_FETCH_BROKEN;
			}
			started = true;
			deadline = began + options->wait_ms * MS;
			break;
		case AGENT_FOUND:
			return AGENT_FETCH_FOUND;
		case AGENT_ABSENT:
			return AGENT_FETCH_ABSENT;
		case AGENT_DOWN:
			return AGENT_FETCH_DOWN;
		case AGENT_ELSEWHERE:
			return AGENT_FETCH_ELSEWHERE;
		default:
			return AGENT_FETCH_BROKEN;
		}
	}
}

/* Useless answers that are quick are added up: all of them together may cost no more than one question. */
static bool took_too_long(const struct agent_options *options, int64_t waited)
{
	if (waited <= NOTICED) {
		return false;
	}
	return waited > first_limit(options) || atomic_fetch_add(&wasted, waited) + waited > options->wait_ms * MS;
}

/* Called after the second lookup: an agent that answers FOUND without a stored entry has saved nothing. */
void agent_judge(const struct agent_options *options, const struct agent_question *question, uint64_t spared)
{
	bool vain = spared < (uint64_t)question->waited;
	bool failed = vain && took_too_long(options, question->waited);

	if (failed || !vain) {
		atomic_store(&wasted, 0);
	}
	if (failed) {
		(void)breaker_failed(&breaker, &rule, question->seen, read_clock());
	} else {
		breaker_answered(&breaker, question->seen);
	}
}

void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared)
{
	int64_t now = read_clock();
	int64_t seen;

	/* if a probe is due, the other process's wait was one */
	if (options->said && options->wait_ms > 0 && waited > first_limit(options) &&
	    spared < (uint64_t)(waited - first_limit(options)) && breaker_allows(&breaker, &rule, now, &seen)) {
		(void)breaker_failed(&breaker, &rule, seen, now);
	}
}

/* The clock starts before the connection is made: a full backlog or a slow kernel is part of what the process waits. */
static enum agent_outcome ask_agent(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                                    struct agent_question *ret_question)
{
	struct question question = {.socket = -1};
	struct agent_question asked = {0};
	int64_t began = read_clock();
	enum agent_outcome outcome;

	if (!breaker_ask(&breaker, &rule, began, &asked.seen)) {
		return AGENT_FETCH_SKIPPED;
	}
	outcome = begin_question(&question, options, AGENT_FETCH, key);
	if (outcome == AGENT_FETCH_FOUND) {
		outcome = await_answer(&question, options, began);
	}
	close_question(&question);
	asked.waited = read_clock() - began;
	switch (outcome) {
	case AGENT_FETCH_FOUND: /* whether it helps, the caller finds out */
		*ret_question = asked;
		break;
	case AGENT_FETCH_ABSENT:
	case AGENT_FETCH_DOWN:
		agent_judge(options, &asked, 0);
		break;
	default:
		(void)breaker_failed(&breaker, &rule, asked.seen, read_clock());
	}
	return outcome;
}

enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                               struct agent_question *ret_question)
{
	int saved = errno;
	enum agent_outcome outcome = AGENT_FETCH_NOT_ASKED;

	if (options->said && options->directory.path && options->wait_ms > 0) {
		outcome = ask_agent(options, key, ret_question);
		errno = saved;
	}
	return outcome;
}

static void report_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct question question = {.socket = -1};
	int64_t now = read_clock();
	int64_t seen;

	/* not a probe: a message that is taken does not show that an answer would come */
	if (!breaker_allows(&breaker, &rule, now, &seen)) {
		return;
	}
	if (begin_question(&question, options, AGENT_STORED, key) != AGENT_FETCH_FOUND) {
		(void)breaker_failed(&breaker, &rule, seen, now);
	}
	close_question(&question);
}

void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	int saved = errno;

	if (options->said && options->directory.path) {
		report_stored(options, key);
		errno = saved;
	}
}
