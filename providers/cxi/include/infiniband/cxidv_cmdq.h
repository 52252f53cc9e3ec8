/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: commands into command queues. Include cxidv.h.
 *
 * An emitter writes one command behind the ones that are there, with the padding that the NIC wants. It
 * takes the command as the NIC's own structure (ethernet/cassini_user_defs.h) and sets the members that
 * follow from its name: command (type, size, opcode) and, of immediate commands, length; every other
 * member is the caller's, but reserved ones go out as zero. The command is copied: the structure and
 * immediate payload are the caller's again on return.
 *
 * An emitter returns 0, ENOSPC (the ring has no room for it now) or, where its comment says so, EINVAL;
 * when it is refused nothing is written. The NIC learns of commands when cxidv_cmdq_ring() is called. A
 * command on a queue of another kind than it belongs to, and what the NIC finds wrong in it, is answered
 * with a COMMAND_FAILURE event in the queue's event queue, and the queue stops.
 *
 * One thread at a time per queue. Arguments that are constants cost nothing: every function is inline.
 */
#ifndef INFINIBAND_CXIDV_CMDQ_H
#define INFINIBAND_CXIDV_CMDQ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/cxidv.h>
#include <infiniband/cxidv_mmio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * The ring. Positions count units of 32 bytes; the NIC counts slots of 64.
 */

/* The first byte of a command: of type, size and opcode. */
#define CXIDV_PRIV_COMMAND_HEAD(type, size, opcode) \
	((uint64_t)(type) | (uint64_t)(size) << 2 | (uint64_t)(opcode) << 4)

static inline uint32_t cxidv_priv_cmdq_next_unit(const struct cxidv_cmdq *cmdq, uint32_t unit)
{
	return __builtin_expect(unit == cmdq->size32, 0) ? C_CQ_FIRST_WR_PTR_32 : unit;
}

/* Units that can be written when the NIC has read up to rp32. One slot always stays free, so that a full
 * ring does not look like an empty one. */
static inline uint32_t cxidv_priv_cmdq_room(const struct cxidv_cmdq *cmdq, uint32_t rp32)
{
	uint32_t room = rp32 - cmdq->wp32 - 2;

	return cmdq->wp32 >= rp32 ? room + cmdq->size32 - C_CQ_FIRST_WR_PTR_32 : room;
}

/* The NIC's status word as it is now: how far it has read, and what went wrong if something did. */
static inline struct c_cq_status cxidv_cmdq_status(const struct cxidv_cmdq *cmdq)
{
	uint64_t word = cxidv_load_acquire(cmdq->ring);
	struct c_cq_status status;

	memcpy(&status, &word, sizeof(status));
	return status;
}

/* How far the NIC has read, as it is now. No fence: what is written into the room that this finds depends on
 * the answer, and no processor lets such a store pass the load. The assembly makes it a new load each time;
 * a volatile one, or a fence, would keep compilers from dropping a structure that the caller has filled. */
static inline uint32_t cxidv_priv_cmdq_read_pointer(const struct cxidv_cmdq *cmdq)
{
	const uint8_t *status = cmdq->ring;
	uint16_t slot;

	__asm__ volatile("" : "+r"(status));
	memcpy(&slot, status, sizeof(slot));
	return 2u * slot;
}

/* Looks how far the NIC has read, as emitters do by themselves when they find no room. */
static inline void cxidv_cmdq_refresh(struct cxidv_cmdq *cmdq)
{
	cmdq->rp32 = cxidv_priv_cmdq_read_pointer(cmdq);
}

/* Slots of 64 bytes that are free now; a command with its padding may take one more than its own. */
static inline uint32_t cxidv_cmdq_free_slots(struct cxidv_cmdq *cmdq)
{
	cxidv_cmdq_refresh(cmdq);
	return cxidv_priv_cmdq_room(cmdq, cmdq->rp32) / 2;
}

/* Whether the NIC has fetched every command, also those that it has not been told of yet. With
 * CXIDV_CMDQ_POLICY_LOW_FREQ an empty queue may look as if it were not. */
static inline bool cxidv_cmdq_is_empty(const struct cxidv_cmdq *cmdq)
{
	return cmdq->wp32 == cxidv_priv_cmdq_read_pointer(cmdq);
}

/* Takes back every command that the NIC has not been told of, a switch of profile or state too. */
static inline void cxidv_cmdq_discard(struct cxidv_cmdq *cmdq)
{
	cmdq->wp32 = cmdq->hw_wp32;
}

