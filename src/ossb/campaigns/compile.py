"""Compile a policy's step into the disk cache: ``python -m ossb.campaigns.compile < definition``.

A campaign starts this beside itself, because compiling holds the interpreter for seconds.
"""

import json
import os
import sys

from ossb.campaigns.player import Player
from ossb.instances import from_dict


def main(text: str) -> None:
    """Compile for a definition in JSON."""
    wanted = json.loads(text)
    Player(from_dict(wanted["instance"]), wanted["policy"]).compile()


if __name__ == "__main__":
    os.nice(10)
    main(sys.stdin.read())
