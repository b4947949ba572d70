/* SPDX-License-Identifier: MIT */
/* Prints an explanation: the head, why the result was not cached or looked up, and the cause of the miss. */
#include "cli/explain/explanation.h"
#include "cache/agent_client.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "keygen/dependencies.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define DIFFERENCES_SHOWN 20

/* ---- reasons */

#define STICKY "Use that option in a process of its own, or in all compilations."

/*
 * One text for each reason that needs one. The same counter is used for results that were not cached and for calls that
 * were bypassed, so each reason has only one text.
 */
static const char *const reasons[COUNTER_COUNT] = {
    [COUNTER_BYPASSED_unwatchable] =
        "The cache cannot observe what this library reads. 'nvrtccache doctor -- PROGRAM' says what is in the way.",
    [COUNTER_BYPASSED_not_watched] =
        "Another preloaded library or a tracer hides what the compiler reads. Try without it.",
    [COUNTER_BYPASSED_files] = "The compiler opened a pipe, a device, or a file that could not be read.",
    [COUNTER_BYPASSED_side_effects] =
        "The compilation wrote or removed files, ran a program or used the network, which a hit would not do.",
    [COUNTER_BYPASSED_too_new] =
        "A header changed during the compilation or just before it. The next compilation is cached.",
    [COUNTER_BYPASSED_time_macros] =
        "The result depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.",
    [COUNTER_BYPASSED_environment] =
        "The compiler read a variable that is not in the key, or directory, variables or locale changed meanwhile.",
    [COUNTER_BYPASSED_builtins] =
        "It is not known which libnvrtc-builtins the compiler loads. Install the one that belongs to the release.",
    [COUNTER_BYPASSED_return_code] =
        "The compiler failed in a way that may not repeat, or that its log does not explain.",
    [COUNTER_BYPASSED_arguments] = "Invalid arguments, which the compiler rejects, are not cached.",
    [COUNTER_BYPASSED_cancelled] = "The program's own callback stopped the compilation.",
    [COUNTER_BYPASSED_history] = "An earlier compilation of this handle was not cached, or there were too many. "
                                 "Create a new handle for each.",
    [COUNTER_BYPASSED_sticky_options] = "An option of an earlier compilation affects later ones. " STICKY,
    [COUNTER_BYPASSED_uncleared_options] = "An option of an earlier compilation may affect later ones. " STICKY,
    [COUNTER_BYPASSED_slots] = "The process has loaded more copies of compilers than the cache supports.",
    [COUNTER_BYPASSED_threads] = "Threads of the compiler used files that may belong to another compilation.",
    [COUNTER_BYPASSED_exports] =
        "A module of the process calls the compiler directly. 'nvrtccache doctor -- PROGRAM' names it.",
    [COUNTER_BYPASSED_private_functions] =
        "The process looked up private functions of the compiler (__nvvmHandle, __nvJitLinkAPI).",
    [COUNTER_BYPASSED_libraries] = "Constants were folded with an unknown mathematics library.",
    [COUNTER_BYPASSED_too_large] =
        "The result is larger than an eighth of NVRTCCACHE_MAX_SIZE, or than the process may write.",
    [COUNTER_BYPASSED_extensions] = "The program uses a private extension of NVRTC, whose effects are not known.",
    [COUNTER_BYPASSED_precompiled_header] =
        "The precompiled header is the program's, or was made of other headers or options. Leave out --pch.",
    [COUNTER_BYPASSED_bundled_headers] = "--use-bundled-headers unpacked NVRTC's headers, or into a directory that "
                                         "ends with the process. Use a lasting one.",
    [COUNTER_BYPASSED_logs] =
        "The log contains run times, or the driver's cache leaves parts out. Leave out -time and -verbose.",
    [COUNTER_ERRORS_mismatch] = "The compiler's result differs from the cached one: please report that.",
};

/* ---- explanations */

/* Returns how much earlier the other call was. */
static const char *spell_distance(const struct explanation *explanation, char ret_text[CONSOLE_NUMBER_BYTES])
{
	return console_span((int64_t)(explanation->record->when_ns - explanation->compared->when_ns), ret_text);
}

/* Prints the outcome in the first line. A bypassed call has neither key nor cost, because it was not looked up. */
static void print_outcome(const struct events_record *record)
{
	char cost[CONSOLE_NUMBER_BYTES], key[KEY_TEXT_BYTES];

	if (record->kind != EVENTS_BYPASSED) {
		printf("MISS, compiled in %s", console_time(record->cost_ns, cost));
	}
	if (record->kind == EVENTS_STORED) {
		printf("%s, stored as %.*s\n", record->return_code != 0 ? ", a failure" : "", KEY_SHORT,
		       key_spell(record->key, key));
		return;
	}
	printf("%s: %s\n", record->kind == EVENTS_NOT_KEPT ? ", NOT CACHED" : "BYPASSED", counter_name(record->reason));
}