/* Takes the place behind pad units; the caller has seen that there is room. */
static inline uint8_t *cxidv_priv_cmdq_take(struct cxidv_cmdq *cmdq, uint32_t pad, uint32_t units)
{
	uint32_t place = cxidv_priv_cmdq_next_unit(cmdq, cmdq->wp32 + pad);

	cmdq->wp32 = cxidv_priv_cmdq_next_unit(cmdq, place + units);
	return cmdq->ring + (size_t)place * 32;
}

/* A command of 1, 2, 4 or 8 units starts at a multiple of its own size. */
static inline uint32_t cxidv_priv_cmdq_pad(const struct cxidv_cmdq *cmdq, uint32_t units)
{
	return (0u - cmdq->wp32) & (units - 1);
}

/* Whether there is room for a command of so many units and the gap in front of it. Asks the NIC only when it
 * must; the answer is stored where all ways meet, which compilers see through. */
static inline bool cxidv_priv_cmdq_fits(struct cxidv_cmdq *cmdq, uint32_t units)
{
	uint32_t need = cxidv_priv_cmdq_pad(cmdq, units) + units;
	uint32_t rp32 = cmdq->rp32;

	if (__builtin_expect(cxidv_priv_cmdq_room(cmdq, rp32) < need, 0)) {
		rp32 = cxidv_priv_cmdq_read_pointer(cmdq);
		if (cxidv_priv_cmdq_room(cmdq, rp32) < need)
			return false;
	}
	cmdq->rp32 = rp32;
	return true;
}

/*
 * The place of a command of 1, 2 or 4 units behind its gap; where it does not fit, a part of the ring that
 * holds no commands, and *err is ENOSPC. Memory changes on one way only, from here to the end of an emitter:
 * so compilers see that the structure which the caller has filled is not needed, and keep its values in
 * registers.
 */
static inline uint8_t *cxidv_priv_cmdq_claim(struct cxidv_cmdq *cmdq, uint32_t units, int *err)
{
	uint32_t wp32 = cmdq->wp32;
	uint32_t rp32 = cmdq->rp32;
	uint32_t pad = cxidv_priv_cmdq_pad(cmdq, units);
	uint32_t place = cxidv_priv_cmdq_next_unit(cmdq, wp32 + pad);
	uint32_t end = cxidv_priv_cmdq_next_unit(cmdq, place + units);
	uint8_t *ring = cmdq->ring;
	uint32_t i;

	*err = 0;
	if (__builtin_expect(cxidv_priv_cmdq_room(cmdq, rp32) < pad + units, 0)) {
		rp32 = cxidv_priv_cmdq_read_pointer(cmdq);
		if (cxidv_priv_cmdq_room(cmdq, rp32) < pad + units) {
			*err = ENOSPC;
			place = 2;
			pad = 0;
			end = wp32;
		}
	}
	cmdq->rp32 = rp32;
	cmdq->wp32 = end;
	/* The NOOPs; those that are not wanted go where the command covers them. */
	for (i = 0; i < units - 1; i++)
		cxidv_put_word(ring + (size_t)(i < pad ? wp32 + i : place) * 32, 0, 0);
	return ring + (size_t)place * 32;
}

/* The place of a command that fits. The gap is filled with NOOPs of 32 bytes, of which only the first 8
 * matter. */
static inline uint8_t *cxidv_priv_cmdq_place(struct cxidv_cmdq *cmdq, uint32_t units)
{
	uint32_t pad = cxidv_priv_cmdq_pad(cmdq, units);
	uint8_t *gap = cmdq->ring + (size_t)cmdq->wp32 * 32;
	uint8_t *place = cxidv_priv_cmdq_take(cmdq, pad, units);
	uint32_t i;

	/* One NOOP at most: written without asking, for the command covers it if it is not wanted. */
	if (units == 2)
		cxidv_put_word(gap, 0, 0);
	else
		for (i = 0; i < pad; i++)
			cxidv_put_word(gap + (size_t)i * 32, 0, 0);
	return place;
}

/* The same on a triggered queue: commands have 64 or 128 bytes, and a gap is one CT_NOOP. */
static inline uint8_t *cxidv_priv_cmdq_place_ct(struct cxidv_cmdq *cmdq, uint32_t units)
{
	uint32_t pad = cxidv_priv_cmdq_pad(cmdq, units);
	uint8_t *gap = cmdq->ring + (size_t)cmdq->wp32 * 32;
	uint8_t *place = cxidv_priv_cmdq_take(cmdq, pad, units);

	if (units > 2 && pad) {
		memset(gap, 0, C_CQ_CMD_SIZE);
		cxidv_put_word(gap, 0,
			       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, C_CMD_CT_NOOP));
	}
	return place;
}

