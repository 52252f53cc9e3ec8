/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: commands into command queues. Include cxidv.h.
 *
 * An emitter writes one command behind the ones that are there, with the padding that the NIC wants. It
 * takes the command as the NIC's own structure (ethernet/cassini_user_defs.h) and sets the members that
 * follow from its name: command (type, size, opcode) and, of immediate commands, length; every other
 * member is the caller's, and reserved ones must be zero. The command is copied: the structure and
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
#define CXIDV_COMMAND_HEAD(type, size, opcode) \
	((uint64_t)(type) | (uint64_t)(size) << 2 | (uint64_t)(opcode) << 4)

static inline uint32_t cxidv_cmdq_next_unit(const struct cxidv_cmdq *cmdq, uint32_t unit)
{
	return unit == cmdq->size32 ? C_CQ_FIRST_WR_PTR_32 : unit;
}

/* Units that can still be written, as far as is known. One slot always stays free, so that a full ring does
 * not look like an empty one. */
static inline uint32_t cxidv_cmdq_known_free(const struct cxidv_cmdq *cmdq)
{
	uint32_t room = cmdq->rp32 - cmdq->wp32 - 2;

	return cmdq->wp32 >= cmdq->rp32 ? room + cmdq->size32 - C_CQ_FIRST_WR_PTR_32 : room;
}

/* The NIC's status word as it is now: how far it has read, and what went wrong if something did. */
static inline struct c_cq_status cxidv_cmdq_status(const struct cxidv_cmdq *cmdq)
{
	uint64_t word = cxidv_load_acquire(cmdq->ring);
	struct c_cq_status status;

	memcpy(&status, &word, sizeof(status));
	return status;
}

/* Looks how far the NIC has read; partner of the acquire: it has fetched the commands before that. */
static inline void cxidv_cmdq_refresh(struct cxidv_cmdq *cmdq)
{
	cmdq->rp32 = 2 * (uint32_t)(cxidv_load_acquire(cmdq->ring) & 0xffff);
}

/* Slots of 64 bytes that are free now; a command with its padding may take one more than its own. */
static inline uint32_t cxidv_cmdq_free_slots(struct cxidv_cmdq *cmdq)
{
	cxidv_cmdq_refresh(cmdq);
	return cxidv_cmdq_known_free(cmdq) / 2;
}

/* Whether the NIC has fetched every command, also those that it has not been told of yet. With
 * CXIDV_CMDQ_POLICY_LOW_FREQ an empty queue may look as if it were not. */
static inline bool cxidv_cmdq_is_empty(const struct cxidv_cmdq *cmdq)
{
	return cmdq->wp32 == 2u * (uint32_t)(cxidv_load_acquire(cmdq->ring) & 0xffff);
}

/* Takes back every command that the NIC has not been told of, a switch of profile or state too. */
static inline void cxidv_cmdq_discard(struct cxidv_cmdq *cmdq)
{
	cmdq->wp32 = cmdq->hw_wp32;
}

static inline bool cxidv_cmdq_has_room(struct cxidv_cmdq *cmdq, uint32_t units)
{
	if (__builtin_expect(cxidv_cmdq_known_free(cmdq) >= units, 1))
		return true;
	cxidv_cmdq_refresh(cmdq);
	return cxidv_cmdq_known_free(cmdq) >= units;
}

/* Takes the place behind pad units; the caller has seen that there is room. */
static inline uint8_t *cxidv_cmdq_take(struct cxidv_cmdq *cmdq, uint32_t pad, uint32_t units)
{
	uint32_t place = cxidv_cmdq_next_unit(cmdq, cmdq->wp32 + pad);

	cmdq->wp32 = cxidv_cmdq_next_unit(cmdq, place + units);
	return cmdq->ring + (size_t)place * 32;
}

/* Room for a command of 1, 2, 4 or 8 units, which starts at a multiple of its own size, behind NOOPs where
 * that leaves a gap. Of a NOOP of 32 bytes only the first 8 matter. False: there is no room. */
static inline bool cxidv_cmdq_reserve(struct cxidv_cmdq *cmdq, uint32_t units, uint8_t **place)
{
	uint32_t pad = (0u - cmdq->wp32) & (units - 1);
	uint8_t *gap;
	uint32_t i;

	if (!cxidv_cmdq_has_room(cmdq, pad + units))
		return false;
	gap = cmdq->ring + (size_t)cmdq->wp32 * 32;
	*place = cxidv_cmdq_take(cmdq, pad, units);
	/* One NOOP at most: written without asking, for the command covers it if it is not wanted. */
	if (units == 2)
		cxidv_put_word(gap, 0, 0);
	else
		for (i = 0; i < pad; i++)
			cxidv_put_word(gap + (size_t)i * 32, 0, 0);
	return true;
}

