/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs for Cassini NICs: destination addresses, match ids, remote keys, list entries, and what
 * rendezvous packs into 64 bits. Include cxidv.h.
 *
 * An encoder returns 0, or EINVAL when a part is outside its range; a decoder returns 0, or EINVAL when no
 * encoder makes that. Then nothing is written. pid_bits is the device's (struct cxidv_device_attr), 6 to 9:
 * PIDs are 0 to 2^pid_bits - 2, and a PID has 2^(17 - pid_bits) portal indices.
 */
#ifndef INFINIBAND_CXIDV_FORMAT_H
#define INFINIBAND_CXIDV_FORMAT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/cxidv.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline bool cxidv_priv_pid_bits_valid(uint32_t pid_bits)
{
	return pid_bits >= C_DFA_PID_BITS_MIN && pid_bits <= C_DFA_PID_BITS_MAX;
}

/* The PID that stands for any: all bits set. */
static inline uint32_t cxidv_priv_pid_any(uint32_t pid_bits)
{
	return (1u << pid_bits) - 1;
}

/* ------------------------------------------------------------------------------------------------
 * Destination fabric addresses. A command carries the low 5 bits of a portal index in index_ext, and the
 * rest of it with NID and PID in dfa.
 */

static inline uint32_t cxidv_priv_dfa_word(union c_fab_addr dfa)
{
	uint32_t word;

	memcpy(&word, &dfa, sizeof(word));
	return word;
}

/* Addresses whose nine highest bits are set are not those of one NIC. */
static inline bool cxidv_dfa_is_multicast(union c_fab_addr dfa)
{
	return cxidv_priv_dfa_word(dfa) >> 23 == 0x1ff;
}

/* A portal index of a PID of a NIC. EINVAL: also NIDs from 0xff800 on, which are multicast. */
static inline int cxidv_encode_dfa(uint32_t pid_bits, uint32_t nid, uint32_t pid, uint32_t index,
				   union c_fab_addr *dfa, uint32_t *index_ext)
{
	uint32_t word;

	if (!cxidv_priv_pid_bits_valid(pid_bits) || nid >= 0xff800 || pid >= cxidv_priv_pid_any(pid_bits) ||
	    index >> (C_DFA_ENDPOINT_BITS - pid_bits))
		return EINVAL;
	word = nid << C_DFA_ENDPOINT_DEFINED_BITS |
	       index >> C_DFA_INDEX_EXT_BITS << pid_bits | pid;
	memcpy(dfa, &word, sizeof(word));
	*index_ext = index & ((1u << C_DFA_INDEX_EXT_BITS) - 1);
	return 0;
}

static inline int cxidv_decode_dfa(uint32_t pid_bits, union c_fab_addr dfa, uint32_t index_ext,
				   uint32_t *nid, uint32_t *pid, uint32_t *index)
{
	uint32_t word = cxidv_priv_dfa_word(dfa);
	uint32_t endpoint = word & ((1u << C_DFA_ENDPOINT_DEFINED_BITS) - 1);

	if (!cxidv_priv_pid_bits_valid(pid_bits) || cxidv_dfa_is_multicast(dfa) ||
	    index_ext >> C_DFA_INDEX_EXT_BITS ||
	    (endpoint & cxidv_priv_pid_any(pid_bits)) == cxidv_priv_pid_any(pid_bits))
		return EINVAL;
	*nid = word >> C_DFA_ENDPOINT_DEFINED_BITS;
	*pid = endpoint & cxidv_priv_pid_any(pid_bits);
	*index = endpoint >> pid_bits << C_DFA_INDEX_EXT_BITS | index_ext;
	return 0;
}

/* A multicast group of 13 bits and a reduction of 3; index_ext is the caller's, 0 for collectives. */
static inline int cxidv_encode_multicast_dfa(uint32_t multicast_id, uint32_t reduction_id,
					     union c_fab_addr *dfa)
{
	uint32_t word;

	if (multicast_id >> C_DFA_MULTICAST_ID_BITS || reduction_id > 7)
		return EINVAL;
	word = 7u | multicast_id << 3 | reduction_id << 18 | 0x1ffu << 23;
	memcpy(dfa, &word, sizeof(word));
	return 0;
}