static inline void cxidv_priv_cmdq_pad_slot(struct cxidv_cmdq *cmdq)
{
	/* The slot that is kept free leaves room for it. */
	if (cmdq->wp32 & 1)
		cxidv_put_word(cxidv_priv_cmdq_take(cmdq, 0, 1), 0, 0);
}

/* Tells the NIC of all commands through the write pointer alone. */
static inline void cxidv_cmdq_ring_doorbell(struct cxidv_cmdq *cmdq)
{
	if (cmdq->wp32 == cmdq->hw_wp32)
		return;
	cxidv_priv_cmdq_pad_slot(cmdq);
	cmdq->hw_wp32 = cmdq->wp32;
	cxidv_to_device_barrier(); /* partner: the NIC reads the ring after the write pointer */
	cxidv_store_doorbell(cmdq->launch, cmdq->hw_wp32 / 2);
	cxidv_flush_writes();
}

static inline void cxidv_priv_cmdq_copy_to_window(volatile uint64_t *window, uint32_t slot,
					     const uint8_t *command, uint32_t words)
{
	volatile uint64_t *place = window + (size_t)(slot & 15) * (C_CQ_CMD_SIZE / 8);
	uint32_t i;

	for (i = 0; i < words; i++)
		place[i] = cxidv_get_word(command, i);
}

/* Stores the first one or two slots that the NIC has not been told of into the low-latency window; such a
 * store moves the write pointer too, whether or not the NIC uses what was stored. */
static inline void cxidv_priv_cmdq_ring_low_latency(struct cxidv_cmdq *cmdq)
{
	uint8_t *launch = (uint8_t *)(uintptr_t)cmdq->launch;
	const uint8_t *first = cmdq->ring + (size_t)cmdq->hw_wp32 * 32;
	uint32_t slot = cmdq->hw_wp32 / 2;
	uint32_t slots, done;

	if ((cxidv_get_word(first, 0) >> 2 & 3) == C_CMD_SIZE_256B) {
		cxidv_cmdq_ring_doorbell(cmdq);
		return;
	}
	cxidv_priv_cmdq_pad_slot(cmdq);
	slots = ((cmdq->wp32 > cmdq->hw_wp32 ? cmdq->wp32 : cmdq->size32) - cmdq->hw_wp32) / 2;
	cxidv_to_device_barrier(); /* partner: the NIC reads the ring where it rejects the window */
	if (slots > 1 && !(slot & 1)) {
		cxidv_priv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr128a02)), slot,
			first, 16);
		done = 2;
	} else if (slots > 2 && !(cxidv_get_word(first, 0) | cxidv_get_word(first, 4)) &&
		   (cxidv_get_word(first, 8) >> 2 & 3) != C_CMD_SIZE_256B) {
		/* A slot of padding: the NIC skips it where two slots arrive behind it. */
		cxidv_priv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr128a13)), slot + 1,
			first + C_CQ_CMD_SIZE, 16);
		done = 3;
	} else {
		cxidv_priv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr64a0123)), slot,
			first, 8);
		done = 1;
	}
	cxidv_flush_writes();
	cmdq->hw_wp32 = cxidv_priv_cmdq_next_unit(cmdq, cmdq->hw_wp32 + 2 * done);
	if (cmdq->hw_wp32 == cmdq->wp32)
		return;
	cmdq->hw_wp32 = cmdq->wp32;
	cxidv_store_doorbell(cmdq->launch, cmdq->hw_wp32 / 2);
	cxidv_flush_writes();
}

/* Tells the NIC of all commands written since the last time; does nothing when there are none. Uses the
 * low-latency window where the queue has one, which helps when little is outstanding: a program that fills
 * the queue calls cxidv_cmdq_ring_doorbell(). */
static inline void cxidv_cmdq_ring(struct cxidv_cmdq *cmdq)
{
	if (cmdq->wp32 == cmdq->hw_wp32)
		return;
	if (cmdq->window_flags & CXIDV_WINDOW_LOW_LATENCY)
		cxidv_priv_cmdq_ring_low_latency(cmdq);
	else
		cxidv_cmdq_ring_doorbell(cmdq);
}

/* ------------------------------------------------------------------------------------------------
 * How emitters store: whole words, in order. A word is put together from the structure's members, not
 * loaded: where the caller has just filled the structure, the compiler then takes the values themselves,
 * and constants fold; a load of a word that was stored in parts would have to wait for them.
 */

#define CXIDV_PRIV_BITS(member, shift) ((uint64_t)(member) << (shift))

