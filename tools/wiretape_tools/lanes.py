"""What runs for which change: the test targets of each module, and the nightly steps with what they prove.

`tools/check` takes the test targets from here, `.ci/nightly` runs the steps, and `.ci/affected` prints those that a change calls
for. A module of Sources that is missing here fails all three, so that a new module cannot go untested unnoticed.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Unusable(Exception):
    """Why the question cannot be answered, as one sentence for the user."""


# The test targets of each folder of Sources. An empty list: no test target covers that folder.
TESTS = {
    "CWiretapeBrotli": ["WiretapeBytesTests"],
    "CWiretapeFuzzer": [],
    "CWiretapeLibdeflate": ["WiretapeBytesTests"],
    "CWiretapeOpenSSL": ["WiretapeTLSTests"],
    "CWiretapeUV": ["WiretapeNetTests"],
    "CWiretapeYAML": ["WiretapeSettingsTests", "WiretapeCommandTests"],
    "CWiretapeZlib": ["WiretapeBytesTests"],
    "CWiretapeZstd": ["WiretapeBytesTests"],
    "WiretapeCapture": ["WiretapeCaptureTests"],
    "WiretapeAttempts": ["WiretapeAttemptsTests"],
    "WiretapeBytes": ["WiretapeBytesTests"],
    "WiretapeCodecs": ["WiretapeCodecsTests"],
    "WiretapeCommandLine": ["WiretapeCommandTests"],
    "WiretapeCommands": ["WiretapeCommandTests"],
    "WiretapeControl": ["WiretapeControlTests", "WiretapeCommandTests"],
    "WiretapeFaults": ["WiretapeFaultsTests", "WiretapeReplayTests"],
    "WiretapeFuzz": ["WiretapeFuzzTests"],
    "WiretapeIntercept": ["WiretapeInterceptTests", "WiretapeReplayTests", "WiretapeProxyTests"],
    "WiretapeMessages": ["WiretapeProtocolTests", "WiretapeFaultsTests", "WiretapeCodecsTests"],
    "WiretapeNet": ["WiretapeNetTests"],
    "WiretapePackets": ["WiretapeCaptureTests"],
    "WiretapePlayback": ["WiretapePlaybackTests", "WiretapeReplayTests", "WiretapeProxyTests"],
    "WiretapeProtocol": ["WiretapeProtocolTests", "WiretapeCodecsTests"],
    "WiretapeProxy": ["WiretapeProxyTests"],
    "WiretapeRecorder": ["WiretapeRecorderTests", "WiretapeTapeTests"],
    "WiretapeRedaction": ["WiretapeRedactionTests", "WiretapeTapeTests"],
    "WiretapeReplay": ["WiretapeReplayTests"],
    "WiretapeReplayServer": ["WiretapeProxyTests"],
    "WiretapeReport": ["WiretapeReportTests", "WiretapeAttemptsTests", "WiretapeReplayTests"],
    "WiretapeRuntime": ["WiretapeRuntimeTests", "WiretapeNetTests"],
    "WiretapeSamples": ["WiretapeProxyTests"],
    "WiretapeServing": ["WiretapeCommandTests"],
    "WiretapeSettings": ["WiretapeSettingsTests", "WiretapeFaultsTests", "WiretapeCommandTests"],
    "WiretapeSimulation": ["WiretapeReplayTests"],
    "WiretapeSystem": ["WiretapeSystemTests", "WiretapeNetTests"],
    "WiretapeTLS": ["WiretapeTLSTests"],
    "WiretapeTape": ["WiretapeTapeTests"],
    "WiretapeTapeCommands": ["WiretapeCommandTests"],
    "WiretapeTapeTools": ["WiretapeTapeTests"],
    "WiretapeTesting": ["WiretapeTestingTests"],
    "WiretapeWire": ["WiretapeWireTests"],
    "embed-page": [],
    "fuzz": [],
    "sample-client": [],
    "sample-hub": [],
    "simulate": [],
    "wiretape": ["WiretapeCommandTests"],
}
# The test targets that read files other than Swift, by the beginning of such a file's path. The first match counts.
READERS = {
    "README.md": ["WiretapeCommandTests"],
    "docs/": ["WiretapeCommandTests", "WiretapeFaultsTests", "WiretapeReplayTests"],
    "recordings/": ["WiretapeCodecsTests", "WiretapeReplayTests", "WiretapeCommandTests"],
    "Tests/Fixtures/fuzz/": ["WiretapeFuzzTests"],
    "Tests/Fixtures/golden/": ["WiretapeReplayTests"],
    "Tests/Fixtures/inspect/": ["WiretapeCommandTests"],
    "Tests/Fixtures/": ["WiretapeCodecsTests", "WiretapeReplayTests", "WiretapeCommandTests"],
}

# Groups of modules that a step looks into.
BASE = ("Bytes", "System", "Runtime")
WIRE = (*BASE, "Wire", "Net")
DECODING = ("Messages", "Protocol", "Codecs")
RECORDING = (*WIRE, "TLS", "Proxy", "Recorder", "Tape", "Redaction")
RULES = ("Faults", "Playback", "Intercept", "Attempts", "Report")
REPLAYING = (*DECODING, "Playback", "Replay", "ReplayServer", "Attempts", "Report")
COMMANDS = ("CommandLine", "Commands", "TapeCommands", "Serving", "Settings")


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of .ci/nightly."""

    name: str
    # One sentence: what holds when the step has passed.
    proves: str
    # The command, run by bash in the root of the checkout.
    command: str
    # How long it takes on two quiet cores.
    minutes: float
    # Modules of Sources without the prefix "Wiretape", and paths below the root, that call for the step when they change.
    modules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    # Programs that it needs, as "program:Debian package"; without a package the program cannot be installed here.
    needs: tuple[str, ...] = ()
    # Folders beside the checkout that it needs.
    shared: tuple[str, ...] = ()
    is_for_root: bool = False
    # It compares times, so nothing may run beside it.
    is_alone: bool = False

    @property
    def watched(self) -> tuple[str, ...]:
        """Beginnings of the paths that call for this step."""
        return (*(f"Sources/Wiretape{one}/" for one in self.modules), *self.paths)

    def is_called_for(self, changed: str) -> bool:
        """Whether the change of this file calls for the step."""
        script = re.match(r"tools/acceptance/([\w-]+)", self.command)
        if script and changed.startswith("tools/"):
            own = script[1].replace("-", "_")
            if re.match(rf"tools/acceptance/{script[1]}$|tools/wiretape_tools/(acceptance/{own}[./]|lib/)", changed):
                return True
        return changed.startswith(self.watched)


