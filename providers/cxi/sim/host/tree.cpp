// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/tree.hpp"

#include <cerrno>
#include <deque>

namespace sim::host {
namespace {

constexpr int most_links = 40;  // as the kernel has it

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    auto part = path.substr(0, path.find('/'));
    if (!part.empty()) parts.emplace_back(part);
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return parts;
}

}  // namespace

Tree::Tree(std::function<bool(const std::string&)> on_host)
    : on_host_(std::move(on_host)), root_(std::make_unique<Node>()) {
  root_->path.push_back('/');
  root_->shared = true;
}

Node& Tree::make(std::string_view path, Node::Kind kind) {
  Node* at = root_.get();
  auto parts = split(path);
  for (size_t i = 0; i < parts.size(); i++) {
    auto& child = at->children[parts[i]];
    bool last = i + 1 == parts.size();
    if (!child) {
      child = std::make_unique<Node>();
      child->parent = at;
      child->path = (at == root_.get() ? "" : at->path) + "/" + parts[i];
      child->kind = last ? kind : Node::Kind::directory;
      // The host's own RDMA devices stay out of sight.
      child->shared = child->kind == Node::Kind::directory && at->shared &&
                      parts[i].find("infiniband") != 0 && on_host_(child->path);
    }
    at = child.get();
  }
  return *at;
}

void Tree::add_directory(std::string_view path) {
  make(path, Node::Kind::directory);
}

void Tree::add_file(std::string_view path, std::string content) {
  Node& node = make(path, Node::Kind::file);
  node.kind = Node::Kind::file;
  node.text = std::move(content);
}

void Tree::add_link(std::string_view path, std::string target) {
  Node& node = make(path, Node::Kind::link);
  node.kind = Node::Kind::link;
  node.text = std::move(target);
}

void Tree::add_device(std::string_view path, unsigned nic, unsigned major, unsigned minor) {
  Node& node = make(path, Node::Kind::device);
  node.kind = Node::Kind::device;
  node.nic = nic;
  node.major = major;
  node.minor = minor;
}

const Node* Tree::find(std::string_view path) const {
  const Node* at = root_.get();
  for (const auto& part : split(path)) {
    auto child = at->children.find(part);
    if (child == at->children.end()) return nullptr;
    at = child->second.get();
  }
  return at;
}

Place Tree::resolve(std::string_view path, bool follow_last) const {
  Place place;
  place.must_be_directory = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  auto first = split(path);
  std::deque<std::string> todo(first.begin(), first.end());
  const Node* at = root_.get();
  std::vector<std::string> beyond;  // names below `at` that only the host can know
  int links = 0;

  while (!todo.empty()) {
    std::string part = std::move(todo.front());
    todo.pop_front();
    if (part == ".") continue;
    if (!beyond.empty()) {
      if (part == "..")
        beyond.pop_back();
      else
        beyond.push_back(std::move(part));
      continue;
    }
    if (part == "..") {
      place.climbed = place.climbed || !at->shared;
      if (at->parent != nullptr) at = at->parent;
      continue;
    }
    auto found = at->children.find(part);
    if (found == at->children.end()) {
      if (at->shared) {
        beyond.push_back(std::move(part));
        continue;
      }
      place.error = ENOENT;
      place.only_last_missing = todo.empty();
      place.path = at->path + "/" + part;
      return place;
    }
    const Node* next = found->second.get();
    if (next->kind == Node::Kind::link &&
        (!todo.empty() || follow_last || place.must_be_directory)) {
      if (++links > most_links) {
        place.error = ELOOP;
        return place;
      }
      place.followed_link = true;
      auto target = split(next->text);
      todo.insert(todo.begin(), target.begin(), target.end());
      if (next->text.starts_with('/')) at = root_.get();
      continue;
    }
    if (next->kind != Node::Kind::directory && (!todo.empty() || place.must_be_directory)) {
      place.error = ENOTDIR;
      return place;
    }
    at = next;
  }

  place.path = at->path;
  for (const auto& part : beyond)
    place.path = join(place.path, part);
  // A shared folder itself is the host's.
  if (beyond.empty() && !(at->kind == Node::Kind::directory && at->shared)) place.node = at;
  return place;
}

bool worth_resolving(std::string_view path) {
  if (path.starts_with("/dev/") || path.starts_with("/sys/")) return true;
  if (path.starts_with("//")) return true;
  for (size_t dots = path.find("/."); dots != std::string_view::npos;
       dots = path.find("/.", dots + 1)) {
    auto rest = path.substr(dots + 2);
    if (rest.empty() || rest[0] == '/' || rest == "." || rest.starts_with("./")) return true;
  }
  return false;
}

std::string join(std::string_view base, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  std::string joined(base);
  if (!joined.ends_with('/')) joined += '/';
  joined += path;
  return joined;
}

}  // namespace sim::host
