/* SPDX-License-Identifier: MIT */
/*
 * compiler: what a compiler is, to everything that knows none
 *
 * Purpose: door/, compile/ and watch/ handle any library that turns texts into programs by way of a handle: they find
 * it, stand before its functions, watch it, keep what it made and give that out again. What they cannot know (which
 * functions there are, what a call asks for, what a result is made of) is in one struct of constants and functions, and
 * a folder that fills it in. interpose/compilers.h lists them; CONTRIBUTING.md tells how to add one.
 *
 * What all compilers have: a handle that the host makes and destroys; a creation run (bytes that stand for what went
 * into the handle, keygen/stream.h); calls with options that do the work; getters. A compiler's own record of a handle
 * begins with the general one (`struct handle`), as its functions are given that; what it has to say of a request beside
 * what all have is in `own` of that (`struct request`, compile/attempt.h).
 * Where a comment says what NULL means, a compiler without the like leaves the function out.
 *
 * Threads: functions are called on the host's threads, any number at once, on different handles. Signals: `owns`,
 * `wants_door` and whatever a getter does may run in a signal handler. Errors: as each says. None may print, keep errno
 * changed where it was called from a door, or call into the loader.
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
	int since, gone; /* the release that it came with, and the one that had it no more */
};

#define COMPILER_FUNCTIONS_MAX 32

/* What a compiler makes, and the two functions of the table by which a host gets it (compile/artifacts.h). */
struct compiler_artifact {
	const char *name;
	size_t size, bytes;
};

/* One call that makes something: what the host passed to it. */
struct call {
	int option_count;
	const char *const *options;
	/* Where a compiler has several such functions, or inputs: which, as it counts. Of calls that have nothing to
	 * do with one another, those of higher kinds leave all that lower ones leave. Of steps, 0 is the last. */
	int kind;
};

/* What a call has to do with earlier ones of its handle. */
enum past {
	/* They leave things in the handle: their keys, and what is left, stand for the creation run. */
	PAST_LEAVES,
	/* They are steps of one piece of work. The creation run goes on growing, and says all that went before. */
	PAST_GROWS,
	/* Nothing: it gives what it would give without them. The creation run goes on growing. */
	PAST_IS_NOTHING
};

/* May the host's thread be cancelled in it, as its own state says? */
enum cancellation { CANCELLATION_OFF, CANCELLATION_OF_HOST };

/* What a return code of such a call means. */
enum outcome {
	OUTCOME_SUCCESS,
	OUTCOME_FAILURE,         /* the input is at fault, and the log says why: kept */
	OUTCOME_REFUSED_OPTIONS, /* nothing of the call is left behind */
	OUTCOME_REFUSED_CALL,    /* the library did not look at it */
	OUTCOME_NO_MEMORY,
	OUTCOME_OTHER /* nobody knows what the handle holds now */
};

/* Who answers where the library asks the host whether to go on. */
enum answer { ANSWER_GO_ON, ANSWER_STOP, ANSWER_HOST };

/*
 * Obligatory: all constants but `hallmark` and `reader`, and the functions owns, wants_door, release,
 * describe, run, outcome, collect, answer_from, about and explains_failure. The others say what NULL means.
 */
struct compiler {
	const char *name;         /* for machines */
	const char *title;        /* as people know it */
	const char *unnamed;      /* what people see of a handle without a name */
	int internal_error;       /* the return code for what should not be */
	enum counter_group share; /* of the counts; COUNTER_NOTHING: it has none of its own */
	enum past past;

	/* ---- its libraries: `struct library` (compile/library.h) ---- */

	/* Of libraries whose symbols have no version: a function that each defines beside the landmark, and nobody
	 * else. They are of the first node, and linked hosts do not reach us. NULL: the landmark's version tells the
	 * node. */
	const char *hallmark;
	struct node *nodes; /* one per soname */
	size_t node_count;
	const struct compiler_function *functions; /* those with a door; struct library's `real` is in this order */
	size_t function_count;
	const struct door_thunks *thunks; /* what dlsym gives out for them */
	size_t thunk_count;
	struct environment *environment;
	const struct trace_reader *reader; /* of the files that it opens; NULL: they are not searched */

