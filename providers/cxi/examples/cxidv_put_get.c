/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Puts a buffer into memory of a target, gets it back, and compares. Both sides learn from events what has
 * happened: the initiator that its command is complete, the target that somebody was there.
 *
 * In one process, on one NIC or on two:
 *	cxidv_put_get [device of both sides | initiator's target's]
 * In two processes, of which the target is started without a host and the initiator with the target's:
 *	cxidv_put_get -p port [-d device] [host]
 */
#define _POSIX_C_SOURCE 200809L /* for getopt() */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "exchange.h"

#define PORTAL_INDEX 10 /* what both sides have agreed on */
#define WINDOW_BUFFER_ID 1
#define OFFSET 128 /* where in the target's window */

static char sent[1000];
static char window[4096];
static char returned[1000];

struct resources {
	struct side initiator;
	struct address peer; /* of the target, as the initiator has heard it */
	struct cxidv_cmdq *transmit;
	struct cxidv_md *sent_md;
	struct cxidv_md *returned_md;

	struct side target;
	struct cxidv_cmdq *target_queue; /* for commands that work on portal entries */
	struct cxidv_md *window_md;
	struct cxidv_pte *pte;
};

/* Opens the window to everybody who can send in this VNI. */
static int set_up_target(struct resources *r)
{
	struct cxidv_le_attr entry = {
		.list = C_PTL_LIST_PRIORITY,
		/* Neither used once nor managed: it stays, and offsets choose the place. */
		.flags = C_LE_OP_PUT | C_LE_OP_GET,
		.buffer_id = WINDOW_BUFFER_ID,
	};

	r->target_queue = make_queue(&r->target, 0);
	r->window_md = map_memory(&r->target, window, sizeof(window));
	r->pte = make_portal(&r->target, 0, PORTAL_INDEX);
	if (!r->target_queue || !r->window_md || !r->pte)
		return -1;
	entry.ptn = r->pte->ptn;
	entry.lac = r->window_md->lac;
	entry.start = r->window_md->iova;
	entry.length = r->window_md->length;
	if (append(&r->target, r->target_queue, &entry))
		return -1;
	return enable_portal(&r->target, r->target_queue, r->pte);
}

static int set_up_initiator(struct resources *r)
{
	r->transmit = make_queue(&r->initiator, CXIDV_CMDQ_TRANSMIT);
	r->sent_md = map_memory(&r->initiator, sent, sizeof(sent));
	r->returned_md = map_memory(&r->initiator, returned, sizeof(returned));
	return r->transmit && r->sent_md && r->returned_md ? 0 : -1;
}

static int put(struct resources *r)
{
	struct c_full_dma_cmd command;
	union c_event event;

	if (address_command(&r->initiator, r->peer, PORTAL_INDEX, r->sent_md, &command))
		return -1;
	command.remote_offset = OFFSET;
	command.header_data = 0x600d; /* 64 bits that the target's event has */
	command.user_ptr = 1;	      /* 64 bits that our own event has */
	if (report("put", cxidv_emit_put(r->transmit, &command)))
		return -1;
	cxidv_cmdq_ring(r->transmit);

	if (wait_for(&r->initiator, C_EVENT_ACK, C_RC_OK, &event))
		return -1;
	printf("put %u: %u bytes acknowledged\n", (unsigned)cxidv_event_user_ptr(&event),
	       cxidv_event_mlength(&event));
	return 0;
}

static int get(struct resources *r)
{
	struct c_full_dma_cmd command;
	union c_event event;

	if (address_command(&r->initiator, r->peer, PORTAL_INDEX, r->returned_md, &command))
		return -1;
	command.remote_offset = OFFSET;
	command.user_ptr = 2;
	if (report("get", cxidv_emit_get(r->transmit, &command)))
		return -1;
	cxidv_cmdq_ring(r->transmit);

	/* A REPLY comes when the data is in our memory. */
	if (wait_for(&r->initiator, C_EVENT_REPLY, C_RC_OK, &event))
		return -1;
	printf("get %u: %u bytes, %s\n", (unsigned)cxidv_event_user_ptr(&event),
	       cxidv_event_mlength(&event),
	       memcmp(sent, returned, sizeof(sent)) ? "which differ" : "the same that were put");
	return memcmp(sent, returned, sizeof(sent)) ? -1 : 0;
}

