"""The demo ranks and writes its page."""

from dubio import demo


def test_demo_prints_the_ranking_and_writes_a_page(tmp_path, capsys):
    page = demo.run(tmp_path / "page.html")
    shown = capsys.readouterr().out
    assert "proline" in shown and "clean labels say" in shown and str(page) in shown
    text = page.read_text()
    assert text.startswith("<!doctype html>") and text.count("<tr>") == 14
