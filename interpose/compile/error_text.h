/* SPDX-License-Identifier: MIT */
/*
 * error_text: texts for errno values, for the logs of host processes
 *
 * strerror() may open message catalogues and allocate, and depends on the host's locale. These texts are constants;
 * only the number of another error goes into the caller's buffer.
 */
#ifndef INTERPOSE_COMPILE_ERROR_TEXT_H
#define INTERPOSE_COMPILE_ERROR_TEXT_H

#define ERROR_TEXT_BYTES 24

/* Returns the text for an errno value of either sign: a constant, or a text in `buffer`. */
const char *error_text(int error, char buffer[ERROR_TEXT_BYTES]);

#endif
