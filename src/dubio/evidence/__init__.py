"""Tests: which features are related to the target."""
