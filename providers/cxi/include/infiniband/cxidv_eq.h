/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: events out of event queues, counting events. Include
 * cxidv.h.
 *
 *	while ((event = cxidv_eq_next(eq)))
 *		handle(event);
 *	cxidv_eq_ack(eq);
 *
 * One thread at a time per event queue. Several threads may use one counting event.
 */
#ifndef INFINIBAND_CXIDV_EQ_H
#define INFINIBAND_CXIDV_EQ_H

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
 * What every event tells, whatever its size
 */

/* 16, 32 or 64. */
static inline uint32_t cxidv_event_bytes(const union c_event *event)
{
	return 8u << event->hdr.event_size;
}

/* enum c_event_type */
static inline uint32_t cxidv_event_type(const union c_event *event)
{
	return event->hdr.event_type;
}

/* enum c_return_code; it is in the last byte. */
static inline uint32_t cxidv_event_return_code(const union c_event *event)
{
	return ((const uint8_t *)event)[cxidv_event_bytes(event) - 1] & 0x3f;
}

/* Of SEND, ACK and REPLY: what the command carried. Of a rendezvous reply see cxidv_decode_rdzv_user_ptr(). */
static inline uint64_t cxidv_event_user_ptr(const union c_event *event)
{
	return event->init_short.user_ptr;
}

/* Bytes moved: of SEND, ACK and REPLY, and of what happened at a portal entry. */
static inline uint32_t cxidv_event_mlength(const union c_event *event)
{
	switch (cxidv_event_type(event)) {
	case C_EVENT_SEND:
	case C_EVENT_ACK:
	case C_EVENT_REPLY:
		return event->init_short.mlength;
	default:
		return event->hdr.event_size == C_EVENT_SIZE_64_BYTE ? event->tgt_long.mlength :
								       event->tgt_short.length;
	}
}

/* ------------------------------------------------------------------------------------------------
 * Reading
 */

/* The place of the ring behind so many bytes of it. The first slot is the status. */
static inline uint32_t cxidv_priv_eq_after(const struct cxidv_eq *eq, uint32_t offset, uint32_t bytes)
{
	offset += bytes;
	return offset == eq->byte_size ? C_EE_CFG_ECB_SIZE : offset;
}

/*
 * The next event, without consuming it, or NULL. It passes over fillers, and crosses to the new ring of a
 * resized queue. What it returns is valid until cxidv_eq_ack(), and no longer than until the ring is
 * crossed: after cxidv_resize_eq(), be done with one event before asking for the next.
 */
static inline const union c_event *cxidv_eq_peek(struct cxidv_eq *eq)
{
	for (;;) {
		uint8_t *place = eq->ring + eq->rd_offset;
		uint32_t head = __atomic_load_n(place + 14, __ATOMIC_RELAXED);
		uint32_t bytes = 8u << (head & 3);

		/* The last byte is written last; the barrier is the partner of that order. */
		if ((head & 3) == C_EVENT_SIZE_NO_EVENT ||
		    (__atomic_load_n(place + bytes - 1, __ATOMIC_RELAXED) & 0x3f) == C_RC_NO_EVENT)
			return NULL;
		cxidv_from_device_barrier();
		if (__builtin_expect((head >> 2 & 0x1f) < C_EVENT_EQ_SWITCH, 1))
			return (const union c_event *)place;
		if ((head >> 2 & 0x1f) == C_EVENT_NULL_EVENT)
			eq->rd_offset = cxidv_priv_eq_after(eq, eq->rd_offset, bytes);
		else if (cxidv_follow_eq_switch(eq))
			return NULL; /* the next call tries again */
	}
}

/* The next event, consumed, or NULL. */
static inline const union c_event *cxidv_eq_next(struct cxidv_eq *eq)
{
	const union c_event *event = cxidv_eq_peek(eq);

	if (event)
		eq->rd_offset = cxidv_priv_eq_after(eq, eq->rd_offset, cxidv_event_bytes(event));
	return event;
}