/* The same on a triggered queue: commands have 64 or 128 bytes, and a gap is one CT_NOOP. */
static inline bool cxidv_cmdq_reserve_ct(struct cxidv_cmdq *cmdq, uint32_t units, uint8_t **place)
{
	uint32_t pad = (0u - cmdq->wp32) & (units - 1);
	uint8_t *gap;

	if (!cxidv_cmdq_has_room(cmdq, pad + units))
		return false;
	gap = cmdq->ring + (size_t)cmdq->wp32 * 32;
	*place = cxidv_cmdq_take(cmdq, pad, units);
	if (units > 2 && pad) {
		memset(gap, 0, C_CQ_CMD_SIZE);
		cxidv_put_word(gap, 0,
			       CXIDV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, C_CMD_CT_NOOP));
	}
	return true;
}

static inline void cxidv_cmdq_pad_slot(struct cxidv_cmdq *cmdq)
{
	/* The slot that is kept free leaves room for it. */
	if (cmdq->wp32 & 1)
		cxidv_put_word(cxidv_cmdq_take(cmdq, 0, 1), 0, 0);
}

/* Tells the NIC of all commands through the write pointer alone. */
static inline void cxidv_cmdq_ring_doorbell(struct cxidv_cmdq *cmdq)
{
	if (cmdq->wp32 == cmdq->hw_wp32)
		return;
	cxidv_cmdq_pad_slot(cmdq);
	cmdq->hw_wp32 = cmdq->wp32;
	cxidv_to_device_barrier(); /* partner: the NIC reads the ring after the write pointer */
	cxidv_store_doorbell(cmdq->launch, cmdq->hw_wp32 / 2);
	cxidv_flush_writes();
}

static inline void cxidv_cmdq_copy_to_window(volatile uint64_t *window, uint32_t slot,
					     const uint8_t *command, uint32_t words)
{
	volatile uint64_t *place = window + (size_t)(slot & 15) * (C_CQ_CMD_SIZE / 8);
	uint32_t i;

	for (i = 0; i < words; i++)
		place[i] = cxidv_get_word(command, i);
}

/* Stores the first one or two slots that the NIC has not been told of into the low-latency window; such a
 * store moves the write pointer too, whether or not the NIC uses what was stored. */
static inline void cxidv_cmdq_ring_low_latency(struct cxidv_cmdq *cmdq)
{
	uint8_t *launch = (uint8_t *)(uintptr_t)cmdq->launch;
	const uint8_t *first = cmdq->ring + (size_t)cmdq->hw_wp32 * 32;
	uint32_t slot = cmdq->hw_wp32 / 2;
	uint32_t slots, done;

	if ((cxidv_get_word(first, 0) >> 2 & 3) == C_CMD_SIZE_256B) {
		cxidv_cmdq_ring_doorbell(cmdq);
		return;
	}
	cxidv_cmdq_pad_slot(cmdq);
	slots = ((cmdq->wp32 > cmdq->hw_wp32 ? cmdq->wp32 : cmdq->size32) - cmdq->hw_wp32) / 2;
	cxidv_to_device_barrier(); /* partner: the NIC reads the ring where it rejects the window */
	if (slots > 1 && !(slot & 1)) {
		cxidv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr128a02)), slot,
			first, 16);
		done = 2;
	} else if (slots > 2 && !(cxidv_get_word(first, 0) | cxidv_get_word(first, 4)) &&
		   (cxidv_get_word(first, 8) >> 2 & 3) != C_CMD_SIZE_256B) {
		/* A slot of padding: the NIC skips it where two slots arrive behind it. */
		cxidv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr128a13)), slot + 1,
			first + C_CQ_CMD_SIZE, 16);
		done = 3;
	} else {
		cxidv_cmdq_copy_to_window(
			(volatile uint64_t *)(launch + offsetof(struct c_cmdq, ll_wr64a0123)), slot,
			first, 8);
		done = 1;
	}
	cxidv_flush_writes();
	cmdq->hw_wp32 = cxidv_cmdq_next_unit(cmdq, cmdq->hw_wp32 + 2 * done);
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
		cxidv_cmdq_ring_low_latency(cmdq);
	else
		cxidv_cmdq_ring_doorbell(cmdq);
}

