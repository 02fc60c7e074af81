// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes a temporary file when a signal ends the program.
#ifndef GSORT_TOOLS_CLEANUP_H_
#define GSORT_TOOLS_CLEANUP_H_

// Once, at the start. Signals that the caller has set to be ignored stay ignored.
void cleanup_install(void);

// Between the creation of a file and cleanup_arm() no signal may end the program.
void cleanup_block_signals(void);
void cleanup_unblock_signals(void);

void cleanup_arm(const char *path);
void cleanup_disarm(void);

#endif  // GSORT_TOOLS_CLEANUP_H_