/* Tells the NIC how far the ring is cleared, and all else that the software state says. */
static inline void cxidv_priv_eq_store_state(struct cxidv_eq *eq)
{
	cxidv_to_device_barrier(); /* partner: the NIC's next round, which must not be cleared over */
	cxidv_store_doorbell(eq->sw_state, eq->sw_value | eq->cleared_offset / C_EE_CFG_ECB_SIZE);
	cxidv_flush_writes();
}

/* Gives back what was consumed, whole slots of it: the NIC may write there again. Cheaper once for many
 * events than for each. */
static inline void cxidv_eq_ack(struct cxidv_eq *eq)
{
	uint32_t from = eq->cleared_offset;

	if (from == eq->rd_offset)
		return;
	/* A consumed byte must read as no event when the NIC comes round again. */
	if (eq->rd_offset < from) {
		memset(eq->ring + from, 0, eq->byte_size - from);
		from = C_EE_CFG_ECB_SIZE;
	}
	memset(eq->ring + from, 0, eq->rd_offset - from);
	from = eq->cleared_offset / C_EE_CFG_ECB_SIZE;
	eq->cleared_offset = eq->rd_offset;
	if (eq->cleared_offset / C_EE_CFG_ECB_SIZE != from)
		cxidv_priv_eq_store_state(eq);
}

/*
 * Makes the next event that comes notify the queue's completion channel, once; to be armed again it must
 * first be taken there with cxidv_get_eq_event(). Events that are in the ring already notify nobody: look
 * with cxidv_eq_peek() after arming, and only then sleep.
 *
 * The NIC notifies once for each value of bits 44-47 of the software state while event_int_disable is 0;
 * cxidv_get_eq_event() counts on to the next.
 */