/* Of members of one bit, eight at a time. */
static inline uint64_t cxidv_priv_get_byte(const void *command, size_t byte)
{
	uint8_t value;

	memcpy(&value, (const uint8_t *)command + byte, sizeof(value));
	return value;
}

/* Every command that has a destination has it in the same place. */
static inline uint32_t cxidv_priv_get_dfa(const void *command)
{
	uint32_t value;

	memcpy(&value, (const uint8_t *)command + offsetof(struct c_idc_hdr, dfa), sizeof(value));
	return value;
}

/* The first 32 bytes of a DMA command, in which all three kinds are alike; address: the name of the member
 * with the local address. */
#define CXIDV_PRIV_STORE_DMA(place, command, address, head)                                                \
	do {                                                                                          \
		cxidv_put_word(place, 0,                                                              \
			       (head) | CXIDV_PRIV_BITS((command)->index_ext, 8) |                         \
				       cxidv_priv_get_byte(command, 2) << 16 |                             \
				       (cxidv_priv_get_byte(command, 3) & 0x3f) << 24 |                    \
				       CXIDV_PRIV_BITS(cxidv_priv_get_dfa(command), 32));               \
		cxidv_put_word(place, 1, (command)->remote_offset);                                   \
		cxidv_put_word(place, 2, (command)->address);                                         \
		cxidv_put_word(place, 3,                                                              \
			       CXIDV_PRIV_BITS((command)->request_len, 0) |                                \
				       CXIDV_PRIV_BITS((command)->ct, 32) | CXIDV_PRIV_BITS((command)->eq, 48)); \
	} while (0)

static inline void cxidv_priv_store_full_dma(uint8_t *place, const struct c_full_dma_cmd *command,
					uint64_t head)
{
	CXIDV_PRIV_STORE_DMA(place, command, local_addr, head);
	cxidv_put_word(place, 4,
		       CXIDV_PRIV_BITS(command->eager_length, 0) | CXIDV_PRIV_BITS(command->rendezvous_id, 24) |
			       CXIDV_PRIV_BITS(command->initiator, 32));
	cxidv_put_word(place, 5, command->match_bits);
	cxidv_put_word(place, 6, command->header_data);
	cxidv_put_word(place, 7, command->user_ptr);
}

/* Nomatch commands are restricted whatever the caller says: bit 26. */
static inline void cxidv_priv_store_nomatch_dma(uint8_t *place, const struct c_nomatch_dma_cmd *command,
					   uint64_t head)
{
	CXIDV_PRIV_STORE_DMA(place, command, local_addr, head | CXIDV_PRIV_BITS(1, 26));
}

static inline void cxidv_priv_store_dma_amo(uint8_t *place, const struct c_dma_amo_cmd *command,
				       uint64_t head)
{
	CXIDV_PRIV_STORE_DMA(place, command, local_read_addr, head);
	cxidv_put_word(place, 4, CXIDV_PRIV_BITS(command->initiator, 32));
	cxidv_put_word(place, 5, command->match_bits);
	cxidv_put_word(place, 6, command->header_data);
	cxidv_put_word(place, 7, command->user_ptr);
	cxidv_put_word(place, 8, command->local_write_addr);
	cxidv_put_word(place, 9,
		       CXIDV_PRIV_BITS(command->atomic_op, 0) | CXIDV_PRIV_BITS(command->atomic_type, 8) |
			       CXIDV_PRIV_BITS(command->cswap_op, 16) | CXIDV_PRIV_BITS(command->write_lac, 32));
	cxidv_put_word(place, 10, command->op2_word1);
	cxidv_put_word(place, 11, command->op2_word2);
}

/* A command of one slot that has nothing but its first word. */
static inline void cxidv_priv_store_slot(uint8_t *place, uint64_t first)
{
	memset(place, 0, C_CQ_CMD_SIZE);
	cxidv_put_word(place, 0, first);
}

/* ------------------------------------------------------------------------------------------------
 * Any queue, and the control of transmit queues
 */

/* A command that does nothing, of one slot. */
static inline int cxidv_emit_noop(struct cxidv_cmdq *cmdq)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_slot(place, cmdq->flags & CXIDV_CMDQ_TRIGGERED ?
				       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, C_CMD_CT_NOOP) :
				       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_NOOP));
	return err;
}

/* What follows starts when everything before it on this queue is complete. */
static inline int cxidv_emit_fence(struct cxidv_cmdq *cmdq)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_slot(place,
			 CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_FENCE));
	return err;
}

