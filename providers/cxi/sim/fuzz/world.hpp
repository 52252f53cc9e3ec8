// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The model's kernel on its NIC engine, two attackers, on the bystanders' NIC and on another, and
// what must hold however they behave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim::fuzz {

// Makes a world, does what the input says, and aborts if a bystander notices or anything is left.
void run(const uint8_t* data, size_t size);

// Inputs to start from, the same everywhere.
std::vector<std::vector<uint8_t>> first_corpus();

}  // namespace sim::fuzz
