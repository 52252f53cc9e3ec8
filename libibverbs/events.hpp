// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What an asynchronous event is about, and the waiting for it to be dealt with.
// Destroying an object waits until the program has acknowledged all events about it, so that no
// event is left that names an object that is gone.
#pragma once

#include <infiniband/driver.h>
#include <pthread.h>

#include "scoped.hpp"

namespace verbs {

// The object that an asynchronous event names: which member of its union is in use.
enum class Subject { cq, qp, srq, wq, port_or_device };
Subject subject_of(ibv_event_type type);

// Waits until as many events were acknowledged as the kernel reported. Works for QPs, SRQs and WQs.
template <class T>
void wait_for_events(T& object, uint32_t reported) noexcept {
  Locked lock(object.mutex);
  while (object.events_completed != reported)
    pthread_cond_wait(&object.cond, &object.mutex);
}

inline void wait_for_events(ibv_cq& cq, uint32_t completions, uint32_t async_events) noexcept {
  Locked lock(cq.mutex);
  while (cq.comp_events_completed != completions || cq.async_events_completed != async_events)
    pthread_cond_wait(&cq.cond, &cq.mutex);
}

// The part of an object that events need. Done once per object, before the kernel knows it.
template <class T>
void init_events(T& object) noexcept {
  object.events_completed = 0;
  pthread_mutex_init(&object.mutex, nullptr);
  pthread_cond_init(&object.cond, nullptr);
}

}  // namespace verbs
