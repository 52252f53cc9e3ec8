// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/dispatcher.hpp"

#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>

#include "host/procfs.hpp"

namespace sim::host {
namespace {

constexpr uint64_t refresh_after_ns = 100'000'000;

}  // namespace

Answer::~Answer() {
  if (!given_) listener_.refuse(id_, ENOSYS);
}

void Answer::value(int64_t result) {
  given_ = true;
  listener_.answer(id_, result);
}

void Answer::refuse(int error) {
  given_ = true;
  listener_.refuse(id_, error);
}

void Answer::proceed() {
  given_ = true;
  listener_.proceed(id_);
}

int Answer::descriptor(int fd, bool close_on_exec) {
  int number = listener_.add_fd(id_, fd, close_on_exec, true);
  if (number < 0)
    refuse(-number);
  else
    given_ = true;
  return number;
}

const Dispatcher::Row Dispatcher::rows[] = {
#ifdef __NR_open
    {__NR_open, &Dispatcher::on_open},
    {__NR_stat, &Dispatcher::on_stat},
    {__NR_lstat, &Dispatcher::on_lstat},
    {__NR_access, &Dispatcher::on_access},
    {__NR_readlink, &Dispatcher::on_readlink},
#endif
    {__NR_openat, &Dispatcher::on_openat},
    {__NR_openat2, &Dispatcher::on_openat2},
    {__NR_newfstatat, &Dispatcher::on_newfstatat},
    {__NR_statx, &Dispatcher::on_statx},
    {__NR_fstat, &Dispatcher::on_fstat},
    {__NR_faccessat, &Dispatcher::on_faccessat},
    {__NR_faccessat2, &Dispatcher::on_faccessat2},
    {__NR_readlinkat, &Dispatcher::on_readlinkat},
    {__NR_getxattr, &Dispatcher::on_get_attribute},
    {__NR_lgetxattr, &Dispatcher::on_lget_attribute},
    {__NR_listxattr, &Dispatcher::on_list_attributes},
    {__NR_llistxattr, &Dispatcher::on_llist_attributes},
    {__NR_execve, &Dispatcher::on_exec},
    {__NR_execveat, &Dispatcher::on_exec},
    {__NR_ioctl, &Dispatcher::on_ioctl},
};

void Dispatcher::handle(const Listener& listener, const Notification& request) {
  calls_++;
  Call call{listener, request, TrappedCaller(listener, request, processes_),
            Answer(listener, request.id)};
  for (const auto& row : rows)
    if (row.call == request.call) return (this->*row.handler)(call);
  call.answer.proceed();
}

void Dispatcher::refresh() {
  refreshed_ns_ = SystemClock().monotonic_ns();
  mirror_.update(kernel_.nics(), kernel_.sysfs());
}

void Dispatcher::refresh_if_old() {
  if (SystemClock().monotonic_ns() - refreshed_ns_ >= refresh_after_ns) refresh();
}

Dispatcher::Located Dispatcher::locate(Call& call, const PathArgument& argument) {
  Located located;
  auto text = call.caller.path(argument.text);
  if (!text) return located;  // the kernel finds the right error
  if (text->empty()) {
    if (argument.empty_means_folder && argument.folder >= 0)
      located.where = Located::Where::descriptor;
    return located;
  }

  bool in_tree = false;  // the program's own starting point is a folder of the mirror
  std::string base;
  std::string full = *text;
  bool rooted = (argument.resolve & RESOLVE_IN_ROOT) != 0;
  if (full[0] != '/' || rooted) {
    auto name = argument.folder == AT_FDCWD ? call.caller.working_directory()
                                            : call.caller.descriptor_name(argument.folder);
    if (!name || !name->starts_with('/')) return located;
    base = *name;
    if (auto ours = mirror_.name_of(base)) {
      in_tree = true;
      base = *ours;
    }
    full =
        join(base, rooted ? full.substr(std::min(full.find_first_not_of('/'), full.size())) : full);
  }
  if (!in_tree && !worth_resolving(full)) return located;
  // All that was read so far is about the caller, and not about a later task of its number.
  if (!call.listener.valid(call.request.id)) return located;

  located.tree = mirror_.tree();
  located.place = located.tree->resolve(full, argument.follow_last);
  const Place& place = located.place;
  if (place.error == 0 && place.node == nullptr && !in_tree && !place.followed_link &&
      !place.climbed)
    return located;
  auto refuse = [&](int error) {
    located.where = Located::Where::refused;
    located.error = error;
  };
  if (place.error != 0) {
    refuse(place.error);
  } else if ((argument.resolve & RESOLVE_NO_SYMLINKS) != 0 && place.followed_link) {
    refuse(ELOOP);
  } else if ((argument.resolve & RESOLVE_BENEATH) != 0 && text->starts_with('/')) {
    refuse(EXDEV);
  } else if ((argument.resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) != 0 && place.path != base &&
             !place.path.starts_with(base == "/" ? base : base + "/")) {
    refuse(EXDEV);
  } else if (place.node != nullptr) {
    located.where = Located::Where::node;
  } else if (!same_files_as_self(call.request.task) || !call.listener.valid(call.request.id)) {
    // What lies outside the tree is looked up by us. A program that has given up rights, or its
    // view of the files, does not get them back that way.
    refuse(EACCES);
  } else {
    located.where = Located::Where::elsewhere;
  }
  return located;
}

std::string Dispatcher::real_path(const Located& located) const {
  return located.place.node != nullptr ? mirror_.real_path(*located.place.node)
                                       : located.place.path;
}

void Dispatcher::on_exec(Call& call) {
  processes_.exec(call.request.task);
  call.answer.proceed();
}

void Dispatcher::on_ioctl(Call& call) {
  std::shared_ptr<DeviceOpen> open;
  if (devices_seen_) {
    auto id = call.caller.identify(call.request.arg<int>(0));
    if (id && call.listener.valid(call.request.id)) open = files_.find(*id);
  }
  if (!open) return call.answer.proceed();  // a device of the host, or nothing
  if (!call.caller.owner()) return call.answer.refuse(ENOMEM);
  int error = EIO;
  {
    std::shared_lock guard(open->in_use);
    if (!open->released) error = kernel_.ioctl(*open->file, call.caller, call.request.args[2]);
  }
  ioctls_++;
  engine_.wake();
  if (error != 0)
    call.answer.refuse(error);
  else
    call.answer.value(0);
}

const Node* Dispatcher::device_behind(Call& call, int fd, const Tree& tree) {
  if (!devices_seen_) return nullptr;
  auto id = call.caller.identify(fd);
  if (!id) return nullptr;
  if (auto open = files_.find(*id)) {
    const Node* folder = tree.find("/dev/infiniband");
    if (folder != nullptr)
      for (const auto& [name, node] : folder->children)
        if (node->kind == Node::Kind::device && node->nic == open->nic) return node.get();
    return nullptr;
  }
  return mirror_.device_of(tree, *id);
}

}  // namespace sim::host
