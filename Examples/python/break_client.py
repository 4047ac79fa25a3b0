"""Breaks each client on purpose, one habit at a time, and shows that the test which is about that habit fails, and how.

break_client.py [CLIENT…]: ends with 0 when each broken client fails its test, and the good one passes all of them. The clients
are chat_client, pysignalr_chat and gql_counters; without names all are tried.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# For each client: what is broken, the test that must fail, what that has to say, the client's text, and what stands there
# instead.
BROKEN = {
    "chat_client": [
        ("gives up when it loses its connection", "comes_back_at_once", r"exit", "delays = iter(self._delays)", "pass"),
        (
            "always tries again at once",
            "waits_longer_each_time",
            r"delays\(0s, 300ms, 1500ms.* is not met: retry 2",
            "await asyncio.sleep(delay)",
            "await asyncio.sleep(0)",
        ),
        (
            "sends no pings",
            "notices_a_silent_connection",
            # It never comes back, so that it never says the rest either.
            r"detects\(within=3s\) is not met|1 client message never came",
            '"ping_interval": ping,',
            '"ping_interval": None,',
        ),
        (
            "shows the last message again on a new connection",
            "hears_everything_once_and_in_order",
            r"At index 4 diff",
            'self._on_message(*message["arguments"])',
            """self._connection is not getattr(self, "_before", self._connection) and self._on_message(*self._last)
                self._before, self._last = self._connection, message["arguments"]
                self._on_message(*message["arguments"])""",
        ),
        (
            "forgets what was not acknowledged",
            "says_again_what_was_not_acknowledged",
            r"keeps\(SendMessage\) is not met",
            "self._connection = connection\n",
            "self._connection = connection\n        self._unacknowledged.clear()\n",
        ),
        (
            "says all it ever said on a new connection",
            "says_nothing_twice",
            r"once\(SendMessage\) is not met",
            '_, acknowledged = self._unacknowledged.pop(message["invocationId"])',
            """call, acknowledged = self._unacknowledged[message["invocationId"]]
                self._unacknowledged[message["invocationId"]] = (call, asyncio.Future())""",
        ),
        (
            "ends when something is acknowledged twice",
            "bears_a_second_acknowledgement",
            r"KeyError|exit|diff",
            ' and message["invocationId"] in self._unacknowledged',
            "",
        ),
        (
            "keeps its old token",
            "shows_a_new_token_when_the_old_one_is_refused",
            r"the second",
            "self._token = None\n",
            "pass\n",
        ),
        (
            "tries once to come back",
            "outlives_a_restart_of_the_server",
            r"exit|diff",
            "delays = iter(self._delays)",
            "delays = iter(self._delays[:1])",
        ),
        (
            "never gives up",
            "gives_up_in_the_end",
            r"TimeoutError|gives-up",
            "delay = next(delays, None)",
            "delay = next(delays, 0.3)",
        ),
        (
            "shows whatever the server says",
            "leaves_what_it_does_not_know_alone",
            r"rain",
            ' and message["target"] == "ReceiveMessage"',
            ' and len(message["arguments"]) == 2',
        ),
        (
            "comes back although it is banned",
            "stays_away_when_it_is_banned",
            r"stays-away|DID NOT RAISE",
            "closed.rcvd.code == 4001",
            "False",
        ),
    ],
    "pysignalr_chat": [
        (
            "gives up when it loses its connection",
            "comes_back_at_once",
            r"client message never came",
            "self._client, self._left = client, iter(self._delays)",
            "self._client = client",
        ),
        (
            "always tries again at once",
            "waits_longer_each_time",
            r"delays\(0s, 300ms, 1500ms.* is not met: retry 2",
            "await asyncio.sleep(delay)",
            "await asyncio.sleep(0)",
        ),
        (
            "trusts a connection that is silent",
            "notices_a_silent_connection",
            r"detects\(within=3s\) is not met",
            "connection.cancel()",
            "pass",
        ),
        (
            "shows the last message again on a new connection",
            "hears_everything_once_and_in_order",
            r"At index 4 diff: 'fine, thanks' != 'see you tomorrow'",
            "self._on_message(*arguments)",
            """self._client is not getattr(self, "_before", self._client) and self._on_message(*self._last)
        self._before, self._last = self._client, arguments
        self._on_message(*arguments)""",
        ),
        (
            "forgets what was not acknowledged",
            "says_again_what_was_not_acknowledged",
            r"keeps\(SendMessage\) is not met",
            "for number in list(self._unacknowledged):",
            "for number in ():",
        ),
        (
            "says all it ever said on a new connection",
            "says_nothing_twice",
            r"once\(SendMessage\) is not met",
            "_, acknowledged = self._unacknowledged.pop(number)\n",
            """arguments, acknowledged = self._unacknowledged[number]
        self._unacknowledged[number] = arguments, asyncio.Future()
