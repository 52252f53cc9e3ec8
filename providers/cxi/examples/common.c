/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the examples share: see common.h. */
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define EVENT_TIMEOUT_MS 40000 /* longer than the NIC takes to give up a silent target */

int report(const char *what, int error)
{
	if (!error)
		return 0;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	return -1;
}

/* For what returns a pointer. */
static int made(const void *pointer, const char *what)
{
	return pointer ? 0 : report(what, errno);
}

/* The device of a name, or the first Cassini NIC where name is NULL. */
static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	for (; *list; list++) {
		if (name ? !strcmp(ibv_get_device_name(*list), name) : cxidv_is_supported(*list))
			return *list;
	}
	return NULL;
}

static int open_device(struct side *side, const char *name)
{
	const struct cxidv_open_attr attr = {0}; /* the service that was granted, or the default one */
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device;

	if (made(list, "list of devices"))
		return -1;
	device = find_device(list, name);
	if (device) {
		side->context = cxidv_open_device(device, &attr);
		if (!side->context)
			report(ibv_get_device_name(device), errno);
	} else {
		fprintf(stderr, "%s: there is no such device\n", name ? name : "Cassini NIC");
	}
	ibv_free_device_list(list);
	if (!side->context)
		return -1;
	side->name = ibv_get_device_name(side->context->device);
	return report("query device",
		      cxidv_query_device(side->context, &side->device, sizeof(side->device)));
}

/* The first logical NI can be refused for want of a grant: say what to do about it. */
static int make_lni(struct side *side)
{
	side->lni = cxidv_create_lni(side->context, NULL);
	if (side->lni)
		return 0;
	report("logical NI", errno);
	if (errno == EKEYREVOKED || errno == EPERM)
		fprintf(stderr, "service %u does not admit this user: ask for a grant\n",
			side->device.svc_id);
	return -1;
}

/* The service's first VNI and first traffic class that the fabric has. */
static int make_profile(struct side *side, uint32_t flags)
{
	struct cxidv_svc_attr svc;
	struct cxidv_cp_attr attr = { .flags = flags };
	int error = cxidv_query_svc(side->context, side->device.svc_id, &svc, sizeof(svc));

	if (error)
		return report("query service", error);
	attr.vni = svc.vnis[0];
	for (attr.traffic_class = CXIDV_TC_BEST_EFFORT; !side->cp; attr.traffic_class--) {
		if (svc.tc_mask & 1u << attr.traffic_class)
			side->cp = cxidv_alloc_cp(side->lni, &attr);
		if (attr.traffic_class == 0)
			break;
	}
	return made(side->cp, "communication profile");
}

int open_side(struct side *side, const char *name, uint32_t cp_flags)
{
	struct cxidv_eq_attr attr = { .slots = 64, .reserve = 16 };

	if (open_device(side, name) || make_lni(side) || make_profile(side, cp_flags))
		return -1;
	side->domain = cxidv_create_domain(side->lni, side->cp->vni, C_PID_ANY);
	if (made(side->domain, "domain"))
		return -1;
	side->address.nid = side->device.nid;
	side->address.pid = side->domain->pid;
	side->channel = ibv_create_comp_channel(side->context);
	if (made(side->channel, "completion channel"))
		return -1;
	attr.channel = side->channel;
	side->eq = cxidv_create_eq(side->lni, &attr);
	if (made(side->eq, "event queue"))
		return -1;
	return report("initiator",
		      cxidv_encode_initiator(side->device.pid_bits, side->address.pid,
					     side->address.nid, &side->initiator));
}

/* Newest first; what was not made is NULL. */
void close_side(struct side *side)
{
	if (side->eq)
		report("destroy event queue", cxidv_destroy_eq(side->eq));
	if (side->channel)
		report("destroy channel", ibv_destroy_comp_channel(side->channel));
	if (side->domain)
		report("destroy domain", cxidv_destroy_domain(side->domain));
	if (side->cp)
		report("free profile", cxidv_free_cp(side->cp));
	if (side->lni)
		report("destroy logical NI", cxidv_destroy_lni(side->lni));
	if (side->context && ibv_close_device(side->context))
		report("close device", errno);
}

int open_sides(int argc, char **argv, uint32_t cp_flags, struct side *initiator,
	       struct side *target)
{
	const char *first = argc > 1 ? argv[1] : NULL;

	memset(initiator, 0, sizeof(*initiator));
	memset(target, 0, sizeof(*target));
	if (argc > 3 || (first && first[0] == '-')) {
		fprintf(stderr, "usage: %s [device of both sides | initiator's target's]\n", argv[0]);
		return -1;
	}
	if (open_side(initiator, first, 0) ||
	    open_side(target, argc > 2 ? argv[2] : first, cp_flags))
		return -1;
	printf("initiator %s NID %u PID %u, target %s NID %u PID %u\n", initiator->name,
	       initiator->address.nid, initiator->address.pid, target->name, target->address.nid,
	       target->address.pid);
	return 0;
}

void close_sides(struct side *initiator, struct side *target)
{
	close_side(target);
	close_side(initiator);
}

