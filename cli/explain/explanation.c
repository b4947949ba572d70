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

/*
 * One text for each reason that a record can have. Counters without a text are not reasons. The same counter is used
 * for results that were not cached and for calls that were bypassed, so each reason has only one text.
 */
static const char *const reasons[COUNTER_COUNT] = {
    [COUNTER_BYPASSED_unwatchable] =
        "The cache cannot observe what this library reads, so its results could be wrong later. "
        "'nvrtccache doctor -- PROGRAM' names what is in the way.",
    [COUNTER_BYPASSED_not_watched] =
        "What the compiler read was not observed; other preloaded libraries and tracers prevent that. "
        "Try without them.",
    [COUNTER_BYPASSED_files] =
        "The compiler opened something that cannot be compared later: a pipe, a device, or a file that "
        "could not be read. Use a plain file.",
    [COUNTER_BYPASSED_side_effects] =
        "The compilation wrote or removed files, ran a program or used the network (--time, --create-pch "
        "and the like do), which a hit would not do. Leave that option out.",
    [COUNTER_BYPASSED_too_new] =
        "A header changed during the compilation or just before it: another edit as quick would not be "
        "noticed. The next compilation is cached.",
    [COUNTER_BYPASSED_time_macros] =
        "The source or a header uses __DATE__, __TIME__ or __TIMESTAMP__, so the result depends on the "
        "time of compilation. NVRTCCACHE_SLOPPINESS=time_macros caches such results anyway.",
    [COUNTER_BYPASSED_environment] =
        "The compiler read a variable that is not part of the key, or the directory, environment or "
        "locale changed meanwhile. Unset that variable, or set it before the program starts.",
    [COUNTER_BYPASSED_builtins] =
        "No loaded library has the SONAME of the one that the compiler loads itself (libnvrtc-builtins), so "
        "it is not known which one was used. Install the file that belongs to the release.",
    [COUNTER_BYPASSED_return_code] =
        "The compiler failed in a way that may not repeat: out of memory, an internal error, options "
        "that it rejects, or a failure that its log does not explain.",
    [COUNTER_BYPASSED_arguments] =
        "The arguments are invalid, so the compiler rejects them or reads undefined memory. Such calls are not cached.",
    [COUNTER_BYPASSED_cancelled] = "The program's own callback stopped the compilation.",
    [COUNTER_BYPASSED_history] =
        "This handle has a history that no key can hold: an earlier compilation that was not cached, or "
        "too many of them. Create a new handle for each compilation.",
    [COUNTER_BYPASSED_sticky_options] =
        "An option of an earlier compilation of this process affects later ones. Use that option in a "
        "process of its own, or in all compilations.",
    [COUNTER_BYPASSED_uncleared_options] =
        "An earlier compilation of this process had an option that may affect later ones. Use it in a "
        "process of its own, or in all compilations.",
    [COUNTER_BYPASSED_slots] = "The process has loaded more copies of compilers than the cache supports.",
    [COUNTER_BYPASSED_threads] =
        "Threads of the compiler used files that could not be attributed to this compilation. The next "
        "compilation may be cached.",
    [COUNTER_BYPASSED_exports] =
        "A module of the process calls the compiler in a way that bypasses the cache. 'nvrtccache doctor "
        "-- PROGRAM' names it.",
    [COUNTER_BYPASSED_private_functions] =
        "The process looked up private functions of the compiler (__nvvmHandle, __nvJitLinkAPI), which work on "
        "programs without the cache's knowledge. From then on that library is bypassed.",
    [COUNTER_BYPASSED_libraries] = "Constants were folded with an unknown mathematics library.",
    [COUNTER_BYPASSED_too_large] =
        "The result is larger than an eighth of the size limit, or than the process may write. Raise "
        "NVRTCCACHE_MAX_SIZE.",
    [COUNTER_BYPASSED_extensions] =
        "The program uses a private extension of NVRTC's interface, whose effects are not known.",
    [COUNTER_BYPASSED_precompiled_header] =
        "The precompiled header is a file of the program, could not be made, or was made of other headers "
        "in memory, options or directories. Without --pch the result is cached.",
    [COUNTER_BYPASSED_bundled_headers] =
        "--use-bundled-headers unpacked NVRTC's headers into its directory, may not write there, or uses a temporary "
        "directory of this process, which no other process can use. With a lasting directory, compilations are cached "
        "once the headers are unpacked.",
    [COUNTER_BYPASSED_logs] =
        "The requested log contains run times, or the driver's own cache leaves parts of it out. Leave "
        "out -time and -verbose.",
    [COUNTER_ERRORS_directory] =
        "The cache directory cannot be created, opened or searched. 'nvrtccache doctor' says why.",
    [COUNTER_ERRORS_untrusted] =
        "Others can write to the cache directory or to a file in it, so it is not used: chmod go-w, or "
        "NVRTCCACHE_SHARED=1 if a group shares it.",
    [COUNTER_ERRORS_damaged] = "A file of the cache is damaged. The next look-up removes it.",
    [COUNTER_ERRORS_read] = "A file of the cache could not be read.",
    [COUNTER_ERRORS_write] = "The result could not be written. 'nvrtccache doctor' checks the directory.",
    [COUNTER_ERRORS_no_space] =
        "The file system or the quota is full. 'nvrtccache prune' frees space if the cache itself is large.",
    [COUNTER_ERRORS_memory] = "The process ran out of memory.",
    [COUNTER_ERRORS_mismatch] = "The compiler's result differs from the cached one: please report that.",
    [COUNTER_ERRORS_internal] = "An internal error: please report it, with the log at NVRTCCACHE_LOG_LEVEL=debug.",
};

