/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs: order between this processor and the NIC, and accesses of 64 bits.
 * Memory is coherent; doorbell pages may be mapped write-combining.
 */
#ifndef INFINIBAND_CXIDV_MMIO_H
#define INFINIBAND_CXIDV_MMIO_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was written to memory before is visible to the NIC before what is stored to it after. Partner: the
 * NIC's look at memory after it has seen the store. */
static inline void cxidv_to_device_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Pushes write-combining stores out, and keeps later ones behind them. */
static inline void cxidv_flush_writes(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb st" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* One store of 64 bits to a device page. */
static inline void cxidv_store_doorbell(volatile void *where, uint64_t value)
{
	*(volatile uint64_t *)where = value;
}

/* What the NIC wrote there; later reads see what it wrote before that. */
static inline uint64_t cxidv_load_acquire(const volatile void *where)
{
	return __atomic_load_n((const volatile uint64_t *)where, __ATOMIC_ACQUIRE);
}

/* Words of commands and events, wherever they lie. */
static inline uint64_t cxidv_get_word(const void *from, size_t word)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)from + 8 * word, sizeof(value));
	return value;
}

static inline void cxidv_put_word(void *to, size_t word, uint64_t value)
{
	memcpy((uint8_t *)to + 8 * word, &value, sizeof(value));
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_MMIO_H */
