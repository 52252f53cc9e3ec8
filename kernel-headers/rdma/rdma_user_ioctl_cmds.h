/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The one ioctl of a uverbs character device: a header that names an object and a method, followed
 * by an array of attributes.
 */
#ifndef RDMA_USER_IOCTL_CMDS_H
#define RDMA_USER_IOCTL_CMDS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Magic number of every RDMA ioctl. */
#define RDMA_IOCTL_MAGIC 0x1b
#define RDMA_VERBS_IOCTL _IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)

/* Attribute flags. */
enum {
	/* The kernel refuses the call when it does not know the attribute. */
	UVERBS_ATTR_F_MANDATORY = 1U << 0,
	/* Set by the kernel on outputs that it has written. */
	UVERBS_ATTR_F_VALID_OUTPUT = 1U << 1,
};

/*
 * One attribute. What len and data mean depends on the kind of the attribute: for inputs of at most
 * eight bytes the bytes stand in data itself, longer inputs and all outputs are named by address.
 */
struct ib_uverbs_attr {
	__u16 attr_id;
	__u16 len;
	__u16 flags;
	union {
		struct {
			__u8 elem_id;
			__u8 reserved;
		} enum_data;
		__u16 reserved;
	} attr_data;
	union {
		__aligned_u64 data;
		__s64 data_s64;
	};
};

/* length covers the header and the attributes; driver_id is checked against the device. */
struct ib_uverbs_ioctl_hdr {
	__u16 length;
	__u16 object_id;
	__u16 method_id;
	__u16 num_attrs;
	__aligned_u64 reserved1;
	__u32 driver_id;
	__u32 reserved2;
	struct ib_uverbs_attr attrs[];
};

#endif /* RDMA_USER_IOCTL_CMDS_H */
