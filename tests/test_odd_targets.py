"""Targets and weights of odd types are read as what they mean, or refused in words: never lost, never a crash."""

from __future__ import annotations

import enum
import warnings
from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from dubio import (
    FeatureSelector,
    FisherScore,
    InputError,
    LinearR2Score,
    apply_corrections,
    interval_targets,
    ordered_classes,
    positive_unlabelled,
    several_targets,
    soft_labels,
    supervised_laplacian_score,
)
from dubio.pipelines import DoubtClassifier, DoubtRegressor, evaluate_selection, known_r2
from dubio.target.reader import read_supervision

pytestmark = pytest.mark.filterwarnings("error")

N = 40
CODES = np.arange(N) % 2
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N, 3)) + CODES[:, None] * [0, 2, 1]
NUMBERS = X[:, 1] + _RNG.normal(size=N)
P = np.column_stack([1 - 0.9 * CODES, 0.9 * CODES])
FIRST = np.arange(N) < 8
HUGE = np.longdouble("1e1000")


class Stage(str, enum.Enum):  # noqa: UP042 - the older form, whose str() is not its value
    FIRST = "stage 1a"
    SECOND = "stage 2b"
    OTHER = "other"


STAGES = list(Stage)


def read(y: Any, **options: Any) -> Any:
    return read_supervision(y, N, **options)


# what text stands for


def test_the_members_of_a_text_enum_are_their_values() -> None:
    found = read([STAGES[i % 3] for i in range(N)])
    assert found.classes.tolist() == ["other", "stage 1a", "stage 2b"]
    assert soft_labels([set(STAGES[:2])] * N).classes.tolist() == ["stage 1a", "stage 2b"]
    ordered = read(ordered_classes([STAGES[i % 3] for i in range(N)], STAGES), target="ordered")
    assert ordered.classes.tolist() == ["stage 1a", "stage 2b", "other"]
    decisions = [{"row": 1, "given": "stage 1a", "decision": "change", "label": "other"}]
    assert apply_corrections([Stage.FIRST, Stage.OTHER], decisions).labels[0] == "other"


def test_text_with_a_null_character_at_its_end_is_not_merged_with_other_text() -> None:
    with pytest.raises(InputError, match="ends with a null character"):
        read([["a\0", "a"][i] for i in CODES])


def test_bytes_are_utf8() -> None:
    assert read(np.array(["é".encode(), b"b"])[CODES]).classes.tolist() == ["b", "é"]
    with pytest.raises(InputError, match="not UTF-8"):
        read(np.array([b"\xe9", b"b"])[CODES])


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_of_very_many_digits_as_text(digits: int) -> None:
    with pytest.raises(InputError):
        LinearR2Score().fit(X, ["9" * digits + f"{i:02d}" for i in range(N)])


# masks


@pytest.mark.parametrize(
    "values",
    [
        CODES,
        CODES == 1,
        CODES.astype(np.float32),
        np.array(["no", "yes"])[CODES],
        np.array(["no", "yes"], object)[CODES],
    ],
    ids=["int", "bool", "float", "text", "object"],
)
def test_masked_labels_are_unlabelled(values: Any) -> None:
    masked = np.ma.masked_array(values, mask=FIRST)
    found = read(masked)
    np.testing.assert_array_equal(found.labelled, ~FIRST)
    np.testing.assert_array_equal(found.codes[~FIRST], CODES[~FIRST])
    assert soft_labels(masked, confidence=np.full(N, 0.7)).most_likely[0] is None


def test_masked_numbers_dates_and_limits_are_not_known() -> None:
    np.testing.assert_array_equal(read(np.ma.masked_array(NUMBERS, FIRST), target="numbers").labelled, ~FIRST)
    days = np.ma.masked_array(np.arange(N).astype("datetime64[D]"), mask=FIRST)
    np.testing.assert_array_equal(read(days, target="auto").labelled, ~FIRST)
    limits = interval_targets(np.ma.masked_array(NUMBERS, FIRST), np.full(N, np.inf))
    assert np.isneginf(limits.low[FIRST]).all()


