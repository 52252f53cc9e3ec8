// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Text for people: formatting, numbers given as options, one-line explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace examples {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* form, ...);

/// Adds printf output to the end of text.
[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* form, ...);

/// Writes "program: text" as one line to standard error.
[[gnu::format(printf, 1, 2)]] void complain(const char* form, ...);

/// Whether everything printed so far could be written; complains when it could not.
bool output_written();

/// The number that text is, in decimal or with 0x, and nothing else; empty when it is not one or
/// lies outside [low, high].
std::optional<std::uint64_t> number(const char* text, std::uint64_t low, std::uint64_t high);

}  // namespace examples
