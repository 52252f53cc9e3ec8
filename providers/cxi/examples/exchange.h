/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How two processes tell each other where they are: over a TCP connection, as any launcher would do it in
 * its own way. Functions return -1 after they have said on standard error what went wrong.
 */
#ifndef CXIDV_EXAMPLES_EXCHANGE_H
#define CXIDV_EXAMPLES_EXCHANGE_H

#include "common.h"

/* Waits for a connection at the port, where host is NULL, else connects to it. Returns a socket. */
int meet(const char *host, const char *port);

/* Returns 0. */
int tell_address(int socket, struct address address);
int hear_address(int socket, struct address *address);

/* Sleeps until the other process has closed its end; returns 0. */
int wait_for_end(int socket);

#endif /* CXIDV_EXAMPLES_EXCHANGE_H */
