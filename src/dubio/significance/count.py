"""The warning that nothing in a table stands out."""

from __future__ import annotations

from dubio.errors import InputWarning


class NoFeatureStandsOut(InputWarning):
    """Nothing in the table is clearly related to what is known of the target."""