/* ------------------------------------------------------------------------------------------------
 * How emitters store: whole words, in order, the first one with its command byte set.
 */

static inline void cxidv_copy_words4(uint8_t *place, const uint8_t *from)
{
	cxidv_put_word(place, 0, cxidv_get_word(from, 0));
	cxidv_put_word(place, 1, cxidv_get_word(from, 1));
	cxidv_put_word(place, 2, cxidv_get_word(from, 2));
	cxidv_put_word(place, 3, cxidv_get_word(from, 3));
}

/* A command of 32, 64 or 96 bytes; set: what its first word gets in the place of the low clear bits. */
static inline void cxidv_store_command(uint8_t *place, const void *command, size_t bytes,
				       unsigned int clear, uint64_t set)
{
	const uint8_t *from = (const uint8_t *)command;

	cxidv_put_word(place, 0, (cxidv_get_word(from, 0) >> clear << clear) | set);
	cxidv_put_word(place, 1, cxidv_get_word(from, 1));
	cxidv_put_word(place, 2, cxidv_get_word(from, 2));
	cxidv_put_word(place, 3, cxidv_get_word(from, 3));
	if (bytes > 32)
		cxidv_copy_words4(place + 32, from + 32);
	if (bytes > 64)
		cxidv_copy_words4(place + 64, from + 64);
}

static inline int cxidv_emit_command(struct cxidv_cmdq *cmdq, const void *command, size_t bytes,
				     uint32_t units, uint64_t head)
{
	uint8_t *place;

	if (!cxidv_cmdq_reserve(cmdq, units, &place))
		return ENOSPC;
	cxidv_store_command(place, command, bytes, 8, head);
	return 0;
}

/* A command of one slot that has nothing but its first word. */
static inline void cxidv_store_slot(uint8_t *place, uint64_t first)
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
	uint8_t *place;

	if (!cxidv_cmdq_reserve(cmdq, 2, &place))
		return ENOSPC;
	cxidv_store_slot(place, cmdq->flags & CXIDV_CMDQ_TRIGGERED ?
				       CXIDV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, C_CMD_CT_NOOP) :
				       CXIDV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_NOOP));
	return 0;
}

/* What follows starts when everything before it on this queue is complete. */
static inline int cxidv_emit_fence(struct cxidv_cmdq *cmdq)
{
	uint8_t *place;

	if (!cxidv_cmdq_reserve(cmdq, 2, &place))
		return ENOSPC;
	cxidv_store_slot(place,
			 CXIDV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_FENCE));
	return 0;
}

/* What follows goes out on the communication profile with this LCID (struct cxidv_cp). EINVAL above 15. */
static inline int cxidv_emit_lcid(struct cxidv_cmdq *cmdq, uint32_t lcid)
{
	uint8_t *place;

	if (lcid >= C_COMM_PROF_PER_CQ)
		return EINVAL;
	/* on a boundary of 128 bytes, with a NOOP behind it */
	if (!cxidv_cmdq_reserve(cmdq, 4, &place))
		return ENOSPC;
	cxidv_store_slot(place, CXIDV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_LCID) |
					(uint64_t)lcid << 32);
	cxidv_store_slot(place + C_CQ_CMD_SIZE,
			 CXIDV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, C_CMD_CQ_NOOP));
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Immediate commands: the payload travels in the command. What they leave out they take from the queue's
 * state: send one before the first of them, and again whenever it changes.
 */

/* The state of all immediate commands that follow. */
static inline int cxidv_emit_cstate(struct cxidv_cmdq *cmdq, const struct c_cstate_cmd *command)
{
	uint8_t *place;

	if (!cxidv_cmdq_reserve(cmdq, 1, &place))
		return ENOSPC;
	cxidv_store_command(
		place, command, sizeof(*command), 16,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_IDC, C_CMD_SIZE_32B, C_CMD_CSTATE) |
			sizeof(*command) << 8);
	return 0;
}

/* The size code of a command of so many bytes; a command has 32 << code bytes. */
static inline uint32_t cxidv_command_size(size_t bytes)
{
	return bytes <= 32 ? 0 : 32 - (uint32_t)__builtin_clz((unsigned int)(bytes - 1) >> 5);
}

