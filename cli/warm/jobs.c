/* SPDX-License-Identifier: MIT */
/*
 * A program compiles to LTO-IR and links that. Another release or architecture gives other LTO-IR, so the link for
 * which the program will ask has other inputs than the recorded one. An input that equals an artifact of a recorded
 * compilation's entry is replaced by the same artifact of the entry that the compilation's job found or stored.
 */
#include "cli/warm/jobs.h"

#include "cache/digits.h"
#include "cache/output.h"
#include "cache/tools/inventory.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARTIFACT_LEAST 64 /* bytes: that shorter ones are equal shows nothing */

/* ---- the inputs of links ---- */

struct origin {
	struct key digest; /* of the artifact */
	const struct warm_request *request;
	uint32_t tag; /* of the section */
	size_t size;  /* of the artifact */
};

/* Without a NUL at the end: a program may pass a text with it or not. */
static struct key digest_of(const void *bytes, size_t size)
{
	const struct span span = {bytes, size > 0 && ((const char *)bytes)[size - 1] == '\0' ? size - 1 : size};
	struct key digest;

	digest_key(&span, 1, &digest);
	return digest;
}

/*
 * Which sections are artifacts is not known here. Those that are not are never inputs. Without memory some are missing:
 * then a link has inputs of which no program asks.
 */
static int add_origins(void *context, const struct entry *entry)
{
	struct jobs *jobs = context;
	struct section section;

	for (size_t i = 0; entry_section_at(entry, i, &section); i++) {
		struct origin *grown = realloc(jobs->origins, (jobs->origin_count + 1) * sizeof(*grown));

		if (!grown) {
			break;
		}
		jobs->origins = grown;
		grown[jobs->origin_count] =
		    (struct origin){digest_of(section.bytes, section.size), jobs->reading, section.tag, section.size};
		jobs->origin_count += section.size >= ARTIFACT_LEAST;
	}
	return 0;
}

/* Reads what the inputs of links are compared with. Links are last in the list; without them nothing is read. */
static void read_origins(struct jobs *jobs)
{
	const struct warm_requests *requests = jobs->requests;

	for (size_t i = 0; requests->count > 0 && requests->list[requests->count - 1].is_link; i++) {
		jobs->reading = &requests->list[i];
		if (jobs->reading->is_link) {
			break;
		}
		(void)inventory_read(&jobs->directory, jobs->reading->key, add_origins, jobs);
	}
}

/* Returns the compilation that made an input; NULL: none of them. A linear search costs less than the digest. */
static const struct origin *find_origin(const struct jobs *jobs, const struct span *input)
{
	const struct key digest = digest_of(input->bytes, input->size);

	for (size_t i = 0; i < jobs->origin_count; i++) {
		if (memcmp(&jobs->origins[i].digest, &digest, sizeof(digest)) == 0 &&
		    jobs->origins[i].size >= input->size) {
			return &jobs->origins[i];
		}
	}
	return NULL;
}

struct artifact {
	uint32_t tag;
	void *bytes;
	size_t size;
};

/* The newest result is visited last. */
static int copy_artifact(void *context, const struct entry *entry)
{
	struct artifact *artifact = context;
	struct section section;

	if (entry_section(entry, artifact->tag, &section) && section.size > 0) {
		free(artifact->bytes);
		artifact->size = section.size;
		artifact->bytes = malloc(section.size);
		if (!artifact->bytes) {
			return -ENOMEM;
		}
		memcpy(artifact->bytes, section.bytes, section.size);
	}
	return 0;
}

/*
 * Finds the job of the compilation for the same architecture, with the compiler that has the link's place among those
 * of its kind, or the last before it. NULL: there is none.
 */
static const struct job *find_job(const struct jobs *jobs, const struct origin *origin, const struct job *link)
{
	const struct job *found = NULL;

	for (const struct job *job = jobs->list; job < jobs->list + jobs->count; job++) {
		if (job->request == origin->request && job->arch == link->arch && job->place <= link->place &&
		    (!found || job->place > found->place)) {
			found = job;
		}
	}
	return found;
}

/*
 * Adds an input, or what stands for it now. If it had no NUL at the end and the recorded artifact did, the new artifact
 * loses its own too.
 */
