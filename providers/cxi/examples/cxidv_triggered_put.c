/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A NIC that answers by itself. The target counts arriving messages with a counting event and leaves its
 * NIC a put that waits for the third of them. The initiator sends three messages; the answer comes without
 * the target's program doing anything in between.
 *
 *	cxidv_triggered_put [device of both sides | initiator's target's]
 */
#include <stdio.h>

#include "common.h"

#define MESSAGES 3
#define REQUEST_INDEX 20 /* of the target: where messages arrive */
#define ANSWER_INDEX 21	 /* of the initiator: where the answer arrives */
#define BUFFER_ID 1

static uint64_t message[1] = { 0x1111 };
static uint64_t inbox[MESSAGES + 1]; /* each message has its place */
static uint64_t answer[1] = { 0x42 };
static uint64_t answered[1];

struct resources {
	struct side initiator;
	struct cxidv_cmdq *transmit;
	struct cxidv_cmdq *initiator_queue;
	struct cxidv_md *message_md;
	struct cxidv_md *answered_md;
	struct cxidv_pte *answer_pte;

	struct side target;
	struct cxidv_cmdq *triggered; /* a transmit queue whose commands wait */
	struct cxidv_cmdq *target_queue;
	struct cxidv_md *inbox_md;
	struct cxidv_md *answer_md;
	struct cxidv_pte *request_pte;
	struct cxidv_ct *arrived;
};

/* Lets peers put into all of md through a portal entry. */
static int open_window(const struct side *side, struct cxidv_cmdq *queue, const struct cxidv_md *md,
		       const struct cxidv_pte *pte, const struct cxidv_ct *counter)
{
	struct cxidv_le_attr entry = {
		.ptn = pte->ptn,
		.list = C_PTL_LIST_PRIORITY,
		.flags = C_LE_OP_PUT,
		.buffer_id = BUFFER_ID,
		.lac = md->lac,
		.start = md->iova,
		.length = md->length,
	};

	if (counter) {
		/* The counter instead of an event for each message. */
		entry.flags |= C_LE_EVENT_CT_COMM | C_LE_EVENT_COMM_DISABLE;
		entry.ct = counter->ct;
	}
	if (append(side, queue, &entry))
		return -1;
	return enable_portal(side, queue, pte);
}

static int set_up_initiator(struct resources *r)
{
	r->transmit = make_queue(&r->initiator, CXIDV_CMDQ_TRANSMIT);
	r->initiator_queue = make_queue(&r->initiator, 0);
	r->message_md = map_memory(&r->initiator, message, sizeof(message));
	r->answered_md = map_memory(&r->initiator, answered, sizeof(answered));
	r->answer_pte = make_portal(&r->initiator, 0, ANSWER_INDEX);
	if (!r->transmit || !r->initiator_queue || !r->message_md || !r->answered_md ||
	    !r->answer_pte)
		return -1;
	return open_window(&r->initiator, r->initiator_queue, r->answered_md, r->answer_pte, NULL);
}

/* Leaves the NIC a put to the initiator that waits until the counter has reached MESSAGES. */
static int leave_answer(struct resources *r)
{
	struct c_full_dma_cmd command;

	if (address_command(&r->target, r->initiator.address, ANSWER_INDEX, r->answer_md, &command))
		return -1;
	if (report("triggered put",
		   cxidv_emit_trig_put(r->triggered, r->arrived->ct, MESSAGES, &command)))
		return -1;
	cxidv_cmdq_ring(r->triggered);
	return 0;
}

static int set_up_target(struct resources *r)
{
	r->triggered = make_queue(&r->target, CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);
	r->target_queue = make_queue(&r->target, 0);
	r->inbox_md = map_memory(&r->target, inbox, sizeof(inbox));
	r->answer_md = map_memory(&r->target, answer, sizeof(answer));
	r->request_pte = make_portal(&r->target, 0, REQUEST_INDEX);
	r->arrived = cxidv_create_ct(r->target.lni, NULL);
	if (!r->arrived)
		perror("counting event");
	if (!r->triggered || !r->target_queue || !r->inbox_md || !r->answer_md ||
	    !r->request_pte || !r->arrived)
		return -1;
	if (open_window(&r->target, r->target_queue, r->inbox_md, r->request_pte, r->arrived))
		return -1;
	return leave_answer(r);
}

/* The last message has no event of its own, so that the answer is the next thing to be heard of. */
static int send_message(struct resources *r, unsigned int number)
{
	struct c_full_dma_cmd command;

	if (address_command(&r->initiator, r->target.address, REQUEST_INDEX, r->message_md, &command))
		return -1;
	command.remote_offset = number * sizeof(message);
	command.event_success_disable = number == MESSAGES;
	if (report("put", cxidv_emit_put(r->transmit, &command)))
		return -1;
	cxidv_cmdq_ring(r->transmit);
	return 0;
}

/* What the target has counted, without disturbing the NIC. */
static int show_count(const struct resources *r)
{
	uint64_t success, failure;

	if (report("read counter", cxidv_read_ct(r->arrived, &success, &failure)))
		return -1;
	printf("target: %u messages, %u failures\n", (unsigned)success, (unsigned)failure);
	return 0;
}

static int exchange(struct resources *r)
{
	union c_event event;

	for (unsigned int i = 1; i < MESSAGES; i++) {
		if (send_message(r, i) || wait_for(&r->initiator, C_EVENT_ACK, C_RC_OK, &event))
			return -1;
		printf("message %u acknowledged\n", i);
	}
	if (show_count(r))
		return -1;
	if (answered[0]) {
		fputs("the answer came too early\n", stderr);
		return -1;
	}
	if (send_message(r, MESSAGES) || wait_for(&r->initiator, C_EVENT_PUT, C_RC_OK, &event))
		return -1;
	printf("message %u sent; the NIC answered %#x\n", MESSAGES, (unsigned)answered[0]);
	return show_count(r);
}

/* Newest first, but for memory: nothing uses it once the queues and the portal entries are gone. */
static void tear_down(struct resources *r)
{
	struct cxidv_cmdq *const queues[] = { r->transmit, r->initiator_queue, r->triggered,
					      r->target_queue };
	struct cxidv_md *const memory[] = { r->message_md, r->answered_md, r->inbox_md,
					    r->answer_md };

	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		if (queues[i])
			report("destroy queue", cxidv_destroy_cmdq(queues[i]));
	}
	destroy_portal(&r->target, r->request_pte, REQUEST_INDEX);
	destroy_portal(&r->initiator, r->answer_pte, ANSWER_INDEX);
	if (r->arrived)
		report("destroy counting event", cxidv_destroy_ct(r->arrived));
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		if (memory[i])
			report("unmap", cxidv_unmap_md(memory[i]));
	}
	close_sides(&r->initiator, &r->target);
}

int main(int argc, char **argv)
{
	struct resources r = {0};
	int failed;

	/* Triggered commands are sent on LCID 0 of the target. */
	failed = open_sides(argc, argv, CXIDV_CP_TRIGGERED, &r.initiator, &r.target) ||
		 set_up_initiator(&r) || set_up_target(&r) || exchange(&r);
	tear_down(&r);
	return failed ? 1 : 0;
}
