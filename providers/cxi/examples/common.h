/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the examples share: one side of an exchange, and waiting for events.
 *
 * An example is one process with two sides, an initiator and a target. Each side has all that a process
 * of its own would have, and they know of each other only what processes would tell each other: NID, PID
 * and portal index. cxidv_put_get also runs as two processes, which tell each other over TCP (exchange.h).
 * Functions that return int return 0, or -1 after they have said on standard error what went wrong.
 */
#ifndef CXIDV_EXAMPLES_COMMON_H
#define CXIDV_EXAMPLES_COMMON_H

#include <infiniband/cxidv.h>

/* Where a side is found, in a VNI that both have. */
struct address {
	uint32_t nid; /* which NIC */
	uint32_t pid; /* which process on it */
};

struct side {
	const char *name; /* of the device */
	struct ibv_context *context;
	struct cxidv_device_attr device;
	struct cxidv_lni *lni;	     /* everything below lives on it */
	struct cxidv_cp *cp;	     /* in which VNI and traffic class it sends */
	struct cxidv_domain *domain; /* holds the PID under which it is reached */
	struct address address;	     /* for the other side */
	struct ibv_comp_channel *channel;
	struct cxidv_eq *eq; /* all events of this side */
	uint32_t initiator;  /* how the other side sees who sends */
};

/* Says what failed and why; returns -1, or 0 where error is 0. */
int report(const char *what, int error);

/* Opens one side on the device of that name, the first Cassini NIC where name is NULL. cp_flags: of its
 * communication profile. Close it also if that fails. */
int open_side(struct side *side, const char *name, uint32_t cp_flags);
void close_side(struct side *side);

/* Opens both sides on the devices that the arguments name: none, one for both, or one for each. cp_flags:
 * of the target's communication profile. */
int open_sides(int argc, char **argv, uint32_t cp_flags, struct side *initiator,
	       struct side *target);
void close_sides(struct side *initiator, struct side *target);

/* A command queue of that side; NULL after it has said what went wrong. */
struct cxidv_cmdq *make_queue(const struct side *side, uint32_t flags);
/* Memory that the NIC of that side may read and write; NULL after it has said what went wrong. */
struct cxidv_md *map_memory(const struct side *side, void *addr, size_t length);
/* A portal entry of that side at a portal index, and its destruction, NULL included. */
struct cxidv_pte *make_portal(const struct side *side, uint32_t flags, uint32_t index);
void destroy_portal(const struct side *side, struct cxidv_pte *pte, uint32_t index);

/* Enables a portal entry; over when the NIC has said so. */
int enable_portal(const struct side *side, struct cxidv_cmdq *queue, const struct cxidv_pte *pte);
/* Appends a list entry; over when the NIC has linked it. */
int append(const struct side *side, struct cxidv_cmdq *queue, const struct cxidv_le_attr *entry);

/* A put or get of all of md to or from a portal index of the other side, to be completed by the caller. */
int address_command(const struct side *from, struct address to, uint32_t index,
		    const struct cxidv_md *md, struct c_full_dma_cmd *command);

/* Sleeps until the next event of that side, which must be of that type and have that return code, and
 * copies it. */
int wait_for(const struct side *side, uint32_t type, uint32_t return_code, union c_event *event);

#endif /* CXIDV_EXAMPLES_COMMON_H */
