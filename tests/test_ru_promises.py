# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What reliable-unconnected verbs promise, tried between processes on the software Cassini."""

import pathlib

import pytest
from conftest import succeeded


def keep(cassini, promise, *options, **how):
    return succeeded(cassini.run(cassini.programs / "ru_promises", promise, *options, **how))


@pytest.mark.parametrize("place", [[], ["--one-nic"]], ids=["two-nics", "one-nic"])
@pytest.mark.parametrize("region", ["", "-indexed"], ids=["default", "indexed"])
@pytest.mark.parametrize(
    "access",
    [
        "wrong-vni",
        "wrong-key",
        "stale-key",
        "region-not-attached",
        "missing-right",
        "out-of-bounds",
    ],
)
def test_a_forbidden_access_fails_changes_nothing_and_harms_nobody(cassini, access, region, place):
    keep(cassini, access + region, *place)


@pytest.mark.parametrize("region", ["", "-indexed"], ids=["default", "indexed"])
def test_an_access_to_nothing_at_a_place_that_exists_succeeds(cassini, region):
    keep(cassini, "zero-length" + region)


def test_one_key_in_two_vnis_names_two_regions(cassini):
    keep(cassini, "one-key-in-two-vnis")


NOBODY = 65534


@pytest.mark.parametrize("user", [0, NOBODY], ids=["root", "nobody"])
def test_jobs_exist_of_granted_vnis_only(cassini, user):
    keep(cassini, "jobs-of-granted-vnis-only", user=cassini.user(user))


def test_a_job_is_queried(cassini):
    keep(cassini, "job-is-queried")


def test_a_job_without_a_table_works_by_address_handles(cassini):
    keep(cassini, "job-without-a-table")


def test_an_address_table_keeps_what_was_inserted(cassini):
    keep(cassini, "table-of-one-process")


def test_job_keys_differ(cassini):
    keep(cassini, "job-keys-differ")


def test_jobs_and_keys_are_busy_while_they_are_used(cassini):
    keep(cassini, "jobs-and-keys-are-busy-while-used")


def test_only_jobs_of_the_device_can_be_imported(cassini):
    keep(cassini, "import-of-no-job")


def test_a_job_with_its_table_is_shared_and_outlives_who_made_it(cassini):
    keep(cassini, "table-is-shared")


def test_several_jobs_of_one_process_are_apart(cassini):
    keep(cassini, "several-jobs-in-one-process")


def test_several_nics_and_processes_talk_in_one_job(cassini):
    keep(cassini, "several-nics-in-one-job")


def test_many_processes_hold_the_same_vni(cassini):
    keep(cassini, "many-processes-in-one-job")


def test_a_queue_pair_is_born_ready_and_answers_every_query(cassini):
    keep(cassini, "qp-is-born-ready")


def test_a_relative_queue_pair_needs_a_job_key(cassini):
    keep(cassini, "relative-qp-needs-a-key")


def test_queue_pair_numbers_are_chosen_zero_included_and_exclusive(cassini):
    keep(cassini, "qp-numbers-are-chosen")


def test_a_pid_belongs_to_one_protection_domain_as_long_as_it_lives(cassini):
    keep(cassini, "pid-belongs-to-one-pd")


def test_only_an_absolute_queue_pair_is_reached_from_another_job(cassini):
    keep(cassini, "absolute-qp-is-reached-from-another-job")


def test_semantics_are_offered_and_more_is_refused(cassini):
    keep(cassini, "semantics-are-negotiated")


def test_queue_pairs_change_their_state_as_the_table_says(cassini):
    keep(cassini, "qp-states")


def test_regions_are_attached_and_detached_within_their_protection_domain(cassini):
    keep(cassini, "attaching")


@pytest.mark.parametrize("place", [[], ["--one-nic"]], ids=["two-nics", "one-nic"])
def test_an_error_under_traffic_flushes_in_order_and_memory_is_left_alone(cassini, place):
    keep(cassini, "error-flushes-in-order", *place)


@pytest.mark.parametrize("place", [[], ["--one-nic"]], ids=["two-nics", "one-nic"])
def test_a_target_that_stops_under_traffic_lets_nothing_through(cassini, place):
    keep(cassini, "stopped-target", *place)


@pytest.mark.parametrize("place", [[], ["--one-nic"]], ids=["two-nics", "one-nic"])
def test_a_queue_pair_with_work_is_destroyed_and_leaves_nothing(cassini, place):
    keep(cassini, "destroyed-with-work", *place)


def test_completion_counters_count_between_processes(cassini):
    keep(cassini, "counters-count")


def test_solicited_completions_of_every_operation_wake(cassini):
    keep(cassini, "solicited-completions-wake")


def test_threads_share_a_completion_queue(cassini):
    keep(cassini, "threads-share-a-completion-queue")


def test_a_device_has_the_capabilities_and_limits_of_the_service(cassini):
    keep(cassini, "device-capabilities")


def test_a_port_has_gids_of_the_service(cassini):
    keep(cassini, "port-and-gids")


def test_there_are_as_many_protection_domains_as_the_device_says(cassini):
    keep(cassini, "as-many-pds-as-the-device-says")


def test_regions_have_keys_of_their_own(cassini):
    keep(cassini, "regions-have-keys-of-their-own")


def test_a_builder_for_narrow_keys_is_there_for_wide_ones_too(cassini):
    keep(cassini, "wide-key-for-narrow-flag")


def test_messages_wait_while_a_link_is_down(cassini):
    keep(cassini, "messages-wait-for-the-link")


def test_a_device_that_fails_flushes_its_requests_and_harms_no_other(cassini):
    keep(cassini, "device-fails")


def test_garbage_in_a_command_ring_is_fatal_for_its_queue_pair_only(cassini):
    keep(cassini, "garbled-ring-is-fatal")


def test_time_stamps_follow_the_clock_and_the_messages(cassini):
    keep(cassini, "time-stamps")


def test_a_full_completion_queue_loses_nothing(cassini):
    keep(cassini, "full-queue-loses-nothing")


def test_every_promise_is_tried_here(cassini):
    listed = succeeded(cassini.plain(cassini.programs / "ru_promises", "--list")).stdout.split()
    text = pathlib.Path(__file__).read_text()
    assert [name for name in listed if f'"{name.removesuffix("-indexed")}"' not in text] == []