static int put_input(struct stream *calls, const struct jobs *jobs, const struct job *link, const struct span *input)
{
	const struct origin *origin = find_origin(jobs, input);
	const struct job *job = origin ? find_job(jobs, origin, link) : NULL;
	struct artifact artifact = {.tag = origin ? origin->tag : 0};
	uint8_t key[ENTRY_KEY_BYTES];

	if (!job) {
		stream_field(calls, RECORDING_BYTES, input->bytes, input->size);
		return 0;
	}
	if (!digits_parse(job->verdict.key, sizeof(key), key) || job->verdict.outcome == JOB_FAILED ||
	    inventory_read(&jobs->directory, key, copy_artifact, &artifact) == -ENOMEM || !artifact.bytes) {
		free(artifact.bytes);
		return -ECANCELED;
	}
	stream_field(calls, RECORDING_BYTES, artifact.bytes, artifact.size - (origin->size - input->size));
	free(artifact.bytes);
	return 0;
}

/* Spells the request anew. The state of the process, which is the head, stays. The caller frees the bytes. */
static int spell_request(const struct jobs *jobs, const struct job *job, struct stream *ret_file)
{
	struct stream calls = STREAM_EMPTY, head = STREAM_EMPTY;
	struct recording recording;
	struct span field;
	void *bytes;
	uint8_t tag;
	int error = requests_read(&jobs->directory, job->request->key, &bytes, &recording);

	if (error < 0) {
		return error;
	}
	stream_bytes(&head, recording.head.bytes, recording.head.size);
	while (error == 0 && cursor_next(&recording.calls, &tag, &field)) {
		if (tag == RECORDING_BYTES) {
			error = put_input(&calls, jobs, job, &field);
		} else {
			stream_field(&calls, tag, field.bytes, field.size);
		}
	}
	*ret_file = recording_seal(&head, &calls);
	stream_free(&head);
	stream_free(&calls);
	free(bytes);
	return error == 0 && ret_file->failed ? -ENOMEM : error;
}

/*
 * Opens a file with the request of a job, with its inputs replaced. An input of a compilation that has no job stays.
 * -ECANCELED: the job of a compilation failed from which it has an input.
 */
static int open_request(const struct jobs *jobs, struct job *job)
{
	char path[] = "/tmp/nvrtccache-request.XXXXXX";
	struct stream spelled = STREAM_EMPTY;
	int error = spell_request(jobs, job, &spelled);

	/* libc has memfd_create() from 2.27 on, Linux from 3.17 on */
	job->file = error == 0 ? (int)syscall(SYS_memfd_create, "request", MFD_CLOEXEC) : -1;
	if (error == 0 && job->file < 0 && (job->file = mkostemp(path, O_CLOEXEC)) >= 0) {
		(void)unlink(path);
	}
	if (error == 0 && (job->file < 0 || output_at(job->file, 0, spelled.bytes, spelled.size) != 0)) {
		error = -errno;
	}
	job->request_size = (off_t)spelled.size;
	stream_free(&spelled);
	return error;
}

/* ---- one worker ---- */

__attribute__((format(printf, 2, 3))) static void explain(struct job *job, const char *format, ...)
{
	va_list arguments;

	job->verdict.outcome = JOB_FAILED;
	va_start(arguments, format);
	(void)vsnprintf(job->verdict.why, sizeof(job->verdict.why), format, arguments);
	va_end(arguments);
}

/*
 * Sets what the loader and the library in workers read. A worker enters the directory of its request, so the loader
 * must search only directories that are absolute.
 */
static bool set_variables(const struct jobs *jobs)
{
	static const char *const unset[] = {"NVRTCCACHE_DISABLE", "NVRTCCACHE_VERIFY", "NVRTCCACHE_RECACHE",
	                                    "NVRTCCACHE_STATS",   "NVRTCCACHE_TRACE",  "NVRTCCACHE_RECORD"};
	const char *list = getenv("LD_LIBRARY_PATH");
	char *words = strdup(list ? list : ""), *kept = calloc(1, strlen(list ? list : "") + 1), *rest = NULL;
	bool done = words && kept;

	for (char *word = done ? strtok_r(words, ":;", &rest) : NULL; word; word = strtok_r(NULL, ":;", &rest)) {
		if (*word == '/') {
			strcat(strcat(kept, kept[0] ? ":" : ""), word);
		}
	}
	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
		(void)unsetenv(unset[i]);
	}
	done = done && (kept[0] ? setenv("LD_LIBRARY_PATH", kept, 1) : unsetenv("LD_LIBRARY_PATH")) == 0 &&
	       setenv("NVRTCCACHE_DIR", jobs->directory.path, 1) == 0 &&
	       (jobs->mode == REPLAY_CHECK || setenv("NVRTCCACHE_RECORD", "1", 1) == 0);
	free(words);
	free(kept);
	return done;
}

