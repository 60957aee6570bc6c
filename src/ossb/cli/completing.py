"""What a shell offers for a word that is begun."""


def policy_names(incomplete: str) -> list[str]:
    """Names of policies."""
    from ossb.policies import POLICIES

    return [name for name in POLICIES if name.startswith(incomplete)]


def experiment_names(incomplete: str) -> list[str]:
    """Names of bundled experiments; the shell itself offers files where there is none."""
    from ossb.experiments.definition import bundled

    return [name for name in bundled() if name.startswith(incomplete)]
