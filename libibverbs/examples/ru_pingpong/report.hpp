// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What is said about a run: its figures, or why it failed.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string>

namespace ru_pingpong {

/// The three lines after a run.
std::string figures(std::uint32_t size, unsigned iters, double usec);

/// What a failed completion means, and what to do about it.
std::string why_failed(const char* what, enum ibv_wc_status status, std::uint32_t vendor_err);

/// What is wrong with the received data, one line per bad page; empty when nothing is.
std::string check_pages(std::span<const char> buffer, std::size_t page_size);

}  // namespace ru_pingpong
