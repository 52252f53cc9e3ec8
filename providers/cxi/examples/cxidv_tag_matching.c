/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tag matching as message passing libraries want it. Of two messages one finds a receive that was posted
 * for its tag. The other one comes unexpected: the NIC keeps it in an overflow buffer, a search finds it
 * there, and the receive that is posted later is told where it lies.
 *
 *	cxidv_tag_matching [device of both sides | initiator's target's]
 */
#include <stdio.h>
#include <string.h>

#include "common.h"

#define PORTAL_INDEX 0
#define EXPECTED_TAG 7
#define UNEXPECTED_TAG 8
#define UNSENT_TAG 9

enum buffer_id { OVERFLOW_BUFFER = 1, FIRST_RECEIVE, SECOND_RECEIVE, SEARCH };

static char messages[2][32] = { "for a posted receive", "come before its receive" };
static char receives[2][32];
static char overflow[4096];

struct resources {
	struct side initiator;
	struct cxidv_cmdq *transmit;
	struct cxidv_md *messages_md;

	struct side target;
	struct cxidv_cmdq *target_queue;
	struct cxidv_md *receives_md;
	struct cxidv_md *overflow_md;
	struct cxidv_pte *pte;
};

/* Room for what nobody has posted a receive for: any tag, from anybody, one message behind the other. */
static int offer_overflow(struct resources *r)
{
	struct cxidv_le_attr entry = {
		.ptn = r->pte->ptn,
		.list = C_PTL_LIST_OVERFLOW,
		.flags = C_LE_OP_PUT | C_LE_MANAGE_LOCAL,
		.buffer_id = OVERFLOW_BUFFER,
		.lac = r->overflow_md->lac,
		.start = r->overflow_md->iova,
		.length = r->overflow_md->length,
		.ignore_bits = UINT64_MAX,
		.match_id = CXIDV_MATCH_ID_ANY,
	};

	return append(&r->target, r->target_queue, &entry);
}

/* Posts a receive for one message with a tag. What the NIC answers depends on whether it is there already. */
static int post_receive(struct resources *r, unsigned int place, uint64_t tag)
{
	struct cxidv_le_attr entry = {
		.ptn = r->pte->ptn,
		.list = C_PTL_LIST_PRIORITY,
		/* An unlinked receive is told by the event of its message. */
		.flags = C_LE_OP_PUT | C_LE_USE_ONCE | C_LE_EVENT_UNLINK_DISABLE,
		.buffer_id = FIRST_RECEIVE + place,
		.lac = r->receives_md->lac,
		.start = cxidv_md_iova(r->receives_md, receives[place]),
		.length = sizeof(receives[place]),
		.match_bits = tag,
		.match_id = CXIDV_MATCH_ID_ANY,
	};
	struct c_target_cmd command;

	if (report("describe receive", cxidv_build_le(&entry, &command)) ||
	    report("post receive", cxidv_emit_append(r->target_queue, &command)))
		return -1;
	cxidv_cmdq_ring(r->target_queue);
	return 0;
}

static int set_up(struct resources *r)
{
	r->transmit = make_queue(&r->initiator, CXIDV_CMDQ_TRANSMIT);
	r->messages_md = map_memory(&r->initiator, messages, sizeof(messages));
	r->target_queue = make_queue(&r->target, 0);
	r->receives_md = map_memory(&r->target, receives, sizeof(receives));
	r->overflow_md = map_memory(&r->target, overflow, sizeof(overflow));
	r->pte = make_portal(&r->target, CXIDV_PTE_MATCHING, PORTAL_INDEX);
	if (!r->transmit || !r->messages_md || !r->target_queue || !r->receives_md ||
	    !r->overflow_md || !r->pte || offer_overflow(r))
		return -1;
	return enable_portal(&r->target, r->target_queue, r->pte);
}

/* Sends one of the messages; list: where the target's NIC put it. */
static int send_message(struct resources *r, unsigned int place, uint64_t tag, uint32_t *list)
{
	struct c_full_dma_cmd command;
	union c_event event;

	if (address_command(&r->initiator, r->target.address, PORTAL_INDEX, r->messages_md, &command))
		return -1;
	command.local_addr = cxidv_md_iova(r->messages_md, messages[place]);
	command.request_len = (uint32_t)strlen(messages[place]) + 1;
	command.match_bits = tag;
	if (report("put", cxidv_emit_put(r->transmit, &command)))
		return -1;
	cxidv_cmdq_ring(r->transmit);
	if (wait_for(&r->initiator, C_EVENT_ACK, C_RC_OK, &event))
		return -1;
	*list = event.init_short.ptl_list;
	return 0;
}

