/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests as they are written to the kernel, header included, and the means by which providers add
 * their own data to them.
 */
#ifndef INFINIBAND_KERN_ABI_H
#define INFINIBAND_KERN_ABI_H

#include <stddef.h>
#include <stdint.h>

#include <kernel-abi/ib_user_verbs.h>
#include <rdma/ib_user_verbs.h>

/* Versions of the uverbs interface that the library can talk to. */
#define IB_USER_VERBS_MIN_ABI_VERSION 3
#define IB_USER_VERBS_MAX_ABI_VERSION 6

#ifdef __cplusplus
#define VERBS_ABI_ASSERT(condition, text) static_assert(condition, text)
#else
#define VERBS_ABI_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* The header of extended commands. */
struct ex_hdr {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
};

#ifndef __cplusplus
/* Stands for "no data" where a request or response is asked for; it has no size. */
struct empty {
};
#define _STRUCT_empty \
	struct { \
	}
#endif

/* Layouts that kernels with older versions of the interface use. */
struct ib_uverbs_modify_srq_v3 {
	__u32 srq_handle;
	__u32 attr_mask;
	__u32 max_wr;
	__u32 max_sge;
	__u32 srq_limit;
	__u32 reserved;
};

struct ibv_create_qp_resp_v3 {
	__u32 qp_handle;
	__u32 qpn;
};

struct ibv_create_qp_resp_v4 {
	__u32 qp_handle;
	__u32 qpn;
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline_data;
};

struct ibv_create_srq_resp_v5 {
	__u32 srq_handle;
};

enum {
	IB_USER_VERBS_CMD_MODIFY_SRQ_V3 = IB_USER_VERBS_CMD_MODIFY_SRQ,
	IB_USER_VERBS_CMD_CREATE_SRQ_V5 = IB_USER_VERBS_CMD_CREATE_SRQ,
	IB_USER_VERBS_CMD_CREATE_QP_V4 = IB_USER_VERBS_CMD_CREATE_QP,
	IB_USER_VERBS_CMD_CREATE_QP_V3 = IB_USER_VERBS_CMD_CREATE_QP,
};

/* Flow specifications as the kernel takes them; the short IPv4 form is the one of older kernels. */
struct ibv_kern_ipv4_filter {
	__u32 src_ip;
	__u32 dst_ip;
};

struct ibv_kern_spec_ipv4 {
	__u32 type;
	__u16 size;
	__u16 reserved;
	struct ibv_kern_ipv4_filter val;
	struct ibv_kern_ipv4_filter mask;
};

struct ibv_kern_spec {
	union {
		struct ib_uverbs_flow_spec_hdr hdr;
		struct ib_uverbs_flow_spec_eth eth;
		struct ibv_kern_spec_ipv4 ipv4;
		struct ib_uverbs_flow_spec_ipv4 ipv4_ext;
		struct ib_uverbs_flow_spec_esp esp;
		struct ib_uverbs_flow_spec_tcp_udp tcp_udp;
		struct ib_uverbs_flow_spec_ipv6 ipv6;
		struct ib_uverbs_flow_spec_gre gre;
		struct ib_uverbs_flow_spec_tunnel tunnel;
		struct ib_uverbs_flow_spec_mpls mpls;
		struct ib_uverbs_flow_spec_action_tag flow_tag;
		struct ib_uverbs_flow_spec_action_drop drop;
		struct ib_uverbs_flow_spec_action_handle handle;
		struct ib_uverbs_flow_spec_action_count flow_count;
	};
};

/*
 * Requests: the header and the kernel's structure, whose members can be named directly or as
 * core_payload. The types that go with an enumerator:
 *
 *   IBV_ABI_REQ(command)    the request with header, for example struct ibv_create_cq
 *   IBV_KABI_REQ(command)   the kernel's request without header
 *   IBV_KABI_RESP(command)  the kernel's response, struct empty if it has none
 *   IBV_ABI_ALIGN(command)  request and response are multiples of so many bytes
 */
#define IBV_ABI_REQ(command) _ibv_abi_req_##command
#define IBV_KABI_REQ(command) _ibv_kabi_req_##command
#define IBV_KABI_RESP(command) _ibv_kabi_resp_##command
#define IBV_ABI_ALIGN(command) _ibv_abi_align_##command

#define _IBV_REQ(command, req, header, kabi, align)                                                \
	struct req {                                                                               \
		header hdr;                                                                        \
		union {                                                                            \
			_STRUCT_##kabi;                                                            \
			struct kabi core_payload;                                                  \
		};                                                                                 \
	};                                                                                         \
	typedef struct req IBV_ABI_REQ(command);                                                   \
	typedef struct kabi IBV_KABI_REQ(command);                                                 \
	enum { IBV_ABI_ALIGN(command) = align };                                                   \
	VERBS_ABI_ASSERT(sizeof(struct req) == sizeof(header) + sizeof(struct kabi),               \
			 "no padding between header and payload")
