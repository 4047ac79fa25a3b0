"""Plays a tape to a client at one speed."""

import contextlib

from wiretape_tools.lib.processes import Failed, Wiretape


def play(stage, tape, speed, client, *options, during=None):
    """Plays the tape. client: a function that runs the client with the URL of the replay. options: of `wiretape replay`. during: a
    context manager of the running replay, in which the client runs. Returns what the client observes. Raises if the client fails,
    or if the replay ends with another exit code than 0."""
    with Wiretape(["replay", tape, "--speed", speed, *options], stage.path(".log")) as proxy:
        with during(proxy) if during else contextlib.nullcontext():
            try:
                seen = client(proxy.url)
            except Failed as failure:
                raise Failed(f"speed {speed}: {failure}\n      {proxy.said()}") from None
        if (code := proxy.stop()) != 0:
            raise Failed(f"replay at speed {speed} ended with {code}: {proxy.said()}")
    return seen
