"""``python -m ossb``: the command line."""

from ossb.cli import main

main()
