"""Wiretape for Python tests: replays recorded realtime sessions to the client under test, with faults at exact places."""

from .binary import find_binary
from .errors import WaitTimeout, WiretapeError, WiretapeFailure
from .events import Event
from .record import Record, Recorder, record
from .replay import Replay, replay
from .report import Attempt, Expectation, Fault, Report, Session, Unfired
from .server import Server

__all__ = [
    "Attempt",
    "Event",
    "Expectation",
    "Fault",
    "Record",
    "Recorder",
    "Replay",
    "Report",
    "Server",
    "Session",
    "Unfired",
    "WaitTimeout",
    "WiretapeError",
    "WiretapeFailure",
    "find_binary",
    "record",
    "replay",
]
