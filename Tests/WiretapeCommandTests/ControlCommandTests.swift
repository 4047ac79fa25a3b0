import Foundation
import Testing
internal import WiretapeCommandLine
import WiretapeWire

/// `--control` and `--events` of the commands, with curl as the program that asks.
@Suite(.waitsForPrograms, .timeLimit(.minutes(5))) struct ControlCommandTests {
    let scratch: Scratch
    let client = Binary.folder.appendingPathComponent("sample-client").path

    init() throws { scratch = try Scratch() }

    func events(_ name: String = "events.jsonl") throws -> [JSONValue] {
        try String(contentsOfFile: scratch.path(name), encoding: .utf8).split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }

    func names(_ events: [JSONValue], but left: Set<String> = []) -> [String] {
        events.compactMap { $0["event"]?.string }.filter { !left.contains($0) }
    }

    @Test(arguments: ["record", "proxy"]) func liveTrafficIsToldAsItHappens(_ command: String) throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let output = command == "record" ? ["--output", scratch.path("chat.tape.gz")] : []
        let run = try Binary.run(
            Binary.wiretape,
            [
                command, "--upstream", hub.url, "--events", scratch.path("events.jsonl"), "--fault",
                "reset after ReceiveMessage[2]",
            ]
                + output + ["--", client, "--say", "one", "--say", "two", "--say", "three"])
        #expect(run.code == 0, "\(run.err)")
        let events = try events()
        #expect(
            names(events, but: ["message"]) == [
                "ready", "attempt", "connected", "fault", "disconnected", "attempt", "connected", "disconnected", "end",
            ])
        #expect(events.allSatisfy { $0["v"]?.int == 1 && $0["t_ms"] != nil })
        let said = events.filter { $0["d"]?.string == ">" && $0["target"]?.string == "SendMessage" }
        let summaries = said.compactMap { $0["summary"]?.string }
        #expect(summaries.contains(#"SendMessage("ada", "one")"#))
        #expect(said.allSatisfy { $0["session"]?.int == 1 && $0["run"]?.int == 1 }, "\(said)")
        #expect(
            events.first { $0["event"]?.string == "disconnected" }?["by"]?.string
                == "fault:reset after ReceiveMessage[2]")
        #expect(events.last?["exit"]?.int == 0 && events.last?["command_exit"]?.int == 0)
        if command == "record" {
            let tape = try Binary.run("inspect", scratch.path("chat.tape.gz"), "--format", "json")
            // Each message that was told is on the tape, and the other way round.
            let recorded = try tape.out.split(separator: "\n").map { try JSONValue(parsing: String($0))["summary"] }
            #expect(recorded == events.filter { $0["event"]?.string == "message" }.map { $0["summary"] })
        }
    }

    @Test func aRecordingThatCannotBeginTellsWhy() throws {
        try Data().write(to: scratch.url.appendingPathComponent("there.tape"))
        let run = try Binary.run(
            "record", "--upstream", "http://127.0.0.1:1", "--output", scratch.path("there.tape"), "--events",
            scratch.path("events.jsonl"))
        #expect(run.code != 0)
        let events = try events()
        #expect(names(events) == ["end"])
        #expect(events.first?["exit"]?.int == Int(run.code))
    }

    /// The address is in the environment of the command, and so is the token.
    @Test func aCommandFindsTheAPIAndActsOnTheRun() throws {
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
        let script = """
            set -eu
            test "$WIRETAPE_CONTROL_TOKEN" = sesame-open
            api() { curl -sS -H "Authorization: Bearer $WIRETAPE_CONTROL_TOKEN" "$@"; }
            test "$(curl -s -o /dev/null -w '%{http_code}' "$WIRETAPE_CONTROL/v1/status")" = 401
            test "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer nothing1' "$WIRETAPE_CONTROL/v1/status")" = 403
            api -X PUT "$WIRETAPE_CONTROL/v1/faults" -d '{"fault":"reset after ReceiveMessage[2]"}' > faults.json
            '\(client)' --say one --say two --say three > /dev/null
            api -X POST "$WIRETAPE_CONTROL/v1/wait" -d '{"for":"finished"}' > finished.json
            api "$WIRETAPE_CONTROL/v1/faults" > fired.json
            """
        let run = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' replay chat.tape.gz --speed instant --control 127.0.0.1:0 "
                    + "--control-token sesame-open -- /bin/sh -c \"$0\"", script,
            ])
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.contains("control API on http://127.0.0.1:"))
        let fired = try JSONValue(parsing: Array(Data(contentsOf: scratch.url.appendingPathComponent("fired.json"))))
        #expect(fired.value(at: "/rules/0/fired")?.int == 1)
    }

    @Test func aRecordingIsActedOn() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let script = """
            set -eu
            C=$WIRETAPE_CONTROL
            '\(client)' --until closed --say one > heard.txt 2>&1 &
            client=$!
            curl -sS -X POST $C/v1/wait -d '{"for":"ReceiveMessage"}' > first.json
            curl -sS $C/v1/connections > connections.json
            id=$(sed -E 's/.*"id":([0-9]+),"from":"[^"]*","session":1,.*/\\1/' connections.json)
            curl -sS -X POST $C/v1/marks -d '{"text":"now"}' > mark.json
            curl -sS -X POST $C/v1/connections/$id/inject \
                -d '{"message":{"type":1,"target":"ReceiveMessage","arguments":["eve","psst"]}}' > injected.json
            curl -sS -X POST $C/v1/faults -d '{"fault":"respond(503) on connect[retry=1]"}' > faults.json
            curl -sS -X POST $C/v1/connections/$id/reset > reset.json
            curl -sS -X POST $C/v1/wait -d '{"for":"disconnected"}' > ended.json
            curl -sS -X POST $C/v1/wait -d '{"for":"fault","after":'$(sed -E 's/.*"n":([0-9]+).*/\\1/' ended.json)'}' > fired.json
            curl -sS -X POST $C/v1/clock -d '{"mode":"manual"}' > clock.json
            curl -sS $C/v1/sessions > sessions.json
            curl -sS $C/v1/status > status.json
            curl -sS $C/v1/report > report.json
            kill $client
            """
        let run = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' record --upstream \(hub.url) --output chat.tape "
                    + "--control 127.0.0.1:0 -- /bin/sh -c \"$0\"", script,
            ])
        func json(_ name: String) throws -> JSONValue {
            try JSONValue(parsing: Array(Data(contentsOf: scratch.url.appendingPathComponent(name))))
        }
        #expect(run.code == 0, "\(run.err)")
        #expect(try json("injected.json")["ok"]?.bool == true)
        #expect(try json("reset.json")["ok"]?.bool == true)
        #expect(try json("ended.json").value(at: "/event/by")?.string == "fault:control")
        #expect(try json("fired.json").value(at: "/event/rule")?.string == "respond(503) on connect[retry=1]")
        #expect(try json("clock.json")["error"]?.string == "only a replay has a clock")
        #expect(try json("status.json")["kind"]?.string == "record")
        #expect(try json("sessions.json").value(at: "/sessions/0/protocol")?.string == "signalr")
        #expect(try json("report.json")["mode"]?.string == "live")
        #expect(try String(contentsOfFile: scratch.path("heard.txt"), encoding: .utf8).contains("psst"))
        let tape = try String(contentsOfFile: scratch.path("chat.tape"), encoding: .utf8)
        #expect(tape.contains(#""text":"now""#) || tape.contains("now"), "the mark stands on the tape")
    }

    @Test(arguments: [
        (["--control", "0.0.0.0:0"], "beyond loopback"), (["--control-token", "12345678"], "which is not there"),
        (["--control", "127.0.0.1:0", "--control-token", "short"], "at least 8 characters"),
        (["--control", "https://127.0.0.1:0"], "plain HTTP"),
    ]) func whatCannotBeOpenedIsRefused(_ words: [String], _ text: String) throws {
        let run = try Binary.run(
            Binary.wiretape, ["proxy", "--upstream", "http://127.0.0.1:1"] + words + ["--", "true"])
        #expect(run.code == 64, "\(run.err)")
        #expect(run.verdict.contains(text), "\(run.verdict)")
    }
}

