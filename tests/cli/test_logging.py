"""What is logged tells where something went wrong, and quotes nobody."""

from __future__ import annotations

import logging
import subprocess
import sys

from pullstate.cli.options import Discreet

FAILS = """
import logging
from pullstate.cli.options import log_to_stderr
log_to_stderr("DEBUG")
log = logging.getLogger("pullstate.part")
log.debug("ours")
logging.getLogger("library").info("theirs")
logging.getLogger("library").warning("a warning of theirs")
try:
    try:
        raise KeyError("s3cret title")
    except KeyError as error:
        raise ValueError("s3cret token") from error
except ValueError as error:
    log.error("it failed", exc_info=error)
"""


def test_an_exception_is_logged_by_kind_and_place_without_its_text() -> None:
    done = subprocess.run([sys.executable, "-c", FAILS], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "it failed" in done.stderr
    assert "ValueError at" in done.stderr
    assert "from KeyError" in done.stderr
    assert "s3cret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_level_is_for_this_project_s_own_words() -> None:
    done = subprocess.run([sys.executable, "-c", FAILS], capture_output=True, text=True, check=True)
    assert "DEBUG pullstate.part: ours" in done.stderr
    assert "theirs" in done.stderr
    assert "INFO library" not in done.stderr


def test_a_record_without_an_exception_is_as_it_was() -> None:
    record = logging.LogRecord("a", logging.INFO, "f.py", 1, "words", (), None)
    assert Discreet("%(message)s").format(record) == "words"
