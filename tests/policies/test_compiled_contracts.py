"""Every policy decides compiled as it does interpreted, on every structure and family it fits."""

import pytest

from policies.contract_cases import CHECKS, COMPILED, sampled


@pytest.mark.parametrize("check", [sampled(one) for one in CHECKS if one.name.startswith(COMPILED)])
def test_compiled_is_interpreted(check):
    check()