#define _IBV_CMD(command, req, kabi)                                                               \
	_IBV_REQ(command, req, struct ib_uverbs_cmd_hdr, kabi, 4)
#define _IBV_CMD_EX(command, req, kabi) _IBV_REQ(command, req, struct ex_hdr, kabi, 8)
#define _IBV_RESP(command, resp) typedef struct resp IBV_KABI_RESP(command)

_IBV_CMD(IB_USER_VERBS_CMD_ALLOC_MW, ibv_alloc_mw, ib_uverbs_alloc_mw);
_IBV_RESP(IB_USER_VERBS_CMD_ALLOC_MW, ib_uverbs_alloc_mw_resp);
_IBV_CMD(IB_USER_VERBS_CMD_ALLOC_PD, ibv_alloc_pd, ib_uverbs_alloc_pd);
_IBV_RESP(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd_resp);
_IBV_CMD(IB_USER_VERBS_CMD_ATTACH_MCAST, ibv_attach_mcast, ib_uverbs_attach_mcast);
_IBV_CMD(IB_USER_VERBS_CMD_CLOSE_XRCD, ibv_close_xrcd, ib_uverbs_close_xrcd);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_AH, ibv_create_ah, ib_uverbs_create_ah);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_AH, ib_uverbs_create_ah_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, ibv_create_comp_channel,
	    ib_uverbs_create_comp_channel);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, ib_uverbs_create_comp_channel_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_CQ, ibv_create_cq, ib_uverbs_create_cq);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_CQ, ib_uverbs_create_cq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_QP, ibv_create_qp, ib_uverbs_create_qp);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_QP, ib_uverbs_create_qp_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_SRQ, ibv_create_srq, ib_uverbs_create_srq);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_SRQ, ib_uverbs_create_srq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_XSRQ, ibv_create_xsrq, ib_uverbs_create_xsrq);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_XSRQ, ib_uverbs_create_srq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_DEALLOC_MW, ibv_dealloc_mw, ib_uverbs_dealloc_mw);
