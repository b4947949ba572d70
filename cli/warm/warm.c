/* SPDX-License-Identifier: MIT */
/* warm: makes recorded requests again, for other compilers and architectures, or says which of them would miss */
#include "cache/settings.h"
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/library.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"
#include "cli/warm/jobs.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	const char *arch, *compiler, *jobs, *used_since;
	bool json, check;
} asked;

#define NAMES_MAX 64

/* The words of a list "a,b,c". They point into `text`, which is changed. */
struct names {
	char *text;
	const char *list[NAMES_MAX];
	size_t count;
};

/* The names under which the loader finds the compilers, and what the files of each are called. */
static const struct {
	const char *compiler, *part, *sonames[4];
} known[] = {
    {"nvrtc", "nvrtc", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.11.0"}},
    {"nvjitlink", "nvJitLink", {"libnvJitLink.so.13", "libnvJitLink.so.12"}},
    {"nvvm", "nvvm", {"libnvvm.so.4", "libnvvm.so.3"}},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool split(const char *text, struct names *ret_names)
{
	char *rest = NULL;

	*ret_names = (struct names){.text = strdup(text)};
	for (char *word = ret_names->text ? strtok_r(ret_names->text, ",", &rest) : NULL; word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (ret_names->count == NAMES_MAX) {
			return false;
		}
		ret_names->list[ret_names->count++] = word;
	}
	return ret_names->count > 0;
}

/* Returns the compiler that a file is one of, by its name; NULL: of none. */
static const char *compiler_of(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (size_t i = 0; i < KNOWN; i++) {
		if (strstr(name, known[i].part)) {
			return known[i].compiler;
		}
	}
	return NULL;
}

/* Asks the loader in a process of its own, because a compiler that is broken may end the one that loads it. */
static bool loads(const char *soname)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0) {
		_exit(dlopen(soname, RTLD_LAZY | RTLD_LOCAL) ? 0 : 1);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void find_compilers(struct names *ret_names)
{
	*ret_names = (struct names){0};
	for (size_t i = 0; i < KNOWN; i++) {
		for (size_t k = 0; k < 4 && known[i].sonames[k]; k++) {
			if (loads(known[i].sonames[k])) {
				ret_names->list[ret_names->count++] = known[i].sonames[k];
			}
		}
	}
}

/* Reads --arch and --compiler. Compilers are found by absolute paths, because workers change the directory. */
static int read_names(struct names *archs, struct names *compilers)
{
	bool is_list = !asked.arch || split(asked.arch, archs);

	/* whether there is such an architecture says the compiler */
	for (size_t i = 0; asked.arch && i < archs->count; i++) {
		is_list &= strncmp(archs->list[i], "sm_", 3) == 0 && strspn(archs->list[i] + 3, "0123456789") > 0;
	}
	if (!is_list) {
		return verb_refuse(&verb_warm, "arch", asked.arch, "a list such as sm_90,sm_100");
	}
	if (asked.compiler && !split(asked.compiler, compilers)) {
		return verb_refuse(&verb_warm, "compiler", asked.compiler, "files of compilers, separated by commas");
	}
	for (size_t i = 0; i < compilers->count; i++) {
		const char *path = compilers->list[i];

		if (!compiler_of(path)) {
			return verb_refuse(&verb_warm, "compiler", path, "a libnvrtc, libnvJitLink or libnvvm");
		}
		if (strchr(path, '/') && !(compilers->list[i] = realpath(path, NULL))) {
			console_error("%s: %s", path, strerror(errno));
			return EXIT_TROUBLE;
		}
	}
	return EXIT_DONE;
}

/* Makes jobs of each request: for each compiler of its kind, and architecture. */
static bool make_jobs(struct jobs *jobs, const struct names *compilers, const struct names *archs)
{
	const struct warm_requests *requests = jobs->requests;
	struct job *job = jobs->list = calloc(requests->count * compilers->count * archs->count + 1, sizeof(*job));

	for (size_t i = 0; job && i < requests->count; i++) {
		const struct warm_request *request = &requests->list[i];
		unsigned place = 0;

		for (size_t k = 0; k < compilers->count * archs->count; k++) {
			const char *compiler = compilers->list[k / archs->count];

			if (strcmp(compiler_of(compiler), request->compiler) == 0) {
				*job++ = (struct job){.request = request,
				                      .compiler = compiler,
				                      .place = place++ / (unsigned)archs->count,
				                      .arch = archs->list[k % archs->count]};
			}
		}
		jobs->kindless += place == 0;
	}
	jobs->count = job ? (size_t)(job - jobs->list) : 0;
	return job != NULL;
}

static void print_json(const struct jobs *jobs, const size_t counts[4])
{
	const char *const outcomes[] = {"waiting", "stored", "there", asked.check ? "missing" : "failed"};
	struct json json = {.bytes = NULL};
	char key[KEY_TEXT_BYTES];

	json_begin_object(&json, NULL);
	for (int outcome = JOB_WAITS; outcome <= JOB_FAILED; outcome++) {
		json_number(&json, outcomes[outcome], counts[outcome]);
	}
	json_number(&json, "damaged", jobs->requests->damaged);
	json_number(&json, "without_compiler", jobs->kindless);
	json_begin_array(&json, "requests");
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];

		json_begin_object(&json, NULL);
		json_string(&json, "request", key_spell(job->request->key, key));
		json_string(&json, "compiler", job->compiler);
		json_string(&json, "arch", job->arch[0] ? job->arch : NULL);
		json_string(&json, "outcome", outcomes[job->verdict.outcome]);
		json_string(&json, "key", job->verdict.key[0] ? job->verdict.key : NULL);
		json_string(&json, "why", job->verdict.outcome == JOB_FAILED ? job->verdict.why : NULL);
		json_end(&json);
		console_json(&json);
	}
	json_end(&json);
	json_end(&json);
	console_json_end(&json);
}