/* What the target hears of both. Its program takes no part in them, and may look at any time. */
static int hear_of_both(struct resources *r)
{
	union c_event event;

	if (wait_for(&r->target, C_EVENT_PUT, C_RC_OK, &event))
		return -1;
	printf("target: put of %u bytes at offset %u, header data %#x\n",
	       event.tgt_long.mlength, (unsigned)event.tgt_long.remote_offset,
	       (unsigned)event.tgt_long.header_data);
	if (wait_for(&r->target, C_EVENT_GET, C_RC_OK, &event))
		return -1;
	printf("target: get of %u bytes at offset %u\n", event.tgt_long.mlength,
	       (unsigned)event.tgt_long.remote_offset);
	return 0;
}

static int in_one_process(struct resources *r, int argc, char **argv)
{
	if (open_sides(argc, argv, 0, &r->initiator, &r->target) || set_up_target(r) ||
	    set_up_initiator(r))
		return -1;
	r->peer = r->target.address;
	return put(r) || get(r) || hear_of_both(r) ? -1 : 0;
}

/* Tells its address when everything is there, and takes nothing away before the initiator is done. */
static int as_target(struct resources *r, const char *device, const char *port)
{
	int failed, socket;

	if (open_side(&r->target, device, 0) || set_up_target(r))
		return -1;
	socket = meet(NULL, port);
	if (socket < 0)
		return -1;
	failed = tell_address(socket, r->target.address) || hear_of_both(r) || wait_for_end(socket);
	close(socket);
	return failed ? -1 : 0;
}

static int as_initiator(struct resources *r, const char *device, const char *port, const char *host)
{
	int failed, socket;

	if (open_side(&r->initiator, device, 0) || set_up_initiator(r))
		return -1;
	socket = meet(host, port);
	if (socket < 0)
		return -1;
	failed = hear_address(socket, &r->peer) || put(r) || get(r);
	close(socket);
	return failed ? -1 : 0;
}

/* Which of the three the arguments ask for. */
static int run(struct resources *r, int argc, char **argv)
{
	const char *device = NULL, *port = NULL;
	int option;

	while ((option = getopt(argc, argv, "d:p:")) != -1) {
		if (option == 'd')
			device = optarg;
		else if (option == 'p')
			port = optarg;
		else
			port = "";
	}
	if (!device && !port)
		return in_one_process(r, argc, argv);
	if (!port || !*port || argc > optind + 1) {
		fprintf(stderr, "usage: %s -p port [-d device] [host]\n", argv[0]);
		return -1;
	}
	return argc > optind ? as_initiator(r, device, port, argv[optind]) :
			       as_target(r, device, port);
}

/* Newest first, but for memory: nothing uses it once the queues and the portal entry are gone. */
static void tear_down(struct resources *r)
{
	if (r->transmit)
		report("destroy queue", cxidv_destroy_cmdq(r->transmit));
	destroy_portal(&r->target, r->pte, PORTAL_INDEX);
	if (r->target_queue)
		report("destroy queue", cxidv_destroy_cmdq(r->target_queue));
	if (r->window_md)
		report("unmap", cxidv_unmap_md(r->window_md));
	if (r->returned_md)
		report("unmap", cxidv_unmap_md(r->returned_md));
	if (r->sent_md)
		report("unmap", cxidv_unmap_md(r->sent_md));
	close_sides(&r->initiator, &r->target);
}

int main(int argc, char **argv)
{
	struct resources r = {0};
	int failed;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 7);
	failed = run(&r, argc, argv);
	tear_down(&r);
	return failed ? 1 : 0;
}
