// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What is said about a run: its figures, and what is wrong with the data.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ru_pingpong {

/// The three lines after a run.
std::string figures(std::uint32_t size, unsigned iters, double usec);

/// What is wrong with the received data, one line per bad page; empty when nothing is.
std::string check_pages(std::span<const char> buffer, std::size_t page_size);

}  // namespace ru_pingpong