/* What follows goes out on the communication profile with this LCID (struct cxidv_cp). EINVAL above 15. */
static inline int cxidv_emit_lcid(struct cxidv_cmdq *cmdq, uint32_t lcid)
{
	uint8_t *place;

	if (lcid >= C_COMM_PROF_PER_CQ)
		return EINVAL;
	/* on a boundary of 128 bytes, with a NOOP behind it */
	if (!cxidv_priv_cmdq_fits(cmdq, 4))
		return ENOSPC;
	place = cxidv_priv_cmdq_place(cmdq, 4);
	cxidv_priv_store_slot(place, CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_LCID) |
					(uint64_t)lcid << 32);
	cxidv_priv_store_slot(place + C_CQ_CMD_SIZE,
			 CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_NOOP));
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Immediate commands: the payload travels in the command. What they leave out they take from the queue's
 * state: send one before the first of them, and again whenever it changes.
 */

/* The state of all immediate commands that follow. */
static inline int cxidv_emit_cstate(struct cxidv_cmdq *cmdq, const struct c_cstate_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 1, &err);

	cxidv_put_word(place, 0,
		       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_IDC, C_CMD_SIZE_32B, C_CMD_CSTATE) |
			       CXIDV_PRIV_BITS(sizeof(*command), 8) | cxidv_priv_get_byte(command, 2) << 16 |
			       (cxidv_priv_get_byte(command, 3) & 0x3f) << 24 |
			       CXIDV_PRIV_BITS(command->initiator, 32));
	cxidv_put_word(place, 1, command->index_ext);
	cxidv_put_word(place, 2, command->user_ptr);
	cxidv_put_word(place, 3, CXIDV_PRIV_BITS(command->ct, 32) | CXIDV_PRIV_BITS(command->eq, 48));
	return err;
}

/* The size code of a command of so many bytes; a command has 32 << code bytes. */
static inline uint32_t cxidv_priv_command_size(size_t bytes)
{
	return bytes <= 32 ? 0 : 32 - (uint32_t)__builtin_clz((unsigned int)(bytes - 1) >> 5);
}

/* Type, size, opcode and length of an immediate command. */
#define CXIDV_PRIV_IMMEDIATE_HEAD(size, opcode, bytes) \
	(CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_IDC, size, opcode) | CXIDV_PRIV_BITS(bytes, 8))

/* A put of up to 192 bytes, 224 where the state is restricted (EINVAL above 224; the NIC refuses what the
 * state does not allow). It has no match bits: for entries of lists that do not match. */
static inline int cxidv_emit_idc_put(struct cxidv_cmdq *cmdq, const struct c_idc_hdr *header,
				     const void *data, size_t length)
{
	size_t bytes = sizeof(*header) + length;
	uint32_t size;
	uint8_t *place;

	if (length > C_MAX_IDC_PAYLOAD_RES)
		return EINVAL;
	size = cxidv_priv_command_size(bytes);
	if (!cxidv_priv_cmdq_fits(cmdq, 1u << size))
		return ENOSPC;
	place = cxidv_priv_cmdq_place(cmdq, 1u << size);
	cxidv_put_word(place, 0,
		       CXIDV_PRIV_IMMEDIATE_HEAD(size, C_CMD_PUT, bytes) |
			       CXIDV_PRIV_BITS(cxidv_priv_get_dfa(header), 32));
	cxidv_put_word(place, 1, header->remote_offset);
	if (length)
		memcpy(place + sizeof(*header), data, length);
	return 0;
}

/* A message of up to 192 bytes (EINVAL above) with match bits, header data and its own user_ptr. */
static inline int cxidv_emit_idc_msg(struct cxidv_cmdq *cmdq, const struct c_idc_msg_hdr *header,
				     const void *data, size_t length)
{
	size_t bytes = sizeof(*header) + length;
	uint32_t size;
	uint8_t *place;

	if (length > C_MAX_IDC_PAYLOAD_UNR)
		return EINVAL;
	size = cxidv_priv_command_size(bytes);
	if (!size)
		size = 1; /* there is no message of 32 bytes */
	if (!cxidv_priv_cmdq_fits(cmdq, 1u << size))
		return ENOSPC;
	place = cxidv_priv_cmdq_place(cmdq, 1u << size);
	cxidv_put_word(place, 0,
		       CXIDV_PRIV_IMMEDIATE_HEAD(size, C_CMD_SMALL_MESSAGE, bytes) |
			       CXIDV_PRIV_BITS(cxidv_priv_get_dfa(header), 32));
	cxidv_put_word(place, 1, header->match_bits);
	cxidv_put_word(place, 2, header->header_data);
	cxidv_put_word(place, 3, header->user_ptr);
	if (length)
		memcpy(place + sizeof(*header), data, length);
	return 0;
}

