# ruff: isort: skip_file
from dubio.doubt.noise_model import NoiseModel as NoiseModel
from dubio.target.label_values import CorrectedLabels as CorrectedLabels
from dubio.target.checked import CheckedRows as CheckedRows, join_checks as join_checks
from dubio.trust.corrections import BeforeAndAfter as BeforeAndAfter, audit_left as audit_left, compare as compare
from dubio.trust.drawing import Draw as Draw, draw_rows as draw_rows, rows_needed as rows_needed
from dubio.trust.fingerprints import Fingerprints as Fingerprints, label_fingerprints as label_fingerprints
from dubio.trust.resampling import (
    NogueiraIndex as NogueiraIndex,
    Stability as Stability,
    nogueira_index as nogueira_index,
    problem_stability as problem_stability,
    stability as stability,
)
from dubio.trust.selection import Applied as Applied, KeptColumn as KeptColumn, Selection as Selection
from dubio.trust.tolerance import (
    LabelTolerance as LabelTolerance,
    label_tolerance as label_tolerance,
    problem_tolerance as problem_tolerance,
)
