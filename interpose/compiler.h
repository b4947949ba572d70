/* SPDX-License-Identifier: MIT */
/*
 * compiler: the table that a compiler's folder fills in
 *
 * door/, compile/ and watch/ work for any library that compiles by way of a handle: they find the library, stand in
 * front of its functions, observe it, store what it made and answer from that. Everything that differs from compiler to
 * compiler is one constant `struct compiler`: which functions there are, what a call asks for, what a result consists
 * of. interpose/compilers.h lists the tables; CONTRIBUTING.md says how to add one.
 *
 * Every compiler has a handle that the host creates and destroys, calls with options that do the work, and getters.
 * What goes into the handle before the call is recorded as the creation run, a canonical stream (keygen/stream.h). A
 * compiler's own record of a handle begins with `struct handle`, because the functions below are given that; what it
 * has to say of a request is in `own` of `struct request` (compile/attempt.h). A compiler leaves out the functions for
 * which a comment says what NULL means.
 *
 * Threads: the functions are called on the host's threads, concurrently for different handles. Signals: `owns`,
 * `wants_door` and everything that a getter calls may run in a signal handler. Errors: see each function. No function
 * prints, and none calls the dynamic loader.
 */
#ifndef INTERPOSE_COMPILER_H
#define INTERPOSE_COMPILER_H

#include "cache/counters.h"
#include "cache/entry.h"
#include "keygen/surroundings.h"
#include "keygen/trace.h"

#include <stdatomic.h>
#include <stdbool.h>

struct door_thunks;
struct needles;
struct environment;
struct event;
struct handle;
struct library;
struct node;
struct request;
struct result;
struct snapshot;
struct stream;

typedef void real_function(void);

/* Releases are major * 100 + minor. */
struct compiler_function {
	const char *name;
	int since, gone; /* the first release that has it, and the first one that no longer does */
};

#define COMPILER_FUNCTIONS_MAX 32

/* What a compiler makes, and the two functions of the table by which a host gets it (compile/artifacts.h). */
struct compiler_artifact {
	const char *name;
	size_t size, bytes;
};

/* A call that does the work: what the host passed to it. */
struct call {
	int option_count;
	const char *const *options;
	/* Which of the compiler's working functions, or which of its inputs, by the compiler's own numbers. With
	 * PAST_IS_NOTHING, a call of a higher kind also leaves what one of a lower kind leaves. With PAST_GROWS, 0 is
	 * the last step. */
	int kind;
};

/* How a call depends on earlier calls of its handle. */
enum past {
	/* Earlier calls leave products in the handle. Their keys and those products replace the creation run. */
	PAST_LEAVES,
	/* Calls are steps of one link. The creation run keeps growing, and describes everything before the call. */
	PAST_GROWS,
	/* Not at all. The creation run keeps growing. */
	PAST_IS_NOTHING
};

/* Whether the host's thread can be cancelled in the real call: never, or as the host has set it. */
enum cancellation { CANCELLATION_OFF, CANCELLATION_OF_HOST };

/* What a return code of such a call means. */
enum outcome {
	OUTCOME_SUCCESS,
	OUTCOME_FAILURE,         /* the input is at fault, and the log says why: may be cached */
	OUTCOME_REFUSED_OPTIONS, /* the call leaves nothing behind */
	OUTCOME_REFUSED_CALL,    /* the library did nothing, and the handle is as before */
	OUTCOME_NO_MEMORY,
	OUTCOME_OTHER /* what the handle holds now is not known */
};

/* What the library is told when it asks the host's callback whether to go on. */
enum answer { ANSWER_GO_ON, ANSWER_STOP, ANSWER_HOST };

/*
 * Required: all constants except `hallmark` and `reader`, and the functions owns, wants_door, release, describe, run,
 * outcome, collect, answer_from, about and explains_failure. For the others a comment says what NULL means.
 */
struct compiler {
	const char *name;         /* in JSON and in file names */
	const char *title;        /* in messages */
	const char *unnamed;      /* shown for a handle without a name */
	int internal_error;       /* the return code for errors that are not the host's */
	enum counter_group share; /* its part of the counters; COUNTER_NOTHING: none */
	enum past past;

	/* ---- its libraries: `struct library` (compile/library.h) ---- */

	/* For libraries whose symbols have no version: a function that only they define, beside the landmark. They
	 * all belong to the first node, and linked hosts bypass the cache. NULL: the landmark's version is the node. */
	const char *hallmark;
	struct node *nodes; /* one per soname */
	size_t node_count;
	const struct compiler_function *functions; /* those with a door; `real` of struct library has this order */
	size_t function_count;
	const struct door_thunks *thunks; /* what dlsym gives out for them */
	size_t thunk_count;
	struct environment *environment;
	const struct trace_reader *reader; /* searches the files that it opens; NULL: they are not searched */