static inline int cxidv_emit_immediate(struct cxidv_cmdq *cmdq, const void *header,
				       size_t header_bytes, uint32_t size, uint32_t opcode,
				       const void *data, size_t length)
{
	uint8_t *place;
	uint64_t set = CXIDV_COMMAND_HEAD(C_CMD_TYPE_IDC, size, opcode) |
		       (uint64_t)(header_bytes + length) << 8;

	if (!cxidv_cmdq_reserve(cmdq, 1u << size, &place))
		return ENOSPC;
	cxidv_put_word(place, 0, (cxidv_get_word(header, 0) >> 16 << 16) | set);
	cxidv_put_word(place, 1, cxidv_get_word(header, 1));
	if (header_bytes > 16) {
		cxidv_put_word(place, 2, cxidv_get_word(header, 2));
		cxidv_put_word(place, 3, cxidv_get_word(header, 3));
	}
	if (length)
		memcpy(place + header_bytes, data, length);
	return 0;
}

/* A put of up to 192 bytes, 224 where the state is restricted (EINVAL above 224; the NIC refuses what the
 * state does not allow). It has no match bits: for entries of lists that do not match. */
static inline int cxidv_emit_idc_put(struct cxidv_cmdq *cmdq, const struct c_idc_hdr *header,
				     const void *data, size_t length)
{
	if (length > C_MAX_IDC_PAYLOAD_RES)
		return EINVAL;
	return cxidv_emit_immediate(cmdq, header, sizeof(*header),
				    cxidv_command_size(sizeof(*header) + length), C_CMD_PUT, data,
				    length);
}

/* A message of up to 192 bytes (EINVAL above) with match bits, header data and its own user_ptr. */
static inline int cxidv_emit_idc_msg(struct cxidv_cmdq *cmdq, const struct c_idc_msg_hdr *header,
				     const void *data, size_t length)
{
	uint32_t size;

	if (length > C_MAX_IDC_PAYLOAD_UNR)
		return EINVAL;
	size = cxidv_command_size(sizeof(*header) + length);
	return cxidv_emit_immediate(cmdq, header, sizeof(*header), size ? size : 1,
				    C_CMD_SMALL_MESSAGE, data, length);
}

/* Whether an atomic fits into the short form, which has room for one operand of 64 bits. */
static inline bool cxidv_amo_is_short(const struct c_idc_amo_cmd *command, bool fetching)
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
	bool is_short = cxidv_amo_is_short(command, fetching);
	uint64_t set = CXIDV_COMMAND_HEAD(C_CMD_TYPE_IDC, is_short ? C_CMD_SIZE_32B : C_CMD_SIZE_64B,
					  fetching ? C_CMD_FETCHING_ATOMIC : C_CMD_ATOMIC) |
		       (is_short ? 32u : 64u) << 8;
	uint8_t *place;

	if (!is_short) {
		if (!cxidv_cmdq_reserve(cmdq, 2, &place))
			return ENOSPC;
		cxidv_store_command(place, command, sizeof(*command), 16, set);
		return 0;
	}
	if (!cxidv_cmdq_reserve(cmdq, 1, &place))
		return ENOSPC;
	cxidv_put_word(place, 0, (cxidv_get_word(command, 0) >> 16 << 16) | set);
	cxidv_put_word(place, 1, cxidv_get_word(command, 1));
	cxidv_put_word(place, 2,
		       (uint64_t)(command->atomic_op | (uint32_t)command->atomic_type << 8));
	cxidv_put_word(place, 3, command->op1_word1);
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * DMA commands: the data is in memory, and every option in the command.
 */

/* Writes request_len bytes from local_addr in lac. */
static inline int cxidv_emit_put(struct cxidv_cmdq *cmdq, const struct c_full_dma_cmd *command)
{
	return cxidv_emit_command(cmdq, command, sizeof(*command), 2,
				  CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_PUT));
}

/* Reads request_len bytes to local_addr in lac. */
static inline int cxidv_emit_get(struct cxidv_cmdq *cmdq, const struct c_full_dma_cmd *command)
{
	return cxidv_emit_command(cmdq, command, sizeof(*command), 2,
				  CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_GET));
}

/* Sends eager_length bytes of request_len; the target gets the rest from portal index 255 of the
 * initiator's PID, under rendezvous_id. */
static inline int cxidv_emit_rendezvous_put(struct cxidv_cmdq *cmdq,
					    const struct c_full_dma_cmd *command)
{
	return cxidv_emit_command(
		cmdq, command, sizeof(*command), 2,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_RENDEZVOUS_PUT));
}

#define CXIDV_RESTRICTED_BIT ((uint64_t)1 << 26) /* of the first word of a DMA command */

