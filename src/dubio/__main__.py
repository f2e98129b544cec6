"""``python -m dubio``."""

from dubio.cli import main

main()
