"""A campaign tried out before it is entered: one that cannot be played leaves nothing behind."""

from ossb.campaigns import looking
from ossb.campaigns.asking import choose
from ossb.campaigns.description import described
from ossb.campaigns.events import Event
from ossb.campaigns.player import Player
from ossb.campaigns.state import State

ROUGH = 1e-2  # relative gap of rates that nobody sees


def rehearse(created: Event, player: Player) -> None:
    """Do all that is done with a campaign to which nothing was told, and keep none of it.

    Raises whatever would keep the campaign from being looked at or asked.
    """
    state = State(created)
    described(state, 0.0)
    components, arms = state.tally.counts.size, len(state.reveals)
    view = looking.View(player, player.view(state.tally), components, 0, arms)
    looking.leader(view)
    looking.stopping(view, 0.5)
    looking.rates_at_estimate(view, ROUGH)
    choose(state, player, frozenset(state.retired), 1, 0.0, 0.0)