extension ControlCommandTests {
    /// A test runner that has one process for all its tests: each gets a replay or a recording of its own.
    @Test func manyRunsLiveInOneProcess() throws {
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let script = """
            set -eu
            C=$WIRETAPE_CONTROL
            url() { sed -E 's/.*"url":"([^"]*)".*/\\1/' "$1"; }
            id() { sed -E 's/.*"id":([0-9]+).*/\\1/' "$1"; }
            curl -sS $C/v1/replays -d '{"tape":"chat.tape.gz","options":{"speed":"instant","fault":["reset after ReceiveMessage[2]"]}}' > a.json
            curl -sS $C/v1/replays -d '{"tape":"chat.tape.gz","options":{"speed":"instant","clients":2}}' > b.json
            curl -sS $C/v1/recordings -d '{"tape":"new.tape","upstream":"\(hub.url)"}' > c.json
            for run in a b c; do
                '\(client)' "$(url $run.json)/chat" --say one --say two --say three > $run.txt &
            done
            wait
            curl -sS "$C/v1/wait?run=$(id a.json)" -d '{"for":"finished"}' > finished.json
            curl -sS "$C/v1/sessions?run=$(id b.json)" > sessions.json
            curl -sS $C/v1/replays > replays.json
            curl -sS $C/v1/recordings > recordings.json
            curl -sS $C/metrics > metrics.txt
            for run in a b c; do
                kind=replays; test $run = c && kind=recordings
                curl -sS -X DELETE $C/v1/$kind/$(id $run.json) > $run-report.json
            done
            curl -sS $C/v1/replays > after.json
            curl -sS $C/v1/replays -d '{"tape":"none.tape"}' > none.json
            curl -sS $C/v1/replays -d '{"tape":"chat.tape.gz","options":{"speeed":1}}' > misspelt.json
            curl -sS $C/v1/replays -d '{"tape":"chat.tape.gz","options":{"fault":"reset after Foo"}}' > hopeless.json
            curl -sS $C/v1/replays -d '{"tape":"chat.tape.gz","options":{"control":"0.0.0.0:0"}}' > refused.json
            curl -sS $C/v1/recordings -d '{"tape":"new.tape","upstream":"\(hub.url)"}' > there.json
            curl -sS -H 'Origin: http://localhost:1' $C/v1/recordings -d '{"tape":"x.tape","upstream":"\(hub.url)"}' > page.json
            """
        let run = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' replay chat.tape.gz --allow-unplayed "
                    + "--control 127.0.0.1:0 -- /bin/sh -c \"$0\"", script,
            ])
        func json(_ name: String) throws -> JSONValue {
            try JSONValue(parsing: Array(Data(contentsOf: scratch.url.appendingPathComponent(name))))
        }
        #expect(run.code == 0, "\(run.err)")
        #expect(try json("finished.json")["for"]?.string == "finished")
        let verdicts = try ["a", "b", "c"].map { try json("\($0)-report.json")["verdict"]?.string }
        // Of two clients of b one came, and nothing says that both must.
        #expect(verdicts == ["pass", "pass", "pass"])
        let faults = try json("a-report.json")["faults"]?.array ?? []
        #expect(faults.first?["rule"]?.string == "reset after ReceiveMessage[2]")
        #expect(try json("sessions.json")["sessions"]?.array?.count == 1)
        #expect(try json("replays.json")["runs"]?.array?.count == 3)
        #expect(try json("recordings.json")["runs"]?.array?.count == 1)
        #expect(try json("after.json")["runs"]?.array?.count == 1)
        #expect(
            try String(contentsOfFile: scratch.path("metrics.txt"), encoding: .utf8).contains(
                #"wiretape_run_info{run="4",kind="record"} 1"#))
        for (name, status, words) in [
            ("none", 404, "there is no recording none.tape"), ("misspelt", 400, "did you mean '--speed'"),
            ("hopeless", 422, "'Foo' is not on chat.tape.gz"), ("refused", 400, "'control' is no option"),
            ("there", 409, "new.tape"), ("page", 403, "--control-token"),
        ] {
            let answer = try json("\(name).json")
            #expect(answer["status"]?.int == status, "\(answer.text)")
            #expect(answer["error"]?.string?.contains(words) == true, "\(answer.text)")
        }
        let tape = try Binary.run("inspect", scratch.path("new.tape"))
        #expect(tape.code == 0 && tape.out.contains("SendMessage(\"ada\", \"two\")"), "\(tape.out.suffix(500))")
    }
}

