"""``python -m dubio_command``."""

from dubio_command import main

main()
