/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Byte order of 64-bit values, for programs that were written before <endian.h> had it. */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <endian.h>
#include <stdint.h>

#ifndef htonll
static inline uint64_t htonll(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}
#define htonll htonll
#endif

#ifndef ntohll
static inline uint64_t ntohll(uint64_t x)
{
	return htonll(x);
}
#define ntohll ntohll
#endif

#endif /* INFINIBAND_ARCH_H */
