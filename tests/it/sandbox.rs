//! Every kind of sandbox passes one and the same suite; what only a sealed kind can hold is asked of sealed kinds only.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed check is the test's failure, and what was skipped is told"
)]

mod cleaning;
mod commands;
mod files;
mod kit;
mod processes;
mod relaying;
mod sealing;
mod serving;

use evalxrl::harness::Isolation;
use kit::{Check, Kit};

macro_rules! checks {
    ($($module:ident: $($name:ident),+;)+) => {
        vec![$($((
            concat!(stringify!($module), "::", stringify!($name)),
            (|kit| Box::pin($module::$name(kit))) as Check,
        )),+),+]
    };
}

/// Asked of every kind.
fn for_all() -> Vec<(&'static str, Check)> {
    checks! {
        commands: a_command_gives_its_code_and_both_streams, a_command_works_in_the_home_folder_unless_told_otherwise,
            variables_of_the_spec_and_the_command_arrive_and_those_of_the_host_do_not, input_is_fed_whole,
            a_command_without_input_meets_the_end_of_it, input_that_nobody_reads_is_no_fault,
            a_command_at_its_limit_is_stopped, a_command_that_ignores_the_polite_signal_is_killed,
            an_early_code_of_124_is_no_time_out, output_beyond_the_cap_keeps_both_ends_and_counts_the_rest,
            a_flood_of_output_is_counted_to_the_byte, bytes_that_are_no_text_arrive_as_they_are,
            streams_are_merged_in_the_order_of_arrival, a_missing_program_is_a_code_and_no_fault,
            a_missing_folder_is_a_code_and_no_fault, a_bare_python_is_the_image_s;
        processes: a_child_in_its_own_session_is_swept_and_counted, a_child_that_shed_its_environment_is_swept,
            sweeping_nothing_counts_nothing, sweeping_one_user_spares_another,
            frozen_processes_stand_still_and_go_on_when_thawed, frozen_processes_can_be_killed;
        files: what_is_put_is_taken_again_byte_for_byte, what_is_put_belongs_to_its_user,
            paths_that_are_not_there_are_left_out, a_stream_beyond_the_cap_is_cut_one_byte_after_it,
            odd_names_are_taken, a_broken_stream_is_a_fault, every_place_is_writable_by_its_user,
            times_of_the_archive_do_not_arrive;
        cleaning: a_removed_sandbox_is_gone_and_can_be_removed_again, the_living_are_not_swept,
            what_this_process_made_for_a_run_is_swept_with_it, a_network_can_be_removed_twice,
            one_sandbox_does_not_see_the_files_of_another;
        relaying: a_call_reaches_the_session_and_its_answer_the_caller, a_linked_tool_is_called_by_its_own_name,
            a_megabyte_of_output_passes, the_tenth_call_at_once_is_refused, a_malformed_request_harms_nobody,
            a_dropped_wait_loses_no_request, a_relay_that_dies_is_restarted_three_times_and_then_lost,
            without_a_relay_a_tool_has_no_answer;
        serving: a_served_bundle_is_measured, a_bundle_that_does_not_start_is_unserved_with_its_errors,
            an_answer_that_is_no_measurement_is_a_failed_scorer, an_unserved_agent_is_believed_after_the_health_check,
            a_scorer_that_fails_its_health_check_has_failed, a_scorer_that_ends_has_failed;
    }
}

/// Asked of sealed kinds.
fn for_sealed() -> Vec<(&'static str, Check)> {
    checks! {
        processes: a_fork_bomb_ends_and_the_next_command_works, orphans_leave_no_zombies,
            a_coder_cannot_signal_the_relay, a_process_beyond_the_memory_is_killed;
        files: an_unreadable_file_is_left_out, the_folder_of_the_method_is_closed_to_the_coder,
            the_home_folder_has_an_end;
        cleaning: a_sandbox_whose_life_is_over_ends;
        serving: a_silent_server_is_found_by_its_port;
        sealing: the_isolation_table_passes;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_sandboxes_pass_the_suite() {
    let kit = Kit::local().await;
    let passed = kit.run(for_all()).await;
    sealing::an_unsealed_kind_says_so(&kit).await;
    println!(
        "local: {passed} checks, {} sealed ones skipped",
        for_sealed().len()
    );
    kit.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_pass_the_suite() {
    let Some(kit) = Kit::docker().await else {
        println!("skipped: no Docker");
        return;
    };
    assert_eq!(kit.sandbox.isolation(), Isolation::Docker);
    let mut all = for_all();
    all.extend(for_sealed());
    let passed = kit.run(all).await;
    println!("docker: {passed} checks");
    kit.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_on_a_network_with_an_address_of_the_host_break_the_isolation() {
    let Some(kit) = Kit::open_docker().await else {
        println!("skipped: no Docker");
        return;
    };
    sealing::an_open_network_is_found_out(&kit).await;
    kit.clear().await;
}

#[tokio::test]
async fn an_engine_that_never_answers_is_unavailable() {
    sealing::a_silent_engine_is_unavailable().await;
}
