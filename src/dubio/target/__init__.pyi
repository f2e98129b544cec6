# ruff: isort: skip_file
from dubio.target.classes import SoftLabels as SoftLabels
from dubio.target.intervals import IntervalLabels as IntervalLabels
from dubio.target.knowledge import Supervision as Supervision
from dubio.target.ordered import OrderedLabels as OrderedLabels
from dubio.target.positives import PositiveLabels as PositiveLabels
from dubio.target.several import SeveralLabels as SeveralLabels