def test_masked_cells_in_other_forms_of_y() -> None:
    masked = np.ma.masked_array(CODES, mask=FIRST)
    assert read(ordered_classes(masked, [0, 1])).n_labelled == N - 8
    assert positive_unlabelled(masked, positive=1).is_positive.sum() == CODES[~FIRST].sum()
    assert apply_corrections(masked, []).labels[0] is None
    several = read(several_targets({"a": masked, "b": NUMBERS}), target="auto")
    assert several.parts[0].n_labelled == N - 8
    columns = np.ma.masked_array(np.column_stack([NUMBERS, X[:, 0]]), mask=np.column_stack([FIRST, ~FIRST]))
    assert [part.n_labelled for part in read(columns, target="numbers").parts] == [N - 8, 8]
    votes = soft_labels(np.ma.masked_array(np.column_stack([CODES, CODES]), mask=np.column_stack([FIRST, FIRST])))
    assert np.isnan(votes.memberships[FIRST]).all() and not np.isnan(votes.memberships[~FIRST]).any()


def test_masked_memberships() -> None:
    found = read(np.ma.masked_array(P, mask=np.column_stack([FIRST, FIRST])))
    np.testing.assert_array_equal(found.labelled, ~FIRST)
    with pytest.raises(InputError, match="some but not all class probabilities of row 0 "):
        read(np.ma.masked_array(P, mask=np.column_stack([FIRST, ~FIRST])))


def test_a_mask_without_effect_changes_nothing() -> None:
    assert read(np.ma.masked_array(CODES)).n_labelled == N


# names of the columns of probabilities


@pytest.mark.parametrize(
    ("columns", "classes"),
    [
        (None, [0, 1]),
        (["b", "a"], ["b", "a"]),
        (pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), ["('a', 'x')", "('a', 'y')"]),
    ],
    ids=["default", "text", "two levels"],
)
def test_a_frame_of_probabilities_names_the_classes(columns: Any, classes: list[Any]) -> None:
    frame = pd.DataFrame(P, columns=columns)
    assert read(frame).classes.tolist() == classes
    assert soft_labels(frame).classes.tolist() == classes
    model = DoubtClassifier(LogisticRegression()).fit(X, frame)
    assert model.classes_.tolist() == sorted(classes)
    told = pd.DataFrame(model.predict_proba(X), columns=model.classes_)[classes].to_numpy()
    assert np.mean(told.argmax(axis=1) == P.argmax(axis=1)) > 0.7


@pytest.mark.parametrize(("columns", "said"), [(["a", 1], "mixes types"), (["a", np.nan], "without a name")])
def test_names_of_classes_that_cannot_be_used(columns: list[Any], said: str) -> None:
    frame = pd.DataFrame(P, columns=columns)
    for use in (DoubtClassifier(LogisticRegression()).fit, FisherScore().fit):
        with pytest.raises(InputError, match=said):
            use(X, frame)
    with pytest.raises(InputError, match=said):
        soft_labels(frame)


def test_several_targets_in_a_frame_with_two_levels_of_names() -> None:
    frame = pd.DataFrame({("a", "x"): np.array(["no", "yes"])[CODES], ("a", "y"): NUMBERS})
    assert read(frame, target="auto").names == ("('a', 'x')", "('a', 'y')")


# numbers of any type


def test_floats_of_any_size_are_classes_and_probabilities() -> None:
    for kind in (np.float16, np.longdouble):
        FisherScore().fit(X, CODES.astype(kind))
        FisherScore().fit(X, np.eye(2)[CODES].astype(kind))
        assert read(P.astype(kind)).memberships == pytest.approx(P, abs=1e-3)


@pytest.mark.parametrize(
    "huge",
    [10**400, -(10**400), Fraction(10**400, 7), Decimal("1e999"), HUGE],
    ids=["int", "minus", "ratio", "decimal", "long"],
)
def test_numbers_beyond_float64_are_refused(huge: Any) -> None:
    y = [huge, *NUMBERS.tolist()[1:]]
    for target in ("numbers", "classes", "auto"):
        with pytest.raises(InputError, match="infinity"):
            read(y, target=target)
    with pytest.raises(InputError, match="inf"):
        read(np.full((N, 2), huge, dtype=object))
    with pytest.raises(InputError):
        interval_targets(y, y)
    with pytest.raises(InputError):
        LinearR2Score().fit(X, CODES, sample_weight=y)
    with pytest.raises(InputError, match="misses"):
        ordered_classes(y, [0, 1])
    with pytest.raises(InputError, match="not a value of y"):
        positive_unlabelled(y, positive="yes")


