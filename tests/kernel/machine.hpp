// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the machine says of itself, by ways that do not lead through libibverbs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace guest {

// The first line of a file, nothing if it cannot be read.
std::optional<std::string> line_of(const std::filesystem::path& file);

// A number at the start of a file: "0x..." is hexadecimal. -1 if there is none.
long long number_of(const std::filesystem::path& file);

size_t files_in(const std::filesystem::path& folder);

// Runs a command of the shell: its exit status is 0.
bool run(const std::string& command);
std::string output_of(const std::string& command);

// How many objects of a kind ("pd", "cq", "qp", "mr", "ctx") the kernel has for a device.
long resources(const std::string& device, const std::string& kind);

// The kernel's index of a device, -1 if there is no such device.
int index_of(const std::string& device);

}  // namespace guest
