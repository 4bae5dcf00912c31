from isaacsim.core.experimental.actuators.tools.identification.excitation_plan import ExcitationPlan
from refusals import cases, refused


@cases(
    "given, said",
    ({"kinds": ["chirp", "wiggle"]}, "kinds = wiggle: must be some of chirp, multisine, steps, holds"),
    ({"kinds": []}, "kinds = "),
    ({"seconds": 0.0}, "seconds = 0.0: must be a finite number > 0"),
    ({"rate": float("inf")}, "rate = inf"),
    ({"share": 1.5}, "share = 1.5: must be at most 1"),
    ({"amplitude": -0.1}, "amplitude = -0.1"),
    ({"speed": 0.0}, "speed = 0.0"),
    ({"frequency": 30.0, "rate": 50.0}, "frequency = 30.0: must be below half the rate, 25 Hz"),
    ({"seconds": 1e9}, r"seconds = 1e\+09, rate = 200: must be at most 2000000 commands together"),
    ({"rate": 1e12}, r"seconds = 40, rate = 1e\+12: must be at most"),
    ({"joints": ["hip", "((("]}, r"joints = '\(\(\(': must be a regular expression, but missing"),
    ({"joints": ["(a+)+"]}, r"joints = '\(a\+\)\+': can take years"),
    ({"seed": -1}, "seed = -1: must not be negative"),
)
def test_odd_plans_are_refused(given, said) -> None:
    refused(ValueError, lambda: ExcitationPlan(**given), said)


def test_the_highest_frequency_follows_the_rate() -> None:
    assert ExcitationPlan().top == 5.0 and ExcitationPlan(rate=20.0).top == 2.0
    assert ExcitationPlan(rate=20.0, frequency=3.0).top == 3.0
