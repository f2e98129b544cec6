"""A number with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean, with its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"

    def signed(self) -> str:
        """A difference, with its sign."""
        mean, low, high = (f"{round(value, 3) + 0.0:+.3f}" for value in (self.mean, self.low, self.high))
        return f"{mean}, interval {low} to {high}"