static inline int cxidv_decode_multicast_dfa(union c_fab_addr dfa, uint32_t *multicast_id,
					     uint32_t *reduction_id)
{
	uint32_t word = cxidv_priv_dfa_word(dfa);

	if (!cxidv_dfa_is_multicast(dfa) || (word & 7) != 7 || (word & 0x630000))
		return EINVAL;
	*multicast_id = word >> 3 & ((1u << C_DFA_MULTICAST_ID_BITS) - 1);
	*reduction_id = word >> 18 & 7;
	return 0;
}

/* What cxidv_map_pte() takes as index with CXIDV_MAP_MULTICAST. */
static inline int cxidv_encode_multicast_index(uint32_t multicast_id, uint32_t index_ext,
					       uint32_t *index)
{
	if (multicast_id >> C_DFA_MULTICAST_ID_BITS || index_ext >> C_DFA_INDEX_EXT_BITS)
		return EINVAL;
	*index = multicast_id << C_DFA_INDEX_EXT_BITS | index_ext;
	return 0;
}

static inline int cxidv_decode_multicast_index(uint32_t index, uint32_t *multicast_id,
					       uint32_t *index_ext)
{
	if (index >> (C_DFA_MULTICAST_ID_BITS + C_DFA_INDEX_EXT_BITS))
		return EINVAL;
	*multicast_id = index >> C_DFA_INDEX_EXT_BITS;
	*index_ext = index & ((1u << C_DFA_INDEX_EXT_BITS) - 1);
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Who sent it: initiator of commands and events, match_id of list entries. A PID above an endpoint of
 * 32 - pid_bits bits, which is a NID, or a rank where the portal entry is logical.
 */

#define CXIDV_ANY UINT32_MAX		/* a wildcard, for PID or endpoint */
#define CXIDV_MATCH_ID_ANY UINT32_MAX	/* every sender; both parts are wildcards */

/* The initiator of a command: EINVAL for wildcards. */
static inline int cxidv_encode_initiator(uint32_t pid_bits, uint32_t pid, uint32_t endpoint,
					 uint32_t *initiator)
{
	if (!cxidv_priv_pid_bits_valid(pid_bits) || pid >= cxidv_priv_pid_any(pid_bits) ||
	    endpoint >= UINT32_MAX >> pid_bits)
		return EINVAL;
	*initiator = pid << (32 - pid_bits) | endpoint;
	return 0;
}

static inline int cxidv_decode_initiator(uint32_t pid_bits, uint32_t initiator, uint32_t *pid,
					 uint32_t *endpoint)
{
	if (!cxidv_priv_pid_bits_valid(pid_bits) ||
	    initiator >> (32 - pid_bits) == cxidv_priv_pid_any(pid_bits) ||
	    (initiator & UINT32_MAX >> pid_bits) == UINT32_MAX >> pid_bits)
		return EINVAL;
	*pid = initiator >> (32 - pid_bits);
	*endpoint = initiator & UINT32_MAX >> pid_bits;
	return 0;
}

/* The match_id of an entry, whose parts may each be CXIDV_ANY. (C_NID_ANY is an endpoint that a portal entry
 * which is not logical takes for any NID, too.) */
static inline int cxidv_encode_match_id(uint32_t pid_bits, uint32_t pid, uint32_t endpoint,
					uint32_t *match_id)
{
	if (!cxidv_priv_pid_bits_valid(pid_bits) ||
	    (pid != CXIDV_ANY && pid >= cxidv_priv_pid_any(pid_bits)) ||
	    (endpoint != CXIDV_ANY && endpoint >= UINT32_MAX >> pid_bits))
		return EINVAL;
	*match_id = (pid & cxidv_priv_pid_any(pid_bits)) << (32 - pid_bits) |
		    (endpoint & UINT32_MAX >> pid_bits);
	return 0;
}

/* Every value is one. */
static inline int cxidv_decode_match_id(uint32_t pid_bits, uint32_t match_id, uint32_t *pid,
					uint32_t *endpoint)
{
	if (!cxidv_priv_pid_bits_valid(pid_bits))
		return EINVAL;
	*pid = match_id >> (32 - pid_bits);
	*endpoint = match_id & UINT32_MAX >> pid_bits;
	if (*pid == cxidv_priv_pid_any(pid_bits))
		*pid = CXIDV_ANY;
	if (*endpoint == UINT32_MAX >> pid_bits)
		*endpoint = CXIDV_ANY;
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Remote keys of verbs regions, as match bits carry them. A key that the driver chose has a serial number;
 * that of an indexed region names the portal index as well, and an access to one also the target's resource
 * index. An application's own key has 60 bits.
 */

enum cxidv_rkey_flags {
	CXIDV_RKEY_DRIVER = 1 << 0,    /* chosen by the driver */
	CXIDV_RKEY_INDEXED = 1 << 1,   /* the region has a portal index of its own */
	CXIDV_RKEY_IMMEDIATE = 1 << 2, /* of one operation: it carries immediate data */
	CXIDV_RKEY_ATOMIC = 1 << 3,    /* of one operation: it is an atomic */
};

#define CXIDV_RKEY_FIRST_INDEX 96 /* portal indices of indexed regions: 96 to 126 */
#define CXIDV_RKEY_NUM_INDEX 31
#define CXIDV_RKEY_NUM_RI 48

struct cxidv_rkey {
	uint64_t value; /* DRIVER: serial number of 30 bits, INDEXED: of 25; else the application's key */
	uint32_t flags; /* enum cxidv_rkey_flags; INDEXED needs DRIVER */
	uint32_t index; /* INDEXED: the portal index, else 0 */
	uint32_t ri;	/* INDEXED: resource index of the target's queue pair below 48, else 0 */
	uint32_t reserved;
};

static inline int cxidv_encode_rkey(const struct cxidv_rkey *parts, uint64_t *key)
{
	bool driver = parts->flags & CXIDV_RKEY_DRIVER;
	bool indexed = parts->flags & CXIDV_RKEY_INDEXED;
	uint64_t low = parts->value;

	if (parts->flags > 15 || parts->reserved || (indexed && !driver) ||
	    low >> (indexed ? 25 : driver ? 30 : 60))
		return EINVAL;
	if (indexed) {
		if (parts->index < CXIDV_RKEY_FIRST_INDEX ||
		    parts->index - CXIDV_RKEY_FIRST_INDEX >= CXIDV_RKEY_NUM_INDEX ||
		    parts->ri >= CXIDV_RKEY_NUM_RI)
			return EINVAL;
		low = low << 5 | (parts->index - CXIDV_RKEY_FIRST_INDEX) | (uint64_t)parts->ri << 30;
	} else if (parts->index || parts->ri) {
		return EINVAL;
	}
	*key = low | (uint64_t)driver << 63 | (uint64_t)indexed << 61 |
	       (uint64_t)(parts->flags >> 2 & 1) << 62 | (uint64_t)(parts->flags >> 3) << 60;
	return 0;
}

static inline int cxidv_decode_rkey(uint64_t key, struct cxidv_rkey *parts)
{
	struct cxidv_rkey out;

	memset(&out, 0, sizeof(out));
	out.flags = (uint32_t)(key >> 63) | (uint32_t)(key >> 61 & 1) << 1 |
		    (uint32_t)(key >> 62 & 1) << 2 | (uint32_t)(key >> 60 & 1) << 3;
	out.value = key & (((uint64_t)1 << 60) - 1);
	if (out.flags & CXIDV_RKEY_INDEXED) {
		out.index = CXIDV_RKEY_FIRST_INDEX + (uint32_t)(key & 31);
		out.ri = (uint32_t)(out.value >> 30) & 63;
		if (out.value >> 36 || (key & 31) >= CXIDV_RKEY_NUM_INDEX ||
		    out.ri >= CXIDV_RKEY_NUM_RI || !(out.flags & CXIDV_RKEY_DRIVER))
			return EINVAL;
		out.value = out.value >> 5 & ((1u << 25) - 1);
	} else if (out.flags & CXIDV_RKEY_DRIVER && out.value >> 30) {
		return EINVAL;
	}
	*parts = out;
	return 0;
}

/* The short form of a key, as ibv_mr has it: 30 bits, DRIVER and INDEXED. EINVAL: the key has none. */
static inline int cxidv_narrow_rkey(uint64_t key, uint32_t *key32)
{
	if (key >> 30 & ~((uint64_t)5 << 31))
		return EINVAL;
	*key32 = (uint32_t)(key >> 32 & 1u << 31) | (uint32_t)(key >> 31 & 1u << 30) |
		 (uint32_t)(key & ((1u << 30) - 1));
	return 0;
}

/* The key that a short form stands for. */
static inline uint64_t cxidv_widen_rkey(uint32_t key32)
{
	return (uint64_t)(key32 >> 31) << 63 | (uint64_t)(key32 >> 30 & 1) << 61 |
	       (key32 & ((1u << 30) - 1));
}

/* ------------------------------------------------------------------------------------------------
 * List entries: the command to append, search or unlink them, and what it says.
 */

#define CXIDV_LE_UNLIMITED UINT64_MAX /* length: as far as the address context goes */

struct cxidv_le_attr {
	uint32_t ptn;	    /* the portal entry's number */
	uint32_t list;	    /* enum c_ptl_list; an entry is never appended to the unexpected one */
	uint32_t flags;	    /* C_LE_ flags: what the entry permits, how long it stays, its events */
	uint32_t buffer_id; /* 16 bits, in every event of the entry; hardware errors may say 0 */
	uint64_t start;	    /* io address in lac */
	uint64_t length;    /* bytes below 2^56 - 1, or CXIDV_LE_UNLIMITED */
	uint64_t match_bits;
	uint64_t ignore_bits;
	uint32_t match_id;
	uint32_t min_free; /* units of 2^min_free_shift bytes, 24 bits: manage_local unlinks below it */
	uint32_t lac;
	uint32_t ct; /* counting event, 0: none */
};

static inline int cxidv_build_le(const struct cxidv_le_attr *attr, struct c_target_cmd *command)
{
	uint64_t unlimited = ((uint64_t)1 << 56) - 1;

	if (attr->ptn >= C_NUM_PTLTES || attr->list > C_PTL_LIST_UNEXPECTED ||
	    attr->flags > 0xffff || attr->buffer_id > 0xffff || attr->start >> 57 ||
	    (attr->length >= unlimited && attr->length != CXIDV_LE_UNLIMITED) ||
	    attr->min_free >> 24 || attr->lac >= C_NUM_LACS || attr->ct >= C_NUM_CTS)
		return EINVAL;
	memset(command, 0, sizeof(*command));
	command->ptl_list = attr->list & 3;
	command->ptlte_index = attr->ptn & (C_NUM_PTLTES - 1);
	command->event_ct_bytes = !!(attr->flags & C_LE_EVENT_CT_BYTES);
	command->event_ct_overflow = !!(attr->flags & C_LE_EVENT_CT_OVERFLOW);
	command->event_ct_comm = !!(attr->flags & C_LE_EVENT_CT_COMM);
	command->event_unlink_disable = !!(attr->flags & C_LE_EVENT_UNLINK_DISABLE);
	command->event_success_disable = !!(attr->flags & C_LE_EVENT_SUCCESS_DISABLE);
	command->event_comm_disable = !!(attr->flags & C_LE_EVENT_COMM_DISABLE);
	command->event_link_disable = !!(attr->flags & C_LE_EVENT_LINK_DISABLE);
	command->unrestricted_end_ro = !!(attr->flags & C_LE_UNRESTRICTED_END_RO);
	command->unrestricted_body_ro = !!(attr->flags & C_LE_UNRESTRICTED_BODY_RO);
	command->unexpected_hdr_disable = !!(attr->flags & C_LE_UNEXPECTED_HDR_DISABLE);
	command->use_once = !!(attr->flags & C_LE_USE_ONCE);
	command->no_truncate = !!(attr->flags & C_LE_NO_TRUNCATE);
	command->manage_local = !!(attr->flags & C_LE_MANAGE_LOCAL);
	command->op_get = !!(attr->flags & C_LE_OP_GET);
	command->op_put = !!(attr->flags & C_LE_OP_PUT);
	command->restart_seq = !!(attr->flags & C_LE_RESTART_SEQ);
	command->ct = attr->ct & (C_NUM_CTS - 1);
	command->buffer_id = (uint16_t)attr->buffer_id;
	command->lac = attr->lac & (C_NUM_LACS - 1);
	command->start = attr->start & (((uint64_t)1 << 57) - 1);
	command->length = attr->length & (((uint64_t)1 << 56) - 1);
	command->min_free = attr->min_free & 0xffffff;
	command->match_id = attr->match_id;
	command->match_bits = attr->match_bits;
	command->ignore_bits = attr->ignore_bits;
	return 0;
}

/* What a command says. Reserved bits and the command's opcode are not looked at. */
static inline void cxidv_read_le(const struct c_target_cmd *command, struct cxidv_le_attr *attr)
{
	uint64_t unlimited = ((uint64_t)1 << 56) - 1;

	memset(attr, 0, sizeof(*attr));
	attr->ptn = command->ptlte_index;
	attr->list = command->ptl_list;
	attr->flags = (command->event_ct_bytes ? C_LE_EVENT_CT_BYTES : 0u) |
		      (command->event_ct_overflow ? C_LE_EVENT_CT_OVERFLOW : 0u) |
		      (command->event_ct_comm ? C_LE_EVENT_CT_COMM : 0u) |
		      (command->event_unlink_disable ? C_LE_EVENT_UNLINK_DISABLE : 0u) |
		      (command->event_success_disable ? C_LE_EVENT_SUCCESS_DISABLE : 0u) |
		      (command->event_comm_disable ? C_LE_EVENT_COMM_DISABLE : 0u) |
		      (command->event_link_disable ? C_LE_EVENT_LINK_DISABLE : 0u) |
		      (command->unrestricted_end_ro ? C_LE_UNRESTRICTED_END_RO : 0u) |
		      (command->unrestricted_body_ro ? C_LE_UNRESTRICTED_BODY_RO : 0u) |
		      (command->unexpected_hdr_disable ? C_LE_UNEXPECTED_HDR_DISABLE : 0u) |
		      (command->use_once ? C_LE_USE_ONCE : 0u) |
		      (command->no_truncate ? C_LE_NO_TRUNCATE : 0u) |
		      (command->manage_local ? C_LE_MANAGE_LOCAL : 0u) |
		      (command->op_get ? C_LE_OP_GET : 0u) | (command->op_put ? C_LE_OP_PUT : 0u) |
		      (command->restart_seq ? C_LE_RESTART_SEQ : 0u);
	attr->ct = command->ct;
	attr->buffer_id = command->buffer_id;
	attr->lac = command->lac;
	attr->start = command->start;
	attr->length = command->length == unlimited ? CXIDV_LE_UNLIMITED : command->length;
	attr->min_free = command->min_free;
	attr->match_id = command->match_id;
	attr->match_bits = command->match_bits;
	attr->ignore_bits = command->ignore_bits;
}

/* ------------------------------------------------------------------------------------------------
 * Rendezvous
 */

struct cxidv_rdzv {
	uint32_t src_nid; /* 20 bits: who sent the rendezvous put */
	uint32_t src_pid; /* 9 bits */
	uint32_t ptn;	  /* the portal entry it came to */
	uint32_t rendezvous_id; /* 8 bits, the sender's */
	uint32_t buffer_id;	/* of the entry that took it */
};

/* The user_ptr of a REPLY whose rendezvous bit is set: the NIC's own get for a rendezvous put. */
static inline int cxidv_encode_rdzv_user_ptr(const struct cxidv_rdzv *parts, uint64_t *user_ptr)
{
	if (parts->src_nid > C_NID_ANY || parts->src_pid > C_PID_ANY ||
	    parts->ptn >= C_NUM_PTLTES || parts->rendezvous_id > 0xff || parts->buffer_id > 0xffff)
		return EINVAL;
	*user_ptr = (uint64_t)parts->src_nid | (uint64_t)parts->src_pid << 20 |
		    (uint64_t)parts->ptn << 29 | (uint64_t)parts->rendezvous_id << 40 |
		    (uint64_t)parts->buffer_id << 48;
	return 0;
}

/* Every value is one. */
static inline void cxidv_decode_rdzv_user_ptr(uint64_t user_ptr, struct cxidv_rdzv *parts)
{
	parts->src_nid = (uint32_t)user_ptr & C_NID_ANY;
	parts->src_pid = (uint32_t)(user_ptr >> 20) & C_PID_ANY;
	parts->ptn = (uint32_t)(user_ptr >> 29) & (C_NUM_PTLTES - 1);
	parts->rendezvous_id = (uint32_t)(user_ptr >> 40) & 0xff;
	parts->buffer_id = (uint32_t)(user_ptr >> 48);
}

/* The match bits of the get that answers a rendezvous put, for the entry at the source that serves it: of
 * the put's match bits the highest 16 are left. EINVAL: rendezvous_id above 255. */
static inline int cxidv_encode_rdzv_match_bits(uint64_t put_match_bits, uint32_t rendezvous_id,
					       uint64_t *match_bits)
{
	if (rendezvous_id > 0xff)
		return EINVAL;
	*match_bits = put_match_bits >> 48 << 48 | 0xf00 | rendezvous_id;
	return 0;
}

static inline int cxidv_decode_rdzv_match_bits(uint64_t match_bits, uint64_t *put_match_bits,
					       uint32_t *rendezvous_id)
{
	if ((match_bits & 0xffffffffff00) != 0xf00)
		return EINVAL;
	*put_match_bits = match_bits >> 48 << 48;
	*rendezvous_id = (uint32_t)(match_bits & 0xff);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_CXIDV_FORMAT_H */