/* The child: its own process group, so that ^C on the terminal does not end what it compiles. */
__attribute__((noreturn)) static void become_worker(const struct jobs *jobs, const struct job *job, pid_t parent)
{
	char *words[] = {WORKER_NAME, (char *)(uintptr_t)job->compiler, (char *)(uintptr_t)job->arch,
	                 jobs->mode == REPLAY_COMPILE ? "1" : "2", NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setpgid(0, 0);
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* a core would lie in the request's directory */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(job->file, STDIN_FILENO) >= 0 &&
	    dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0) {
		(void)execv("/proc/self/exe", words);
	}
	_exit(EXIT_TROUBLE);
}

/*
 * A request that cannot be opened is a failure of that request alone; without a process no other worker can start
 * either, so that ends the run.
 */
static int start_worker(const struct jobs *jobs, struct job *job)
{
	int error = open_request(jobs, job);
	pid_t parent = getpid();

	if (error < 0) {
		explain(job, "%s",
		        error != -ECANCELED          ? console_reason(error)
		        : jobs->mode == REPLAY_CHECK ? "an input is not in the cache"
		                                     : "the compilation of an input failed");
		close(job->file);
		return 0;
	}
	job->worker = fork();
	if (job->worker == 0) {
		become_worker(jobs, job, parent);
	}
	return job->worker < 0 ? -errno : 0;
}

/* ---- all workers ---- */

/*
 * A worker that was killed, or that ended before it said something, has not stored anything that could be wrong: the
 * library stores a result only when the call has returned.
 */
static void end_job(struct job *job, int status)
{
	ssize_t told = pread(job->file, &job->verdict, sizeof(job->verdict), job->request_size);

	close(job->file);
	job->worker = 0;
	if (WIFSIGNALED(status)) {
		explain(job, "the compiler was killed by signal %d", WTERMSIG(status));
	} else if (told != sizeof(job->verdict)) {
		explain(job, "the worker failed");
	}
}

/* Waits until a worker ends. Returns false after a signal: those that run go on. */
static bool wait_for_worker(struct jobs *jobs)
{
	int status = 0;
	pid_t pid = wait(&status);

	for (size_t i = 0; i < jobs->count && pid > 0; i++) {
		if (jobs->list[i].worker == pid) {
			end_job(&jobs->list[i], status);
			return true;
		}
	}
	return false;
}

/* Returns whether the next job may start: a link waits until all compilations have ended. */
static bool may_start(const struct jobs *jobs, size_t next, size_t running)
{
	const struct job *job = &jobs->list[next];

	return interrupt_seen() == 0 && next < jobs->count && running < jobs->parallel &&
	       (running == 0 || job->request->is_link == job[-1].request->is_link);
}

/*
 * Workers are started in the order of the list, most expensive first: the short ones then fill the gaps at the end.
 * After ^C none is started, and those that run are waited for, so nothing that they compiled is lost.
 */
int jobs_run(struct jobs *jobs)
{
	size_t next = 0, running = 0;
	int error = set_variables(jobs) ? 0 : -ENOMEM;

	read_origins(jobs);
	for (;;) {
		while (error == 0 && may_start(jobs, next, running)) {
			error = start_worker(jobs, &jobs->list[next]);
			running += jobs->list[next++].worker > 0;
		}
		if (running == 0) {
			break;
		}
		(void)progress_show(jobs->mode == REPLAY_CHECK ? "checking" : "warming", next - running, jobs->count);
		running -= wait_for_worker(jobs);
	}
	console_status("");
	return error;
}

void jobs_free(struct jobs *jobs)
{
	free(jobs->list);
	free(jobs->origins);
}