/* Whether an atomic fits into the short form, which has room for one operand of 64 bits. */
static inline bool cxidv_priv_amo_is_short(const struct c_idc_amo_cmd *command, bool fetching)
{
	return !fetching && command->atomic_op != C_AMO_OP_CSWAP &&
	       command->atomic_op != C_AMO_OP_AXOR &&
	       command->atomic_type != C_AMO_TYPE_DOUBLE_COMPLEX_T &&
	       command->atomic_type != C_AMO_TYPE_UINT128_T;
}

/* An atomic; a fetching one brings what was there to local_addr in the state's write_lac. Goes out in the
 * short form of 32 bytes where it fits, else in 64. */
static inline int cxidv_emit_idc_amo(struct cxidv_cmdq *cmdq, const struct c_idc_amo_cmd *command,
				     bool fetching)
{
	uint32_t opcode = fetching ? C_CMD_FETCHING_ATOMIC : C_CMD_ATOMIC;
	uint64_t dfa = CXIDV_PRIV_BITS(cxidv_priv_get_dfa(command), 32);
	uint64_t kind = CXIDV_PRIV_BITS(command->atomic_op, 0) | CXIDV_PRIV_BITS(command->atomic_type, 8);
	uint8_t *place;

	if (cxidv_priv_amo_is_short(command, fetching)) {
		if (!cxidv_priv_cmdq_fits(cmdq, 1))
			return ENOSPC;
		place = cxidv_priv_cmdq_place(cmdq, 1);
		cxidv_put_word(place, 0, CXIDV_PRIV_IMMEDIATE_HEAD(C_CMD_SIZE_32B, opcode, 32) | dfa);
		cxidv_put_word(place, 1, command->idc_header.remote_offset);
		cxidv_put_word(place, 2, kind);
		cxidv_put_word(place, 3, command->op1_word1);
		return 0;
	}
	if (!cxidv_priv_cmdq_fits(cmdq, 2))
		return ENOSPC;
	place = cxidv_priv_cmdq_place(cmdq, 2);
	cxidv_put_word(place, 0, CXIDV_PRIV_IMMEDIATE_HEAD(C_CMD_SIZE_64B, opcode, 64) | dfa);
	cxidv_put_word(place, 1, command->idc_header.remote_offset);
	cxidv_put_word(place, 2, command->local_addr);
	cxidv_put_word(place, 3, kind | CXIDV_PRIV_BITS(command->cswap_op, 16));
	cxidv_put_word(place, 4, command->op1_word1);
	cxidv_put_word(place, 5, command->op1_word2);
	cxidv_put_word(place, 6, command->op2_word1);
	cxidv_put_word(place, 7, command->op2_word2);
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * DMA commands: the data is in memory, and every option in the command.
 */

/* Writes request_len bytes from local_addr in lac. */
static inline int cxidv_emit_put(struct cxidv_cmdq *cmdq, const struct c_full_dma_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_PUT));
	return err;
}

/* Reads request_len bytes to local_addr in lac. */
static inline int cxidv_emit_get(struct cxidv_cmdq *cmdq, const struct c_full_dma_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_GET));
	return err;
}

/* Sends eager_length bytes of request_len; the target gets the rest from portal index 255 of the
 * initiator's PID, under rendezvous_id. */
static inline int cxidv_emit_rendezvous_put(struct cxidv_cmdq *cmdq,
					    const struct c_full_dma_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_RENDEZVOUS_PUT));
	return err;
}

/* Writes without match bits, user_ptr or success events; restricted is set. */
static inline int cxidv_emit_nomatch_put(struct cxidv_cmdq *cmdq,
					 const struct c_nomatch_dma_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 1, &err);

	cxidv_priv_store_nomatch_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_PUT));
	return err;
}

/* Reads in the same way. */
static inline int cxidv_emit_nomatch_get(struct cxidv_cmdq *cmdq,
					 const struct c_nomatch_dma_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 1, &err);

	cxidv_priv_store_nomatch_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_GET));
	return err;
}

/* An atomic whose operand is at local_read_addr in lac; request_len is its size. */
static inline int cxidv_emit_amo(struct cxidv_cmdq *cmdq, const struct c_dma_amo_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 4, &err);

	cxidv_priv_store_dma_amo(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_ATOMIC));
	return err;
}

