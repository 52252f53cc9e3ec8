/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs, the data path: events out of event queues, counting events. Include cxidv.h.
 */
#ifndef INFINIBAND_CXIDV_EQ_H
#define INFINIBAND_CXIDV_EQ_H

#include <infiniband/cxidv.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_EQ_H */
