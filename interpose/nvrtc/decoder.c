/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/decoder.h"

#include "interpose/compile/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Given to NVRTC in place of an option that the host's callback refused. */
static const char refused_option[] = "";

/*
 * Accepts only the two extensions that have been observed, in either order. Anything else bypasses the cache, because
 * its meaning is unknown.
 */
struct decoder *decoder_new(int count, const int *kinds, void *const *values, const char *source, int header_count,
                            const char *const *headers)
{
	struct decoder *decoder;
	int decode;

	if (count != 2 || !kinds || !values || !source || header_count < 0 || (header_count > 0 && !headers)) {
		return NULL;
	}
	decode = kinds[0] == EXTENSION_DECODE ? 0 : 1;
	if (kinds[decode] != EXTENSION_DECODE || kinds[!decode] != EXTENSION_PAYLOAD || !values[decode]) {
		return NULL;
	}
	decoder = calloc(1, sizeof(*decoder) + ((size_t)header_count + 1) * sizeof(decoder->texts[0]));
	if (!decoder) {
		return NULL;
	}
	decoder->decode = (decode_function *)values[decode];
	decoder->payload = values[!decode];
	decoder->thread = pthread_self();
	decoder->source = source;
	decoder->headers = headers;
	decoder->header_count = (size_t)header_count;
	decoder->creating = true;
	return decoder;
}

/* NVRTC has to ask for `text` now, in this thread, and gets `result`. */
static void record_text(struct decoder *decoder, const char *text, const char *result)
{
	size_t at = decoder->asked++;
	const char *expected = at < decoder->header_count    ? decoder->headers[at]
	                       : at == decoder->header_count ? decoder->source
	                                                     : NULL;
	char *copy = NULL;

	if (expected && text == expected && result && pthread_equal(decoder->thread, pthread_self())) {
		copy = strdup(result);
	}
	if (copy) {
		decoder->texts[at] = (struct memory_header){.name = result, .text = copy, .size = strlen(copy)};
	} else {
		decoder->odd = true;
	}
}

/*
 * Options were decoded before the key was computed (decoder_options()), so the host's callback must not be called for
 * them again: it has side effects. NVRTC asks by the pointer that it was given.
 */
static char *give_option(struct decoder *decoder, const char *text)
{
	const struct call *given = decoder->given;

	if (given && text == refused_option) {
		decoder->asked++;
		return NULL;
	}
	if (given && decoder->asked < (size_t)given->option_count && text == given->options[decoder->asked]) {
		decoder->asked++;
		return (char *)text;
	}
	decoder->odd = true;
	for (int i = 0; given && i < given->option_count; i++) {
		if (text == given->options[i]) { /* decoded already */
			return (char *)text;
		}
	}
	return decoder->decode(text, decoder->payload);
}

/* Keeps the errno that the host's callback has set, because NVRTC passes it on. */
char *decoder_callback(const char *text, void *payload)
{
	struct decoder *decoder = payload;
	char *result;
	int host_errno;

	if (!decoder->creating) {
		return give_option(decoder, text);
	}
	result = decoder->decode(text, decoder->payload);
	host_errno = errno;
	record_text(decoder, text, result);
	errno = host_errno;
	return result;
}

/* Each header once and then the source: any other number of questions is a behaviour that was not observed. */
bool decoder_created(struct decoder *decoder)
{
	decoder->creating = false;
	decoder->odd |= decoder->asked != decoder->header_count + 1;
	return !decoder->odd;
}

/* Frees the decoded texts. The callback stays, because options are decoded when the program is compiled. */
void decoder_forget(struct decoder *decoder)
{
	for (size_t i = 0; i <= decoder->header_count; i++) {
		free((char *)decoder->texts[i].text);
		decoder->texts[i].text = NULL;
	}
	decoder->source = NULL;
	decoder->headers = NULL;
}

char **decoder_options(struct decoder *decoder, const struct call *call, struct call *ret_call)
{
	int count = call->option_count, done = 0;
	const char **results;
	char **copy = NULL;

	*ret_call = *call;
	results = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof(*results));
	if (!results) {
		decoder->odd = true; /* NVRTC asks the host itself */
		return NULL;
	}
	for (; done < count && call->options && call->options[done]; done++) {
		results[done] = decoder->decode(call->options[done], decoder->payload);
		if (!results[done]) {
			break;
		}
	}
	if (count < 0 || (count > 0 && !call->options)) {
		free(results);
		return NULL;
	}
	if (done == count) {
		copy = handle_copy_options(&(struct call){count, results, call->kind});
		if (copy) {
			*ret_call = (struct call){count, (const char *const *)copy, call->kind};
			free(results);
			return copy;
		}
	} else if (call->options[done]) {
		results[done] = refused_option;
	}
	*ret_call = (struct call){count, results, call->kind};
	decoder->odd = true;
	return (char **)results;
}

void decoder_give(struct decoder *decoder, const struct call *call)
{
	decoder->given = call;
	decoder->asked = 0;
}

void decoder_gave(struct decoder *decoder)
{
	decoder->odd |= decoder->asked != (size_t)decoder->given->option_count;
	decoder->given = NULL;
}

void decoder_free(struct decoder *decoder)
{
	if (decoder) {
		decoder_forget(decoder);
		free(decoder);
	}
}
