"""Every answer passes its own check, or is none."""

from dataclasses import replace

import pytest

from ossb.errors import CertificationError
from ossb.structures import Classical, bound


class Boastful(Classical):
    """Claims more than it proves."""

    def solve(self, gap):
        answer = super().solve(gap)
        return replace(answer, lower=2.0 * answer.lower, upper=2.0 * answer.upper)


class Careless(Classical):
    """Gives rates that tell too little apart."""

    def solve(self, gap):
        answer = super().solve(gap)
        return replace(answer, support=[(arm, 0.5 * rate) for arm, rate in answer.support])


@pytest.mark.parametrize(("kind", "what"), [(Boastful, "lower"), (Careless, "rates")])
def test_an_answer_that_fails_its_check_is_refused(kind, what):
    with pytest.raises(CertificationError, match=f"does not pass its own check: {what}"):
        bound(kind(theta=[1.0, 0.5, 0.2]))