/* The same, and what was there comes to local_write_addr in write_lac. */
static inline int cxidv_emit_fetching_amo(struct cxidv_cmdq *cmdq,
					  const struct c_dma_amo_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 4, &err);

	cxidv_priv_store_dma_amo(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_FETCHING_ATOMIC));
	return err;
}

/* ------------------------------------------------------------------------------------------------
 * Counting events: triggered queues only. Members that a command does not use must be zero.
 */

static inline int cxidv_priv_emit_ct_words(struct cxidv_cmdq *cmdq, uint64_t word0, uint64_t word1,
				      uint64_t word2)
{
	uint8_t *place;

	if (!cxidv_priv_cmdq_fits(cmdq, 2))
		return ENOSPC;
	place = cxidv_priv_cmdq_place_ct(cmdq, 2);
	cxidv_put_word(place, 0, word0);
	cxidv_put_word(place, 1, word1);
	cxidv_put_word(place, 2, word2);
	memset(place + 24, 0, C_CQ_CMD_SIZE - 24);
	return 0;
}

static inline int cxidv_priv_emit_ct_command(struct cxidv_cmdq *cmdq, uint32_t opcode,
					const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_words(
		cmdq,
		CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, opcode) |
			CXIDV_PRIV_BITS(command->ct, 16) | CXIDV_PRIV_BITS(command->trig_ct, 32) |
			CXIDV_PRIV_BITS(command->eq, 48),
		CXIDV_PRIV_BITS(command->ct_success, 0) | CXIDV_PRIV_BITS(command->ct_failure, 48) |
			CXIDV_PRIV_BITS(command->set_ct_success, 62) |
			CXIDV_PRIV_BITS(command->set_ct_failure, 63),
		command->threshold);
}

/* A command that has the counter alone. */
static inline int cxidv_priv_emit_ct_plain(struct cxidv_cmdq *cmdq, uint32_t opcode, uint32_t ct,
				      uint64_t word1)
{
	if (ct >= C_NUM_CTS)
		return EINVAL;
	return cxidv_priv_emit_ct_words(cmdq,
				   CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, opcode) |
					   CXIDV_PRIV_BITS(ct, 16),
				   word1, 0);
}

/* Writes the counter's value to its write-back word. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_get(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	return cxidv_priv_emit_ct_plain(cmdq, C_CMD_CT_GET, ct, 0);
}

/* Sets ct to ct_success and ct_failure, as set_ct_success and set_ct_failure choose. */
static inline int cxidv_emit_ct_set(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_command(cmdq, C_CMD_CT_SET, command);
}

/* Adds ct_success and ct_failure to ct, as set_ct_success and set_ct_failure choose. */
static inline int cxidv_emit_ct_inc(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_command(cmdq, C_CMD_CT_INC, command);
}

/* Sets successes and failures to 0. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_reset(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	return cxidv_priv_emit_ct_plain(cmdq, C_CMD_CT_SET, ct, CXIDV_PRIV_BITS(3, 62));
}

/* Drops the operations that wait on the counter. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_cancel(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	return cxidv_priv_emit_ct_plain(cmdq, C_CMD_CT_CANCEL, ct, 0);
}

/* When trig_ct has threshold successes: cxidv_emit_ct_set() on ct. */
static inline int cxidv_emit_ct_trig_set(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_command(cmdq, C_CMD_CT_TRIG_SET, command);
}

/* When trig_ct has threshold successes: cxidv_emit_ct_inc() on ct. */
static inline int cxidv_emit_ct_trig_inc(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_command(cmdq, C_CMD_CT_TRIG_INC, command);
}

/* When trig_ct has threshold successes: a TRIGGERED_OP event in eq, if that is not 0, and the counter's
 * value into its write-back word. */
static inline int cxidv_emit_ct_trig_event(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_priv_emit_ct_command(cmdq, C_CMD_CT_TRIG_EVENT, command);
}

/* ------------------------------------------------------------------------------------------------
 * Triggered DMA: what the emitter without trig_ does, when the counter trig_ct has threshold successes; at
 * once if it has them. Triggered queues only, LCID 0. EINVAL: trig_ct above 2047, threshold beyond
 * 2^48 - 1.
 */

/* Reserves it and stores its header. */
static inline int cxidv_priv_begin_trig_dma(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
				       uint64_t threshold, uint8_t **place)
{
	if (trig_ct >= C_NUM_CTS || threshold >> C_CT_SUCCESS_BITS)
		return EINVAL;
	if (!cxidv_priv_cmdq_fits(cmdq, 4))
		return ENOSPC;
	*place = cxidv_priv_cmdq_place_ct(cmdq, 4);
	cxidv_put_word(*place, 0,
		       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_128B, C_CMD_CT_TRIG_DMA) |
			       CXIDV_PRIV_BITS(trig_ct, 32));
	cxidv_put_word(*place, 1, 0);
	cxidv_put_word(*place, 2, threshold);
	*place += sizeof(struct c_ct_cmd);
	return 0;
}