/* Writes without match bits, user_ptr or success events; restricted is set. */
static inline int cxidv_emit_nomatch_put(struct cxidv_cmdq *cmdq,
					 const struct c_nomatch_dma_cmd *command)
{
	return cxidv_emit_command(
		cmdq, command, sizeof(*command), 1,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_PUT) |
			CXIDV_RESTRICTED_BIT);
}

/* Reads in the same way. */
static inline int cxidv_emit_nomatch_get(struct cxidv_cmdq *cmdq,
					 const struct c_nomatch_dma_cmd *command)
{
	return cxidv_emit_command(
		cmdq, command, sizeof(*command), 1,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_GET) |
			CXIDV_RESTRICTED_BIT);
}

/* An atomic whose operand is at local_read_addr in lac; request_len is its size. */
static inline int cxidv_emit_amo(struct cxidv_cmdq *cmdq, const struct c_dma_amo_cmd *command)
{
	return cxidv_emit_command(
		cmdq, command, sizeof(*command), 4,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_ATOMIC));
}

/* The same, and what was there comes to local_write_addr in write_lac. */
static inline int cxidv_emit_fetching_amo(struct cxidv_cmdq *cmdq,
					  const struct c_dma_amo_cmd *command)
{
	return cxidv_emit_command(
		cmdq, command, sizeof(*command), 4,
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_FETCHING_ATOMIC));
}

/* ------------------------------------------------------------------------------------------------
 * Counting events: triggered queues only. Members that a command does not use must be zero.
 */

static inline int cxidv_emit_ct_words(struct cxidv_cmdq *cmdq, uint32_t opcode, uint64_t word0,
				      uint64_t word1, uint64_t word2)
{
	uint8_t *place;

	if (!cxidv_cmdq_reserve_ct(cmdq, 2, &place))
		return ENOSPC;
	cxidv_store_slot(place, (word0 >> 8 << 8) |
					CXIDV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_64B, opcode));
	cxidv_put_word(place, 1, word1);
	cxidv_put_word(place, 2, word2);
	return 0;
}

static inline int cxidv_emit_ct_command(struct cxidv_cmdq *cmdq, uint32_t opcode,
					const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_words(cmdq, opcode, cxidv_get_word(command, 0),
				   cxidv_get_word(command, 1), cxidv_get_word(command, 2));
}

/* Writes the counter's value to its write-back word. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_get(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	if (ct >= C_NUM_CTS)
		return EINVAL;
	return cxidv_emit_ct_words(cmdq, C_CMD_CT_GET, (uint64_t)ct << 16, 0, 0);
}

/* Sets ct to ct_success and ct_failure, as set_ct_success and set_ct_failure choose. */
static inline int cxidv_emit_ct_set(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_command(cmdq, C_CMD_CT_SET, command);
}

/* Adds ct_success and ct_failure to ct, as set_ct_success and set_ct_failure choose. */
static inline int cxidv_emit_ct_inc(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_command(cmdq, C_CMD_CT_INC, command);
}

/* Sets successes and failures to 0. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_reset(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	if (ct >= C_NUM_CTS)
		return EINVAL;
	return cxidv_emit_ct_words(cmdq, C_CMD_CT_SET, (uint64_t)ct << 16, (uint64_t)3 << 62, 0);
}

/* Drops the operations that wait on the counter. EINVAL: ct above 2047. */
static inline int cxidv_emit_ct_cancel(struct cxidv_cmdq *cmdq, uint32_t ct)
{
	if (ct >= C_NUM_CTS)
		return EINVAL;
	return cxidv_emit_ct_words(cmdq, C_CMD_CT_CANCEL, (uint64_t)ct << 16, 0, 0);
}

/* When trig_ct has threshold successes: cxidv_emit_ct_set() on ct. */
static inline int cxidv_emit_ct_trig_set(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_command(cmdq, C_CMD_CT_TRIG_SET, command);
}

/* When trig_ct has threshold successes: cxidv_emit_ct_inc() on ct. */
static inline int cxidv_emit_ct_trig_inc(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_command(cmdq, C_CMD_CT_TRIG_INC, command);
}

/* When trig_ct has threshold successes: a TRIGGERED_OP event in eq, if that is not 0, and the counter's
 * value into its write-back word. */
static inline int cxidv_emit_ct_trig_event(struct cxidv_cmdq *cmdq, const struct c_ct_cmd *command)
{
	return cxidv_emit_ct_command(cmdq, C_CMD_CT_TRIG_EVENT, command);
}

