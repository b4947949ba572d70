/* SPDX-License-Identifier: MIT */
#include "agent/engine/address.h"
#include "tests/unit/support.h"

static struct engine_address address;
static const char *error;

/* Returns "kind tls socket host port path database", or the error text. */
static const char *said(const char *text)
{
	static const char *const kinds[] = {"redis", "http", "s3"};
	static char told[1024];

	if (engine_address_parse(text, &address, &error) != 0) {
		return error;
	}
	snprintf(told, sizeof(told), "%s%s [%s] [%s] %u [%s] %u", kinds[address.kind], address.tls ? "+tls" : "",
	         address.socket, address.host, address.port, address.path, address.database);
	return told;
}

Test(engine_address, redis_addresses_are_parsed)
{
	cr_expect_str_eq(said("redis://host"), "redis [] [host] 6379 [] 0");
	cr_expect_str_eq(said("redis://host:1?db=15"), "redis [] [host] 1 [] 15");
	cr_expect_str_eq(said("rediss://10.0.0.1:65535"), "redis+tls [] [10.0.0.1] 65535 [] 0");
	cr_expect_str_eq(said("redis://[fe80::1]:7"), "redis [] [[fe80::1]] 7 [] 0");
	cr_expect_str_eq(said("redis+unix:///run/r.sock"), "redis [/run/r.sock] [] 0 [] 0");
	cr_expect_str_eq(said("redis+unix:///run/a:b.sock?db=3"), "redis [/run/a:b.sock] [] 0 [] 3");
}

Test(engine_address, http_addresses_are_parsed)
{
	cr_expect_str_eq(said("http://host"), "http [] [host] 80 [] 0");
	cr_expect_str_eq(said("https://host/"), "http+tls [] [host] 443 [] 0");
	cr_expect_str_eq(said("https://host:8443/a/b-c_d.e~f//"), "http+tls [] [host] 8443 [/a/b-c_d.e~f] 0");
	cr_expect_str_eq(said("http+unix:///run/h.sock"), "http [/run/h.sock] [] 0 [] 0");
	cr_expect_str_eq(said("http+unix:///run/h.sock:/"), "http [/run/h.sock] [] 0 [] 0");
	cr_expect_str_eq(said("http+unix:///run/h.sock:/a/b"), "http [/run/h.sock] [] 0 [/a/b] 0");
}

Test(engine_address, s3_buckets_are_parsed)
{
	cr_expect_str_eq(said("s3://bucket"), "s3+tls [] [bucket] 0 [] 0");
	cr_expect_str_eq(said("s3://my.bucket-1/a/b/"), "s3+tls [] [my.bucket-1] 0 [/a/b] 0");
}

Test(engine_address, ambiguous_addresses_are_rejected)
{
	EACH_STRING(text, cr_expect_eq(engine_address_parse(text, &address, &error), -EINVAL, "%s", text), "",
	            "redis:/host", "ftp://host", "redis://", "redis://:6379", "redis://host:0", "redis://host:65536",
	            "redis://host:99999999999999999999", "redis://host:", "redis://host/1",
	            "redis://host?db=", "redis://host?db=-1", "redis://host?db=1x", "redis://host?db=65536",
	            "redis://host?password=a", "redis://user:pass@host", "redis://user@host", "redis://[::1",
	            "redis://[]", "redis://[host]", "redis://ho st", "redis://-oProxy", "redis+unix://relative",
	            "redis+unix://", "redis+unix:///s?db", "http://host?query", "http://host/a?query",
	            "http://host/a#b", "http://host/a%2e%2e", "http://host/../a", "http://host/a/..", "http://host/./a",
	            "http://host/.a", "http://host/a//b", "http://host/a b", "http://host/a\r\nHost: b",
	            "https://user:pass@host/a", "http+unix://run/h.sock", "http+unix:///run/h.sock:/../a", "s3://",
	            "s3://ab", "s3://.bucket", "s3://bucket?x", "s3://bucket/../other", "dir:///path");
}

Test(engine_address, lengths_are_limited)
{
	char text[600] = "redis+unix:///";

	memset(text + 14, 's', ADDRESS_SOCKET_MAX - 1);
	cr_expect_eq(engine_address_parse(text, &address, &error), 0);
	strcat(text, "s");
	cr_expect_eq(engine_address_parse(text, &address, &error), -EINVAL);
	memset(text, 0, sizeof(text));
	strcpy(text, "http://h/");
	memset(text + 9, 'p', ADDRESS_PATH_MAX - 1);
	cr_expect_eq(engine_address_parse(text, &address, &error), 0);
	strcat(text, "p");
	cr_expect_eq(engine_address_parse(text, &address, &error), -EINVAL);
}

Test(engine_address, error_texts_never_contain_a_password)
{
	EACH_STRING(text, cr_expect_null(strstr(said(text), "hunter2"), "%s", text), "redis://user:hunter2@host",
	            "https://hunter2@host/", "https://host/?token=hunter2", "hunter2://host");
}

Test(engine_address, a_failure_leaves_the_output_unchanged)
{
	cr_assert_eq(engine_address_parse("redis://host:7?db=2", &address, &error), 0);
	cr_assert_eq(engine_address_parse("http://other/../", &address, &error), -EINVAL);
	cr_expect_str_eq(address.host, "host");
	cr_expect_eq(address.port, 7);
}

Test(engine_address, the_place_names_host_and_port_or_socket)
{
	char place[300];

	(void)engine_address_parse("redis+unix:///run/r.sock?db=1", &address, &error);
	engine_address_place(&address, place, sizeof(place));
	cr_expect_str_eq(place, "unix:/run/r.sock");
	(void)engine_address_parse("https://host/a", &address, &error);
	engine_address_place(&address, place, sizeof(place));
	cr_expect_str_eq(place, "host:443");
}

Test(engine_address, prefixes_are_parsed)
{
	(void)engine_address_parse("https://host/a", &address, &error);
	cr_expect(engine_address_prefix(&address, "nvrtccache"));
	cr_expect(engine_address_prefix(&address, "a.b-c_d~e"));
	EACH_STRING(text, cr_expect_not(engine_address_prefix(&address, text), "%s", text), "", "..", "a/b", "a:b",
	            "a b");
	(void)engine_address_parse("redis://host", &address, &error);
	cr_expect(engine_address_prefix(&address, "team:ci:nvrtccache"));
}
