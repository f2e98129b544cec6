"""Feature selection by dubio and by its peers, compared over many kinds of doubt: ``docs/comparison.md``.

``python -m benchmarks.selection --help`` says how to run it.
"""