static void print_jobs(const struct jobs *jobs, const size_t counts[4], int64_t took_ns)
{
	char key[KEY_TEXT_BYTES], text[CONSOLE_NUMBER_BYTES];

	for (const struct job *job = jobs->list; job < jobs->list + jobs->count; job++) {
		const char *arch = job->arch[0] ? ", " : "";

		if (job->verdict.outcome == JOB_FAILED) {
			console_error("%.*s: %s%s%s: %s", KEY_SHORT, key_spell(job->request->key, key), job->compiler,
			              arch, job->arch, job->verdict.why);
		}
	}
	if (asked.check) {
		printf("%zu of %zu would hit\n", counts[JOB_THERE], jobs->count);
	} else {
		printf("Stored %zu, %zu were there, %zu failed, in %s\n", counts[JOB_STORED], counts[JOB_THERE],
		       counts[JOB_FAILED], console_time((uint64_t)took_ns, text));
	}
}

/* Prints how the jobs ended. Returns the exit status. */
static int report(const struct jobs *jobs, int64_t took_ns)
{
	unsigned damaged = jobs->requests->damaged;
	size_t counts[4] = {0};

	for (size_t i = 0; i < jobs->count; i++) {
		counts[jobs->list[i].verdict.outcome]++;
	}
	if (asked.json) {
		print_json(jobs, counts);
	} else {
		print_jobs(jobs, counts, took_ns);
	}
	if (damaged > 0) {
		console_error("%u %s damaged or not trusted", damaged, damaged == 1 ? "request is" : "requests are");
	}
	if (counts[JOB_WAITS] > 0) {
		console_error("interrupted; %zu %s left", counts[JOB_WAITS], counts[JOB_WAITS] == 1 ? "is" : "are");
		return EXIT_TROUBLE;
	}
	return counts[JOB_FAILED] + damaged + jobs->kindless > 0 ? EXIT_TROUBLE : EXIT_DONE;
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Reads the options, and says in `jobs` how the work is to be done. */
static int read_options(struct jobs *jobs, int64_t *ret_within_ns)
{
	const char *rest;
	uint64_t parallel;

	jobs->mode = asked.check ? REPLAY_CHECK : REPLAY_COMPILE;
	jobs->parallel = processors() < JOBS_MAX ? processors() : JOBS_MAX;
	if (asked.jobs) {
		rest = digits_number(asked.jobs, JOBS_MAX, &parallel);
		if (!rest || *rest || parallel == 0) {
			return verb_refuse(&verb_warm, "jobs", asked.jobs, "1 to 256");
		}
		jobs->parallel = (unsigned)parallel;
	}
	return verb_age(&verb_warm, "used-since", asked.used_since, ret_within_ns);
}

static int warm_requests(struct jobs *jobs, struct names *compilers, const struct names *archs)
{
	int64_t began_ns = progress_clock();
	int error;

	if (!asked.compiler) {
		find_compilers(compilers);
	}
	if (jobs->requests->count == 0) {
		console_error("found no recorded requests; NVRTCCACHE_RECORD=1 records them");
	} else if (compilers->count == 0) {
		console_error("the loader finds no compiler; --compiler can name one");
		return EXIT_TROUBLE;
	}
	if (!make_jobs(jobs, compilers, archs)) {
		console_error("%s", strerror(ENOMEM));
		return EXIT_TROUBLE;
	}
	if (jobs->kindless > 0) {
		console_error("%zu %s no compiler of this kind: --compiler can name one", jobs->kindless,
		              jobs->kindless == 1 ? "request has" : "requests have");
	}
	if (!library_preload()) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	error = jobs_run(jobs);
	if (error != 0) {
		console_error("cannot start a worker: %s", strerror(-error));
	}
	return report(jobs, progress_clock() - began_ns);
}

static int run_warm(struct settings *settings, char **operands)
{
	struct jobs jobs = {.directory = {settings->directory, settings->shared}};
	struct names archs = {.list = {""}, .count = 1}, compilers = {0};
	struct warm_requests requests = {0};
	int64_t within_ns = INT64_MAX;
	int status = read_options(&jobs, &within_ns), error;

	(void)operands;
	(void)signal(SIGCHLD, SIG_DFL); /* if it is ignored, the status of a child is lost */
	status = status == EXIT_DONE ? read_names(&archs, &compilers) : status;
	if (status != EXIT_DONE) {
		return status;
	}
	if (settings->read_only && !asked.check) {
		return console_refuse(settings, -EROFS);
	}
	error = requests_take(&jobs.directory, within_ns, &requests);
	if (error != 0) {
		status = console_refuse(settings, error);
	} else {
		jobs.requests = &requests;
		status = warm_requests(&jobs, &compilers, &archs);
	}
	jobs_free(&jobs);
	free(requests.list);
	free(archs.text);
	free(compilers.text);
	return status;
}

const struct verb verb_warm = {
    .name = "warm",
    .arguments = "[options]",
    .summary = "compile recorded requests again, for other compilers or architectures",
    .more =
        "NVRTCCACHE_RECORD=1 records requests. Each is sent to the compilers through the library, so that programs\n"
        "find the results under their keys.",
    .exits = "0; 1: a request failed, or with --check would miss.",
    .example = "nvrtccache warm --arch sm_90,sm_100",
    .options = VERB_OPTIONS(
        VERB_VALUE("arch", 'a', "LIST", "replace the architecture by each of these, such as sm_90,sm_100", &asked.arch),
        VERB_VALUE("compiler", 'c', "FILES", "these compilers; default: those that the loader finds", &asked.compiler),
        VERB_VALUE("jobs", 0, "N", "compilations at a time; default: one per processor", &asked.jobs),
        VERB_VALUE("used-since", 'u', "AGE", "only requests used within the last AGE, such as 12h or 2w",
                   &asked.used_since),
        VERB_FLAG("check", 0, "compile nothing, and say which requests would miss", &asked.check),
        VERB_FLAG("json", 'j', "print JSON", &asked.json)),
    .needs = VERB_DIRECTORY,
    .run = run_warm,
};
