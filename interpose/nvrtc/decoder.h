/* SPDX-License-Identifier: MIT */
/*
 * decoder: programs whose texts are encoded, with a callback of the host that decodes them (__nvrtcCPEx)
 *
 * Purpose: NVIDIA's libraries pass NVRTC encoded texts and a callback, char *decode(const char *text, void *payload).
 * NVRTC gets a callback of ours, which calls the host's and records what NVRTC is given; keys contain that. The
 * encoded bytes are never read.
 *
 * The host must not notice. cuDNN's callback appends its result to a container in the payload; one more call than NVRTC
 * makes reallocates it, so that earlier results dangle. So for each text the host's callback is called once, and in
 * NVRTC's order, on a hit as on a miss. The rule, measured with 11.2 to 13.5: in __nvrtcCPEx each header in order and
 * then the source, whose results NVRTC copies at once; in nvrtcCompileProgram each option in order, whose results it
 * reads after all of them have been decoded; each in the host's thread. A null result ends the call. After that the
 * payload may be gone, while the program still exists.
 *
 * This is measured, not documented, so other releases are bypassed (versions.h: DECODES_IN_ORDER).
 *
 * Options are decoded before the look-up. From then on they are ordinary options, in keys, history and replays; the
 * real compiler gets our copies, for which our callback is the identity. If NVRTC calls in another way, the host's
 * callback answers, and nothing of the program is cached. Nor is a result with a log, which may cite the texts.
 *
 * Calling sequence: decoder_new(), the real __nvrtcCPEx with decoder_callback and the decoder, decoder_created();
 * decoder_options() for each compile of the host; decoder_give() and decoder_gave() around each real compile;
 * decoder_free() after the real program was destroyed. Errors: NULL, or `odd`. Threads: those of the program.
 */
#ifndef INTERPOSE_NVRTC_DECODER_H
#define INTERPOSE_NVRTC_DECODER_H

#include "interpose/compiler.h"
#include "interpose/nvrtc/lent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef char *decode_function(const char *text, void *payload);

enum extension_kind { EXTENSION_DECODE = 1, EXTENSION_PAYLOAD = 2 };

struct decoder {
	decode_function *decode;
	void *payload;
	pthread_t thread;
	bool odd;      /* NVRTC did not call as the rule says */
	bool creating; /* in __nvrtcCPEx */
	/* in __nvrtcCPEx: */
	const char *source, *const *headers;
	size_t header_count, asked;
	/* in nvrtcCompileProgram: */
	const struct call *given;
	atomic_bool performing; /* deferred calls, because the host asks for a product that results omit */
	/* Decoded in __nvrtcCPEx: headers, source; `text` is a copy of ours, `name` the host's result. */
	struct memory_header texts[];
};

/* Returns NULL if the extensions are not those of the rule, or there is no memory. */
struct decoder *decoder_new(int count, const int *kinds, void *const *values, const char *source, int header_count,
                            const char *const *headers);
char *decoder_callback(const char *text, void *decoder);
/* Returns true if all texts were recorded; they are freed by decoder_forget(). */
bool decoder_created(struct decoder *decoder);
void decoder_forget(struct decoder *decoder);
/*
 * Decodes the options of a compile into one block for free(). NULL: there is no memory, or an option is null or was
 * refused; *ret_call is then what the real compiler must be given.
 */
char **decoder_options(struct decoder *decoder, const struct call *call, struct call *ret_call);
void decoder_give(struct decoder *decoder, const struct call *call);
void decoder_gave(struct decoder *decoder);
void decoder_free(struct decoder *decoder);

#endif
