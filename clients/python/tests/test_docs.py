"""The listings of the documentation stand, line by line, in files that tests run."""

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [*(ROOT / "Examples" / "python").rglob("*.py"), *(ROOT / "clients" / "python" / "tests").glob("*.py")]


@pytest.mark.parametrize("page", ["docs/python.md", "clients/python/README.md"])
def test_listings_are_from_files_that_are_run(page):
    listings = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert listings
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    for listing in listings:
        # A listing may be the inside of a function.
        forms = [listing, textwrap.indent(listing, "    ")]
        assert any(form in text for form in forms for text in texts), f"{page} has a listing of its own:\n{listing}"
