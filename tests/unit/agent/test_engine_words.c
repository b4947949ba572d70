/* SPDX-License-Identifier: MIT */
/* Names of values, and the meaning of servers' replies. */
#include "agent/engine/http_status.h"
#include "agent/engine/kind.h"
#include "agent/engine/redis_reply.h"
#include "tests/unit/support.h"

#include <hiredis/hiredis.h>

static struct engine_name name_of(uint8_t byte, unsigned format)
{
	struct engine_name name = {.format = format};

	memset(name.key, byte, sizeof(name.key));
	return name;
}

Test(engine_name, each_protocol_has_its_names_for_values)
{
	const struct engine_name name = name_of(0xab, 3);
	char text[ENGINE_NAME_MAX];

	cr_expect_eq(engine_name_redis("p", &name, text), strlen(text));
	cr_expect_str_eq(text, "p:3:3:abababababababababababababababababababababababababababababababab");
	engine_name_path("p", &name, text);
	cr_expect_str_eq(text, "p/3-3/ab/ababababababababababababababababababababababababababababababab");
	engine_name_bazel("p", &name, text);
	cr_expect_eq(strlen(text), 3 + 64);
	cr_expect_eq(strspn(text + 3, "0123456789abcdef"), 64);
}

/* The digest depends on prefix, format and key. */
Test(engine_name, a_digest_depends_on_prefix_format_and_key)
{
	const struct engine_name one = name_of(1, 1);
	const struct engine_name other_key = name_of(2, 1);
	const struct engine_name other_format = name_of(1, 2);
	char names[4][ENGINE_NAME_MAX];

	engine_name_bazel("p", &one, names[0]);
	engine_name_bazel("q", &one, names[1]);
	engine_name_bazel("p", &other_key, names[2]);
	engine_name_bazel("p", &other_format, names[3]);
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < i; j++) {
			cr_expect_str_neq(names[i], names[j]);
		}
	}
}

Test(engine_redis_reply, each_error_reply_has_its_answer)
{
	const char *words;

	cr_expect_eq(redis_reply_error("OOM command not allowed", REDIS_STEP_COMMAND, &words), ENGINE_FULL);
	cr_expect_eq(redis_reply_error("NOAUTH Authentication required.", REDIS_STEP_COMMAND, &words), ENGINE_REFUSED);
	cr_expect_eq(redis_reply_error("NOPERM this user", REDIS_STEP_COMMAND, &words), ENGINE_REFUSED);
	cr_expect_null(words);
	cr_expect_eq(redis_reply_error("WRONGTYPE Operation", REDIS_STEP_COMMAND, &words), ENGINE_UNSUITED);
	cr_expect_eq(redis_reply_error("MOVED 1 a:1", REDIS_STEP_COMMAND, &words), ENGINE_UNSUITED);
	cr_expect_eq(redis_reply_error("LOADING Redis", REDIS_STEP_LOGIN, &words), ENGINE_BROKEN);
	cr_expect_eq(redis_reply_error("READONLY You", REDIS_STEP_COMMAND, &words), ENGINE_REFUSED);
	cr_expect_eq(redis_reply_error("ERR something", REDIS_STEP_COMMAND, &words), ENGINE_BROKEN);
	cr_expect_eq(redis_reply_error("", REDIS_STEP_COMMAND, &words), ENGINE_BROKEN);
}

/* Old servers repeat unknown commands, which may contain the password, so login errors use only our own text. */
Test(engine_redis_reply, login_errors_do_not_repeat_the_servers_text)
{
	const char *words = NULL;

	cr_expect_eq(redis_reply_error("ERR unknown command AUTH pass", REDIS_STEP_LOGIN, &words), ENGINE_REFUSED);
	cr_expect_not_null(words);
	cr_expect_eq(redis_reply_error("ERR DB index is out of range", REDIS_STEP_DATABASE, &words), ENGINE_UNSUITED);
}

#define EXPECT_STARTS(start, ...)                                                                             \
	do {                                                                                                  \
		static const char *const texts[] = {__VA_ARGS__};                                             \
		for (size_t i = 0; i < COUNT(texts); i++) {                                                   \
			cr_expect_eq(redis_reply_start(texts[i], strlen(texts[i])), (start), "%s", texts[i]); \
		}                                                                                             \
	} while (0)

