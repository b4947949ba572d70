/* SPDX-License-Identifier: MIT */
/*
 * compiler: the table that a compiler's folder fills in
 *
 * door/, compile/ and watch/ work for any library that compiles by way of a handle. They find the library, intercept
 * calls of its functions, watch its compilations, store the results and answer later calls from them. All differences
 * between compilers are in one constant `struct compiler`: which functions exist, what a call requests, what a result
 * consists of. interpose/compilers.h lists the tables; CONTRIBUTING.md says how to add one.
 *
 * Every compiler has a handle, which the host creates and destroys, functions that take the handle with options and
 * compile, and getters. Everything that the host puts into the handle before the compiling call is recorded as the
 * creation run, a canonical stream (keygen/stream.h). A compiler's own record of a handle begins with `struct handle`,
 * because the functions below get a pointer to that. A compiler's own data of a request are in `own` of `struct
 * request` (compile/request.h). A compiler may leave out those functions whose comment says what NULL means.
 *
 * Threads: the functions are called on the host's threads, concurrently for different handles. Signals: everything
 * that a getter calls may run in a signal handler. Errors: see each function. No function prints, and none calls the
 * dynamic loader.
 */
#ifndef INTERPOSE_COMPILER_H
#define INTERPOSE_COMPILER_H

#include "cache/counters.h"
#include "cache/entry.h"
#include "keygen/surroundings.h"
#include "keygen/trace.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

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
	/* What the host's dlsym() returns for it, by slot of the library (door/doors.h). */
	real_function *const *thunks;
};

#define COMPILER_FUNCTIONS_MAX 32

/* What each compiler makes of its list of functions, X(name, since, gone, (parameters), arguments...). */
#define COMPILER_TYPE(name, since, gone, parameters, ...) typedef int name##_function parameters;
#define COMPILER_ENUM(name, ...)                          FUNCTION_##name,
/* For a list of names. */
#define COMPILER_TEXT(name) #name,

/*
 * The output of a compiler, and the indexes in `functions` of the two getters that return its size and its bytes
 * (compile/artifacts.h).
 */
struct compiler_artifact {
	const char *name;
	size_t size, bytes;
};

/* How the description for people (keygen/about.h) shows a field of a request. */
struct shown_field {
	int kind;         /* enum about_kind; 0: it is not shown */
	const char *part; /* the name of an ABOUT_PART; NULL: the field is that of the next part */
};

#define OWN_TAGS  31 /* the tags of a compiler's own fields are smaller */
#define STEPS_MAX 3

/* The modules that call a compiler without this library; set by door/modules.c. */
struct missed {
	_Atomic(const char *) module; /* the file of the first one; NULL: there is none */
	_Atomic bool in_part;         /* some calls of one module are reached, so the compiler is bypassed */
	char path[PATH_MAX];
};

/* The arguments of a call that compiles, as the host passed them. */
struct call {
	int option_count;
	const char *const *options;
	/* The number of the compiling function, or of the kind of input; each compiler has its own numbering. With
	 * PAST_IS_NOTHING, a call of a higher kind also does the work of all lower kinds. With PAST_GROWS, 0 is the
	 * last step. */
	int kind;
};

/* Options of a call with an effect on later calls of the process. */
struct lasting {
	uint32_t sticky;    /* bits of the compiler's own, for those with a known effect; 31 is not one of them */
	uint64_t uncleared; /* 0, or a hash of those that may have one */
};

/* How a call depends on earlier calls of its handle. */
enum past {
	/* Earlier calls leave products in the handle. Their keys and those products replace the creation run. */
	PAST_LEAVES,
	/* Calls are steps of one link. The creation run keeps growing, and describes everything before the call. */
	PAST_GROWS,
	/* Calls do not depend on earlier ones. The creation run keeps growing. */
	PAST_IS_NOTHING
};

/* The meaning of the return code of a call that compiles. */
enum outcome {
	OUTCOME_OTHER, /* the contents of the handle are unknown */
	OUTCOME_SUCCESS,
	OUTCOME_FAILURE,         /* the input has an error, which the log describes; may be cached */
	OUTCOME_REFUSED_OPTIONS, /* the options were rejected, and the handle holds no result of the call */
	OUTCOME_REFUSED_CALL,    /* the library did nothing; the handle is unchanged */
	OUTCOME_NO_MEMORY
};

/* The answer to the library's question whether to continue: yes, no, or the answer of the host's callback. */
enum answer { ANSWER_GO_ON, ANSWER_STOP, ANSWER_HOST };

/*
 * Required: all constants except `hallmark`, `inner`, `opens` and `reader`, and the functions describe, run, collect
 * and explains_failure. For the others a comment says what NULL means.
 */
struct compiler {
	const char *name;         /* in JSON and in file names */
	const char *title;        /* in messages */
	const char *unnamed;      /* shown for a handle without a name */
	int internal_error;       /* returned to the host for errors that the host did not cause */
	enum counter_group share; /* its group of counters; COUNTER_NOTHING: it has none */
	enum past past;

	/* ---- its libraries: `struct library` (compile/library.h) ---- */

	/* For libraries whose symbols have no version: a function that only they define, in addition to the landmark.
	 * Such libraries all belong to the first node, and nothing is exported for them. NULL: the landmark's version
	 * identifies the node. */
	const char *hallmark;
	struct node *nodes; /* one per soname */
	size_t node_count;
	struct missed *missed;
	const struct compiler_function *functions; /* intercepted ones, in the order of `real` in struct library */
	size_t function_count;
	struct environment *environment;
	trace_reader *reader; /* searches the files that the compiler opens; NULL: they are not searched */

