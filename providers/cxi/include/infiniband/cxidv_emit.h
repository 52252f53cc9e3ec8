/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: commands into command queues. Include cxidv.h. Those of
 * counting events, and those that wait for them, are in cxidv_trig.h.
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
/* In front of the guard, as in cxidv_cmdq.h: cxidv_trig.h builds on this one. */
#include <infiniband/cxidv.h>

#ifndef INFINIBAND_CXIDV_EMIT_H
#define INFINIBAND_CXIDV_EMIT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/cxidv_cmdq.h>
#include <infiniband/cxidv_mmio.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Sends eager_length bytes of request_len; the target gets the rest from portal index
 * rdzv_get_index of the initiator's PID, under rendezvous_id. */
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

#endif /* INFINIBAND_CXIDV_EMIT_H */