static inline int cxidv_emit_trig_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_full_dma_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_PUT));
	return 0;
}

static inline int cxidv_emit_trig_get(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_full_dma_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_GET));
	return 0;
}

static inline int cxidv_emit_trig_rendezvous_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
						 const struct c_full_dma_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_full_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_RENDEZVOUS_PUT));
	return 0;
}

static inline int cxidv_emit_trig_nomatch_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
					      const struct c_nomatch_dma_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_nomatch_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_PUT));
	return 0;
}

static inline int cxidv_emit_trig_nomatch_get(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
					      const struct c_nomatch_dma_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_nomatch_dma(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_GET));
	return 0;
}

static inline int cxidv_emit_trig_amo(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_dma_amo_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_dma_amo(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_ATOMIC));
	return 0;
}

static inline int cxidv_emit_trig_fetching_amo(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
					       const struct c_dma_amo_cmd *command)
{
	uint8_t *place;
	int err = cxidv_priv_begin_trig_dma(cmdq, trig_ct, threshold, &place);

	if (err)
		return err;
	cxidv_priv_store_dma_amo(place, command,
			CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_FETCHING_ATOMIC));
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Target queues: list entries and the state of portal entries. cxidv_build_le() makes the command from a
 * readable description; the command that appended an entry serves to unlink it.
 */

static inline int cxidv_priv_emit_target(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command,
				    uint32_t opcode)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_put_word(place, 0,
		       CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, opcode) |
			       CXIDV_PRIV_BITS(command->ptl_list, 8) |
			       CXIDV_PRIV_BITS(command->ptlte_index, 16) |
			       cxidv_priv_get_byte(command, 4) << 32 |
			       (cxidv_priv_get_byte(command, 5) & 0x7f) << 40 | CXIDV_PRIV_BITS(command->ct, 48));
	cxidv_put_word(place, 1,
		       CXIDV_PRIV_BITS(command->buffer_id, 0) | CXIDV_PRIV_BITS(command->lac, 16) |
			       CXIDV_PRIV_BITS(command->restart_seq, 24));
	cxidv_put_word(place, 2, command->start);
	cxidv_put_word(place, 3, command->length);
	cxidv_put_word(place, 4, CXIDV_PRIV_BITS(command->min_free, 0) | CXIDV_PRIV_BITS(command->match_id, 32));
	cxidv_put_word(place, 5, command->match_bits);
	cxidv_put_word(place, 6, command->ignore_bits);
	cxidv_put_word(place, 7, 0);
	return err;
}

/* Puts an entry at the end of ptl_list; a LINK event tells whether it is there. */
static inline int cxidv_emit_append(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_priv_emit_target(cmdq, command, C_CMD_TGT_APPEND);
}

/* Looks for unexpected messages: the first that matches (use_once), or all. SEARCH events tell. */
static inline int cxidv_emit_search(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_priv_emit_target(cmdq, command, C_CMD_TGT_SEARCH);
}

/* The same, and takes them out: a PUT_OVERFLOW event each. */
static inline int cxidv_emit_search_and_delete(struct cxidv_cmdq *cmdq,
					       const struct c_target_cmd *command)
{
	return cxidv_priv_emit_target(cmdq, command, C_CMD_TGT_SEARCH_AND_DELETE);
}

/* Takes the entry with buffer_id out of ptl_list; an UNLINK event always answers. Members but those two and
 * ptlte_index do not matter. */
static inline int cxidv_emit_unlink(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_priv_emit_target(cmdq, command, C_CMD_TGT_UNLINK);
}

/* Changes the state of a portal entry; a STATE_CHANGE event answers. */
static inline int cxidv_emit_setstate(struct cxidv_cmdq *cmdq,
				      const struct c_set_state_cmd *command)
{
	int err;
	uint8_t *place = cxidv_priv_cmdq_claim(cmdq, 2, &err);

	cxidv_priv_store_slot(place,
			 CXIDV_PRIV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_TGT_SETSTATE) |
				 CXIDV_PRIV_BITS(command->ptlte_state, 8) |
				 CXIDV_PRIV_BITS(command->ptlte_index, 16));
	cxidv_put_word(place, 1, command->current_addr);
	cxidv_put_word(place, 2, command->drop_count);
	return err;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_CMDQ_H */
