/* SPDX-License-Identifier: MIT */
/*
 * runs: the two runs of an NVRTC request, in one canonical stream (docs/DESIGN.md)
 *
 * Purpose: turns a recorded program and one compile call into the bytes from which key and fingerprint are computed,
 * and into the roots of the dependencies.
 *
 * The stream has two runs. The creation run (source, in-memory headers with names, the program's base name) is built
 * once, when the program is created, and is the only stored copy of the host's strings. Large in-memory headers
 * (libmathdx passes 120 MB per program) are in it as one digest; their texts stay in the host's memory, and are read
 * again and compared with the digest if a result is to be cached (lent.h). The call run is built at each
 * compilation. runs.c lists the fields of both; keygen/surroundings.h describes the fields that all compilers share.
 * When a handle is compiled again, the keys of its earlier compilations replace the creation run, which may be freed
 * after the first compilation.
 *
 * Path-neutral requests (no option is path-dependent): the directory of the program's name and each absolute -I
 * directory are in numbered roots, and options and program name contain "root N" in place of the root's text. Roots are
 * the outermost directories: -I/v/include -I/v/include/cccl has one root, and the second option is "root 0" with the
 * rest "/cccl". So no root is inside another, and a path is in at most one root. Relative directories and names stay as
 * they are spelled, because NVRTC resolves them in the working directory.
 *
 * Path-dependent requests have all options, the whole name, cwd and PWD literally and have no roots. A request is
 * path-dependent if its options are, if its cwd is unknown, if its name or an absolute -I has an empty, "." or ".."
 * component, is directly in "/" or can be spelled in more than one way (interpose/nvrtc/scan.h), if there is a root and
 * another option contains a '/' (which may be a path into the root, and would not change with it), or if there are more
 * than DIRECTORIES_MAX directories.
 *
 * The call run cannot show that a source or header contains a root's absolute path (#include "/v/include/a.h"). When
 * the result is cached, such a root counts as literal, as does a root whose text is found in the output.
 *
 * Calling sequence: runs_creation() at nvrtcCreateProgram; runs_call() at nvrtcCompileProgram; then
 * digest_fingerprint()/digest_key() over { call, creation }, in that order. Errors: -ENOMEM. Ownership: outputs belong
 * to the caller (stream_free, roots_free).
 */
#ifndef INTERPOSE_NVRTC_RUNS_H
#define INTERPOSE_NVRTC_RUNS_H

#include "interpose/nvrtc/lent.h"
#include "interpose/nvrtc/options.h"
#include "keygen/surroundings.h"

struct program;

/*
 * Writes the creation run. `headers` are in the host's order. `headers_digest`: NULL unless lent_digests_headers().
 */
void runs_creation(const char *source, const char *program_name, const struct memory_header *headers, size_t count,
                   const struct key *headers_digest, struct stream *stream);

/* Computes the digest of both runs without the source and the expressions: what may go into a PCH besides files. */
int runs_digest_of_input(const struct stream *run, const struct stream *creation, struct key *ret_digest);

/* Marks a creation run whose texts were decoded by the host (decoder.h). */
void runs_mark_decoded(struct stream *creation);

/* The compiler's fields. */
extern const struct shown_field runs_shown[OWN_TAGS];

/*
 * Adds the call run to the stream, and makes the roots. `options`: those of the call, as they were read. The creation
 * run of the program is not used.
 */
int runs_call(const struct program *program, const struct call *call, const struct options *options,
              const struct surroundings *around, struct stream *stream, struct roots *ret_roots);

#endif