const char *explanation_of_reason(enum counter reason)
{
	return reasons[reason];
}

/* ---- explanations */

/* Writes the local time, without the date if it was less than 20 hours ago. */
static const char *spell_when(uint64_t when_ns, char ret_text[CONSOLE_NUMBER_BYTES])
{
	int64_t when = (int64_t)(when_ns / 1000000000), now = (int64_t)time(NULL);
	/* 20 hours and not 24, so that a time of yesterday cannot be mistaken for one of today */
	bool is_recent = when <= now && now - when < 20 * 3600L;

	return console_moment(when, is_recent ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", ret_text);
}

/* Returns how much earlier the other call was. */
static const char *spell_distance(const struct explanation *explanation, char ret_text[CONSOLE_NUMBER_BYTES])
{
	return console_span((int64_t)(explanation->record->when_ns - explanation->compared->when_ns), ret_text);
}

/* Prints "too new". */
static void print_reason(const struct events_record *record)
{
	for (const char *at = counter_name(record->reason); *at != '\0'; at++) {
		putchar(*at == '_' ? ' ' : *at);
	}
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
	fputs(record->kind == EVENTS_NOT_KEPT ? ", NOT CACHED: " : "BYPASSED: ", stdout);
	print_reason(record);
	putchar('\n');
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
	printf("%s)  ", spell_when(record->when_ns, when));
	print_outcome(record);
}

/* Prints the file or variable that the reason is about, and what the reason means. */
static void print_why(const struct events_record *record)
{
	const char *reason = explanation_of_reason(record->reason);

	/* the detail of a stale entry is printed with its differences */
	if (record->parts[EVENTS_DETAIL].size > 0 && record->why != EVENTS_WHY_STALE) {
		console_line("  %.*s.", SPAN(record->parts[EVENTS_DETAIL]));
	}
	if (record->parts[EVENTS_REFUSAL].size > 0) {
		console_line("  %.*s.", SPAN(record->parts[EVENTS_REFUSAL]));
	}
	if (reason) {
		printf("  %s\n", reason);
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
		differences_spell(&differences->list[i], explanation->request, &words);
		console_line("  %s  %s", words.what, words.words);
	}
	/* two unrelated command lines may differ in hundreds of options */
	if (differences->count > DIFFERENCES_SHOWN) {
		printf("  and %zu more differences; --json has them all\n", differences->count - DIFFERENCES_SHOWN);
	}
}

/* Prints " Same source, NVRTC.", because users suspect these parts first. */
static void print_sameness(const struct explanation *explanation)
{
	unsigned topics = explanation->differences.topics;
	bool is_source = !(topics & (DIFFERENCE_SOURCE | DIFFERENCE_EARLIER)),
	     is_compiler = !(topics & DIFFERENCE_COMPILER);
	const char *source = request_part(explanation->request, "source") ? "source" : "input";

	if (is_source || is_compiler) {
		console_print(stdout, " Same %s%s%.*s.", is_source ? source : "", is_source && is_compiler ? ", " : "",
		              SPAN(is_compiler ? request_text(explanation->request, ABOUT_TITLE) : span_text("")));
	}
	putchar('\n');
}

static void print_switch(void)
{
	puts("  NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only");
}

static void print_closest(const struct explanation *explanation)
{
	char key[KEY_TEXT_BYTES], distance[CONSOLE_NUMBER_BYTES];

	printf("closest cached entry: %.*s, %s earlier.", KEY_SHORT, key_spell(explanation->compared->key, key),
	       spell_distance(explanation, distance));
	print_sameness(explanation);
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
	char distance[CONSOLE_NUMBER_BYTES];

	fputs("the same request was cached before", stdout);
	if (explanation->compared) {
		printf(", %s earlier", spell_distance(explanation, distance));
	}
	puts(", and that entry is not valid here:");
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

	printf("the same request was compiled before, %s earlier, and not cached: ",
	       spell_distance(explanation, distance));
	print_reason(compared);
	console_print(stdout, compared->parts[EVENTS_REFUSAL].size ? " (%.*s)" : "%.*s",
	              SPAN(compared->parts[EVENTS_REFUSAL]));
	putchar('\n');
}

void explanation_print(const struct explanation *explanation)
{
	char when[CONSOLE_NUMBER_BYTES];

	print_head(explanation);
	print_why(explanation->record);
	switch (explanation->cause) {
	case CAUSE_STALE:
		print_stale(explanation);
		break;
	case CAUSE_GONE:
		printf("cached at %s, and gone since (evicted, cleared, damaged, or no longer trusted)\n",
		       spell_when(explanation->compared->when_ns, when));
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
