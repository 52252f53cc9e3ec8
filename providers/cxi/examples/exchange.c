/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Addresses over TCP: see exchange.h. */
#define _DEFAULT_SOURCE
#include "exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100 /* to connect: the other process may come up later */
#define PAUSE_NS 50000000

static int connect_to(const struct addrinfo *place)
{
	int fd = socket(place->ai_family, place->ai_socktype, place->ai_protocol);
	int error;

	if (fd < 0 || !connect(fd, place->ai_addr, place->ai_addrlen))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Tries every address of the host, and again where nobody listens yet. */
static int find_listener(const struct addrinfo *places)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int fd = -1;

	for (int tries = 0; fd < 0 && tries < TRIES; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		for (const struct addrinfo *place = places; fd < 0 && place; place = place->ai_next)
			fd = connect_to(place);
		if (fd < 0 && errno != ECONNREFUSED)
			break;
	}
	if (fd < 0)
		report("connect", errno);
	return fd;
}

static int listen_for_one(const struct addrinfo *place)
{
	int listener = socket(place->ai_family, place->ai_socktype, place->ai_protocol);
	const int on = 1;
	int fd = -1;

	if (listener < 0)
		return report("socket", errno);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, place->ai_addr, place->ai_addrlen) || listen(listener, 1))
		report("listen", errno);
	else if ((fd = accept(listener, NULL, NULL)) < 0)
		report("accept", errno);
	close(listener);
	return fd;
}

int meet(const char *host, const char *port)
{
	const struct addrinfo wanted = {
		.ai_flags = host ? 0 : AI_PASSIVE,
		.ai_family = host ? AF_UNSPEC : AF_INET,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *places;
	int error = getaddrinfo(host, port, &wanted, &places);
	int fd;

	if (error) {
		fprintf(stderr, "%s port %s: %s\n", host ? host : "this host", port,
			gai_strerror(error));
		return -1;
	}
	fd = host ? find_listener(places) : listen_for_one(places);
	freeaddrinfo(places);
	return fd;
}

int tell_address(int socket, struct address address)
{
	const uint32_t words[2] = { htonl(address.nid), htonl(address.pid) };

	if (send(socket, words, sizeof(words), MSG_NOSIGNAL) == sizeof(words))
		return 0;
	return report("tell address", errno);
}

int hear_address(int socket, struct address *address)
{
	uint32_t words[2];
	ssize_t length = recv(socket, words, sizeof(words), MSG_WAITALL);

	if (length != sizeof(words))
		return report("hear address", length < 0 ? errno : ECONNRESET);
	address->nid = ntohl(words[0]);
	address->pid = ntohl(words[1]);
	return 0;
}

int wait_for_end(int socket)
{
	char byte;

	return recv(socket, &byte, 1, 0) < 0 ? report("wait for the other process", errno) : 0;
}