	/* Whether `name` is, or could be, a function of this compiler. */
	bool (*owns)(const char *name);
	/* Whether a function of this compiler needs a door: it takes a handle, or is not known. */
	bool (*wants_door)(const char *name);
	/* Whether a function only returns an artifact and changes nothing. NULL: that is not known of any. */
	bool (*only_gives)(const char *name);
	/* Whether `name` is another name of the function in the table. NULL: functions have one name each. */
	bool (*names)(const char *name, const char *function);
	/* The name under which libraries of the node have a function. NULL: the name in the table. */
	const char *(*name_on)(const struct node *, size_t function);
	/* Does a host that is linked with this name on the node reach us? NULL: if node_exports() says so, and never
	 * where there is a hallmark. */
	bool (*exports)(const struct node *, const char *name);
	bool links_private; /* hosts are linked with names that begin with _, which otherwise are private */
	/* Whether the function gives access to handles behind the cache: a process that looks it up bypasses the cache
	 * for this library. NULL: there is no such function. */
	bool (*opens)(const char *name);
	int (*release)(const struct library *, int *ret_major, int *ret_minor);
	/* The name of the library that it loads by itself and that its results depend on. False, or NULL: none. */
	bool (*companion)(const struct library *, char *ret_name, size_t size);

	/* ---- a handle (compile/handle.h) ---- */

	void (*free_handle)(struct handle *); /* frees what it added to the record; NULL: nothing */

	/* ---- one call, in the order of compile/compile.h ---- */

	/*
	 * Writes the call run, numbers the roots, and fills in traits, scratch and `own`. `told` is the state of the
	 * process to describe; NULL: the present one. Returns COUNTER_NONE, or why the call bypasses the cache.
	 */
	enum counter (*describe)(struct handle *, const struct call *, struct surroundings *,
	                         const struct snapshot *told, struct request *);
	void (*free_request)(struct request *); /* frees and clears what is in `own`; NULL: nothing */
	/*
	 * Whether the host can be given the entry: false if a linked host would ask the real library, past our exports,
	 * for something in it. NULL: all getters are exported on all nodes.
	 */
	bool (*reachable)(const struct handle *, const struct entry *);
	/*
	 * Notes that the host was given the entry, or, with PAST_GROWS, that it was just stored: what the result
	 * depends on besides its input goes into the creation run, as later steps depend on it too. NULL: nothing.
	 */
	void (*served)(struct handle *, const struct entry *);
	/* For handles with `asks_host` set: calls the host's callback; sets what the library's question is answered
	 * with. NULL: no handle of this compiler has it set. */
	bool (*host_stops)(const struct handle *);
	void (*let_answer)(struct handle *, enum answer);
	/* Gives the options that replace the host's in the real call, in one block for free(); leaves `ret_given` alone
	 * where they are the host's. False: no memory. NULL: always the host's. */
	bool (*prepare)(const struct handle *, const struct call *, const struct request *, struct call *ret_given);
	/*
	 * Makes the real call, between handle_enter_real() and handle_leave_real() (compile/handle.h), as the host's
	 * thread may be cancelled in it and nowhere else.
	 */
	int (*run)(const struct handle *, const struct call *, enum cancellation);
	enum outcome (*outcome)(int return_code);
	/* The names of the return codes in its headers, from 0 on, for messages. NULL: the headers lack that code. */
	const char *const *codes;
	size_t code_count;
	/* Adds to the trace what the watch cannot see: COUNTER_NONE, or why that fails. NULL: it sees everything. */
	enum counter (*unwatched)(const struct request *, struct trace *);
	/* Taints the trace by what source, options and names say of paths and times. NULL: they say nothing. */
	void (*read_texts)(struct handle *, const struct call *, const struct request *, struct trace *);
	/* Why the result must not be cached, for a reason of this compiler's, with details for the event; or
	 * COUNTER_NONE. NULL: it has no reasons of its own. */
	enum counter (*refuses)(const struct handle *, const struct request *, struct event *);

	/* ---- results (compile/result.h) ---- */

	const struct compiler_artifact *artifacts; /* a position is a number in stored results, so it never changes */
	size_t artifact_count;
	size_t
	    artifact_head; /* ARTIFACT_HEAD where the second getter may write less than the first one tells; else 0 */
	/* The entry that answers for an artifact of the handle. NULL: the real library does. */
	const struct entry *(*answer_from)(const struct handle *, size_t artifact);
	/*
	 * The code of a getter that is given no place for its answer. NULL: the real one is called, as releases differ.
	 */
	int (*no_room)(const struct handle *);
	/* Describes the request for people: names and digests of its inputs (keygen/about.h). */
	void (*about)(const struct handle *, const struct call *, struct stream *);
	int (*collect)(const struct handle *, struct result *); /* -ENOMEM; -EPROTO, -EFBIG: a getter is odd */
	/* Whether the log says what is wrong with the input, so that compiling again would say the same. */
	bool (*explains_failure)(const struct handle *, const struct result *);
	/* Whether a text can spell the directory in one way only. NULL: that is true of none. */
	bool (*spells_plainly)(const char *directory, size_t size);
	/* Looks for the needles in all but logs and debug information (B24). NULL: nothing is loosened. */
	void (*search_code)(const struct result *, struct needles *);
	bool (*comparable)(const struct section *); /* whether verify compares it; NULL: all sections */
	/* It makes module ids, which may hide in a difference (compile/equal_modulo_ids.h). */
	bool hides_ids;
};

#endif
