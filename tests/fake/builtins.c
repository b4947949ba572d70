/* SPDX-License-Identifier: MIT */
/* The fake's libnvrtc-builtins: one piece of data under a name that begins as the private functions do. */
#define PASTE_(a, b) __nvrtc_builtins__##a##_##b##_data
#define PASTE(a, b)  PASTE_(a, b)
extern const int PASTE(FAKE_MAJOR, FAKE_MINOR);
__attribute__((visibility("default"))) const int PASTE(FAKE_MAJOR, FAKE_MINOR) = FAKE_MAJOR;