def acceptance(name: str, proves: str, minutes: float, arguments: str = "", **more: object) -> Step:
    """The step that runs a script of tools/acceptance."""
    return Step(name, proves, f"tools/acceptance/{name} {arguments}".strip(), minutes, **more)  # type: ignore[arg-type]


CHROMIUM, TSHARK = "chromium:chromium", "tshark:tshark"
NGINX, HAPROXY = "/usr/sbin/nginx:nginx-light", "/usr/sbin/haproxy:haproxy"
NODE, PYTHON2 = "node:nodejs", "python2.7:"
PEERS = ("peers",)

STEPS = [
    Step(
        "tests-debug",
        "all tests pass in a debug build, with the runtime's checks for exclusive access and assertions",
        "swift build --build-tests && swift test --skip-build --disable-xctest",
        12,
        modules=tuple(sorted(name.removeprefix("Wiretape") for name in TESTS if name.startswith("Wiretape"))),
        paths=("Tests/", "Package.swift"),
    ),
    Step(
        "simulation",
        "50,000 seeds of simulated sessions, other ones than the landing lane's, break no rule of the referee",
        "tools/simulate 50000 --from 5001",
        8,
        modules=(*REPLAYING, "Simulation", "Faults", "Wire"),
    ),
    Step(
        "interop",
        "every real client sees the same live, recorded and replayed, over each transport from each transport",
        "tools/interop",
        4,
        modules=(*RECORDING, *REPLAYING, "Faults"),
        paths=("tools/wiretape_tools/interop/", "tools/interop"),
        needs=(NODE,),
        shared=PEERS,
    ),
    Step(
        "fuzz",
        "no input that libFuzzer finds in 10 s a target traps a parser or breaks its promise",
        "tools/fuzz all --time 10s",
        14,
        modules=(
            "Wire",
            "Codecs",
            "Tape",
            "TapeTools",
            "Capture",
            "Packets",
            "Settings",
            "Faults",
            "Bytes",
            "Fuzz",
            "Replay",
            "Proxy",
        ),
        paths=("Tests/Fixtures/fuzz/", "tools/fuzz", "Sources/fuzz/"),
    ),
    Step(
        "examples-python",
        "each Python example passes, and fails its test once one habit of its client is broken",
        "tools/clients-python",
        4,
        modules=(*REPLAYING, "Control", "Serving"),
        paths=("clients/python/", "Examples/python/", "tools/clients-python"),
    ),
    Step(
        "examples-node",
        "each JavaScript example passes, and fails its test once one habit of its client is broken",
        "tools/clients-node",
        3,
        modules=(*REPLAYING, "Control", "Serving"),
        paths=("clients/node/", "Examples/node/", "tools/clients-node"),
        needs=(NODE,),
        shared=PEERS,
    ),
    Step(
        "examples-swift",
        "the Swift example passes, and fails its test once one habit of its client is broken",
        "Examples/swift/break-one-by-one",
        14,
        modules=(*REPLAYING, "Testing"),
        paths=("Examples/swift/",),
    ),
    Step(
        "examples-java",
        "the Java example passes, and fails its test once its client is broken",
        "Examples/java/run",
        0.5,
        modules=("Control", "Serving"),
        paths=("Examples/java/",),
        needs=("javac:default-jdk-headless",),
    ),
    acceptance(
        "autobahn",
        "cases of autobahntestsuite end through record, proxy, rules and replay as they do without Wiretape",
        5,
        modules=(*RECORDING, *RULES, "ReplayServer"),
        needs=(PYTHON2,),
    ),
    acceptance(
        "broken-clients",
        "about ninety clients, each with one bad habit, are caught live and in replay, also at speed instant; the good ones pass",
        3,
        modules=(*RULES, *REPLAYING, "Proxy"),
    ),
    acceptance(
        "captures",
        "every packet capture becomes the messages that an independent dissector found in it",
        0.2,
        modules=("Packets", "Capture", "Recorder", "Tape", *DECODING),
        shared=("captures",),
    ),
    Step(
        "captures-damaged",
        "a damaged capture yields no wrong byte, and what is missing is reported",
        "tools/acceptance/captures --mutate --seeds 5",
        3,
        modules=("Packets", "Capture"),
        paths=("tools/wiretape_tools/acceptance/mutated_captures.py",),
        shared=("captures",),
    ),
    Step(
        "captures-speed",
        "a capture is read in at most 0.2 of tshark's time and 0.1 of its memory",
        "tools/acceptance/captures --speed",
        5,
        modules=("Packets", "Capture"),
        needs=(TSHARK,),
        is_alone=True,
    ),
    acceptance(
        "control",
        "the control API answers as its OpenAPI document says, keeps strangers out, and survives idle subscribers",
        2,
        modules=("Control", "Commands", "Serving"),
        paths=("docs/openapi.json",),
    ),
    acceptance(
        "crowd",
        "a good client beside 3,000 hostile sockets waits at most twice as long as alone",
        4,
        modules=(*WIRE, "TLS", "Proxy", "Intercept", "ReplayServer"),
        is_alone=True,
    ),
    acceptance("deflate", "permessage-deflate is recorded right for every choice of takeover and window bits", 1, modules=RECORDING),
    acceptance("digest", "100 replays of one tape at nine speeds have one digest", 3, modules=REPLAYING),
    acceptance(
        "exchange",
        "tapes become HAR, JSON lines and pcapng that other tools read, and their files become tapes",
        5,
        modules=("Capture", "Packets", "TapeTools", "Tape", "TapeCommands"),
        needs=(CHROMIUM, TSHARK, "tcpdump:tcpdump"),
        is_for_root=True,
    ),
    acceptance(
        "faults",
        "every fault has exactly its bytes, its end and its order on the wire, live and in replay",
        2,
        "--times 50",
        modules=(*RULES, *REPLAYING, *WIRE, "Proxy"),
    ),
    acceptance(
        "faults-clients",
        "reports of thirteen real clients under faults agree with packet captures of the same runs",
        6,
        modules=(*RULES, *REPLAYING, "Proxy"),
        needs=(NODE,),
        shared=PEERS,
        is_for_root=True,
    ),
    acceptance(
        "faults-cost",
        "rules that cannot touch a connection cost nothing, and hold mode reaches 0.6 of the speed without rules",
        10,
        modules=("Faults", "Intercept", "Playback", "Proxy", *WIRE),
        needs=(NGINX,),
        is_alone=True,
    ),
    acceptance(
        "fresh",
        "a fresh clone on a machine without the libraries passes tools/demo and tools/test",
        18,
        paths=("tools/setup", "tools/build", "tools/test", "tools/demo", "Package.swift"),
        is_for_root=True,
    ),
    acceptance(
        "hostile",
        "wrong requests, responses and frames are answered, relayed or closed; none crashes or smuggles",
        2,
        modules=RECORDING,
    ),
    acceptance(
        "kill",
        "after kill -9 under load every tape opens and repair makes it whole",
        2,
        modules=("Recorder", "Tape", "TapeTools", "System"),
    ),
    acceptance("limits", "replay gives up on a silent or oversized SignalR client when ASP.NET Core does", 0.2, modules=REPLAYING),
    acceptance(
        "memory",
        "memory stays flat and within --memory for floods, stalls, huge messages, idle and unread connections",
        8,
        "--parts many,stall,upload,held,trees,files,large,idle,unread",
        modules=(*RECORDING, *RULES, "Replay", "ReplayServer"),
    ),
    acceptance(
        "mutations",
        "damaged captures, HARs, flow files and key logs end in a tape or a clear error",
        3,
        "--count 3000",
        modules=("Capture", "Packets", "TapeCommands"),
    ),
    acceptance(
        "pace",
        "replay keeps the recorded times, and at speed instant keeps up with a bare server",
        2,
        modules=(*REPLAYING, *WIRE),
        is_alone=True,
    ),
    Step(
        "package",
        "packages install offline into fresh places and need glibc alone",
        "tools/package --check",
        12,
        paths=(
            "packaging/",
            "tools/package",
            "tools/wiretape_tools/package/",
            "tools/wiretape_tools/acceptance/package/",
            "Package.swift",
        ),
        is_for_root=True,
    ),
    acceptance(
        "page",
        "the web page and the HTML report work in Chromium and run nothing that a peer sent",
        1,
        modules=("Control", "Report"),
        needs=(CHROMIUM,),
    ),
    acceptance(
        "parallel",
        "200 replay tests at a time pass in one process, and killed runners leave nothing behind",
        5,
        modules=("Testing", "ReplayServer", "Net"),
        is_alone=True,
    ),
    acceptance(
        "recorded-clients",
        "every recorded tape replayed to a client that does the same again passes",
        1,
        modules=(*REPLAYING, "Tape"),
        paths=("recordings/",),
        shared=("captures",),
    ),
    acceptance(
        "roundtrip",
        "what record, canon, edit, name and repair write carries what they were given, up to 128 MiB",
        8,
        "--sizes 1,16,64,128",
        modules=("Recorder", "Tape", "TapeTools", "Bytes", "TapeCommands"),
    ),
    acceptance(
        "scale",
        "replay is ready within 30 ms on tapes of a million events and serves 500 clients",
        4,
        modules=("Replay", "ReplayServer", "Tape", "Protocol"),
        is_alone=True,
    ),
    acceptance(
        "secrets",
        "no part of planted secrets is in tapes, reports, events or answers of the control API",
        5,
        modules=("Redaction", "Recorder", "Tape", "Codecs", "Control", "Report", "Replay"),
        needs=(NODE,),
        shared=PEERS,
    ),
    acceptance(
        "startup",
        "wiretape --version takes under 20 ms, and every mistake on the command line exits 64 with a hint",
        0.2,
        modules=COMMANDS,
        is_alone=True,
    ),
    acceptance(
        "surroundings",
        "ports in use, full disks, missing upstreams and files that are no tapes end in a clear error",
        0.5,
        modules=("System", "Net", "Recorder", "Tape", *COMMANDS),
    ),
    acceptance("sweep", "sweep finds a planted flaw and shrinks it to one rule", 0.5, modules=("Commands", "Faults", "Replay")),
    acceptance(
        "ten-commands",
        "docs/ten-commands.md works as it stands in every language",
        6,
        "python javascript swift",
        modules=("Testing",),
        paths=("docs/ten-commands.md", "clients/", "Package.swift"),
        needs=(NODE, "npm:npm"),
    ),
    acceptance(
        "tls",
        "TLS versions, certificates, clients' certificates and broken handshakes are as openssl and clients want them",
        5,
        "--parts versions,leaves,names,protocols,faults,clients,reverse",
        modules=("TLS", "Proxy", "Net"),
        needs=(CHROMIUM,),
    ),
    Step(
        "tls-speed",
        "10,000 idle TLS connections cost little, and handshakes keep up with nginx",
        "tools/acceptance/tls --parts crowd,speed",
        4,
        modules=("TLS", "Net", "Proxy"),
        needs=(NGINX, HAPROXY),
        is_alone=True,
    ),
    acceptance(
        "transparent",
        "redirected connections are recorded and replayed as direct ones",
        0.5,
        modules=("Proxy", "Serving", "Net", "TLS"),
        needs=("nft:nftables", "iptables:iptables"),
        is_for_root=True,
    ),
    Step(
        "bench",
        "recording and proxying keep their bounds beside nginx",
        "tools/bench -r 2",
        7,
        modules=(*WIRE, "Proxy", "Recorder", "Tape"),
        paths=("tools/bench", "tools/wiretape_tools/bench/"),
        needs=(NGINX,),
        is_alone=True,
    ),
    Step(
        "sanitize-address",
        "the tests and a load of runs give the address sanitizer nothing to report",
        "tools/sanitize address",
        20,
        modules=("Bytes", "System", "Net", "TLS", "Settings"),
        paths=("tools/sanitize",),
    ),
    Step(
        "sanitize-thread",
        "the tests and a load of runs give the thread sanitizer nothing to report",
        "tools/sanitize thread",
        25,
        modules=("System", "Net", "Recorder", "Testing", "Control", "Serving"),
        paths=("tools/sanitize",),
    ),
]