def test_an_array_of_long_floats_beyond_float64_is_refused() -> None:
    with pytest.raises(InputError, match="infinity"):
        read(NUMBERS.astype(np.longdouble) * HUGE, target="numbers")
    with pytest.raises(InputError):
        interval_targets(NUMBERS.astype(np.longdouble) * HUGE, np.full(N, np.inf))


@pytest.mark.parametrize("mark", ["NaN", "sNaN"])
def test_a_decimal_that_is_no_number_is_missing(mark: str) -> None:
    y = [Decimal(mark) if first else Decimal(int(code)) for first, code in zip(FIRST, CODES, strict=True)]
    np.testing.assert_array_equal(read(y).labelled, ~FIRST)
    np.testing.assert_array_equal(read(y, target="numbers").labelled, ~FIRST)
    assert read(ordered_classes(y, [0, 1])).n_labelled == N - 8
    assert positive_unlabelled(y, positive=1).is_positive.sum() == CODES[~FIRST].sum()
    assert np.isinf(interval_targets(y, y).low[FIRST]).all()


def test_fractions_are_numbers() -> None:
    found = read([Fraction(i, 7) for i in range(N)], target="numbers")
    assert found.values == pytest.approx(np.arange(N) / 7)


def test_complex_numbers_among_objects_are_refused() -> None:
    odd = np.array([np.complex128(value) for value in NUMBERS], dtype=object)
    for use in (lambda: read(odd), lambda: interval_targets(odd, odd)):
        with pytest.raises(InputError):
            use()
    with pytest.raises(InputError, match="complex"):
        FisherScore().fit(X, CODES, sample_weight=odd)
    with pytest.raises(InputError, match="does not hold real numbers"):
        soft_labels(CODES, confidence=odd)


# times


def test_no_date_at_all_is_no_label() -> None:
    with pytest.raises(InputError, match="no labelled row"):
        FisherScore().fit(X, pd.Series([pd.NaT] * N))


def test_durations_in_years_are_read_alike_in_arrays_and_among_objects() -> None:
    years = np.arange(N).astype("timedelta64[Y]")
    among_objects = np.empty(N, dtype=object)
    among_objects[:] = list(years)
    np.testing.assert_array_equal(read(among_objects, target="numbers").values, read(years, target="numbers").values)


# weights


@pytest.mark.parametrize(
    "weight",
    [np.where(CODES, np.inf, -np.inf), [10**400] * N, np.full(N, HUGE)],
    ids=["infinite", "huge", "long"],
)
def test_weights_that_are_no_finite_numbers(weight: Any) -> None:
    with pytest.raises(InputError, match="sample_weight cannot be used"):
        FisherScore().fit(X, CODES, sample_weight=weight)


def test_masked_weights_are_refused() -> None:
    with pytest.raises(InputError, match="its mask would be ignored"):
        FisherScore().fit(X, CODES, sample_weight=np.ma.masked_array(np.ones(N), mask=FIRST))
    FisherScore().fit(X, CODES, sample_weight=np.ma.masked_array(np.ones(N)))


# makers of targets


def test_one_column_of_probabilities_is_one_class() -> None:
    found = soft_labels(np.ones((N, 1)))
    assert found.shape == (N, 1)
    with pytest.raises(InputError, match="only one class"):
        FisherScore().fit(X, found)


def test_infinite_counts_are_refused() -> None:
    with pytest.raises(InputError, match="contains infinity"):
        soft_labels(np.full((N, 2), np.inf), normalize=True)


