"""The contracts of policies and structures, for tests of this package and of others.

``policy_checks`` and ``structure_checks`` list what must hold as checks that can be called one by
one; nothing here needs a test runner.
"""

from ossb.testing.checks import Check
from ossb.testing.examples import examples
from ossb.testing.policies import policy_checks
from ossb.testing.structures import structure_checks

__all__ = ["Check", "examples", "policy_checks", "structure_checks"]
