// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Events, many opens, and devices that come and go.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "checks.hpp"
#include "machine.hpp"

namespace guest {
namespace {

constexpr int patience_ms = 10'000;
constexpr int cycles = 1'000;
constexpr int thread_count = 64;
constexpr int opens_per_thread = 5;
constexpr int comings = 15;

// Reads events until the wanted one is there. Address changes cause others in between.
bool event_arrives(ibv_context* context, ibv_event_type wanted) {
  for (int i = 0; i < 100; i++) {
    pollfd ready{context->async_fd, POLLIN, 0};
    if (poll(&ready, 1, patience_ms) != 1) return false;
    ibv_async_event event{};
    if (ibv_get_async_event(context, &event) != 0) return false;
    bool found = event.event_type == wanted;
    ibv_ack_async_event(&event);
    if (found) return true;
  }
  return false;
}

void set_link(const char* state) {
  run(fmt::format("/usr/sbin/ip link set {} {}", interface_name, state));
}

int port_state(ibv_context* context) {
  ibv_port_attr attr{};
  return ibv_query_port(context, 1, &attr) == 0 ? attr.state : -1;
}

size_t open_descriptors() {
  return files_in("/proc/self/fd");
}

// The list is sound, whatever devices are in it just now.
bool list_is_sound() {
  int count = -1;
  ibv_device** list = ibv_get_device_list(&count);
  if (!list) return false;
  bool sound = list[count] == nullptr;
  for (int i = 0; i < count; i++)
    sound = sound && std::string_view(ibv_get_device_name(list[i])).starts_with("rxe");
  ibv_free_device_list(list);
  return sound;
}

bool add_device(const char* name, const char* interface) {
  return run(fmt::format("rdma link add {} type rxe netdev {}", name, interface));
}

bool remove_device(const char* name) {
  return run(fmt::format("rdma link delete {}", name));
}

// Waits until the list has no device.
bool is_unlisted() {
  for (int waited = 0; waited < patience_ms; waited += 10) {
    int count = -1;
    if (ibv_device** list = ibv_get_device_list(&count)) ibv_free_device_list(list);
    if (count == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

void check_events(Report& report) {
  Context context = open_device(device_name);
  if (!report.that(context != nullptr, "the device opens", strerror(errno))) return;
  report.equal(port_state(context.get()), static_cast<int>(IBV_PORT_ACTIVE), "the port is active");
  set_link("down");
  report.that(event_arrives(context.get(), IBV_EVENT_PORT_ERR), "the loss of its link is told");
  report.equal(port_state(context.get()), static_cast<int>(IBV_PORT_DOWN), "the port is down");
  set_link("up");
  report.that(event_arrives(context.get(), IBV_EVENT_PORT_ACTIVE), "so is its return");
  report.equal(port_state(context.get()), static_cast<int>(IBV_PORT_ACTIVE), "the port is active");
}

void check_many_cycles(Report& report) {
  size_t descriptors = open_descriptors();
  int opened = 0;
  for (int i = 0; i < cycles; i++)
    if (open_device(device_name)) opened++;
  report.equal(opened, cycles, "a device opens and closes a thousand times");
  report.equal(open_descriptors(), descriptors, "and leaves no descriptor open");
  report.equal(resources(device_name, "ctx"), 0l, "nor a context in the kernel");
}

void check_many_threads(Report& report) {
  size_t descriptors = open_descriptors();
  std::barrier start(thread_count);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; i++)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int n = 0; n < opens_per_thread; n++) {
        Context context = open_device(device_name);
        if (context && port_state(context.get()) == IBV_PORT_ACTIVE) good++;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  report.equal(good.load(), thread_count * opens_per_thread, "64 threads open it at once");
  report.equal(open_descriptors(), descriptors, "and leave no descriptor open");
  report.equal(resources(device_name, "ctx"), 0l, "nor a context in the kernel");
}

void check_coming_and_going(Report& report) {
  std::atomic<bool> over = false, sound = true;
  std::atomic<int> lists = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; i++)
    readers.emplace_back([&] {
      while (!over) {
        if (!list_is_sound()) sound = false;
        open_device("rxe1");
        lists++;
      }
    });
  int done = 0;
  for (int i = 0; i < comings; i++)
    if (add_device("rxe1", "v1") && remove_device("rxe1")) done++;
  over = true;
  for (std::thread& reader : readers)
    reader.join();
  report.equal(done, comings, "a second device comes and goes");
  report.that(lists > 0 && sound, "while the list is read, which stays sound");
  report.that(list_is_sound(), "and afterwards");
  Context context = open_device(device_name);
  report.that(context != nullptr, "the first device still opens", strerror(errno));
}

// The kernel unlists a soft RoCE device at once, and waits with the rest until nobody has it open.
void check_removal_while_open(Report& report) {
  int index = index_of(device_name);
  Context context = open_device(device_name);
  ibv_pd* pd = context ? ibv_alloc_pd(context.get()) : nullptr;
  if (!report.that(pd != nullptr, "the device is in use", strerror(errno))) return;
  bool removed = false;
  std::thread remover([&] { removed = remove_device(device_name); });
  report.that(is_unlisted(), "when it goes away, it is not listed any more");
  report.that(!open_device(device_name) && errno == ENODEV, "and does not open", strerror(errno));
  ibv_device_attr attr{};
  report.equal(ibv_query_device(context.get(), &attr), 0, "who has it open can still use it");
  report.equal(std::string(ibv_get_device_name(context->device)), device_name, "by its name");
  report.equal(ibv_dealloc_pd(pd), 0, "and give back what is his");
  context.reset();
  remover.join();
  report.that(removed, "then it is gone");

  report.that(add_device(device_name, interface_name), "a new device gets the name");
  ibv_device** kept = ibv_get_device_list(nullptr);
  report.that(kept && kept[0], "it is listed");
  report.that(kept && kept[0] && ibv_get_device_index(kept[0]) != index &&
                  ibv_get_device_index(kept[0]) == index_of(device_name),
              "with an index of its own");
  if (kept) ibv_free_device_list(kept);
  report.that(open_device(device_name) != nullptr, "and opens", strerror(errno));
}

}  // namespace guest
