/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From a member to the structure around it, and the links of a list. A provider tree that has ccan
 * on its include path keeps using that.
 */
#ifndef INFINIBAND_CONTAINER_H
#define INFINIBAND_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__cplusplus) && __has_include(<ccan/list.h>)
#include <ccan/container_of.h>
#include <ccan/list.h>
#else

/* The structure of a type whose member is at ptr; a pointer to const loses that. */
#ifndef container_of
#define container_of(ptr, type, member) ((type *)((uintptr_t)(ptr) - offsetof(type, member)))
#endif

/* One element of a circular doubly linked list. */
struct list_node {
	struct list_node *next;
	struct list_node *prev;
};

/* The list itself. */
struct list_head {
	struct list_node n;
};

#endif
#endif /* INFINIBAND_CONTAINER_H */
