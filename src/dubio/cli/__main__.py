"""``python -m dubio.cli``."""

from dubio.cli import main

main()
