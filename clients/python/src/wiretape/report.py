"""What a run has shown, typed. `raw` is the report as the program wrote it (docs/verdict.md, docs/replay.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Attempt:
    """One attempt of a client to connect, with the connection that came of it."""

    number: int
    """1 for a session's first."""
    start_ms: float
    """When it began, in milliseconds of the client's clock since the first thing that a client did."""
    delay_ms: float | None
    """How long after the end before it; None for the first."""
    outcome: str
    """`connected`, `refused`, `status`, `handshake` or `abandoned`."""
    statuses: tuple[int | None, ...]
    """The HTTP statuses of its requests; None for one without an answer."""
    ended_by: str | None
    """`client`, `server`, `fault:RULE` or `replay`; None when it was open at the end of the run."""
    ended_how: str | None
    """Such as `reset`, `close 1000` or `503`."""
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class Session:
    """A recorded session as a client played it."""

    number: int
    run: int
    client: str
    protocol: str
    transports: tuple[str, ...]
    finished: bool
    """Whether all of it was played."""
    matched: int
    """How many messages of the client were those on the tape."""
    attempts: tuple[Attempt, ...]
    raw: Json = field(repr=False)

    @property
    def delays_ms(self) -> tuple[float, ...]:
        """How long each attempt but the first waited after the end before it."""
        return tuple(attempt.delay_ms for attempt in self.attempts if attempt.delay_ms is not None)

    @property
    def is_cut_off(self) -> bool:
        """Whether the run was ended while the client was connected and part of the session was still to come. The program
        passes such a run, since nobody knows what the client would have done."""
        return not self.finished and bool(self.attempts) and self.attempts[-1].ended_by is None


@dataclass(frozen=True)
class Fault:
    """A rule that fired."""

    rule: str
    t_ms: float
    session: int | None
    attempt: int | None
    action: str
    raw: Json = field(repr=False)


@dataclass(frozen=True)
class Unfired:
    """A rule that never fired."""

    rule: str
    reason: str
    optional: bool


@dataclass(frozen=True)
class Expectation:
    """A policy, and whether a session met it. One that could not be judged is not met."""

    policy: str
    session: int
    met: bool
    judged: bool
    expected: str
    actual: str
    reason: str


@dataclass(frozen=True)
class Report:
    """What a run has shown."""

    verdict: str
    """`pass`, `diverged` or `failed`."""
    exit_code: int
    """0 pass, 2 diverged, 5 an expectation or a rule; negative for a signal."""
    reason: str
    """Why, in a sentence."""
    text: str = field(repr=False)
    """All that the program wrote on standard error: divergences side by side with the tape, attempts, faults, verdict."""
    seed: int
    sessions: tuple[Session, ...]
    faults: tuple[Fault, ...]
    unfired: tuple[Unfired, ...]
    expectations: tuple[Expectation, ...]
    divergences: tuple[str, ...]
    appended: Json | None
    """The `events` and `connections` that the tape lacked and has now (`replay(add_from=…)`); None: nothing was added."""
    raw: Json = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the program's verdict is a pass."""
        return self.verdict == "pass" and self.exit_code == 0

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts of all sessions, session by session."""
        return tuple(attempt for session in self.sessions for attempt in session.attempts)

    @property
    def cut_off(self) -> tuple[Session, ...]:
        """The sessions that were cut off in the middle by the end of the run."""
        return tuple(session for session in self.sessions if session.is_cut_off)


def read_report(raw: Json, exit_code: int, reason: str | None, text: str) -> Report:
    """The report of the program's JSON. Raises KeyError, TypeError or ValueError when that is no report."""
    reasons = raw.get("reasons") or [""]
    return Report(
        verdict=str(raw["verdict"]),
        exit_code=exit_code,
        reason=reasons[0] if reason is None else reason,
        text=text,
        seed=int(raw["seed"]),
        sessions=tuple(_session(session) for session in raw["sessions"]),
        faults=tuple(
            Fault(fault["rule"], fault["t_ms"], fault.get("session"), fault.get("attempt"), fault["action"], fault)
            for fault in raw["faults"]
        ),
        unfired=tuple(Unfired(rule["rule"], rule["reason"], rule["optional"]) for rule in raw["unfired"]),
        expectations=tuple(_expectation(expectation) for expectation in raw["expectations"]),
        divergences=tuple(raw["divergences"]),
        appended=raw.get("appended"),
        raw=raw,
    )


def _session(raw: Json) -> Session:
    return Session(
        number=raw["session"],
        run=raw["run"],
        client=raw["client"],
        protocol=raw["protocol"],
        transports=tuple(raw["transports"]),
        finished=raw["finished"],
        matched=raw["matched"],
        attempts=tuple(_attempt(attempt) for attempt in raw["attempts"]),
        raw=raw,
    )


def _attempt(raw: Json) -> Attempt:
    ended = raw["ended"] or {}
    return Attempt(
        number=raw["n"],
        start_ms=raw["t_ms"],
        delay_ms=raw["delay_ms"],
        outcome=raw["outcome"],
        statuses=tuple(step.get("status") for step in raw["steps"]),
        ended_by=ended.get("by"),
        ended_how=ended.get("how"),
        raw=raw,
    )


def _expectation(raw: Json) -> Expectation:
    return Expectation(
        policy=raw["policy"],
        session=raw["session"],
        met=raw["met"],
        judged=raw["judged"],
        expected=raw["expected"],
        actual=raw["actual"],
        reason=raw["reason"],
    )