""",
        ),
        (
            "comes back although it is banned",
            "stays_away_when_it_is_banned",
            r"DID NOT RAISE WaitTimeout",
            "refused.status == 403",
            "False",
        ),
        (
            "keeps its old token",
            "shows_a_new_token_when_the_old_one_is_refused",
            r"the second",
            "                self._token = None\n",
            "                pass\n",
        ),
        (
            "tries once to come back",
            "outlives_a_restart_of_the_server",
            r"client message never came",
            "iter(self._delays)",
            "iter(self._delays[:1])",
        ),
        (
            "never gives up",
            "gives_up_in_the_end",
            r"TimeoutError",
            "delay = next(self._left, None)",
            "delay = next(self._left, 0.3)",
        ),
    ],
    "gql_counters": [
        (
            "never has enough",
            "counts",
            r"TimeoutError",
            "await results.aclose()\n                break",
            "pass",
        ),
        (
            "starts the first subscription alone again",
            "subscribes_again",
            r"resubscribes is not met",
            "left = [counter for counter in self._counters if not counter.is_over]",
            """left = [counter for counter in self._counters if not counter.is_over]
        left = left[:1] if any(counter.seen for counter in left) else left""",
        ),
        (
            "always tries again at once",
            "waits_longer_each_time",
            r"delays\(0s, 300ms, 1500ms.* is not met: retry 2",
            "await asyncio.sleep(delay)",
            "await asyncio.sleep(0)",
        ),
        (
            "sends no pings",
            "notices_a_silent_connection",
            r"TimeoutError",
            "ping_interval=self._ping,",
            "ping_interval=None,",
        ),
        (
            "forgets on a new connection what it has shown",
            "shows_nothing_again_on_a_new_connection",
            r"At index 0 diff: \[1, 2, 3, 3",
            "newest = self.seen[-1] if self.seen else 0",
            "newest = 0",
        ),
        (
            "takes every result for a new one",
            "shows_once_what_comes_twice",
            r"At index 1 diff: \[1, 2, 2, 3, 4\]",
            'if result["counter"] > newest:',
            "if result:",
        ),
        (
            "keeps its old token",
            "shows_a_new_token_when_the_old_one_is_refused",
            r"the second",
            "                self._token = None\n",
            "                pass\n",
        ),
        (
            "knows WebSockets alone",
            "falls_back_where_there_are_no_websockets",
            r"the server cannot be reached",
            "self._has_websockets = self._http_url is None",
            "self._has_websockets = True",
        ),
        (
            "tries once to come back",
            "outlives_a_restart_of_the_server",
            r"the server cannot be reached",
            "delays = iter(self._delays)",
            "delays = iter(self._delays[:1])",
        ),
        (
            "never gives up",
            "gives_up_in_the_end",
            r"TimeoutError",
            "delay = next(delays, None)",
            "delay = next(delays, 0.3)",
        ),
        (
            "comes back although it is not wanted",
            "stays_away_when_it_is_not_wanted",
            r"DID NOT RAISE Refused",
            "(4400, 4401, 4409)",
            "(4400, 4409)",
        ),
    ],
}


def run(name, client, test):
    """The exit code and the output of the client's tests whose names contain `test`, with this text of the client."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{name}.py").write_text(client, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={folder}", "-k", test]
        command.append(f"tests/test_{name}.py")
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False, env=os.environ)
    return done.returncode, done.stdout


def try_client(name):
    """How many of its broken copies passed, or failed for another reason."""
    good = (HERE / f"{name}.py").read_text(encoding="utf-8")
    code, output = run(name, good, "test_")
    if code != 0:
        sys.exit(f"{name} as it is does not pass:\n{output}")
    print(f"passed  {name} as it is")
    survived = 0
    for habit, test, reason, text, instead in BROKEN[name]:
        if good.count(text) != 1:
            sys.exit(f"{name}.py has this {good.count(text)} times: {text}")
        code, output = run(name, good.replace(text, instead), test)
        # Of the output only what was found, and not the test's own source, which names its policy as well. 1 is pytest's code
        # for tests that failed: a broken client that cannot even be imported ends with another one.
        said = [line.strip() for line in output.splitlines() if "(exit " in line or line.startswith("E  ")]
        is_found = code == 1 and any(re.search(reason, line) for line in said)
        word = "failed" if is_found else "PASSED" if code == 0 else "WRONG"
        why = next((line for line in said if re.search(reason, line)), " ".join(said) or output[-300:])
        print(f"{word:<8}{habit}: test_{test}\n        {why[:160]}")
        survived += not is_found
    print(f"{name}: {len(BROKEN[name]) - survived} of {len(BROKEN[name])} broken clients failed their test")
    return survived


def main():
    names = sys.argv[1:] or list(BROKEN)
    for name in names:
        if name not in BROKEN:
            sys.exit(f"there is no client {name}: {', '.join(BROKEN)}")
    survived = sum(map(try_client, names))
    sys.exit(f"{survived} broken clients were not found" if survived else 0)


if __name__ == "__main__":
    main()
