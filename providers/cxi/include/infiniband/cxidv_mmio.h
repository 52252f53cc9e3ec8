/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs: order between this processor and the NIC, and accesses of 64 bits.
 * Memory is coherent; doorbell pages may be mapped write-combining.
 */
#ifndef INFINIBAND_CXIDV_MMIO_H
#define INFINIBAND_CXIDV_MMIO_H

#include <stddef.h>
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

/* What is read from memory after is no older than what the NIC wrote before the word that was read before.
 * Partner: the NIC's writes, which it makes in order. */
static inline void cxidv_from_device_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshld" ::: "memory");
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

/* A word that the NIC shares. Its alignment is said, since compilers for 32 bits take less for granted. */
typedef uint64_t cxidv_priv_shared_word __attribute__((aligned(8), may_alias));

/* One store of 64 bits to a device page, on processors of 32 bits too: halves would be two doorbells. */
static inline void cxidv_store_doorbell(volatile void *where, uint64_t value)
{
	__atomic_store_n((volatile cxidv_priv_shared_word *)where, value, __ATOMIC_RELAXED);
}

/* What the NIC wrote there; later reads see what it wrote before that. */
static inline uint64_t cxidv_load_acquire(const volatile void *where)
{
	uint64_t word = __atomic_load_n((const volatile cxidv_priv_shared_word *)where, __ATOMIC_RELAXED);

	cxidv_from_device_barrier();
	return word;
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
