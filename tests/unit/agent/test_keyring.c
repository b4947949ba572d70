/* SPDX-License-Identifier: MIT */
/* keyring: which texts are keys, and which files are accepted */
#include "cache/tools/keyring.h"
#include "tests/unit/support.h"

#define HEX_32 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define HEX_31 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e"

static const char *in_base(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", own_directory, name);
	return path;
}

Test(keyring, the_first_key_signs_and_every_key_is_found)
{
	const char text[] = "# rotated in November\n\n new\t" HEX_32 "\r\nold.1 " HEX_32 HEX_32 "\n";
	struct keyring keyring;

	cr_assert_eq(keyring_parse(text, &keyring), 0);
	cr_assert_eq(keyring.count, 2);
	cr_assert_str_eq(keyring.keys[0].id, "new");
	cr_assert_eq(keyring.keys[0].size, 32);
	cr_assert_eq(keyring.keys[0].bytes[31], 0x1f);
	cr_assert_eq(keyring.keys[1].size, 64);
	cr_assert_eq(keyring_find(&keyring, keyring.keys[1].id), &keyring.keys[1]);
	cr_assert_null(keyring_find(&keyring, (char[KEYRING_ID_BYTES]){"other"}));
	cr_assert_null(keyring_find(NULL, (char[KEYRING_ID_BYTES]){"new"}));
}

Test(keyring, a_malformed_line_rejects_the_file)
{
	struct keyring keyring;
	EACH_STRING(text, cr_expect_gt(keyring_parse(text, &keyring), 0, "%s", text), "a", "a " HEX_31, "a " HEX_32 "0",
	            "a " HEX_32 HEX_32 "00", "a " HEX_31 "xy", "0123456789abcdef " HEX_32, "a/b " HEX_32,
	            "a " HEX_32 " more", "a " HEX_32 "\na " HEX_32, /* twice */ HEX_32);
	cr_assert_eq(keyring_parse("a " HEX_32 "\n\nb\n", &keyring), 3);
	cr_assert_eq(keyring_parse("# none\n", &keyring), -ENODATA);
}

Test(keyring, the_number_of_keys_is_limited)
{
	struct keyring keyring;
	char text[20 * (KEYRING_KEYS_MAX + 1) * 4] = "";
	size_t at = 0;

	for (int i = 0; i < KEYRING_KEYS_MAX; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "k%d " HEX_32 "\n", i);
	}
	cr_assert_eq(keyring_parse(text, &keyring), 0);
	cr_assert_eq(keyring.count, KEYRING_KEYS_MAX);
	snprintf(text + at, sizeof(text) - at, "one-more " HEX_32 "\n");
	cr_assert_eq(keyring_parse(text, &keyring), KEYRING_KEYS_MAX + 1);
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	cr_assert(file_write(path, text, strlen(text)));
	cr_assert_eq(chmod(path, mode), 0);
}

Test(keyring, a_key_file_readable_by_others_is_rejected_with_a_reason, .init = own_directory_make,
     .fini = own_directory_remove)
{
	const char *path = in_base("keys");
	struct keyring keyring;
	char text[KEYRING_TEXT_MAX];

	put_file(path, "a " HEX_32 "\n", 0640);
	cr_assert_eq(keyring_read(path, &keyring, text), -EACCES);
	cr_assert_not_null(strstr(text, "chmod 600"));
	put_file(path, "a " HEX_32 "\n", 0604);
	cr_assert_eq(keyring_read(path, &keyring, text), -EACCES);
	put_file(path, "a " HEX_32 "\nb\n", 0600);
	cr_assert_eq(keyring_read(path, &keyring, text), -EINVAL);
	cr_assert_not_null(strstr(text, "line 2"));
	put_file(path, "a " HEX_32 "\n", 0400);
	cr_assert_eq(keyring_read(path, &keyring, text), 0);
}

Test(keyring, the_first_line_is_read, .init = own_directory_make, .fini = own_directory_remove)
{
	const char *path = in_base("password");
	char *line = NULL;

	put_file(path, "secret word\r\nmore\n", 0600);
	cr_assert_eq(keyring_password(path, &line), 0);
	cr_assert_str_eq(line, "secret word");
	free(line);
	put_file(path, "\nsecond\n", 0600);
	cr_assert_eq(keyring_password(path, &line), -ENODATA);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(keyring_password(path, &line), -ENOENT);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(keyring_password(path, &line), -EINVAL); /* and does not block */
}