	bool (*owns)(const char *name);       /* is it a name of this compiler's functions? */
	bool (*wants_door)(const char *name); /* of those: does it concern a handle, or is it unknown? */
	bool (*only_gives)(
	    const char *name); /* it gives out an artifact, and changes nothing; NULL: none is known to */
	/* Is a function of this name the one that the table calls so? NULL: where the names are equal. */
	bool (*names)(const char *name, const char *function);
	/* Under which name a library of the node has it. NULL: the table's. */
	const char *(*name_on)(const struct node *, size_t function);
	/* Does a host that is linked with this name on the node reach us? NULL: if node_exports() says so, and never
	 * where there is a hallmark. */
	bool (*exports)(const struct node *, const char *name);
	bool links_private; /* hosts are linked with names that begin with _, which otherwise are private */
	/* Whoever asks for it can get at handles past us: then the library is passed through. NULL: nobody can. */
	bool (*opens)(const char *name);
	int (*release)(const struct library *, int *ret_major, int *ret_minor);
	/* The name of the library that it loads by itself and that its results hang on; false or NULL: none. */
	bool (*companion)(const struct library *, char *ret_name, size_t size);

	/* ---- a handle (compile/handle.h) ---- */

	void (*free_handle)(struct handle *); /* what it hung onto the general record; NULL: nothing */

	/* ---- one call, in the order of its way (compile/compile.h) ---- */

	/*
	 * Writes the call run, numbers the roots, and fills in traits, scratch and `own`. `told`: what the process was at
	 * some moment; NULL: what it is. COUNTER_NONE, or why the call is passed through.
	 */
	enum counter (*describe)(struct handle *, const struct call *, struct surroundings *,
	                         const struct snapshot *told, struct request *);
	void (*free_request)(struct request *); /* what is in `own`; zeros again after it. NULL: nothing */
	/*
	 * Can the host ask for everything that is in the entry? Not where a linked one reaches a getter past us. NULL:
	 * all getters are exported on all nodes.
	 */
	bool (*reachable)(const struct handle *, const struct entry *);
	/*
	 * The result that the host is given. Where calls are steps (PAST_GROWS), one that was just kept, too: what it
	 * hangs on besides the input (files) goes into the creation run, as what comes next hangs on it. NULL: it keeps
	 * nothing of it.
	 */
	void (*served)(struct handle *, const struct entry *);
	/* Only of a handle whose `asks_host` is set: calls the host, or sets who is called in a real compile. NULL
	 * where none is. */
	bool (*host_stops)(const struct handle *);
	void (*let_answer)(struct handle *, enum answer);
	/* What the real call is to be given instead, with options that free() can free; untouched: the host's own.
	 * False: no memory. NULL: always the host's own. */
	bool (*prepare)(const struct handle *, const struct call *, const struct request *, struct call *ret_given);
	/*
	 * The real call, and around it nothing of ours where the host's thread may be cancelled:
	 * handle_enter_real(), the library's function, handle_leave_real() (compile/handle.h).
	 */
	int (*run)(const struct handle *, const struct call *, enum cancellation);
	enum outcome (*outcome)(int return_code);
	/* What its headers call its codes from 0 on, for people; NULL: one that they do not have. */
	const char *const *codes;
	size_t code_count;
	/* Completes what was seen: COUNTER_NONE, or why that cannot be done. NULL: it is complete. */
	enum counter (*unwatched)(const struct request *, struct trace *);
	/* Taints the trace with what the texts say that are no files. NULL: they say nothing of places or times. */
	void (*read_texts)(struct handle *, const struct call *, const struct request *, struct trace *);
	/* Why the result must not be kept, which the event may be told more of, or COUNTER_NONE. NULL: for no reason of
	 * the compiler's own. */
	enum counter (*refuses)(const struct handle *, const struct request *, struct event *);

	/* ---- results (compile/result.h) ---- */

	const struct compiler_artifact *artifacts; /* a position is a number in stored results, so it never changes */
	size_t artifact_count;
	size_t
	    artifact_head; /* ARTIFACT_HEAD where the second getter may write less than the first one tells; else 0 */
	/* The entry that answers for an artifact of the handle. NULL: the real library does. */
	const struct entry *(*answer_from)(const struct handle *, size_t artifact);
	/* The code of a getter that is given no place for its answer. NULL: the real one is called, as releases differ. */
	int (*no_room)(const struct handle *);
	/* What entries say of themselves to people, besides what all say: names of inputs, and digests of each. */
	void (*about)(const struct handle *, const struct call *, struct stream *);
	int (*collect)(const struct handle *, struct result *); /* -ENOMEM; -EPROTO, -EFBIG: a getter is odd */
	/* Does the log say what is wrong with the input, so that it would be said again? */
	bool (*explains_failure)(const struct handle *, const struct result *);
	/* Has the directory one spelling only in a text? NULL: none has. */
	bool (*spells_plainly)(const char *directory, size_t size);
	bool (*comparable)(const struct section *); /* is it the same for all who ask for the same? NULL: all are */
	/* It makes module ids, which may hide in a difference (compile/equal_modulo_ids.h). */
	bool hides_ids;
};

#endif
