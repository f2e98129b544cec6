"""``python -m dubio``."""

from dubio_app.command import main

main()
