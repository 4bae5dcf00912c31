"""The simulators that there are."""

import pytest
from physics_engines import ENGINES, installed


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return installed(request.param)
