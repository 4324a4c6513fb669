"""The page about a model, in a real browser without a window: no request, no error, no two boxes one above the other, and a name for every picture."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import privet
from conftest import columns

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Browser:
    """A browser that is spoken to over a pipe: Chrome's DevTools protocol, messages ended by a zero byte."""

    def __init__(self, home):
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --remote-debugging-pipe"
        line = f'exec "{BROWSER}" {flags} --user-data-dir="{home}" about:blank 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", line], pass_fds=[theirs_in, theirs_out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs_in), os.close(theirs_out)
        self._out, self._in = ours_out, os.fdopen(ours_in, "rb")
        self._number, self._rest, self.events, self._session = 0, b"", [], None
        page = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def __call__(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found
                return found["result"]

    def _next(self):
        while b"\0" not in self._rest:
            more = self._in.read1(1 << 16)
            assert more, "the browser ended"
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        found = json.loads(line)
        if "method" in found:
            self.events.append(found)
        return found

    def wait(self, event):
        while not any(found["method"] == event for found in self.events):
            self._next()

    def close(self):
        self._process.terminate()
        self._process.wait()


OVERLAPS = """(() => {
  const clash = all => {
    const boxes = all.map(e => [e, e.getBoundingClientRect()]).filter(([, b]) => b.width && b.height);
    const found = [];
    boxes.forEach(([e, a], i) => boxes.slice(i + 1).forEach(([f, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 2 && !e.contains(f) && !f.contains(e)) found.push([e.textContent.slice(0, 40), f.textContent.slice(0, 40)]);
    }));
    return found;
  };
  const texts = [...document.querySelectorAll('svg')].flatMap(svg => clash([...svg.querySelectorAll('text')]));
  const outside = [...document.querySelectorAll('svg')].flatMap(svg => {
    const own = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(t => {
      const b = t.getBoundingClientRect();
      return b.left < own.left - 1 || b.right > own.right + 1 || b.bottom > own.bottom + 1;
    }).map(t => t.textContent);
  });
  const blocks = clash([...document.querySelectorAll('h1, h2, p, ul, table, figure, pre')]);
  return {texts, outside, blocks, wide: document.documentElement.scrollWidth > document.documentElement.clientWidth};
})()"""


@pytest.fixture
def browser(tmp_path):
    if BROWSER is None:
        pytest.skip("NO BROWSER: the page about a model is tested in a headless Chromium, and none is installed")
    browser = Browser(tmp_path / "browser")
    yield browser
    browser.close()


def page(people, schema, ledger, **parameters):
    model = privet.train(people, schema, ledger=ledger, epsilon=3, delta=1e-6, rows_about=100_000, **parameters)
    model.report("report.html", ledger=ledger)
    return model


def look(browser, path, width=900):
    for domain in ["Page", "Network", "Log", "Runtime", "Accessibility"]:
        browser(f"{domain}.enable")
    browser("Emulation.setDeviceMetricsOverride", width=width, height=1200, deviceScaleFactor=1, mobile=False)
    browser.events.clear()
    browser("Page.navigate", url=f"file://{os.path.abspath(path)}")
    browser.wait("Page.loadEventFired")
    found = browser("Runtime.evaluate", expression=OVERLAPS, returnByValue=True)
    assert "exceptionDetails" not in found, found
    return found["result"]["value"]


def test_the_page_in_a_browser(browser, schema, ledger):
    model = page(columns(4000), schema, ledger)
    assert model.explain().pairs, "pairs are drawn, too"
    found = look(browser, "report.html")
    assert found == {"texts": [], "outside": [], "blocks": [], "wide": False}
    asked = [event["params"]["request"]["url"] for event in browser.events if event["method"] == "Network.requestWillBeSent"]
    assert len(asked) == 1 and asked[0].endswith("report.html")
    wrong = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    assert [event for event in browser.events if event["method"] in wrong] == []
    tree = browser("Accessibility.getFullAXTree")["nodes"]
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    pictures = [name for role, name in named if role in ("image", "img")]
    assert len(pictures) > 5 and all(len(name) > 20 for name in pictures)
    headings = [name for role, name in named if role == "heading"]
    assert "Who is protected" in headings and "The budget" in headings and all(headings)
    assert ("RootWebArea", "A model of 'people'") in named and any(role == "main" for role, _ in named)
    assert any(role == "columnheader" for role, _ in named)
    if os.environ.get("PRIVET_SCREENSHOT"):
        import base64

        picture = browser("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(os.environ["PRIVET_SCREENSHOT"], "wb") as file:
            file.write(base64.b64decode(picture))


def test_long_names_and_many_values_do_not_overlap(browser, tmp_path):
    rng = np.random.default_rng(1)
    names = [f"a rather long value of a category, number {i}" for i in range(40)]
    rows = {
        "a column with quite a long name, in words": rng.uniform(0, 1e9, 3000),
        "category": np.array(names, dtype=object)[rng.integers(0, 40, 3000)],
        "x": rng.uniform(-1e-6, 1e-6, 3000),
        "y": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, 3000)],
    }
    rows["x"][::7] = np.nan
    schema = privet.Schema.of(
        {name: "float" if cells.dtype != object else "str" for name, cells in rows.items()},
        dataset="long",
        label="y",
        bounds={"a column with quite a long name, in words": (0, 1e9), "x": (-1e-6, 1e-6)},
        values={"category": names, "y": ["no", "yes"]},
    )
    ledger = privet.Ledger()
    ledger.limit(schema, epsilon=4, delta=1e-6)
    page(rows, schema, ledger, algorithm="trees", splits="mixed", trees=120)
    for width in (900, 420):
        found = look(browser, "report.html", width)
        assert (found["texts"], found["outside"], found["blocks"]) == ([], [], []), width


def test_a_page_of_what_cannot_be_shown_says_so(schema, ledger, people):
    page(people, schema, ledger, algorithm="trees", splits="random")
    with open("report.html", encoding="utf-8") as file:
        assert "cannot be shown column by column" in file.read()
