"""`docs/Differences.md` is true: each of its lines has tests, named here, and each line here is on the page."""

import functools
import re

from places import REPOSITORY, TESTS
from refusals import cases

PAGE = REPOSITORY / "docs" / "Differences.md"
# by section, the subject of each line, and the tests of it
TESTED = {
    "Authoring: `add_actuator` and the configs": {
        "order of effects": "refusal_leaves_every_layer_as_it_was",
        "which stage": "uses_the_current_stage needs_a_stage uses_the_stage_made_current",
        "`Actuators`": "writes_the_documented_prim keeps_an_existing_parent",
        "an existing prim with `overwrite_existing=True`": "overwrites_the_whole_prim refusal_names_value_and_remedy",
        "an edit target that is not part of the stage": "refusal_names_value_and_remedy",
        "robots that are instances": "refusal_names_value_and_remedy",
        "values": "bad_values_of_every_law_are_refused",
        "lookup tables": "bad_table_is_refused_when_made_and_when_authored",
        "targets": "refusal_names_value_and_remedy",
        "`name`": "refusal_names_value_and_remedy",
        "a law that newton does not have": "each_stands_where_its_law_does_and_is_listed",
        "`clamping=` one config instead of a list": "refusal_names_value_and_remedy",
    },
    "Reading a stage": {
        "which prims": "finds_an_actuator_outside_the_robot finds_actuators_of_referenced_robots",
        "a prim that drives no joint of an articulation": "actuator_of_nobody_is_named reports_a_lost_actuator",
        "payloads that are not loaded": "unloaded_payload_is_named",
        "several targets": "a_prim_with_several_targets_drives_each",
        "schemas listed in": "prims_read_back_as_written a_stand_in_holds_where_the_law_is_not_known",
        "numbers of prims on a stage not in meters and kilograms": "numbers_are_converted_by_their_unit",
        "errors": "all_problems_are_reported_at_once problem_names_prim_attribute_layer_and_value",
        "attributes that are not authored": "falls_back_to_the_schema plugin_changes_nothing",
        "`delaySteps` not authored; 0": "falls_back_to_the_schema",
        "order of clamps": "canonical_order",
        "values over time beside a default value": "values_over_time_beside_a_default_value_are_named",
        "schemas that differ from a known one": "name_in_look_alike_letters_is_known name_without_its_family_is_known",
        "values over time, wrong types, NaN": "problem_names_prim_attribute_layer_and_value",
        "other applied schemas named `Newton…`, `Articulation…API` or `Actuator…API`": (
            "unknown_schema_leaves_the_actuator_usable unknown_controller_leaves_the_joint_to_its_drive"
        ),
        "drives of revolute": "drive_of_a_letter_is_that_of_the_axis drive_of_a_slide a_file_is_opened_with_its_drive",
        "attributes that no applied": "property_without_effect_is_named unknown_schema_leaves_the_actuator_usable",
        "components from `register_actuator_component`": "registered_component_is_parsed_and_driven_from_usd",
    },
    "`ArticulationActuators`": {
        "constructor": "bad_construction_leaves_nothing_behind",
        "a robot without": "drives_of_usd_are_named_with_their_gains_in_si actuators_of_mujoco_are_named",
        "`device`": "another_device_is_passed_over",
        "a motor of `from_configs` without an effort limit, at a joint with one": (
            "a_motor_without_limit_at_a_joint_with_one_is_told the_word_for_the_limit_of_the_joint_is_its_number"
        ),
        "parameter arrays of `from_actuators`": "bad_construction_leaves_nothing_behind",
        "one component in several configs, or driven by another open wrapper": (
            "component_of_several_joints_is_copied_for_the_second "
            "component_of_an_open_wrapper_is_copied_with_its_values"
        ),
        "components built in Python": (
            "built_in_laws_run_as_ours own_computation_runs_as_newton_runs_it "
            "whole_actuators_stand_for_their_components"
        ),
        "components read from USD": "components_of_prims_are_instances_of_newtons",
        "joint names that occur twice": "joints_of_the_same_name_are_told_apart_by_path",
        "drive gains": "drives_are_off_while_attached close_restores_only_gains_that_are_still_zero",
        "efforts after `close()`": "no_effort_pushes_on_when_stepping_ends",
        "an input, parameter or effort that is not finite": (
            "input_that_is_not_finite_stops_its_joint_for_a_step input_that_is_not_finite_leaves_no_trace"
        ),
        "an exception in the physics callback": "error_in_the_callback_leaves_no_effort",
        "feedforward": "bad_feedforward_changes_nothing feedforward_takes_subsets_and_stays",
        "`step_actuators` before play": "step_before_play_says_so bad_time_step_is_refused",
        "`enable_auto_step_pre_physics` before play": "no_step_before_physics_is_ready",
        "two wrappers on one joint": "overlap_warning_names_both",
        "stop, reload": "any_sequence_of_events every_pair_of_events",
        "another stage": "wrapper_of_another_stage_stays_where_it_was",
        "a path above several robots": "prim_above_robots_means_all_of_them robots_with_different_joints_are_refused",
        "robots with other values than the first": "copies_keep_what_they_say other_laws_are_refused",
        "`dir()` of the package": "what_dir_gives_in_kit_is_loaded_already",
        "`impl.controller_builders`": "first_call_says_what_to_write_instead controller_has_a_value_for_each_robot",
        "added": "restoring_replaces_all_of_a_past",
    },
    "The embedded articulation": {
        "indices and values": "wrong_arguments_change_nothing getter_refuses_indices_out_of_range",
        "links": "velocities_are_those_of_motion",
        "contact forces": "feet_of_a_standing_quadruped_carry_it they_need_running_physics_and_mujoco",
        "masses of links": "getters_tell_what_was_set what_no_link_can_have_is_refused",
        "forces in joints": "joint_forces_of_a_telescope",
        "fixed tendons": "numbers_are_those_of_the_file",
        "missing": "methods_said_to_be_missing_are",
        "added": "gravity_is_seen_from_the_root_link",
        "mass matrices": "mass_matrix_of_a_pendulum_is_its_inertia equations_of_motion_hold",
        "largest velocities": "a_joint_stays_at_its_limit",
        "drive model": "what_mujoco_lacks_is_refused_while_playing",
        "gains that are too large for inertia and step": "warning_comes_with_play_and_once",
        "static and dynamic friction": "one_dry_friction_is_both",
        "copies of `num_envs` while stopped": "copies_share_the_stage_while_stopped",
    },
    "`Actuator` and its components": {
        "`step`": "current_state_is_untouched states_in_place_and_in_turn_hold_the_same_bits",
        "names of targets": "both_names_of_the_targets_are_found",
        "`controller`, `Controller…`": "later_names_are_ours drive_is_the_controller",
        "effort mode implicit": (
            "efforts_are_newtons a_joint_with_a_bad_input_has_no_effort_and_others_are_solved "
            "what_cannot_be_solved_is_refused"
        ),
        "index of a position target": "position_targets_stand_where_their_own_indices_say",
        "`max_delay = 0`": "depth_of_a_delay",
        "infinite saturation effort": "infinite_limit_is_none_for_as_long_as_it_stands",
        "NaN in a limit": "limit_that_is_no_number_is_a_fault",
        "lookup table": "table_is_given_once half_a_table_is_refused",
        "`register_actuator_component`": "registering_twice_warns_and_builtins_stay",
        "`requires_grad=True`": (
            "gradients_are_newtons what_has_no_gradients_is_refused inputs_may_be_overwritten_after_the_step"
        ),
        "`custom_inputs`": "column_of_the_caller_agrees_with_the_oracle column_of_the_caller_has_to_be_there_and_fit",
        "a delay above its largest": "unusable_components_are_refused_when_constructed",
        "added": "law_agrees_with_the_oracle",
    },
    "The same file in newton": {
        "`delaySteps` not authored": "delay_that_is_not_authored_is_one_step",
        "`delaySteps` of 0": "delay_of_none_is_refused",
        "several targets": "every_target_is_driven",
        "targets that are axes of a generic joint": "axis_of_a_generic_joint_is_refused",
        "a controller of this package alone": "a_geared_motor_is_driven_at_the_joint a_file_that_newton_refuses",
        "a limit of this package alone": "a_motor_that_is_cut_off_is_limited",
        "an input that is NaN": "input_that_is_no_number_gives_no_effort",
        "a limit that is NaN": "limit_that_is_no_number_is_refused",
        "a transmission, `ActuatorTransmissionAPI`": "geared_motor_gives_the_same_efforts",
        "a linkage, `ActuatorLinkageAPI`": "motors_of_a_linkage_drive_their_joints_alone",
        "order of clamps": "plain_limit_is_the_last",
        "infinite saturation effort beside a finite velocity limit": "infinite_saturation_effort_is_no_speed_curve",
        "networks": "same_network_gives_the_same_efforts columns_of_the_callers_own_give_the_same_efforts",
    },
    "Networks": {
        "reading a file": "nothing_runs_opens_or_sends",
        "`allow_unsafe_torch_checkpoints`": "who_does_not_trust_is_told_what_and_how path_grants_it_where_it_was_named",
        "velocity that goes in": "agrees_with_the_oracle",
        "history of an MLP after a reset": "history_agrees_with_the_oracle first_step_fills_though_it_is_at_rest",
        "an operation that is": "what_cannot_be_said_is_refused_and_named states_that_are_not_kept_as_they_are_refused",
        "`modelPath` of a": "other_files_are_refused program_may_name_any_file listed_folders_are_open_to_any_stage",
        "`model_path` in `ActuatorParsed`": "model_type_chooses_the_class",
        "weights in another file": "weights_may_lie_in_the_folder_of_the_file weights_elsewhere_are_refused",
        "a file in a format of Torch's": "every_format_is_converted_bit_for_bit",
        "states": "state_has_the_names_and_shapes_of_newton states_of_files_of_torch_are_tensors_where_torch_is_used",
    },
    "Kept for compatibility": {
        "Only the prims of the first matched robot are read": "each_robot_gets_its_own_actuators",
        "Overlapping wrappers are allowed": "last_owner_restores",
        "A position-controlled integral": "law_agrees_with_the_oracle",
        "The delay also delays feedforward": "feedforward_passes_delay_and_clamp",
        "The velocity and effort limits of the USD drive": "limits_of_a_drive_do_not_clamp",
        "`reset()` keeps feedforward": "feedforward_takes_subsets_and_stays",
        "A feedforward on a joint without an actuator": "feedforward_passes_delay_and_clamp",
    },
    "Isaac Lab's models": {
        "limits of `ActuatorNetLSTM` of 2.3": "efforts_are_those_of_isaac_lab",
        "values that a cfg leaves out": "a_joint_that_a_dictionary_leaves_out limits_of_implicit_models",
        "`joint_effort_limit` of an explicit model": "the_solver_cuts_the_efforts_of_a_motor_again",
        "`stiffness` and such of an `ImplicitActuator` of": "a_drive_of_3_0_is_cut_at_its_joint_and_shows_its_motor",
        "`BamActuatorCfg` of the development branch": "stages_of_a_servo what_is_not_run_is_refused",
        "constant effort of a drive, on MuJoCo": "constant_effort_of_a_drive_goes_with_its_gains",
        "the cfg": "a_gear_turns_motor_limits_into_those_of_the_joint",
        "efforts that are not finite": "input_that_is_not_finite_stops_its_joint_for_a_step",
        "`_joint_vel` after the limits of a `DCMotor`": "limits_of_a_model_leave_the_speed_as_it_is",
        "a file with an `ArticulationCfg`, `load_groups`": "nothing_runs what_cannot_be_read_matters_where_it_is_used",
        "the side of `actuators compare --lab`": "it_moves_as_with_groups delays_that_are_drawn_have_the_largest",
    },
}


def lines() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = found.setdefault(line[3:], [])
        elif match := re.match(r"\| (?!subject \|)([^|]+) \||- (.+)", line):
            section.append(match[1] or match[2])
    return found


@functools.cache
def names_of_tests() -> set[str]:
    texts = [path.read_text("utf-8") for path in TESTS.rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^ *def test_(\w+)", text, re.MULTILINE)}


@cases("section", *TESTED)
def test_every_line_has_its_tests(section) -> None:
    there = lines()[section]
    assert len(there) == len(TESTED[section])
    for line, (subject, names) in zip(there, TESTED[section].items(), strict=True):
        assert line.startswith(subject), (line, subject)
        assert {*names.split()} <= names_of_tests(), subject


def test_every_section_is_here() -> None:
    assert list(lines()) == list(TESTED)
