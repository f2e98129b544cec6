"""The one result type and the count of features to keep."""

import numpy as np
import pytest

from dubio.ranking import Ranking, rank_scores, resolve_count


@pytest.mark.parametrize(
    ("share", "of", "kept"), [(0.29, 100, 29), (0.57, 100, 57), (0.5, 7, 3), (1.0, 7, 7), (0.001, 7, 1)]
)
def test_shares_are_not_lost_to_binary_fractions(share, of, kept):
    assert resolve_count(share, of)[0] == kept


def test_equal_scores_keep_the_order_of_the_columns():
    np.testing.assert_array_equal(rank_scores(np.array([1.0, 0.0, 1.0]), lower_is_better=True), [2, 1, 3])
    np.testing.assert_array_equal(rank_scores(np.array([1.0, 0.0, 1.0]), lower_is_better=False), [1, 3, 2])


def test_names_are_escaped_in_html():
    page = Ranking.from_scores([1.0], names=["<img src=x onerror=alert(1)>"], method="<b>")._repr_html_()
    assert "<img" not in page and "<b>" not in page


def test_what_a_column_is_about_is_recorded_and_not_read_from_its_name():
    ranking = Ranking.from_scores([1.0, 2.0]).with_columns({"effect of surgery": np.array([0.2, 0.4])})
    ranking = ranking.with_details({"effect of rare": np.zeros(2)}).with_details({"effect of ill": np.ones(2)})
    assert ranking.details == {"effect of rare", "effect of ill"} <= set(ranking.to_frame())
    assert list(ranking.without_rare(["ill"]).extras) == ["effect of surgery"]