/* ------------------------------------------------------------------------------------------------
 * Triggered DMA: what the emitter without trig_ does, when the counter trig_ct has threshold successes; at
 * once if it has them. Triggered queues only, LCID 0. EINVAL: trig_ct above 2047, threshold beyond
 * 2^48 - 1.
 */

static inline int cxidv_emit_trig_command(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
					  uint64_t threshold, const void *command, size_t bytes,
					  uint64_t head)
{
	uint8_t *place;

	if (trig_ct >= C_NUM_CTS || threshold >> C_CT_SUCCESS_BITS)
		return EINVAL;
	if (!cxidv_cmdq_reserve_ct(cmdq, 4, &place))
		return ENOSPC;
	cxidv_put_word(place, 0,
		       CXIDV_COMMAND_HEAD(C_CMD_TYPE_CT, C_CMD_SIZE_128B, C_CMD_CT_TRIG_DMA) |
			       (uint64_t)trig_ct << 32);
	cxidv_put_word(place, 1, 0);
	cxidv_put_word(place, 2, threshold);
	cxidv_store_command(place + sizeof(struct c_ct_cmd), command, bytes, 8, head);
	return 0;
}

static inline int cxidv_emit_trig_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_full_dma_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_PUT));
}

static inline int cxidv_emit_trig_get(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_full_dma_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_GET));
}

static inline int cxidv_emit_trig_rendezvous_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
						 uint64_t threshold,
						 const struct c_full_dma_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_64B, C_CMD_RENDEZVOUS_PUT));
}

static inline int cxidv_emit_trig_nomatch_put(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
					      uint64_t threshold,
					      const struct c_nomatch_dma_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_PUT) |
			CXIDV_RESTRICTED_BIT);
}

static inline int cxidv_emit_trig_nomatch_get(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
					      uint64_t threshold,
					      const struct c_nomatch_dma_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_32B, C_CMD_NOMATCH_GET) |
			CXIDV_RESTRICTED_BIT);
}

static inline int cxidv_emit_trig_amo(struct cxidv_cmdq *cmdq, uint32_t trig_ct, uint64_t threshold,
				      const struct c_dma_amo_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_ATOMIC));
}

static inline int cxidv_emit_trig_fetching_amo(struct cxidv_cmdq *cmdq, uint32_t trig_ct,
					       uint64_t threshold,
					       const struct c_dma_amo_cmd *command)
{
	return cxidv_emit_trig_command(
		cmdq, trig_ct, threshold, command, sizeof(*command),
		CXIDV_COMMAND_HEAD(C_CMD_TYPE_DMA, C_CMD_SIZE_128B, C_CMD_FETCHING_ATOMIC));
}

/* ------------------------------------------------------------------------------------------------
 * Target queues: list entries and the state of portal entries. cxidv_build_le() makes the command from a
 * readable description; the command that appended an entry serves to unlink it.
 */

static inline int cxidv_emit_target(struct cxidv_cmdq *cmdq, const void *command, uint32_t opcode)
{
	return cxidv_emit_command(cmdq, command, sizeof(struct c_target_cmd), 2,
				  CXIDV_COMMAND_HEAD(C_CMD_TYPE_CQ, C_CMD_SIZE_64B, opcode));
}

/* Puts an entry at the end of ptl_list; a LINK event tells whether it is there. */
static inline int cxidv_emit_append(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_emit_target(cmdq, command, C_CMD_TGT_APPEND);
}

/* Looks for unexpected messages: the first that matches (use_once), or all. SEARCH events tell. */
static inline int cxidv_emit_search(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_emit_target(cmdq, command, C_CMD_TGT_SEARCH);
}

/* The same, and takes them out: a PUT_OVERFLOW event each. */
static inline int cxidv_emit_search_and_delete(struct cxidv_cmdq *cmdq,
					       const struct c_target_cmd *command)
{
	return cxidv_emit_target(cmdq, command, C_CMD_TGT_SEARCH_AND_DELETE);
}

/* Takes the entry with buffer_id out of ptl_list; an UNLINK event always answers. Members but those two and
 * ptlte_index do not matter. */
static inline int cxidv_emit_unlink(struct cxidv_cmdq *cmdq, const struct c_target_cmd *command)
{
	return cxidv_emit_target(cmdq, command, C_CMD_TGT_UNLINK);
}

/* Changes the state of a portal entry; a STATE_CHANGE event answers. */
static inline int cxidv_emit_setstate(struct cxidv_cmdq *cmdq,
				      const struct c_set_state_cmd *command)
{
	return cxidv_emit_target(cmdq, command, C_CMD_TGT_SETSTATE);
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_CMDQ_H */
