/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: commands of counting events, and commands that wait for
 * them, into triggered command queues. Include cxidv.h. What cxidv_emit.h says of emitters holds here too.
 */
#ifndef INFINIBAND_CXIDV_TRIG_H
#define INFINIBAND_CXIDV_TRIG_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/cxidv.h>
#include <infiniband/cxidv_cmdq.h>
#include <infiniband/cxidv_emit.h>
#include <infiniband/cxidv_mmio.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_TRIG_H */
