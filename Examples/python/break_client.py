"""Breaks the client on purpose, one habit at a time, and shows that the test which is about that habit fails, and how.

break_client.py: ends with 0 when each broken client fails its test, and the good one passes all of them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# What is broken, the test that must fail, the client's text, and what stands there instead.
BROKEN = [
    ("gives up when it loses its connection", "comes_back_at_once", "delays = iter(self._delays)", "pass"),
    ("always tries again at once", "waits_longer_each_time", "await asyncio.sleep(delay)", "await asyncio.sleep(0)"),
    ("sends no pings", "notices_a_silent_connection", '"ping_interval": ping,', '"ping_interval": None,'),
    (
        "shows the last message again on a new connection",
        "hears_everything_once_and_in_order",
        'self._on_message(*message["arguments"])',
        """self._connection is not getattr(self, "_before", self._connection) and self._on_message(*self._last)
                self._before, self._last = self._connection, message["arguments"]
                self._on_message(*message["arguments"])""",
    ),
    (
        "forgets what was not acknowledged",
        "says_again_what_was_not_acknowledged",
        "self._connection = connection\n",
        "self._connection = connection\n        self._unacknowledged.clear()\n",
    ),
    (
        "says all it ever said on a new connection",
        "says_nothing_twice",
        '_, acknowledged = self._unacknowledged.pop(message["invocationId"])',
        """call, acknowledged = self._unacknowledged[message["invocationId"]]
                self._unacknowledged[message["invocationId"]] = (call, asyncio.Future())""",
    ),
    (
        "ends when something is acknowledged twice",
        "bears_a_second_acknowledgement",
        ' and message["invocationId"] in self._unacknowledged',
        "",
    ),
    ("keeps its old token", "shows_a_new_token_when_the_old_one_is_refused", "self._token = None\n", "pass\n"),
    (
        "tries once to come back",
        "outlives_a_restart_of_the_server",
        "delays = iter(self._delays)",
        "delays = iter(self._delays[:1])",
    ),
    ("never gives up", "gives_up_in_the_end", "delay = next(delays, None)", "delay = next(delays, 0.3)"),
    (
        "shows whatever the server says",
        "leaves_what_it_does_not_know_alone",
        ' and message["target"] == "ReceiveMessage"',
        "",
    ),
    ("comes back although it is banned", "stays_away_when_it_is_banned", "closed.rcvd.code == 4001", "False"),
]


def run(client, test):
    """The exit code and the output of the tests whose names contain `test`, with this client."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "chat_client.py").write_text(client, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={folder}", "-k", test]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False, env=os.environ)
    return done.returncode, done.stdout


def main():
    good = (HERE / "chat_client.py").read_text(encoding="utf-8")
    code, output = run(good, "test_")
    if code != 0:
        sys.exit(f"the client as it is does not pass:\n{output}")
    print("passed  the client as it is")
    survived = 0
    for habit, test, text, instead in BROKEN:
        if good.count(text) != 1:
            sys.exit(f"chat_client.py has this {good.count(text)} times: {text}")
        code, output = run(good.replace(text, instead), test)
        why = next((line for line in output.splitlines() if "(exit " in line or line.startswith("E  ")), output[-300:])
        print(f"{'failed' if code == 1 else 'PASSED'}  {habit}: test_{test}\n        {why.strip()[:160]}")
        survived += code != 1
    sys.exit(f"{survived} broken clients were not found" if survived else 0)


if __name__ == "__main__":
    main()