static inline void cxidv_eq_arm(struct cxidv_eq *eq)
{
	uint64_t value = (__atomic_load_n(&eq->notified, __ATOMIC_ACQUIRE) + 1) & 15;

	eq->sw_value = (eq->sw_value & ~((uint64_t)15 << 44 | (uint64_t)1 << 32)) | value << 44;
	cxidv_priv_eq_store_state(eq);
	/* Partner: the NIC fences between writing an event and looking at the state. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------------------------------------
 * Status
 */

/* The status slot as the NIC wrote it last: free slots, thresholds, drops. False: it is being written, ask
 * again. A later one has another time stamp. */
static inline bool cxidv_eq_read_status(const struct cxidv_eq *eq, struct c_eq_status *status)
{
	size_t word = sizeof(*status) / 8;

	/* Against the order of writing, so that equal time stamps enclose one status. */
	while (word--)
		cxidv_put_word(status, word, cxidv_load_acquire(eq->ring + 8 * word));
	return status->timestamp_ns == status->timestamp_ns_cpy &&
	       status->timestamp_sec == status->timestamp_sec_cpy;
}

/* Whether events were lost since the last cxidv_eq_ack_drops(). They cannot be had back. */
static inline bool cxidv_eq_drops(const struct cxidv_eq *eq)
{
	return cxidv_load_acquire(eq->ring + 8) >> 56 & 1;
}

/* Acknowledges the drops that cxidv_eq_drops() tells of; new ones show again. */
static inline void cxidv_eq_ack_drops(struct cxidv_eq *eq)
{
	uint64_t sequence = cxidv_load_acquire(eq->ring + 8) >> 60 & 1;

	__atomic_and_fetch(eq->ring + 15, (uint8_t)0xfe, __ATOMIC_RELAXED);
	eq->sw_value = (eq->sw_value & ~((uint64_t)1 << 40)) | sequence << 40;
	cxidv_priv_eq_store_state(eq);
}

/* ------------------------------------------------------------------------------------------------
 * Counting events: through the doorbell page where there is one, else through the kernel. These return 0,
 * EINVAL (success beyond 2^48 - 1, failure beyond 127), or the kernel's errno.
 */

static inline void cxidv_priv_ct_store(struct cxidv_ct *ct, size_t offset, uint64_t value)
{
	cxidv_store_doorbell(ct->doorbell + offset / 8, value);
	cxidv_flush_writes(); /* or a later store to the same place may replace this one */
}

static inline int cxidv_ct_inc_success(struct cxidv_ct *ct, uint64_t amount)
{
	if (amount >> C_CT_SUCCESS_BITS)
		return EINVAL;
	if (!ct->doorbell)
		return cxidv_inc_ct(ct, amount, 0);
	cxidv_priv_ct_store(ct, CT_INC_SUCCESS_OFFSET, amount);
	return 0;
}

static inline int cxidv_ct_inc_failure(struct cxidv_ct *ct, uint64_t amount)
{
	if (amount >> C_CT_FAILURE_BITS)
		return EINVAL;
	if (!ct->doorbell)
		return cxidv_inc_ct(ct, 0, amount);
	cxidv_priv_ct_store(ct, CT_INC_FAILURE_OFFSET, amount);
	return 0;
}

/* Sets one of the two and leaves the other. What is counted between its steps may be lost. */
static inline int cxidv_ct_set_success(struct cxidv_ct *ct, uint64_t value)
{
	uint64_t success, failure;
	int err;

	if (value >> C_CT_SUCCESS_BITS)
		return EINVAL;
	if (!ct->doorbell) {
		err = cxidv_read_ct(ct, &success, &failure);
		return err ? err : cxidv_set_ct(ct, value, failure);
	}
	cxidv_priv_ct_store(ct, CT_RESET_SUCCESS_OFFSET, 0);
	if (value)
		cxidv_priv_ct_store(ct, CT_INC_SUCCESS_OFFSET, value);
	return 0;
}

static inline int cxidv_ct_set_failure(struct cxidv_ct *ct, uint64_t value)
{
	uint64_t success, failure;
	int err;

	if (value >> C_CT_FAILURE_BITS)
		return EINVAL;
	if (!ct->doorbell) {
		err = cxidv_read_ct(ct, &success, &failure);
		return err ? err : cxidv_set_ct(ct, success, value);
	}
	cxidv_priv_ct_store(ct, CT_RESET_FAILURE_OFFSET, 0);
	if (value)
		cxidv_priv_ct_store(ct, CT_INC_FAILURE_OFFSET, value);
	return 0;
}

/* Both to 0. */
static inline int cxidv_ct_reset(struct cxidv_ct *ct)
{
	if (!ct->doorbell)
		return cxidv_set_ct(ct, 0, 0);
	cxidv_priv_ct_store(ct, CT_RESET_SUCCESS_OFFSET, 0);
	cxidv_priv_ct_store(ct, CT_RESET_FAILURE_OFFSET, 0);
	return 0;
}

/* The values of the last write-back; false: there was none since cxidv_ct_clear_writeback(). The NIC writes
 * one when a CT_GET command asks, on a failure, on a reset and when a trigger event fires, not on each
 * success. The counter must have a write-back word. */
static inline bool cxidv_ct_writeback(const struct cxidv_ct *ct, uint64_t *success,
				      uint64_t *failure)
{
	uint64_t word = cxidv_load_acquire(ct->writeback);

	*success = word & (((uint64_t)1 << C_CT_SUCCESS_BITS) - 1);
	*failure = word >> C_CT_SUCCESS_BITS & ((1u << C_CT_FAILURE_BITS) - 1);
	return word >> 63;
}

/* Forgets that there was a write-back, so that the next one shows. */
static inline void cxidv_ct_clear_writeback(struct cxidv_ct *ct)
{
	__atomic_store_n((uint8_t *)(uintptr_t)ct->writeback + 7, 0, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_EQ_H */