_IBV_CMD(IB_USER_VERBS_CMD_DEALLOC_PD, ibv_dealloc_pd, ib_uverbs_dealloc_pd);
_IBV_CMD(IB_USER_VERBS_CMD_DEREG_MR, ibv_dereg_mr, ib_uverbs_dereg_mr);
_IBV_CMD(IB_USER_VERBS_CMD_DESTROY_AH, ibv_destroy_ah, ib_uverbs_destroy_ah);
_IBV_CMD(IB_USER_VERBS_CMD_DESTROY_CQ, ibv_destroy_cq, ib_uverbs_destroy_cq);
_IBV_RESP(IB_USER_VERBS_CMD_DESTROY_CQ, ib_uverbs_destroy_cq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_DESTROY_QP, ibv_destroy_qp, ib_uverbs_destroy_qp);
_IBV_RESP(IB_USER_VERBS_CMD_DESTROY_QP, ib_uverbs_destroy_qp_resp);
_IBV_CMD(IB_USER_VERBS_CMD_DESTROY_SRQ, ibv_destroy_srq, ib_uverbs_destroy_srq);
_IBV_RESP(IB_USER_VERBS_CMD_DESTROY_SRQ, ib_uverbs_destroy_srq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_DETACH_MCAST, ibv_detach_mcast, ib_uverbs_detach_mcast);
_IBV_CMD(IB_USER_VERBS_CMD_GET_CONTEXT, ibv_get_context, ib_uverbs_get_context);
_IBV_RESP(IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context_resp);
_IBV_CMD(IB_USER_VERBS_CMD_MODIFY_QP, ibv_modify_qp, ib_uverbs_modify_qp);
_IBV_CMD(IB_USER_VERBS_CMD_MODIFY_SRQ, ibv_modify_srq, ib_uverbs_modify_srq);
_IBV_CMD(IB_USER_VERBS_CMD_OPEN_QP, ibv_open_qp, ib_uverbs_open_qp);
_IBV_RESP(IB_USER_VERBS_CMD_OPEN_QP, ib_uverbs_create_qp_resp);
_IBV_CMD(IB_USER_VERBS_CMD_OPEN_XRCD, ibv_open_xrcd, ib_uverbs_open_xrcd);
_IBV_RESP(IB_USER_VERBS_CMD_OPEN_XRCD, ib_uverbs_open_xrcd_resp);
_IBV_CMD(IB_USER_VERBS_CMD_POLL_CQ, ibv_poll_cq, ib_uverbs_poll_cq);
_IBV_RESP(IB_USER_VERBS_CMD_POLL_CQ, ib_uverbs_poll_cq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_POST_RECV, ibv_post_recv, ib_uverbs_post_recv);
_IBV_RESP(IB_USER_VERBS_CMD_POST_RECV, ib_uverbs_post_recv_resp);
_IBV_CMD(IB_USER_VERBS_CMD_POST_SEND, ibv_post_send, ib_uverbs_post_send);
_IBV_RESP(IB_USER_VERBS_CMD_POST_SEND, ib_uverbs_post_send_resp);
_IBV_CMD(IB_USER_VERBS_CMD_POST_SRQ_RECV, ibv_post_srq_recv, ib_uverbs_post_srq_recv);
_IBV_RESP(IB_USER_VERBS_CMD_POST_SRQ_RECV, ib_uverbs_post_srq_recv_resp);
_IBV_CMD(IB_USER_VERBS_CMD_QUERY_DEVICE, ibv_query_device, ib_uverbs_query_device);
_IBV_RESP(IB_USER_VERBS_CMD_QUERY_DEVICE, ib_uverbs_query_device_resp);
_IBV_CMD(IB_USER_VERBS_CMD_QUERY_PORT, ibv_query_port, ib_uverbs_query_port);
_IBV_RESP(IB_USER_VERBS_CMD_QUERY_PORT, ib_uverbs_query_port_resp);
_IBV_CMD(IB_USER_VERBS_CMD_QUERY_QP, ibv_query_qp, ib_uverbs_query_qp);
_IBV_RESP(IB_USER_VERBS_CMD_QUERY_QP, ib_uverbs_query_qp_resp);
_IBV_CMD(IB_USER_VERBS_CMD_QUERY_SRQ, ibv_query_srq, ib_uverbs_query_srq);
_IBV_RESP(IB_USER_VERBS_CMD_QUERY_SRQ, ib_uverbs_query_srq_resp);
_IBV_CMD(IB_USER_VERBS_CMD_REG_MR, ibv_reg_mr, ib_uverbs_reg_mr);
_IBV_RESP(IB_USER_VERBS_CMD_REG_MR, ib_uverbs_reg_mr_resp);
_IBV_CMD(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, ibv_req_notify_cq, ib_uverbs_req_notify_cq);
_IBV_CMD(IB_USER_VERBS_CMD_REREG_MR, ibv_rereg_mr, ib_uverbs_rereg_mr);
_IBV_RESP(IB_USER_VERBS_CMD_REREG_MR, ib_uverbs_rereg_mr_resp);
_IBV_CMD(IB_USER_VERBS_CMD_RESIZE_CQ, ibv_resize_cq, ib_uverbs_resize_cq);
_IBV_RESP(IB_USER_VERBS_CMD_RESIZE_CQ, ib_uverbs_resize_cq_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_CREATE_CQ, ibv_create_cq_ex, ib_uverbs_ex_create_cq);
_IBV_RESP(IB_USER_VERBS_EX_CMD_CREATE_CQ, ib_uverbs_ex_create_cq_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_CREATE_FLOW, ibv_create_flow, ib_uverbs_create_flow);
_IBV_RESP(IB_USER_VERBS_EX_CMD_CREATE_FLOW, ib_uverbs_create_flow_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_CREATE_QP, ibv_create_qp_ex, ib_uverbs_ex_create_qp);
_IBV_RESP(IB_USER_VERBS_EX_CMD_CREATE_QP, ib_uverbs_ex_create_qp_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, ibv_create_rwq_ind_table,
	    ib_uverbs_ex_create_rwq_ind_table);
_IBV_RESP(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, ib_uverbs_ex_create_rwq_ind_table_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_CREATE_WQ, ibv_create_wq, ib_uverbs_ex_create_wq);
_IBV_RESP(IB_USER_VERBS_EX_CMD_CREATE_WQ, ib_uverbs_ex_create_wq_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_DESTROY_FLOW, ibv_destroy_flow, ib_uverbs_destroy_flow);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, ibv_destroy_rwq_ind_table,
	    ib_uverbs_ex_destroy_rwq_ind_table);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_DESTROY_WQ, ibv_destroy_wq, ib_uverbs_ex_destroy_wq);
