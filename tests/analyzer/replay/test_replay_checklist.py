"""Which tests show what: the rows of the specification's checklist and its formulas, each with the tests of its
observable. They are named here, and must be there.

Source: "Dimemas specification", sections 2 and 5.
"""

import re
from functools import cache

import pytest
from paths import ROOT

HAND, DIFFERENTIAL = "tests/analyzer/replay/test_replay_by_hand.py", "tests/analyzer/replay/test_replay_differential.py"
POLICIES, EACH_POLICY = (
    "tests/analyzer/replay/test_replay_policies.py",
    "tests/analyzer/replay/test_replay_each_policy.py",
)
TABLES = "tests/analyzer/scheduling/test_scheduling_tables.py"

RUNTIME = "mpi_tests/runtime"
ROWS = {
    "1 CPU-time bursts": [f"{RUNTIME}/counters/test_cpu_time.py::test_bursts_on_a_loaded_machine"],
    "2 probe cost": [f"{RUNTIME}/clock/test_overhead.py::test_bursts_between_back_to_back_calls_are_next_to_nothing"],
    "3 mask, user events": [
        f"{RUNTIME}/record/test_bounds.py::test_what_is_made_while_tracing_is_off_is_not_recorded_and_the_rest_is_exact",
        f"{RUNTIME}/run/test_region_api.py::test_c",
    ],
    "4 virtual threads": [
        f"{HAND}::test_virtual_threads",
        "tests/analyzer/replay/test_replay_virtual.py::test_time_on_a_node",
    ],
    "5 Dimemas trace, both ways": [
        "tests/analyzer/sources/dimemas/test_dim_reader.py::test_what_a_program_says_is_read",
        "tests/analyzer/sources/dimemas/test_dim_reader.py::test_a_trace_written_again_is_the_same",
        "tests/analyzer/sources/dimemas/test_dim_reader.py::test_a_wrong_line_is_named",
        "tests/analyzer/sources/dimemas/test_dim_reader.py::test_what_dimemas_has_no_record_for",
    ],
    "6 several applications": [
        f"{DIFFERENTIAL}::test_several_applications_equal_the_reference",
        "tests/analyzer/commands/test_replay_command.py::test_two_runs_share_a_machine",
        "tests/analyzer/replay/test_replay_together.py::test_two_lists_and_two_arrows",
        "tests/analyzer/writers/test_prv_writer.py::test_several_applications_number_their_tasks_from_one",
    ],
    "7 point to point": [
        f"{HAND}::test_a_message_costs_latency_on_the_sender_then_the_wire",
        "tests/analyzer/replay/test_replay_together.py::test_two_lists_and_two_arrows",
        "tests/analyzer/replay/test_replay_together.py::test_each_message_leaves_when_it_had_its_links",
    ],
    "8 buses": [f"{HAND}::test_buses"],
    "9 links, duplex": [f"{HAND}::test_duplex", f"{HAND}::test_a_later_message_passes_one_that_cannot_start"],
    "10 inside a node": [f"{HAND}::test_messages_inside_a_node_have_their_own_latency_and_bandwidth"],
    "11 speed of nodes": [f"{HAND}::test_relative_speed_of_each_node"],
    "12 rendezvous, synchronous": [
        f"{HAND}::test_who_waits_for_what_in_a_rendezvous",
        f"{HAND}::test_synchronous_sends_wait_for_delivery_and_the_eager_limit_decides",
    ],
    "13 ports, one-sided, semaphores": [
        f"{HAND}::test_ports_between_applications",
        f"{HAND}::test_one_sided_operations_are_waited_for_together",
        f"{HAND}::test_semaphores",
        "tests/analyzer/sources/dimemas/test_dim_reader.py::test_what_dimemas_has_no_record_for",
    ],
    "14 simple collectives": [f"{HAND}::test_simple_collectives"],
    "15 extended collectives": [
        f"{HAND}::test_steps_of_the_logarithmic_model",
        f"{HAND}::test_rows_of_table_9",
        f"{HAND}::test_sizes_of_table_3",
    ],
    "16 collectives hold the network": [f"{HAND}::test_a_collective_holds_the_network"],
    "17 schedulers": [
        f"{EACH_POLICY}::test_by_hand",
        f"{EACH_POLICY}::test_none_is_left_out",
        f"{EACH_POLICY}::test_boost3_brings_the_sender_forward",
        f"{HAND}::test_fcfs_on_one_cpu_and_context_switches",
        f"{HAND}::test_round_robin_takes_turns",
        f"{POLICIES}::test_critical_path_records",
        f"{POLICIES}::test_svr4_slices_grow",
        f"{POLICIES}::test_decay_counts_what_was_used",
        f"{POLICIES}::test_boost_where_the_message_was_there",
        f"{POLICIES}::test_boost_where_the_receiver_was_first",
        f"{POLICIES}::test_boost_raises_the_sender",
        f"{DIFFERENTIAL}::test_equals_the_reference",
        f"{POLICIES}::test_fixed_priorities_of_applications",
        "tests/analyzer/scheduling/test_ring.py::test_what_is_claimed_is_stable",
        "tests/analyzer/scheduling/test_mixes.py::test_what_is_claimed_of_three",
    ],
    "18 options of policies": [
        f"{EACH_POLICY}::test_options_by_hand",
        f"{HAND}::test_fcfs_on_one_cpu_and_context_switches",
        f"{HAND}::test_busy_waiting_keeps_the_cpu",
        f"{HAND}::test_preemption_waits_for_the_least_run",
        f"{HAND}::test_a_context_switch_is_finished_before_preemption",
        f"{HAND}::test_round_robin_takes_turns",
        f"{POLICIES}::test_svr4_sleepers_return_to_a_better_level",
    ],
    "19 critical path": [
        "tests/analyzer/critical/test_critical_path.py::test_no_wait_for_a_message_is_on_the_path",
        "tests/analyzer/critical/test_critical_path.py::test_the_path_in_paraver",
        "tests/analyzer/critical/test_critical_path.py::test_played_programs",
    ],
    "20 sensitivity": [
        "tests/analyzer/sensitivity/test_sensitivity.py::test_terms_give_the_results_back",
        "tests/analyzer/sensitivity/test_sensitivity.py::test_a_message_costs_latency_and_bandwidth",
    ],
    "21 factors of modules": [
        "tests/analyzer/replay/test_replay_modules.py::test_by_hand",
        f"{HAND}::test_factors_of_blocks",
        "tests/analyzer/what_if/test_what_if.py::test_serial_time_changes_by_the_block",
    ],
    "22 random parameters": [
        f"{HAND}::test_random_parameters",
        f"{DIFFERENTIAL}::test_no_variance_is_the_constant_to_the_bit",
        f"{DIFFERENTIAL}::test_random_parameters_equal_the_reference",
        f"{POLICIES}::test_draws_have_their_distribution",
        f"{POLICIES}::test_quanta_and_intervals_at_random",
    ],
    "32 ping-pong fit": [f"{TABLES}::test_table_8_fit", f"{TABLES}::test_table_8_averages"],
    "33 Monte Carlo driver": [
        "tests/analyzer/montecarlo/test_montecarlo.py::test_each_job_is_done_once_and_in_order",
        "mpi_tests/analyzer/test_study_parallel.py::test_a_worker_that_stands_still_gets_fewer_jobs",
        "tests/analyzer/montecarlo/test_fit_machine.py::test_a_killed_study_goes_on",
        "tests/analyzer/montecarlo/test_montecarlo.py::test_a_study_ends_when_the_mean_is_known",
        "mpi_tests/analyzer/test_study_parallel.py::test_two_nodes_share_the_traces_alone",
        "mpi_tests/analyzer/test_study_parallel.py::test_the_death_of_a_worker_ends_the_study_and_it_goes_on",
    ],
    "34 fit within 10 %": ["tests/analyzer/montecarlo/test_fit_machine.py::test_the_machine_of_two_runs_is_found"],
    "35 methodology in one report": ["tests/analyzer/sensitivity/test_limits.py::test_table_11"],
    "35 profile and queue along time": [
        "tests/analyzer/metrics/test_profile.py::test_each_with_a_processor",
        "tests/analyzer/metrics/test_profile.py::test_messages_that_wait_for_the_bus",
        "tests/analyzer/metrics/test_profile.py::test_nothing_is_counted_twice_or_lost",
        "tests/analyzer/metrics/test_profile.py::test_dips_by_hand",
    ],
    "36 latency, direct and induced": ["tests/analyzer/sensitivity/test_limits.py::test_latency_induces_blocking"],
    "37 synthetic ring": ["tests/analyzer/scheduling/test_ring.py::test_alone_it_does_what_its_name_says"],
    "38 closed runs": [
        f"{HAND}::test_closed_system_restarts_until_each_has_its_repetitions",
        f"{TABLES}::test_table_22_follows_from_table_21",
        f"{DIFFERENTIAL}::test_several_applications_equal_the_reference",
    ],
    "39 stability on a loaded machine": ["tests/analyzer/test_validation.py::test_runs_on_a_loaded_machine"],
    "40 validation": ["tests/analyzer/test_validation.py::test_the_split_by_hand"],
    "41 speed": [f"{POLICIES}::test_cost_is_linear_in_messages_and_switches"],
}

