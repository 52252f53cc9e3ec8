// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/mirror.hpp"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <ranges>
#include <system_error>

namespace sim::host {
namespace {

constexpr unsigned uverbs_major = 231;  // as Linux assigned it (devices.txt)

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

bool folder_on_host(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

Tree make_tree(const std::vector<uverbs::NicDescription>& nics,
               const std::vector<std::pair<std::string, std::string>>& sysfs) {
  Tree tree(folder_on_host);
  // The classes exist also when they are empty.
  tree.add_directory("/dev/infiniband");
  tree.add_directory("/sys/class/infiniband");
  tree.add_directory("/sys/class/infiniband_verbs");
  constexpr std::string_view arrow = "-> ";
  for (const auto& [path, text] : sysfs) {
    if (text.starts_with(arrow))
      tree.add_link("/sys/" + path, text.substr(arrow.size()));
    else
      tree.add_file("/sys/" + path, text);
  }
  for (unsigned nic = 0; nic < nics.size(); nic++) {
    const auto& uverbs = nics[nic].uverbs;
    auto number = std::to_string(uverbs_major) + ":" + std::to_string(nics[nic].minor);
    tree.add_device("/dev/infiniband/" + uverbs, nic, uverbs_major, nics[nic].minor);
    tree.add_link("/dev/char/" + number, "../infiniband/" + uverbs);
    if (tree.find("/sys/dev/char/" + number) == nullptr)
      tree.add_link("/sys/dev/char/" + number, "../../class/infiniband_verbs/" + uverbs);
  }
  return tree;
}

}  // namespace

Mirror::Mirror(std::string folder)
    : folder_(std::move(folder)), tree_(std::make_shared<Tree>(folder_on_host)) {
  struct stat found {};
  if (::stat(folder_.c_str(), &found) != 0) fail(folder_);
  file_system_ = found.st_dev;
}

std::shared_ptr<const Tree> Mirror::tree() const {
  std::shared_lock guard(lock_);
  return tree_;
}

void Mirror::update(const std::vector<uverbs::NicDescription>& nics,
                    std::vector<std::pair<std::string, std::string>> sysfs) {
  std::unique_lock guard(lock_);
  if (sysfs == sysfs_ && nics.size() == nics_) return;
  auto next = std::make_shared<Tree>(make_tree(nics, sysfs));
  write_node(next->root(), &tree_->root());
  tree_ = std::move(next);
  sysfs_ = std::move(sysfs);
  nics_ = nics.size();
}

void Mirror::remove_node(const Node& node) {
  for (const auto& [name, child] : node.children)
    remove_node(*child);
  auto path = real_path(node);
  if (node.kind == Node::Kind::directory)
    rmdir(path.c_str());
  else
    unlink(path.c_str());
}

void Mirror::write_node(const Node& node, const Node* before) {
  auto path = real_path(node);
  if (before != nullptr && before->kind != node.kind) {
    remove_node(*before);
    before = nullptr;
  }
  switch (node.kind) {
    case Node::Kind::directory:
      if (before == nullptr && mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail(path);
      if (chmod(path.c_str(), 0755) != 0) fail(path);  // whatever the umask is
      if (before != nullptr)
        for (const auto& [name, child] : before->children)
          if (!node.children.contains(name)) remove_node(*child);
      // File systems in memory list what is newest first, and programs the devices as they are
      // listed.
      for (const auto& [name, child] : node.children | std::views::reverse) {
        const Node* old = nullptr;
        if (before != nullptr)
          if (auto found = before->children.find(name); found != before->children.end())
            old = found->second.get();
        write_node(*child, old);
      }
      break;
    case Node::Kind::link:
      if (before != nullptr && before->text == node.text) break;
      unlink(path.c_str());
      if (symlink(node.text.c_str(), path.c_str()) != 0) fail(path);
      break;
    case Node::Kind::file:
    case Node::Kind::device: {
      if (before != nullptr && before->text == node.text) break;
      if (before != nullptr) chmod(path.c_str(), 0644);
      Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
      if (!file) fail(path);
      auto length = static_cast<ssize_t>(node.text.size());
      if (pwrite(file.get(), node.text.data(), node.text.size(), 0) != length ||
          ftruncate(file.get(), length) != 0 || fchmod(file.get(), 0444) != 0)
        fail(path);
      break;
    }
  }
}

std::optional<std::string> Mirror::name_of(std::string_view real_path) const {
  if (!real_path.starts_with(folder_)) return std::nullopt;
  real_path.remove_prefix(folder_.size());
  if (real_path.empty()) return "/";
  if (real_path[0] != '/') return std::nullopt;
  return std::string(real_path);
}

int Mirror::stat(const Node& node, struct stat* out) const {
  if (::lstat(real_path(node).c_str(), out) != 0) return errno;
  if (node.kind == Node::Kind::device) make_device(node.major, node.minor, out);
  return 0;
}

void Mirror::make_device(unsigned major, unsigned minor, struct stat* out) {
  out->st_mode = S_IFCHR | 0666;
  out->st_rdev = makedev(major, minor);
  out->st_nlink = 1;
  out->st_size = 0;
  out->st_blocks = 0;
  out->st_uid = 0;
  out->st_gid = 0;
}

const Node* Mirror::device_of(const Tree& tree, const uverbs::FileId& id) const {
  const Node* folder = tree.find("/dev/infiniband");
  if (id.device != file_system_ || folder == nullptr) return nullptr;
  for (const auto& [name, node] : folder->children) {
    struct stat found {};
    if (node->kind == Node::Kind::device && ::lstat(real_path(*node).c_str(), &found) == 0 &&
        found.st_dev == id.device && found.st_ino == id.inode)
      return node.get();
  }
  return nullptr;
}

}  // namespace sim::host
