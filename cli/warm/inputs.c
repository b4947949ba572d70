/* SPDX-License-Identifier: MIT */
#include "cli/warm/inputs.h"

#include "cache/digits.h"
#include "cache/output.h"
#include "cache/tools/inventory.h"

#include <errno.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARTIFACT_LEAST 64 /* bytes: that shorter ones are equal shows nothing */

struct origin {
	struct key digest; /* of the artifact */
	struct key kin;    /* of the request */
	uint32_t tag;      /* of the section */
	size_t size;       /* of the artifact */
};

/* Without a NUL at the end: a program may pass a text with it or not. */
static struct key digest_of(const void *bytes, size_t size)
{
	const struct span span = {bytes, size > 0 && ((const char *)bytes)[size - 1] == '\0' ? size - 1 : size};
	struct key digest;

	digest_key(&span, 1, &digest);
	return digest;
}

struct adding {
	struct inputs *inputs;
	const struct key *kin;
};

/* Which sections are artifacts is not known here. Those that are not are never inputs. */
static int add_artifacts(void *context, const struct entry *entry)
{
	const struct adding *adding = context;
	struct inputs *inputs = adding->inputs;
	struct section section;

	for (size_t i = 0; entry_section_at(entry, i, &section); i++) {
		struct origin *grown;

		if (section.size < ARTIFACT_LEAST) {
			continue;
		}
		grown = realloc(inputs->list, (inputs->count + 1) * sizeof(*grown));
		if (!grown) {
			return -ENOMEM;
		}
		inputs->list = grown;
		grown[inputs->count++] = (struct origin){.digest = digest_of(section.bytes, section.size),
		                                         .kin = *adding->kin,
		                                         .tag = section.tag,
		                                         .size = section.size};
	}
	return 0;
}

int inputs_read(const struct directory *directory, const struct warm_requests *requests, struct inputs *ret_inputs)
{
	bool has_links = false;
	int error = 0;

	*ret_inputs = (struct inputs){0};
	for (size_t i = 0; i < requests->count; i++) {
		has_links |= requests->list[i].is_link;
	}
	for (size_t i = 0; has_links && i < requests->count && error != -ENOMEM; i++) {
		struct adding adding = {ret_inputs, &requests->list[i].kin};

		if (!requests->list[i].is_link) {
			error = inventory_read(directory, requests->list[i].key, add_artifacts, &adding);
		}
	}
	return error == -ENOMEM ? error : 0; /* an entry may be gone */
}

void inputs_free(struct inputs *inputs)
{
	free(inputs->list);
}

/* Returns the compilation that made an input; NULL: none of them. A linear search costs less than the digest. */
static const struct origin *find_origin(const struct inputs *inputs, const struct span *input)
{
	const struct key digest = digest_of(input->bytes, input->size);

	for (size_t i = 0; i < inputs->count; i++) {
		if (memcmp(&inputs->list[i].digest, &digest, sizeof(digest)) == 0 &&
		    inputs->list[i].size >= input->size) {
			return &inputs->list[i];
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
		if (memcmp(&job->request->kin, &origin->kin, sizeof(origin->kin)) == 0 && job->arch == link->arch &&
		    job->place <= link->place && (!found || job->place > found->place)) {
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
	const struct origin *origin = find_origin(jobs->inputs, input);
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
	void *bytes = NULL;
	size_t size;
	uint8_t tag;
	int error = requests_read(&jobs->directory, job->request->key, &bytes, &size, &recording);

	if (error == 0) {
		stream_bytes(&head, recording.head.bytes, recording.head.size);
	}
	while (error == 0 && cursor_next(&recording.calls, &tag, &field)) {
		if (tag == RECORDING_BYTES) {
			error = put_input(&calls, jobs, job, &field);
		} else {
			stream_field(&calls, tag, field.bytes, field.size);
		}
	}
	if (error == 0) {
		*ret_file = recording_seal(&head, &calls);
		error = ret_file->failed ? -ENOMEM : 0;
	}
	stream_free(&head);
	stream_free(&calls);
	free(bytes);
	return error;
}

int inputs_open(const struct jobs *jobs, const struct job *job, int *ret_file)
{
	struct stream spelled = STREAM_EMPTY;
	int error, file;

	if (!job->request->is_link || jobs->inputs->count == 0) {
		return requests_open(&jobs->directory, job->request->key, ret_file);
	}
	error = spell_request(jobs, job, &spelled);
	/* libc has memfd_create() from 2.27 on */
	file = error == 0 ? (int)syscall(SYS_memfd_create, "request", MFD_CLOEXEC) : -1;
	if (error == 0 && (file < 0 || output_at(file, 0, spelled.bytes, spelled.size) != 0)) {
		error = -errno;
	}
	stream_free(&spelled);
	if (error != 0 && file >= 0) {
		close(file);
	}
	*ret_file = error == 0 ? file : *ret_file;
	return error;
}