extension ControlCommandTests {
    /// Every command of docs/control.md runs as it stands there, in order, and none of them is refused but those that say so.
    @Test func thePageTellsTheTruth() throws {
        let page = try String(contentsOf: Binary.root.appendingPathComponent("docs/control.md"), encoding: .utf8)
        let blocks = ReadmeTests.blocks(page, marked: "sh run")
        #expect(blocks.count == 8)
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
        // What each request was answered is looked at behind it.
        let prelude = """
            set -eu
            C=$WIRETAPE_CONTROL
            PATH='\(Binary.folder.path)':"$PATH"
            curl() { command curl "$@" | tee -a answers.txt; echo >> answers.txt; }

            """
        try (prelude + blocks.joined()).write(toFile: scratch.path("page.sh"), atomically: true, encoding: .utf8)
        let run = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "cd '\(scratch.url.path)' && '\(Binary.wiretape.path)' replay chat.tape.gz --speed instant --control 127.0.0.1:0 "
                    + "-- /bin/bash page.sh",
            ])
        #expect(run.code == 0, "\(run.err)\n\(run.out.suffix(3_000))")
        let answers = try String(contentsOfFile: scratch.path("answers.txt"), encoding: .utf8)
        let refused = answers.split(separator: "\n").filter { $0.hasPrefix(#"{"error""#) }
        #expect(refused == [#"{"error":"there is no open connection 99","status":404}"#], "\(refused)")
        #expect(answers.contains(#""fault":"respond(503) on connect[retry=1..2]""#))
        #expect(answers.contains(#""for":"finished""#))
    }
}
