"""Launches of kernels whose arguments are packed once."""

import warp as wp
from isaacsim.core.experimental.actuators.engine.launches import Launches
from warp_arrays import floats


@wp.kernel
def add_kernel(step: float, values: wp.array[float], total: wp.array[float]):
    i = wp.tid()
    total[i] = total[i] + step * values[i]  # pyright: ignore[reportOperatorIssue]


def test_a_launch_reads_its_arrays_anew_and_keeps_its_numbers() -> None:
    launches = Launches(wp.get_device("cpu"))
    values, total = floats([1.0, 2.0]), floats([0.0, 0.0])
    for step, expected in ((1.0, [1.0, 2.0]), (1.0, [2.0, 4.0]), (3.0, [5.0, 10.0])):
        launches.for_arguments(values, step)
        launches.run("add", add_kernel, 2, [step, values], [total])
        assert total.numpy().tolist() == expected
    values.fill_(0.5)
    launches.run("add", add_kernel, 2, [], [])
    assert total.numpy().tolist() == [6.5, 11.5]
    launches.for_arguments(floats([1.0, 2.0]), 3.0)
    launches.run("add", add_kernel, 1, [1.0, values], [total])
    assert total.numpy().tolist() == [7.0, 11.5]


def test_other_names_are_other_launches() -> None:
    launches = Launches(wp.get_device("cpu"))
    values, total = floats([1.0]), floats([0.0])
    for _ in range(2):
        for name in (1, ("down", True)):
            launches.run(name, add_kernel, 1, [4.0 if name == 1 else -1.0, values], [total])
    assert total.numpy().tolist() == [6.0]