Test(engine_redis_reply, each_first_line_of_a_reply_is_classified)
{
	EXPECT_STARTS(ENGINE_DONE, "", "$", "$67108864", "$67108864\r", "$-", "$-1\r");
	EXPECT_STARTS(ENGINE_DONE, "$67108864\r\n", "$-1\r\n", "+OK", ":1", "-ERR");
	EXPECT_STARTS(ENGINE_TOO_LARGE, "$67108865", "$99999999999999999999999");
	EXPECT_STARTS(ENGINE_BROKEN, "*1\r\n", "HTTP/1.1");
}

/* A length without an end would be buffered until memory is exhausted. */
Test(engine_redis_reply, lines_without_an_end_are_rejected)
{
	EXPECT_STARTS(ENGINE_BROKEN, "$00000000000000000000000000000000", "$-11111111111111111111111111111111",
	              "$1\raaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "$-1\raaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	              "$1\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	cr_expect_eq(redis_reply_start("+OK", (1u << 16) + 1), ENGINE_BROKEN);
}

/* hiredis checks the rest of the form. */
Test(engine_redis_reply, malformed_lengths_are_rejected)
{
	static const char *const texts[] = {"$\r\n", "$1a\r\n", "$-11\r\n", "$000000001\r\n"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		redisReader *reader = redisReaderCreate();
		void *reply = NULL;

		cr_expect_eq(redisReaderFeed(reader, texts[i], strlen(texts[i])), REDIS_OK);
		cr_expect_eq(redisReaderGetReply(reader, &reply), REDIS_ERR, "%s", texts[i]);
		redisReaderFree(reader);
	}
}

static enum engine_answer status(long number, enum http_method method, enum http_dialect dialect)
{
	const char *words;

	return http_status_answer(number, method, dialect, &words);
}

Test(engine_http_status, each_status_has_its_answer)
{
	cr_expect_eq(status(200, HTTP_GET, HTTP_PLAIN), ENGINE_DONE);
	cr_expect_eq(status(206, HTTP_GET, HTTP_PLAIN), ENGINE_UNSUITED);
	cr_expect_eq(status(204, HTTP_PUT, HTTP_PLAIN), ENGINE_DONE);
	cr_expect_eq(status(201, HTTP_PUT, HTTP_S3), ENGINE_DONE);
	cr_expect_eq(status(404, HTTP_GET, HTTP_PLAIN), ENGINE_ABSENT);
	cr_expect_eq(status(404, HTTP_PUT, HTTP_PLAIN), ENGINE_UNSUITED);
	cr_expect_eq(status(404, HTTP_PUT, HTTP_S3), ENGINE_UNSUITED);
	cr_expect_eq(status(413, HTTP_PUT, HTTP_PLAIN), ENGINE_TOO_LARGE);
	cr_expect_eq(status(507, HTTP_PUT, HTTP_PLAIN), ENGINE_FULL);
	cr_expect_eq(status(503, HTTP_GET, HTTP_PLAIN), ENGINE_BROKEN);
	cr_expect_eq(status(206, HTTP_PUT, HTTP_PLAIN), ENGINE_DONE);
	cr_expect_eq(status(302, HTTP_GET, HTTP_PLAIN), ENGINE_UNSUITED);
	cr_expect_eq(status(400, HTTP_PUT, HTTP_BAZEL), ENGINE_UNSUITED);
	cr_expect_eq(status(409, HTTP_PUT, HTTP_PLAIN), ENGINE_UNSUITED);
	cr_expect_eq(status(403, HTTP_GET, HTTP_S3), ENGINE_REFUSED);
	cr_expect_eq(status(0, HTTP_GET, HTTP_PLAIN), ENGINE_UNSUITED);
}

static const char *code_of(const char *body)
{
	static char code[48];

	http_status_code_of_s3(body, strlen(body), code);
	return code;
}

Test(engine_http_status, each_error_code_of_s3_has_its_answer)
{
	cr_expect_str_eq(code_of("<Error><Code>NoSuchKey</Code>"), "NoSuchKey");
	EACH_STRING(text, cr_expect_str_eq(code_of(text), "", "%s", text), "<Error><Code>NoSuchKey", "<Code>",
	            "<Code>a b</Code>", "<Code>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</Code>", "");
}
