# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Every operation in every way, and many at random, with all memory compared."""

import pytest
from conftest import succeeded


def test_every_operation_in_every_way_touches_the_right_bytes_only(cassini):
    result = succeeded(cassini.run(cassini.programs / "ru_matrix", timeout=180))
    assert result.stdout == "916 combinations\n"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_operations_of_four_processes_leave_what_a_model_says(cassini, seed):
    program = cassini.programs / "ru_matrix_random"
    result = succeeded(cassini.run(program, "--seed", seed, "--operations", 10000, timeout=180))
    assert result.stdout == "10000 operations\n"