_IBV_RESP(IB_USER_VERBS_EX_CMD_DESTROY_WQ, ib_uverbs_ex_destroy_wq_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ, ibv_modify_cq, ib_uverbs_ex_modify_cq);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_MODIFY_QP, ibv_modify_qp_ex, ib_uverbs_ex_modify_qp);
_IBV_RESP(IB_USER_VERBS_EX_CMD_MODIFY_QP, ib_uverbs_ex_modify_qp_resp);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_MODIFY_WQ, ibv_modify_wq, ib_uverbs_ex_modify_wq);
_IBV_CMD_EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE, ibv_query_device_ex, ib_uverbs_ex_query_device);
_IBV_RESP(IB_USER_VERBS_EX_CMD_QUERY_DEVICE, ib_uverbs_ex_query_device_resp);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_SRQ_V5, ibv_create_srq_v5, ib_uverbs_create_srq);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_SRQ_V5, ibv_create_srq_resp_v5);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_QP_V4, ibv_create_qp_v4, ib_uverbs_create_qp);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_QP_V4, ibv_create_qp_resp_v4);
_IBV_CMD(IB_USER_VERBS_CMD_CREATE_QP_V3, ibv_create_qp_v3, ib_uverbs_create_qp);
_IBV_RESP(IB_USER_VERBS_CMD_CREATE_QP_V3, ibv_create_qp_resp_v3);

struct ibv_modify_srq_v3 {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_modify_srq_v3 core_payload;
};
typedef struct ibv_modify_srq_v3 IBV_ABI_REQ(IB_USER_VERBS_CMD_MODIFY_SRQ_V3);
typedef struct ib_uverbs_modify_srq_v3 IBV_KABI_REQ(IB_USER_VERBS_CMD_MODIFY_SRQ_V3);
enum { IBV_ABI_ALIGN(IB_USER_VERBS_CMD_MODIFY_SRQ_V3) = 4 };

#ifndef __cplusplus
_IBV_RESP(IB_USER_VERBS_CMD_ATTACH_MCAST, empty);
_IBV_RESP(IB_USER_VERBS_CMD_CLOSE_XRCD, empty);
_IBV_RESP(IB_USER_VERBS_CMD_DEALLOC_MW, empty);
_IBV_RESP(IB_USER_VERBS_CMD_DEALLOC_PD, empty);
_IBV_RESP(IB_USER_VERBS_CMD_DEREG_MR, empty);
_IBV_RESP(IB_USER_VERBS_CMD_DESTROY_AH, empty);
_IBV_RESP(IB_USER_VERBS_CMD_DETACH_MCAST, empty);
_IBV_RESP(IB_USER_VERBS_CMD_MODIFY_QP, empty);
_IBV_RESP(IB_USER_VERBS_CMD_MODIFY_SRQ, empty);
_IBV_RESP(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, empty);
_IBV_RESP(IB_USER_VERBS_EX_CMD_DESTROY_FLOW, empty);
_IBV_RESP(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, empty);
_IBV_RESP(IB_USER_VERBS_EX_CMD_MODIFY_CQ, empty);
_IBV_RESP(IB_USER_VERBS_EX_CMD_MODIFY_WQ, empty);
_IBV_RESP(IB_USER_VERBS_CMD_MODIFY_SRQ_V3, empty);

/*
 * DECLARE_DRV_CMD(name, command, kabi_req, kabi_resp): struct name, the request of command with the
 * provider's struct kabi_req behind it, and struct name_resp, its response with struct kabi_resp.
 * Members of the provider's parts can be named directly or as drv_payload. Each may be empty. The
 * header made by gen_kernel_abi.py for the provider's own kernel header must be included before.
 */
#define _IBV_DRV_PART(name, first_type, first, kabi, align)                                        \
	struct name {                                                                              \
		first_type first;                                                                  \
		union {                                                                            \
			_STRUCT_##kabi;                                                            \
			struct kabi drv_payload;                                                   \
		};                                                                                 \
	};                                                                                         \
	VERBS_ABI_ASSERT(sizeof(struct name) % (align) == 0, "size of " #name);                    \
	VERBS_ABI_ASSERT(sizeof(struct name) == sizeof(first_type) + sizeof(struct kabi),          \
			 "padding in " #name)
#define DECLARE_DRV_CMD(name, command, kabi_req, kabi_resp)                                        \
	_IBV_DRV_PART(name, IBV_ABI_REQ(command), ibv_cmd, kabi_req, IBV_ABI_ALIGN(command));      \
	_IBV_DRV_PART(name##_resp, IBV_KABI_RESP(command), ibv_resp, kabi_resp,                    \
		      IBV_ABI_ALIGN(command))
#endif

/* Shows the end of an extended create request, which is laid out as a plain one, as a plain one. */
static inline struct ib_uverbs_create_qp *ibv_create_qp_ex_to_reg(struct ibv_create_qp_ex *cmd_ex)
{
	char *user_handle = (char *)&cmd_ex->user_handle;

	return (struct ib_uverbs_create_qp *)(void *)(user_handle -
						      offsetof(struct ib_uverbs_create_qp,
							       user_handle));
}

#endif /* INFINIBAND_KERN_ABI_H */