static int expected_message(struct resources *r)
{
	union c_event event;
	uint32_t list;

	if (post_receive(r, 0, EXPECTED_TAG) ||
	    wait_for(&r->target, C_EVENT_LINK, C_RC_OK, &event) ||
	    send_message(r, 0, EXPECTED_TAG, &list) ||
	    wait_for(&r->target, C_EVENT_PUT, C_RC_OK, &event))
		return -1;
	printf("tag %u: receive %u, %s list, \"%s\"\n", (unsigned)event.tgt_long.match_bits,
	       event.tgt_long.buffer_id - FIRST_RECEIVE,
	       list == C_PTL_LIST_PRIORITY ? "priority" : "another", receives[0]);
	return 0;
}

/* Asks whether a message with a tag is there; return_code is the answer that is expected. */
static int search(struct resources *r, uint64_t tag, uint32_t return_code)
{
	struct cxidv_le_attr entry = {
		.ptn = r->pte->ptn,
		.list = C_PTL_LIST_UNEXPECTED,
		.flags = C_LE_USE_ONCE, /* the first one is enough */
		.buffer_id = SEARCH,
		.length = CXIDV_LE_UNLIMITED,
		.match_bits = tag,
		.match_id = CXIDV_MATCH_ID_ANY,
	};
	struct c_target_cmd command;
	union c_event event;

	if (report("describe search", cxidv_build_le(&entry, &command)) ||
	    report("search", cxidv_emit_search(r->target_queue, &command)))
		return -1;
	cxidv_cmdq_ring(r->target_queue);
	if (wait_for(&r->target, C_EVENT_SEARCH, return_code, &event))
		return -1;
	if (return_code == C_RC_OK)
		printf("search for tag %u: a message of %u bytes\n", (unsigned)tag,
		       event.tgt_long.rlength);
	else
		printf("search for tag %u: nothing\n", (unsigned)tag);
	return 0;
}

static int unexpected_message(struct resources *r)
{
	union c_event event;
	uint64_t offset;
	uint32_t list;

	if (send_message(r, 1, UNEXPECTED_TAG, &list) ||
	    wait_for(&r->target, C_EVENT_PUT, C_RC_OK, &event))
		return -1;
	printf("tag %u: unexpected, %s list\n", (unsigned)event.tgt_long.match_bits,
	       list == C_PTL_LIST_OVERFLOW ? "overflow" : "another");

	if (search(r, UNSENT_TAG, C_RC_NO_MATCH) || search(r, UNEXPECTED_TAG, C_RC_OK))
		return -1;

	/* The receive is used up at once: no LINK, but a PUT_OVERFLOW with the place of the data. */
	if (post_receive(r, 1, UNEXPECTED_TAG) ||
	    wait_for(&r->target, C_EVENT_PUT_OVERFLOW, C_RC_OK, &event))
		return -1;
	offset = event.tgt_long.start - r->overflow_md->iova;
	if (offset > sizeof(overflow) || event.tgt_long.mlength > sizeof(overflow) - offset ||
	    event.tgt_long.mlength > sizeof(receives[1])) {
		fputs("the message is not in the overflow buffer\n", stderr);
		return -1;
	}
	memcpy(receives[1], overflow + offset, event.tgt_long.mlength);
	printf("tag %u: receive %u, from the overflow buffer, \"%s\"\n",
	       (unsigned)event.tgt_long.match_bits, event.tgt_long.buffer_id - FIRST_RECEIVE,
	       receives[1]);
	return search(r, UNEXPECTED_TAG, C_RC_NO_MATCH);
}

/* Newest first, but for memory: nothing uses it once the queues and the portal entry are gone. */
static void tear_down(struct resources *r)
{
	if (r->transmit)
		report("destroy queue", cxidv_destroy_cmdq(r->transmit));
	destroy_portal(&r->target, r->pte, PORTAL_INDEX);
	if (r->target_queue)
		report("destroy queue", cxidv_destroy_cmdq(r->target_queue));
	if (r->overflow_md)
		report("unmap", cxidv_unmap_md(r->overflow_md));
	if (r->receives_md)
		report("unmap", cxidv_unmap_md(r->receives_md));
	if (r->messages_md)
		report("unmap", cxidv_unmap_md(r->messages_md));
	close_sides(&r->initiator, &r->target);
}

int main(int argc, char **argv)
{
	struct resources r = {0};
	int failed;

	failed = open_sides(argc, argv, 0, &r.initiator, &r.target) || set_up(&r) ||
		 expected_message(&r) || unexpected_message(&r);
	tear_down(&r);
	return failed ? 1 : 0;
}
