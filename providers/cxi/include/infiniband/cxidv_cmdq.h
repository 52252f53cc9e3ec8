/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: the ring of a command queue, the room in it and its
 * doorbells. Include cxidv.h; the commands themselves are in cxidv_emit.h.
 *
 * The NIC learns of the commands that have been written when cxidv_cmdq_ring() is called.
 *
 * One thread at a time per queue.
 */
/* In front of the guard: included first, this header is complete before cxidv.h includes what builds on it. */
#include <infiniband/cxidv.h>

#ifndef INFINIBAND_CXIDV_CMDQ_H
#define INFINIBAND_CXIDV_CMDQ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline void cxidv_priv_cmdq_copy_to_window(struct cxidv_cmdq *cmdq, size_t window, uint32_t slot,
						  const uint8_t *command, uint32_t words)
{
	volatile uint8_t *place = (volatile uint8_t *)cmdq->launch + window +
				  (size_t)(slot & 15) * C_CQ_CMD_SIZE;
	uint32_t i;

	for (i = 0; i < words; i++)
		cxidv_store_doorbell(place + (size_t)i * 8, cxidv_get_word(command, i));
}

/* Stores the first one or two slots that the NIC has not been told of into the low-latency window; such a
 * store moves the write pointer too, whether or not the NIC uses what was stored. */
static inline void cxidv_priv_cmdq_ring_low_latency(struct cxidv_cmdq *cmdq)
{
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
		cxidv_priv_cmdq_copy_to_window(cmdq, offsetof(struct c_cmdq, ll_wr128a02), slot,
					       first, 16);
		done = 2;
	} else if (slots > 2 && !(cxidv_get_word(first, 0) | cxidv_get_word(first, 4)) &&
		   (cxidv_get_word(first, 8) >> 2 & 3) != C_CMD_SIZE_256B) {
		/* A slot of padding: the NIC skips it where two slots arrive behind it. */
		cxidv_priv_cmdq_copy_to_window(cmdq, offsetof(struct c_cmdq, ll_wr128a13), slot + 1,
					       first + C_CQ_CMD_SIZE, 16);
		done = 3;
	} else {
		cxidv_priv_cmdq_copy_to_window(cmdq, offsetof(struct c_cmdq, ll_wr64a0123), slot,
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

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_CMDQ_H */