@pytest.mark.parametrize(
    "make",
    [range, lambda n: pa.array(range(n)), lambda n: pl.Series(range(n)), lambda n: deque(range(n)), pd.RangeIndex],
    ids=["range", "pyarrow", "polars", "deque", "index"],
)
def test_rows_can_be_chosen_of_targets_of_any_type(make: Any) -> None:
    some = several_targets({"a": make(N), "b": NUMBERS})
    assert np.asarray(some[np.arange(3)].targets["a"]).tolist() == [0, 1, 2]
    assert np.asarray(some[np.arange(N) > 36].targets["a"]).tolist() == [37, 38, 39]


def test_several_targets_keep_what_a_target_knows_besides_its_cells() -> None:
    stage = pd.Categorical(np.array(["low", "mid", "top"])[np.arange(N) % 3], ["top", "mid", "low"], ordered=True)
    soft = pl.DataFrame({"b": P[:, 0], "a": P[:, 1]})
    found = read(several_targets({"stage": stage, "soft": soft})[np.arange(N)], target="auto")
    assert [part.classes.tolist() for part in found.parts] == [["top", "mid", "low"], ["b", "a"]]


@pytest.mark.parametrize("odd", [np.array(3), {1, 2}, b"ab"], ids=["number", "set", "bytes"])
def test_a_target_that_is_not_one_value_per_row(odd: Any) -> None:
    with pytest.raises(InputError, match="give one value per row"):
        several_targets({"a": odd, "b": NUMBERS})


# models


@pytest.mark.parametrize(
    "y",
    [
        soft_labels(P, classes=["a", "b"]),
        pd.DataFrame({"a": NUMBERS, "b": X[:, 0]}),
        interval_targets(NUMBERS, NUMBERS + 1),
    ],
    ids=["probabilities", "two numbers", "intervals"],
)
def test_a_regressor_says_what_it_needs(y: Any) -> None:
    with pytest.raises(InputError, match="one number per row"):
        DoubtRegressor(Ridge()).fit(X, y)
    with pytest.raises(InputError, match="one number per row"):
        known_r2(Ridge().fit(X, NUMBERS), X, y)


def test_the_score_of_a_regressor_does_not_depend_on_the_unit() -> None:
    scores = [DoubtRegressor(Ridge()).fit(X, NUMBERS * unit).score(X, NUMBERS * unit) for unit in (1.0, 1e150, 1e200)]
    assert scores == pytest.approx([scores[0]] * 3)


def test_the_evaluation_takes_lists() -> None:
    options: dict[str, Any] = {"n_splits": 2, "n_repeats": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        lists = evaluate_selection(FisherScore(), LogisticRegression(), X.tolist(), CODES.tolist(), **options)
        arrays = evaluate_selection(FisherScore(), LogisticRegression(), X, CODES, **options)
    np.testing.assert_array_equal(lists.by_size, arrays.by_size)


@pytest.mark.parametrize("table", [[[1, 2], [3]], NUMBERS, NUMBERS.tolist()], ids=["ragged", "array", "list"])
def test_the_evaluation_refuses_what_is_no_table(table: Any) -> None:
    with pytest.raises(InputError, match="X has"):
        evaluate_selection(FisherScore(), LogisticRegression(), table, CODES)


def test_the_evaluation_refuses_dask() -> None:
    da = pytest.importorskip("dask.array")
    for table, y in ((da.from_array(X), CODES), (X, da.from_array(CODES))):
        with pytest.raises(InputError, match="in memory"):
            evaluate_selection(FisherScore(), LogisticRegression(), table, y)


def test_one_dask_series_is_not_several_targets() -> None:
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(InputError, match="has 1 dimensions"):
        several_targets(dd.from_pandas(pd.Series(NUMBERS), npartitions=2))


def test_labels_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="which is no valid text"):
        FisherScore().fit(np.arange(8.0).reshape(4, 2), ["a", "b\ud800", "a", "b\ud800"])


def test_the_largest_numbers_raise_no_warning():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.5, 1.7e308, -1.7e308)
    assert FeatureSelector("linear_r2", n_features_to_select=1, target="numbers").fit(rng.normal(size=(30, 2)), y)
    with pytest.raises(InputError, match="too large to square"):
        supervised_laplacian_score(rng.normal(size=(30, 2)), y)
