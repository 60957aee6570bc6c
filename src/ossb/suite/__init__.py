"""ossb-suite: named instances with fixed seeds, and frozen rows to score a policy beside."""

from ossb.suite.definition import Suite, SuiteInstance, suite, versions
from ossb.suite.frozen import Frozen, frozen
from ossb.suite.lines import Line

__all__ = ["Frozen", "Line", "Suite", "SuiteInstance", "frozen", "suite", "versions"]
