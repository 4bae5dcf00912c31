"""Report of an identification: one page with figures, tables and warnings, without markup of its data."""

import dataclasses
import re

from isaacsim.core.experimental.actuators.tools.identification.report import plot_identified, write_report
from made_up_identified import made_up
from refusals import refused


def test_page_says_all_and_needs_no_other_file(tmp_path) -> None:
    file = tmp_path / "report.html"
    write_report(made_up(), file)
    page = file.read_text("utf-8")
    assert not re.search(r"(src|href)=\"(?!data:)|https?:|<script", page)
    assert len(re.findall("data:image/png;base64,", page)) == 1
    assert "on the logs held out: <b>6 mrad or mm</b>; with the motors of the robot file 31" in page
    assert '<tr class="chosen"><td>coulomb &amp; viscous</td><td>1</td><td>4</td><td>6</td><td>chosen</td></tr>' in page
    assert "<tr><td>as shipped</td><td>0</td><td>20</td><td>30</td><td></td></tr>" in page
    assert "<td>0.25 ± 0.01</td><td>0.2 … 0.3</td><td>N·m</td><td>0.1</td><td></td>" in page
    assert "<td>0.0625</td><td>-</td><td>kg·m²</td><td>0.01</td><td>at a bound</td>" in page
    assert "<td>hinge</td><td>current</td><td>A</td><td>2</td><td>0.125</td><td>fitted</td>" in page
    assert "<td>temperature</td><td>°C</td><td>-</td><td>-</td><td>not fitted: &lt;it&gt; is too hot</td>" in page
    assert "<li>hinge: no network: it is &lt; 1.</li>" in page
    assert "<li>The logs have &lt;no&gt; fast motion.</li>" in page and "<held>" not in page


def test_picture_is_of_the_log_held_out(tmp_path) -> None:
    """Otherwise of the first; without logs there is none, and a page without picture."""
    found = made_up()
    assert "held out" in plot_identified(found, tmp_path / "picture.svg").get_suptitle()
    assert (tmp_path / "picture.svg").read_text("utf-8").startswith("<?xml")
    assert "swing.csv" in plot_identified(dataclasses.replace(found, replays=found.replays[:1])).get_suptitle()
    without = dataclasses.replace(found, replays=())
    refused(ValueError, lambda: plot_identified(without), "must hold a log to draw")
    write_report(without, tmp_path / "report.html")
    assert "data:image" not in (tmp_path / "report.html").read_text("utf-8")


def test_another_ending_is_refused(tmp_path) -> None:
    refused(ValueError, lambda: write_report(made_up(), tmp_path / "report.pdf"), r"must end in \.html")
    assert not list(tmp_path.iterdir())
