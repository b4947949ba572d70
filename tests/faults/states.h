/* SPDX-License-Identifier: MIT */
/*
 * states: directories as nobody left them on purpose, and names as nobody should give them
 *
 *   torn_files()   what a power cut leaves: files that are empty, cut, zeroed or old in part, at every block of 512
 * bytes odd_places()   FIFOs, links, devices, sockets, directories, huge and foreign files in every place of ours
 *   odd_names()    newlines, "..", bytes that are no UTF-8 in programs' and directories' names; settings of that kind
 */
#ifndef FAULTS_STATES_H
#define FAULTS_STATES_H

struct sweep;

void torn_files(const struct sweep *sweep);
void odd_places(const struct sweep *sweep);
void odd_names(const struct sweep *sweep);

#endif
