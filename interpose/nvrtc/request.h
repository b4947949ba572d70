/* SPDX-License-Identifier: MIT */
/*
 * request: everything that is asked of the compiler, as one canonical stream (docs/DESIGN.md B1, B6, B8)
 *
 * Purpose: turns a recorded program and one compile call into the bytes that its key and its fingerprint are made of,
 * and into the roots that dependencies are relative to.
 *
 * The stream has two runs.  The creation run (source, in-memory headers with names, the program's base name) is built
 * once, when the program is created, and is the only copy of the host's strings that is kept. Of headers in memory that
 * are large together (libmathdx gives each program 120 MB of them) it has a digest; their texts stay with the host, and
 * are read again, and compared with the digest, where a result is to be kept (interpose/nvrtc/lent.h).  The call run is built
 * at each compile. request.c begins with both, field by field; what all compilers' requests have is
 * keygen/surroundings.h's. When a handle is compiled again, the keys of its earlier compiles stand for the creation run, which may be dropped
 * after the first.
 *
 * Path-neutral requests (no option binds): the directory of the program's name and each absolute -I directory lie in
 * numbered roots; the options carry "root N" in the place of the root's text, and so does the program's name.  Roots
 * are the outermost directories: with -I/v/include -I/v/include/cccl there is one root, and the second option is "root
 * 0" and the rest "/cccl", so no root lies inside another and a path is in at most one.  Relative directories and names
 * stay as they are spelled: they follow the working directory, as NVRTC's own do.
 *
 * Bound requests carry all options, the whole name, cwd and PWD literally and have no roots: those whose options bind,
 * whose cwd is unknown, whose name or an absolute -I has an empty, "." or ".." component, is directly in "/" or can be
 * spelled in more than one way (interpose/nvrtc/scan.h), that have a '/' in another option beside a root (it could lead
 * into the root and would not move with it), or 128 directories.
 *
 * What the call run cannot see: a source or header that spells a root's absolute path (#include "/v/include/a.h"). When
 * the result is kept, such a root must count as literal, as one does whose text is found in the output (B6).
 *
 * Calling sequence: request_creation() at nvrtcCreateProgram; request_call() at nvrtcCompileProgram; then
 * digest_fingerprint()/digest_key() over { call, creation }, in that order.
 * Errors: -ENOMEM.
 * Ownership: outputs belong to the caller (stream_free, roots_free).
 */
#ifndef INTERPOSE_NVRTC_REQUEST_H
#define INTERPOSE_NVRTC_REQUEST_H

#include "interpose/nvrtc/options.h"
#include "keygen/surroundings.h"

struct request_header {
	const char *name;
	const char *text;
	size_t size; /* of the text, without its NUL */
};

/* Headers in memory that are larger together are not copied, and stand in the creation run by one digest. */
#define REQUEST_HEADERS_WHOLE_MAX ((size_t)4 << 20)

struct nvrtc_request {
	struct surroundings around;
	const char *program_name; /* as given to nvrtcCreateProgram; NULL counts as "default_program" */
	bool has_memory_headers;
	const char *const *options;
	int option_count;
	const char *const *name_expressions;
	size_t name_count;
};

bool request_digests_headers(const struct request_header *headers, size_t count);
/* Of their sizes and texts, in order. `secret`: as content_digest()'s. */
int request_digest_headers(const struct request_header *headers, size_t count, const struct secret *secret,
                           struct key *ret_digest);
/* The creation run. Headers in the host's order. `headers_digest`: where request_digests_headers(), else NULL. */
int request_creation(const char *source, const char *program_name, const struct request_header *headers, size_t count,
                     const struct key *headers_digest, struct stream *ret_stream);

/* For people: which texts these were (keygen/about.h). */
void request_about(const struct stream *creation, const char *const *name_expressions, size_t name_count,
                   struct stream *about);

/* The call run, the roots and the options as they were read. On failure all three outputs are untouched. */
int request_call(const struct nvrtc_request *request, struct stream *ret_stream, struct roots *ret_roots,
                 struct options *ret_options);

#endif