def git(*arguments: str) -> str | None:
    """What git prints, or None when it refuses."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of(asked: str | None) -> str:
    """The commit to compare with, in full: the one asked for, else where this branch left origin/main, else the last but one."""
    if asked:
        found = git("rev-parse", "--verify", "--quiet", asked + "^{commit}")
        if found is None:
            raise Unusable(f"there is no commit {asked}")
        return found
    found = git("merge-base", "HEAD", "origin/main") or git("rev-parse", "--verify", "--quiet", "HEAD~")
    if found is None:
        raise Unusable("there is neither origin/main nor a commit before this one: name a commit with --base REVISION")
    return found


def changed_since(base: str) -> list[str]:
    """The files that differ from a commit: committed, staged, edited, removed or new."""
    differing = git("diff", "--name-only", "--no-renames", "-z", base)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        raise Unusable(f"git cannot compare this checkout with {base}")
    return sorted({name for name in (differing + "\0" + new).split("\0") if name})


def check_tables() -> None:
    """Fails when a module, a test target or a script of tools/acceptance is missing above, or a name above exists no more."""
    modules = {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}
    targets = {path.name for path in (ROOT / "Tests").iterdir() if path.is_dir()} - {"Fixtures"}
    scripts = {path.name for path in (ROOT / "tools/acceptance").iterdir() if path.suffix != ".md"}
    named = {target for row in (*TESTS.values(), *READERS.values()) for target in row}
    wrong = [f"Sources/{name} is missing in TESTS" for name in sorted(modules - set(TESTS))]
    wrong += [f"TESTS names Sources/{name}, which does not exist" for name in sorted(set(TESTS) - modules)]
    wrong += [f"TESTS names Tests/{name}, which does not exist" for name in sorted(named - targets)]
    wrong += [f"no row leads to Tests/{name}" for name in sorted(targets - named)]
    wrong += [f"no step runs tools/acceptance/{name}" for name in sorted(scripts - {step.name for step in STEPS})]
    for step in STEPS:
        wrong += [
            f"the step {step.name} names Sources/Wiretape{one}, which does not exist"
            for one in step.modules
            if f"Wiretape{one}" not in modules
        ]
        wrong += [f"the step {step.name} names {one}, which does not exist" for one in step.paths if not (ROOT / one).exists()]
    if len({step.name for step in STEPS}) != len(STEPS):
        wrong.append("two steps have one name")
    if wrong:
        raise Unusable("tools/wiretape_tools/lanes.py does not fit this checkout: " + "; ".join(wrong))


def tests_for(changed: list[str]) -> tuple[list[str], list[str]]:
    """The test targets that these files call for, and sentences about files that no test target covers."""
    chosen: set[str] = set()
    silent: set[str] = set()
    for name in changed:
        parts = name.split("/")
        if name == "Package.swift":
            silent.add("what a change of Package.swift does to modules whose sources are unchanged (tools/test)")
        elif parts[0] == "Sources" and len(parts) > 2:
            # A removed folder is in no table: whoever used it was changed, too.
            targets = TESTS.get(parts[1])
            chosen.update(targets or [])
            if targets == []:
                silent.add(f"Sources/{parts[1]} beyond its build: no test target covers it")
        elif parts[0] == "Tests" and parts[1] != "Fixtures" and len(parts) > 2:
            if (ROOT / "Tests" / parts[1]).is_dir():
                chosen.add(parts[1])
        else:
            prefix = next((prefix for prefix in READERS if name.startswith(prefix)), None)
            chosen.update(READERS[prefix] if prefix else [])
    return sorted(chosen), sorted(silent)


def steps_for(changed: list[str]) -> dict[str, list[str]]:
    """The nightly steps that these files call for, in their order, each with the files that call for it."""
    found = {}
    for step in STEPS:
        reasons = [name for name in changed if step.is_called_for(name)]
        if reasons:
            found[step.name] = reasons
    return found


def affected(words: list[str]) -> int:
    """`.ci/affected`: prints the names of the nightly steps that the change since a commit calls for, one on each line."""
    is_reasoned = "--why" in words
    rest = [word for word in words if word != "--why"]
    if len(rest) > 1 or (rest and rest[0].startswith("-")):
        print(
            "usage: .ci/affected [REVISION] [--why]: the nightly steps that the change since REVISION calls for\n"
            "       REVISION: where this branch left origin/main, unless you name one. --why: also print which files call for a step",
            file=sys.stderr,
        )
        return 64
    check_tables()
    for name, reasons in steps_for(changed_since(base_of(rest[0] if rest else None))).items():
        more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        print(f"{name}\t{reasons[0]}{more}" if is_reasoned else name)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(affected(sys.argv[1:]))
    except Unusable as reason:
        sys.exit(f"affected: {reason}")
