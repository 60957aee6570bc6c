"""A campaign tried out before it is entered: one that cannot be played leaves nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager

from ossb.campaigns import looking
from ossb.campaigns.asking import choose
from ossb.campaigns.description import described
from ossb.campaigns.events import Event
from ossb.campaigns.player import Player
from ossb.campaigns.state import State
from ossb.errors import InputError, OssbError, PolicyError

ROUGH = 1e-2  # relative gap of rates that nobody sees


def rehearse(created: Event, player: Player) -> None:
    """Do all that is done with a campaign to which nothing was told, and keep none of it.

    Raises whatever would keep the campaign from being looked at or asked.
    """
    state = State(created)
    with _refusing("instance", "be one that can be computed with"):
        described(state, 0.0)
        components, arms = state.tally.counts.size, len(state.reveals)
        view = looking.View(player, player.view(state.tally), components, 0, arms)
        looking.leader(view)
        looking.stopping(view, 0.5)
        looking.rates_at_estimate(view, ROUGH)
    with _refusing("policy", "have parameters that it can be played with"):
        choose(state, player, frozenset(state.retired), 1, 0.0, 0.0)


@contextmanager
def _refusing(field: str, must: str) -> Iterator[None]:
    """Numbers beyond what doubles and memory hold are bad input, and no failure of ours."""
    try:
        yield
    except PolicyError as error:
        if isinstance(error.__cause__, OssbError):
            raise error.__cause__ from None  # of the instance, say
        raise InputError(field, f"{must}: {error.fault}") from error
    except OssbError:
        raise
    except (ArithmeticError, MemoryError, ValueError) as error:
        raise InputError(field, f"{must}: {str(error) or type(error).__name__}") from error