	const char *prefix; /* names of its functions begin with it, or with "__" before it */
	const char *inner;  /* names that begin so are what its library looks up in its companion; NULL: none */
	/* Functions that are not intercepted, because they take no handle. */
	const char *const *plain;
	size_t plain_count;
	/* Functions whose names begin so give access to handles that the cache does not see. A process that looks up
	 * such a function bypasses the cache for this library. NULL: there is no such function. */
	const char *opens;
	const char *version; /* the function that returns the release as two int, major and minor, and 0 */
	/* Finds the release of a library that lacks that function. NULL: there is none. */
	int (*release)(const struct library *, int *ret_major, int *ret_minor);
	/* Writes the name of the library that this one loads by itself and on which results depend. NULL: none. */
	void (*companion)(const struct library *, char ret_name[NAME_MAX]);
	/* Lets the library load and initialise what it does in its first compilation. NULL: no child needs that. */
	void (*wake)(const struct library *, size_t stack_left);

	/* ---- a handle (compile/handle.h) ---- */

	void (*free_handle)(struct handle *); /* frees the compiler's own fields of the record; NULL: there are none */

	/* ---- one call, in the order of compile/compile.h ---- */

	/*
	 * Writes the call run, numbers the roots, and fills in traits, scratch and `own`. `told` is the process state
	 * to describe; NULL: the present state. Returns COUNTER_NONE, or the reason why the call bypasses the cache.
	 */
	enum counter (*describe)(struct handle *, const struct call *, struct surroundings *,
	                         const struct snapshot *told, struct request *);
	void (*free_request)(struct request *); /* frees and clears the contents of `own`; NULL: nothing to free */
	/*
	 * Returns true if the host can be served the entry. False: the host is linked, and would call the real library
	 * directly, by a name that this library does not export, for something in the entry. NULL: all getters are
	 * exported on all nodes.
	 */
	bool (*reachable)(const struct handle *, const struct entry *);
	/*
	 * Called when the host was served the entry, or, with PAST_GROWS, when the entry was just stored. Adds to the
	 * creation run what the result depends on besides its input, because later steps depend on it too. NULL:
	 * nothing to add.
	 */
	void (*served)(struct handle *, const struct entry *);
	/* For handles with `asks_host` set: host_stops() calls the host's callback, and let_answer() sets the answer
	 * that the library gets when it asks whether to continue. NULL: no handle of this compiler has it set. */
	bool (*host_stops)(struct handle *);
	void (*let_answer)(struct handle *, enum answer);
	/* Makes the real call; called by handle_run() only, between the two below. */
	int (*run)(const struct handle *, const struct call *);
	/* Returns the options of a call, valid or not, that last (compile/handle.h). NULL: no call has options. */
	struct lasting (*lasting)(const struct call *);
	const enum outcome *outcomes; /* by return code, from 0 on; codes behind the last are OUTCOME_OTHER */
	size_t outcome_count;
	/*
	 * Adds to the trace what the watch cannot see, such as paths and time macros in source, options or names.
	 * Returns COUNTER_NONE, or the reason why that fails. NULL: the watch sees everything.
	 */
	enum counter (*unwatched)(struct handle *, const struct call *, const struct request *, struct trace *);
	/* Returns a reason of this compiler's own why the result must not be cached, with details for the event, or
	 * COUNTER_NONE. NULL: it has no reasons of its own. */
	enum counter (*refuses)(const struct handle *, const struct request *, struct event *);

	/* Returns true if the call's options may let the compiler write a file. NULL: no cached call can. */
	bool (*may_write)(const struct call *);

	/* ---- results (compile/result.h) ---- */

	const struct compiler_artifact *artifacts; /* stored results contain the position, so it never changes */
	size_t artifact_count;
	/* Returns the entry from which a getter of the handle is answered; NULL if the real library answers. A member
	 * that is NULL stands for `served` of the handle. */
	const struct entry *(*answer_from)(struct handle *, size_t artifact);
	/*
	 * Returns the code of a getter that gets a NULL pointer for its answer. NULL: the real getter is called,
	 * because releases differ.
	 */
	int (*no_room)(const struct handle *);
	/* How the description for people (keygen/about.h) shows the compiler's own fields of both runs, by tag. */
	const struct shown_field *fields; /* OWN_TAGS of them */
	const char *steps[STEPS_MAX]; /* what a call does, by its kind; the last is for all higher kinds; NULL: none */
	int (*collect)(const struct handle *, struct result *); /* -ENOMEM; -EPROTO, -EFBIG: see artifact_collect() */
	/*
	 * Returns true if the log names an error in the input, so that a second compilation would fail in the same way.
	 */
	bool (*explains_failure)(const struct handle *, const struct result *);
	/*
	 * Returns true if texts can contain the directory in one spelling only. NULL: no directory is known to have
	 * only one.
	 */
	bool (*spells_plainly)(const char *directory, size_t size);
	/*
	 * Searches everything except logs and debug information for the needles. NULL: the compiler ignores
	 * SLOPPINESS_DEBUG_PATHS.
	 */
	void (*search_code)(const struct result *, struct needles *);
	bool (*comparable)(const struct section *); /* whether verify compares it; NULL: all sections */
	/* Its output contains module ids, which can make a difference incomparable (compile/result.h). */
	bool hides_ids;
};

#endif
