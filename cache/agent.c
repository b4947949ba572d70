/* SPDX-License-Identifier: MIT */
#include "cache/agent.h"

#include "cache/agent_message.h"
#include "cache/agent_socket.h"
#include "cache/breaker.h"
#include "cache/calls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MS            INT64_C(1000000)
#define FIRST_SIGN    3  /* a third of the time is for that: 100 of 300 ms */
#define QUESTIONS_MAX 64 /* of one process at once; more are not asked */
#define SEAT_FREE     (-1)
#define SEAT_TAKEN    (-2) /* and no socket yet */
/* A process that waited for another one's result had more to do than to wait for its question: less is not counted. */
#define OVERHEARD_NS (15 * MS)

static const struct {
	const char *name;
	const char *words;
} outcomes[] = {
#define AGENT_ROW(name, word, words) {word, words},
    AGENT_OUTCOMES(AGENT_ROW)
#undef AGENT_ROW
};

const char *agent_outcome_name(enum agent_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *agent_outcome_words(enum agent_outcome outcome)
{
	return outcomes[outcome].words;
}

static struct breaker breaker;

/* What is waited in vain may come to what one question may take. */
static struct breaker_rule rule_of(const struct agent_options *options)
{
	return (struct breaker_rule){.failures = 1,
	                             .budget_ns = options->wait_ms * MS,
	                             .first_ns = 5 * INT64_C(1000000000),
	                             .longest_ns = 300 * INT64_C(1000000000)};
}

/* A question on its way: a child that another thread forks meanwhile must not keep its socket. */
static struct question {
	_Atomic int socket;
	_Atomic(pthread_t) thread;
	dev_t device; /* of the socket: is the number still ours? */
	ino_t inode;
} questions[QUESTIONS_MAX] = {[0 ... QUESTIONS_MAX - 1] = {.socket = SEAT_FREE}};

static int64_t clock_now(void)
{
	struct timespec now = {0};

	call_clock_straight(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct question *take_seat(void)
{
	for (unsigned i = 0; i < QUESTIONS_MAX; i++) {
		int free_seat = SEAT_FREE;

		if (atomic_compare_exchange_strong(&questions[i].socket, &free_seat, SEAT_TAKEN)) {
			atomic_store(&questions[i].thread, pthread_self());
			return &questions[i];
		}
	}
	return NULL;
}

/* Hosts close descriptors that they do not know: then the number is the host's, and not to be read nor closed. */
static bool is_ours(const struct question *question, int socket)
{
	struct stat found;

	return socket >= 0 && call_fstat(socket, &found) == 0 && found.st_dev == question->device &&
	       found.st_ino == question->inode;
}

static void leave_seat(struct question *question)
{
	int socket = atomic_load(&question->socket);

	if (is_ours(question, socket)) {
		call_close(socket);
	}
	atomic_store(&question->socket, SEAT_FREE);
}

void agent_fork_child(void)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++) {
		/* a signal handler that forks in the middle of a question goes on with it */
		if (atomic_load(&questions[i].socket) != SEAT_FREE &&
		    !pthread_equal(atomic_load(&questions[i].thread), pthread_self())) {
			leave_seat(&questions[i]);
		}
	}
}

static enum agent_outcome connect_to(const struct agent_options *options, struct question *question)
{
	char path[PATH_MAX];
	struct stat found;
	int socket;

	if (agent_socket_path(options->said, options->directory.path, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	socket = agent_socket_new();
	if (socket < 0) {
		return AGENT_FETCH_NOBODY;
	}
	if (call_fstat(socket, &found) < 0) {
		call_close(socket);
		return AGENT_FETCH_NOBODY;
	}
	question->device = found.st_dev;
	question->inode = found.st_ino;
	atomic_store(&question->socket, socket);
	if (agent_socket_reach(socket, path) < 0) {
		return AGENT_FETCH_NOBODY;
	}
	return agent_socket_trusted(socket, path, &options->directory) ? AGENT_FETCH_FOUND : AGENT_FETCH_STRANGER;
}

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
	int socket = atomic_load(&question->socket);
	ssize_t sent;

	if (!is_ours(question, socket)) {
		return AGENT_FETCH_BROKEN;
	}
	do {
		sent = call_sendmsg(socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*message) ? AGENT_FETCH_FOUND : AGENT_FETCH_BROKEN;
}

/* FOUND: the message is on its way. */
static enum agent_outcome say_message(struct question *question, const struct agent_options *options,
                                      enum agent_kind kind, const uint8_t key[ENTRY_KEY_BYTES])
{
	struct agent_message message;
	enum agent_outcome outcome = make_message(options, kind, key, &message);

	if (outcome == AGENT_FETCH_FOUND) {
		outcome = connect_to(options, question);
	}
	return outcome == AGENT_FETCH_FOUND ? send_message(question, &message) : outcome;
}

/* 1: something came; 0: the time is over; -1: nothing can come. What came while we slept is taken, however late. */
static int wait_until(const struct question *question, int64_t deadline)
{
	short events;

	for (;;) {
		int64_t left = deadline - clock_now();
		int ready = call_poll(atomic_load(&question->socket), POLLIN, left > 0 ? left : 0, &events);

		if (ready >= 0) {
			return ready;
		}
		/* a profiler's timer, say; where it leaves no time for the question either, that is over */
		if (errno != EINTR || left <= 0) {
			return errno == EINTR ? 0 : -1;
		}
	}
}

/* The kind of an answer, 0 for what is none, -1 where there was nothing to be read. */
static int hear_answer(const struct question *question)
{
	struct agent_message message;
	struct iovec part = {&message, sizeof(message)};
	struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	int socket = atomic_load(&question->socket);
	ssize_t size;

	if (!is_ours(question, socket)) {
		return 0;
	}
	size = call_recvmsg(socket, &whole, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
		return -1;
	}
	if (size != (ssize_t)sizeof(message) || (whole.msg_flags & MSG_TRUNC) || message.magic != AGENT_MAGIC ||
	    message.version != AGENT_VERSION) {
		return 0;
	}
	return message.kind;
}

static enum agent_outcome await_answer(const struct question *question, int64_t began, unsigned wait_ms)
{
	const int64_t in_all = began + wait_ms * MS;
	int64_t deadline = began + wait_ms * MS / FIRST_SIGN;
	bool started = false;

	for (;;) {
		int ready = wait_until(question, deadline);

		if (ready <= 0) {
			return ready == 0 ? AGENT_FETCH_TIMEOUT : AGENT_FETCH_BROKEN;
		}
		switch (hear_answer(question)) {
		case -1:
			break;
		case AGENT_STARTED:
			if (started) { /* one that says nothing else would hold us up for ever */
				return AGENT_FETCH_BROKEN;
			}
			started = true;
			deadline = in_all;
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

void agent_judge(const struct agent_options *options, const struct agent_question *question, uint64_t spared)
{
	const struct breaker_rule rule = rule_of(options);
	int64_t wasted = spared < (uint64_t)question->waited ? question->waited - (int64_t)spared : 0;

	breaker_wasted(&breaker, &rule, question->seen, wasted, clock_now());
}

void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared)
{
	struct agent_question asked = {.waited = waited};
	const struct breaker_rule rule = rule_of(options);

	/* where a probe is due, that was it */
	if (options->said && options->wait_ms > 0 && waited > OVERHEARD_NS &&
	    spared < (uint64_t)(waited - OVERHEARD_NS) && breaker_allows(&breaker, &rule, clock_now(), &asked.seen)) {
		agent_judge(options, &asked, spared);
	}
}

/* Whether what was found helps is seen when the directory is looked into. */
static void judge_answer(const struct agent_options *options, enum agent_outcome outcome,
                         const struct agent_question *asked)
{
	const struct breaker_rule rule = rule_of(options);

	switch (outcome) {
	case AGENT_FETCH_FOUND:
		break;
	case AGENT_FETCH_ABSENT:
	case AGENT_FETCH_DOWN:
		agent_judge(options, asked, 0);
		break;
	default:
		(void)breaker_failed(&breaker, &rule, asked->seen, clock_now());
	}
}

static enum agent_outcome ask_agent(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                                    struct agent_question *ret_question)
{
	const struct breaker_rule rule = rule_of(options);
	struct agent_question asked = {0};
	int64_t began = clock_now();
	struct question *question;
	enum agent_outcome outcome;

	if (!breaker_ask(&breaker, &rule, began, &asked.seen)) {
		return AGENT_FETCH_SKIPPED;
	}
	question = take_seat();
	if (!question) {
		return AGENT_FETCH_SKIPPED;
	}
	outcome = say_message(question, options, AGENT_FETCH, key);
	if (outcome == AGENT_FETCH_FOUND) {
		outcome = await_answer(question, began, options->wait_ms);
	}
	leave_seat(question);
	asked.waited = clock_now() - began;
	judge_answer(options, outcome, &asked);
	if (outcome == AGENT_FETCH_FOUND) {
		*ret_question = asked;
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

static void tell_agent(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	const struct breaker_rule rule = rule_of(options);
	struct question *question;
	int64_t seen;

	/* no probe: a message that is taken says nothing of whether an answer would come */
	if (!breaker_allows(&breaker, &rule, clock_now(), &seen)) {
		return;
	}
	question = take_seat();
	if (!question) {
		return;
	}
	if (say_message(question, options, AGENT_STORED, key) != AGENT_FETCH_FOUND) {
		(void)breaker_failed(&breaker, &rule, seen, clock_now());
	}
	leave_seat(question);
}

void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	int saved = errno;

	if (options->said && options->directory.path) {
		tell_agent(options, key);
		errno = saved;
	}
}