/* Prints the first line. A program without a name is shown as "?". An entry without a record has no process id. */
static void print_head(const struct explanation *explanation)
{
	const struct events_record *record = explanation->record;
	struct span program = request_text(explanation->request, ABOUT_PROGRAM);
	char when[CONSOLE_NUMBER_BYTES];

	console_print(stdout, "%.*s", SPAN(program));
	fputs(program.size ? " (" : "? (", stdout);
	if (record->pid != 0) {
		printf("pid %" PRIu32 ", ", record->pid);
	}
	printf("%s)  ", console_moment((int64_t)(record->when_ns / 1000000000), "%Y-%m-%d %H:%M:%S", when));
	print_outcome(record);
}

/* Prints the file or variable that the reason is about, and what the reason means. */
static void print_why(const struct events_record *record)
{
	bool is_error = record->reason >= COUNTER_ERRORS_directory && record->reason <= COUNTER_ERRORS_internal;
	const char *reason = reasons[record->reason];

	/* the detail of a stale entry is printed with its differences */
	if (record->parts[EVENTS_DETAIL].size > 0 && record->why != EVENTS_WHY_STALE) {
		console_line("  %.*s.", SPAN(record->parts[EVENTS_DETAIL]));
	}
	if (record->parts[EVENTS_REFUSAL].size > 0) {
		console_line("  %.*s.", SPAN(record->parts[EVENTS_REFUSAL]));
	}
	if (reason || is_error) {
		printf("  %s\n", reason ? reason : "'nvrtccache doctor' checks the directory.");
	}
	if (record->agent != AGENT_FETCH_NOT_ASKED) {
		printf("  The node's agent %s.\n", agent_outcome_words((enum agent_outcome)record->agent));
	}
}

static void print_differences(const struct explanation *explanation)
{
	const struct differences *differences = &explanation->differences;
	struct difference_words words;

	for (size_t i = 0; i < differences->count && i < DIFFERENCES_SHOWN; i++) {
		differences_spell(&differences->list[i], &words);
		console_line("  %s  %s", words.what, words.words);
	}
	/* two unrelated command lines may differ in hundreds of options */
	if (differences->count > DIFFERENCES_SHOWN) {
		printf("  and %zu more differences; --json has them all\n", differences->count - DIFFERENCES_SHOWN);
	}
}

static void print_switch(void)
{
	puts("  NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only");
}

static void print_closest(const struct explanation *explanation)
{
	char key[KEY_TEXT_BYTES], distance[CONSOLE_NUMBER_BYTES];

	printf("closest cached entry: %.*s, %s earlier\n", KEY_SHORT, key_spell(explanation->compared->key, key),
	       spell_distance(explanation, distance));
	print_differences(explanation);
	if (explanation->differences.count == 0) {
		puts("  options, headers or names are in another order, or the difference was not recorded");
	}
	if (differences_are_paths(&explanation->differences, explanation->request)) {
		print_switch();
	}
	if (explanation->record->is_cut) {
		puts("The record does not hold the whole request, so there may be more differences.");
	}
}

/* Prints why an entry with the same key was not used: the record's detail names the dependency that changed. */
static void print_stale(const struct explanation *explanation)
{
	struct span detail = span_of_record(explanation->record, EVENTS_DETAIL), rest;

	puts("the same request was cached before, and that entry is not valid here:");
	console_line("  %.*s", SPAN(detail));
	if (span_behind(detail, span_text(DEPENDENCIES_BOUND), &rest)) {
		print_switch();
	}
}

/* Prints why the same request was not cached the last time. */
static void print_refused(const struct explanation *explanation)
{
	const struct events_record *compared = explanation->compared;
	char distance[CONSOLE_NUMBER_BYTES];

	printf("the same request was compiled before, %s earlier, and not cached: %s",
	       spell_distance(explanation, distance), counter_name(compared->reason));
	console_print(stdout, compared->parts[EVENTS_REFUSAL].size ? " (%.*s)" : "%.*s",
	              SPAN(compared->parts[EVENTS_REFUSAL]));
	putchar('\n');
}

void explanation_print(const struct explanation *explanation)
{
	char distance[CONSOLE_NUMBER_BYTES];

	print_head(explanation);
	print_why(explanation->record);
	switch (explanation->cause) {
	case CAUSE_STALE:
		print_stale(explanation);
		break;
	case CAUSE_GONE:
		printf("cached %s earlier, and gone since (evicted, cleared, damaged, or no longer trusted)\n",
		       spell_distance(explanation, distance));
		break;
	case CAUSE_REFUSED:
		print_refused(explanation);
		break;
	case CAUSE_DIFFERENT:
		print_closest(explanation);
		break;
	case CAUSE_FIRST:
		puts(explanation->record->is_cut
		         ? "the record does not hold the whole request, so it cannot be compared"
		         : "first time: no cached entry of this program or this source is recorded");
		break;
	case CAUSE_UNKNOWN:
		puts("the record does not say what was requested");
		break;
	case CAUSE_PASSED:
	case CAUSE_UNFIT:
		break;
	}
}
