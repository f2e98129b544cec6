"""Random calls of everything public, to find what breaks.

A call is made from its seed alone: a table, a target, parameters, and what is checked afterwards. Its outcome is fine,
a refusal (an ``InputError``, or one line and exit code 2 from the command), or a fault. ``python -m fuzz --help``.
"""
