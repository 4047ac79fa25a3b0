"""What `replay()` takes besides faults and expectations."""

import urllib.error
import urllib.request

import chat
import pytest

from wiretape import WiretapeFailure, replay


def status(url):
    """The status of a GET."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


async def test_a_plan_is_a_file_of_rules(chat_tape, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("rules:\n  - disconnect after ReceiveMessage[2]\n")
    async with replay(chat_tape, speed=10, plans=[plan], expect=["delays(0s, late=2s)"]) as server:
        await chat.chat(server.endpoint)
        report = await server.stop_async()
    assert [fault.rule for fault in report.faults] == ["disconnect after ReceiveMessage[2]"]


def test_what_is_not_on_the_tape(chat_tape):
    with pytest.raises(WiretapeFailure, match="/news") as failed, replay(chat_tape) as server:
        assert status(server.url + "/news") == 404
        server.wait("divergence")
    assert "/news" in failed.value.report.divergences[0]

    with replay(chat_tape, on_miss="204", options=["--allow-unplayed"]) as server:
        assert status(server.url + "/news") == 204


def test_what_is_not_on_the_tape_can_come_from_a_server(chat_tape):
    with replay(chat_tape, on_miss="418", options=["--allow-unplayed"]) as teapot:
        with replay(chat_tape, on_miss="passthrough", upstream=teapot.url, options=["--allow-unplayed"]) as server:
            assert status(server.url + "/tea") == 418


def test_variables_reach_the_program(chat_tape):
    with replay(chat_tape, env={"WIRETAPE_SEED": "7"}, options=["--allow-unplayed"]) as server:
        assert server.seed == 7