struct cxidv_cmdq *make_queue(const struct side *side, uint32_t flags)
{
	struct cxidv_cmdq_attr attr = {
		.flags = flags,
		.slots = 64,
		.policy = CXIDV_CMDQ_POLICY_HIGH_FREQ_EMPTY,
		.cp = flags & CXIDV_CMDQ_TRANSMIT ? side->cp : NULL,
		.eq = side->eq, /* tells of commands that the NIC refuses */
	};
	struct cxidv_cmdq *queue = cxidv_create_cmdq(side->lni, &attr);

	made(queue, "command queue");
	return queue;
}

struct cxidv_md *map_memory(const struct side *side, void *addr, size_t length)
{
	struct cxidv_md_attr attr = {
		.addr = addr,
		.length = length,
		.flags = CXIDV_MD_READ | CXIDV_MD_WRITE,
	};
	struct cxidv_md *md = cxidv_map_md(side->lni, &attr);

	made(md, "memory descriptor");
	return md;
}

struct cxidv_pte *make_portal(const struct side *side, uint32_t flags, uint32_t index)
{
	struct cxidv_pte_attr attr = {
		.flags = flags | CXIDV_PTE_LONG_EVENTS,
		.eq = side->eq,
	};
	struct cxidv_pte *pte = cxidv_create_pte(side->lni, &attr);

	if (made(pte, "portal entry"))
		return NULL;
	if (report("map portal entry", cxidv_map_pte(pte, side->domain, index, 0))) {
		cxidv_destroy_pte(pte);
		return NULL;
	}
	return pte;
}

void destroy_portal(const struct side *side, struct cxidv_pte *pte, uint32_t index)
{
	if (!pte)
		return;
	report("unmap portal entry", cxidv_unmap_pte(pte, side->domain, index, 0));
	report("destroy portal entry", cxidv_destroy_pte(pte));
}

int enable_portal(const struct side *side, struct cxidv_cmdq *queue, const struct cxidv_pte *pte)
{
	struct c_set_state_cmd command = {
		.ptlte_state = C_PTLTE_ENABLED,
		.ptlte_index = pte->ptn,
	};
	union c_event event;

	if (report("enable portal entry", cxidv_emit_setstate(queue, &command)))
		return -1;
	cxidv_cmdq_ring(queue);
	return wait_for(side, C_EVENT_STATE_CHANGE, C_RC_OK, &event);
}

int append(const struct side *side, struct cxidv_cmdq *queue, const struct cxidv_le_attr *entry)
{
	struct c_target_cmd command;
	union c_event event;

	if (report("describe list entry", cxidv_build_le(entry, &command)) ||
	    report("append list entry", cxidv_emit_append(queue, &command)))
		return -1;
	cxidv_cmdq_ring(queue);
	return wait_for(side, C_EVENT_LINK, C_RC_OK, &event);
}

int address_command(const struct side *from, struct address to, uint32_t index,
		    const struct cxidv_md *md, struct c_full_dma_cmd *command)
{
	union c_fab_addr dfa;
	uint32_t index_ext;

	memset(command, 0, sizeof(*command));
	if (report("address", cxidv_encode_dfa(from->device.pid_bits, to.nid, to.pid, index,
					       &dfa, &index_ext)))
		return -1;
	command->dfa = dfa;
	command->index_ext = index_ext & 31;
	command->lac = md->lac & 7;
	command->local_addr = md->iova;
	command->request_len = (uint32_t)md->length;
	command->eq = from->eq->eqn;
	command->event_send_disable = 1; /* the ACK is enough */
	command->initiator = from->initiator;
	return 0;
}

/* Sleeps until the channel has a notification, and takes it. */
static int sleep_until_woken(const struct side *side)
{
	struct pollfd woken = { .fd = side->channel->fd, .events = POLLIN };
	struct cxidv_eq *eq;
	int ready = poll(&woken, 1, EVENT_TIMEOUT_MS);
	int error;

	if (ready < 0)
		return errno == EINTR ? 0 : report("poll", errno);
	if (ready == 0)
		return report("wait for an event", ETIMEDOUT);
	error = cxidv_get_eq_event(side->channel, &eq);
	if (error)
		return report("notification", error);
	cxidv_ack_eq_events(eq, 1);
	return 0;
}

int wait_for(const struct side *side, uint32_t type, uint32_t return_code, union c_event *event)
{
	const union c_event *next;

	while (!(next = cxidv_eq_next(side->eq))) {
		/* Look again after arming: what is in the ring already wakes nobody. */
		cxidv_eq_arm(side->eq);
		if (!cxidv_eq_peek(side->eq) && sleep_until_woken(side))
			return -1;
	}
	memcpy(event, next, cxidv_event_bytes(next));
	cxidv_eq_ack(side->eq);
	if (cxidv_event_type(event) == type && cxidv_event_return_code(event) == return_code)
		return 0;
	fprintf(stderr, "event %s with %s, expected %s with %s\n",
		cxidv_event_type_str(cxidv_event_type(event)),
		cxidv_return_code_str(cxidv_event_return_code(event)), cxidv_event_type_str(type),
		cxidv_return_code_str(return_code));
	return -1;
}