FORMULAS = {
    "F1": [f"{HAND}::test_a_message_costs_latency_on_the_sender_then_the_wire"],
    "F2": [f"{HAND}::test_simple_collectives"],
    "F3": [f"{HAND}::test_rows_of_table_9"],
    "F4": [f"{HAND}::test_steps_of_the_logarithmic_model"],
    "F5, F6": [
        f"{TABLES}::test_table_8_fit",
        f"{TABLES}::test_a_ping_pong_on_the_fitted_machine_takes_the_fitted_time",
    ],
    "F7": [f"{POLICIES}::test_decay_counts_what_was_used", f"{POLICIES}::test_decay_forgets_by_the_load"],
    "F8": [f"{POLICIES}::test_boost_where_the_message_was_there"],
    "F9, F10": ["tests/analyzer/scheduling/test_ring.py::test_the_thesis_example"],
    "F11 to F18": [f"{TABLES}::test_indices_by_hand", f"{TABLES}::test_indices_agree"],
    "F19": ["tests/analyzer/sensitivity/test_limits.py::test_table_11"],
    "F20": [f"{DIFFERENTIAL}::test_the_wait_of_round_robin_is_bounded", f"{TABLES}::test_round_robin_wait_is_bounded"],
    "F21": ["tests/analyzer/scheduling/test_ring.py::test_each_sends_to_the_next"],
    "Dimemas 5.5.0 as measured": [
        f"{HAND}::test_dimemas_measured_with_a_network_of_10_us_and_100_mb",
        f"{HAND}::test_relative_speed_of_each_node",
        f"{HAND}::test_a_collective_holds_the_network",
        "tests/analyzer/replay/test_replay_epoch.py::test_ideal_replay",
    ],
}


@cache
def found_in(path):
    return set(re.findall(r"^def (test_\w+)", (ROOT / path).read_text(), re.M))


@pytest.mark.parametrize("name, tests", [*ROWS.items(), *FORMULAS.items()])
def test_what_shows_it_is_there(name, tests):
    missing = [test for test in tests if test.split("::")[1] not in found_in(test.split("::")[0])]
    assert not missing, name


def test_no_row_is_left_out():
    assert list(dict.fromkeys(int(name.split()[0]) for name in ROWS)) == [*range(1, 23), *range(32, 42)]
