import Foundation
import Testing
import WiretapeWire

/// `cut`, `merge`, `rename` and `warp`.
@Suite(.waitsForPrograms) struct AlgebraCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// What a tape's sessions say, without times and places.
    private func said(_ path: String, session: Int? = nil, from: Double = 0) throws -> [String] {
        try messages(path).filter { one in
            (session == nil || one["session"]?.int == session) && time(one) >= from
        }.map { "\($0["d"]?.string ?? "") \($0["type"]?.string ?? "") \($0["sha256"]?.string ?? "")" }
    }

    private func messages(_ path: String) throws -> [JSONValue] {
        try Binary.run("inspect", path, "--format", "json").out.split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
    }

    private func time(_ message: JSONValue) -> Double {
        guard case .number(let text)? = message["t_ms"] else { return 0 }
        return Double(text) ?? 0
    }

    @Test(arguments: [
        "chat", "everything", "reconnect", "eventflit", "graphql-sse", "graphql-multipart", "chat-lp", "redirect",
    ])
    func sessionsCanBeCutOut(_ name: String) throws {
        let tape = TapeFiles.recording(name)
        let sessions = Set(try messages(tape).compactMap { $0["session"]?.int }).sorted()
        #expect(!sessions.isEmpty)
        for session in sessions {
            let output = scratch.path("\(session).tape")
            let run = try Binary.run("cut", tape, "--session", "\(session)", "-o", output)
            #expect(run.code == 0, "\(run.err)")
            #expect(try said(output) == said(tape, session: session))
            let check = try Binary.run("validate", "--strict", output)
            #expect(check.code == 0, "\(check.out) \(check.err)")
            #expect(check.out.contains("can be replayed"), "\(check.out)")
        }
    }

    @Test(arguments: ["chat", "everything", "eventflit", "graphql-multipart"])
    func whatComesAfterATimeStaysWithItsOpening(_ name: String) throws {
        let tape = TapeFiles.recording(name)
        let times = try messages(tape).map(time)
        let middle = ((times.first ?? 0) + (times.last ?? 0)) / 2
        let output = scratch.path("late.tape.gz")
        let run = try Binary.run("cut", tape, "--from", "\(Int(middle * 1000))us", "-o", output)
        #expect(run.code == 0, "\(run.err)")
        let left = try said(output)
        let wanted = try said(tape, from: middle + 0.001)
        #expect(!wanted.isEmpty && wanted.allSatisfy { left.contains($0) })
        #expect(left.count < times.count)
        let check = try Binary.run("validate", "--strict", output)
        #expect(check.code == 0 && !check.out.contains("cannot be replayed"), "\(check.out) \(check.err)")
        #expect(try time(#require(messages(output).last)) < times.last ?? 0)
    }

    /// A call that a filter means brings its answer, and the tape plays to a client that makes these calls only.
    @Test func aCutReplays() throws {
        try Running.recordChat(to: scratch.path("chat.tape.gz"), in: scratch.url)
        let output = scratch.path("cut.tape")
        let run = try Binary.run("cut", scratch.path("chat.tape.gz"), "--filter", "message[2..99]", "-o", output)
        #expect(run.code == 0, "\(run.err)")
        let calls = try messages(output).compactMap { $0["summary"]?.string }.filter { $0.hasPrefix("SendMessage") }
        #expect(calls.count >= 2, "\(calls)")
        let words = calls.flatMap { call in
            ["one", "two", "three"].filter { call.contains($0) }.flatMap { ["--say", $0] }
        }
        let client = Binary.folder.appendingPathComponent("sample-client").path
        let replay = try Binary.run(
            Binary.wiretape, ["replay", output, "--speed", "instant", "--expect", "finished", "--", client] + words)
        #expect(replay.code == 0, "\(replay.err)")
    }

    @Test func messagesAreCountedWithoutHandshakes() throws {
        let output = scratch.path("few.tape")
        let run = try Binary.run("cut", TapeFiles.recording("chat"), "--messages", "1..2", "-o", output)
        #expect(run.code == 0, "\(run.err)")
        let left = try messages(output).compactMap { $0["type"]?.string }
        #expect(left == ["Handshake", "Handshake", "Invocation", "Invocation"], "\(left)")
    }

    @Test(arguments: ["time", "sequence"])
    func mergedTapesHaveAllSessions(_ order: String) throws {
        let tapes = ["chat", "eventflit", "graphql-sse"].map { TapeFiles.recording($0) }
        let output = scratch.path("all.tape.gz")
        let run = try Binary.run(Binary.wiretape, ["merge"] + tapes + ["-o", output, "--by", order])
        #expect(run.code == 0, "\(run.err)")
        let check = try Binary.run("validate", "--strict", output)
        #expect(check.code == 0, "\(check.out) \(check.err)")
        // Sessions come in another order when the recordings overlap; each is on the tape as it was.
        var wanted: [[String]] = []
        for tape in tapes {
            for session in Set(try messages(tape).compactMap { $0["session"]?.int }) {
                wanted.append(try said(tape, session: session))
            }
        }
        var left: [[String]] = []
        for session in Set(try messages(output).compactMap { $0["session"]?.int }) {
            left.append(try said(output, session: session))
        }
        #expect(left.count == wanted.count && wanted.allSatisfy { left.contains($0) })
        let times = try messages(output).map(time)
        #expect(times == times.sorted())
    }

    @Test func pseudonymsOfSeveralTapesStayApart() throws {
        let line = #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z","redaction":"default"}"#
        let one = try TapeFiles.write([line, #"{"t":5,"e":"mark","text":"one of td_1"}"#], "one.tape", in: scratch)
        let two = try TapeFiles.write([line, #"{"t":4,"e":"mark","text":"two of td_1"}"#], "two.tape", in: scratch)
        let run = try Binary.run("merge", one, two, "-o", scratch.path("both.tape"))
        #expect(run.code == 0 && run.err.contains("1 pseudonym of later tapes stood on earlier ones"), "\(run.err)")
        #expect(
            try TapeFiles.lines(scratch.path("both.tape")).dropFirst() == [
                #"{"t":4,"e":"mark","text":"two of td_2"}"#, #"{"t":5,"e":"mark","text":"one of td_1"}"#,
            ])
    }

    /// Each half of a tape, cut by time and put together again, says what it said when it said it.
    @Test(arguments: ["chat", "eventflit"]) func halvesMergeByTime(_ name: String) throws {
        let tape = TapeFiles.recording(name)
        let times = try messages(tape).map(time)
        let middle = Int(((times.first ?? 0) + (times.last ?? 0)) / 2 * 1000)
        let (early, late, whole) = (scratch.path("early.tape"), scratch.path("late.tape"), scratch.path("whole.tape"))
        #expect(try Binary.run("cut", tape, "--to", "\(middle)us", "-o", early).code == 0)
        #expect(try Binary.run("cut", tape, "--from", "\(middle)us", "-o", late).code == 0)
        #expect(try Binary.run("merge", late, early, "-o", whole).code == 0)
        let last = try #require(messages(tape).last)
        let end = try #require(messages(whole).last { $0["sha256"]?.string == last["sha256"]?.string })
        #expect(abs(time(end) - time(last)) < 0.01, "\(time(end)) \(time(last))")
    }

    @Test func aTapeAndItsCutsMergeIntoTheTape() throws {
        let tape = TapeFiles.recording("reconnect")
        for session in ["1", "2"] {
            #expect(try Binary.run("cut", tape, "--session", session, "-o", scratch.path("\(session).tape")).code == 0)
        }
        let output = scratch.path("both.tape")
        #expect(try Binary.run("merge", scratch.path("1.tape"), scratch.path("2.tape"), "-o", output).code == 0)
        #expect(try said(output) == said(tape))
    }

    @Test func gapsAreHeldAndOrderStays() throws {
        let tape = TapeFiles.recording("chat")
        let output = scratch.path("fast.tape")
        #expect(try Binary.run("warp", tape, "--scale", "0.5", "--longest", "20ms", "-o", output).code == 0)
        #expect(try said(output) == said(tape))
        let (old, new) = (try messages(tape).map(time), try messages(output).map(time))
        for i in new.indices.dropFirst() {
            #expect(new[i] - new[i - 1] <= (old[i] - old[i - 1]) / 2 + 0.01)
        }
        let none = try Binary.run("warp", tape, "-o", scratch.path("none.tape"))
        #expect(none.code == 64 && none.verdict.contains("--scale"), "\(none.err)")
    }

    @Test func placesGetOtherNames() throws {
        let tape = try TapeFiles.copy("chat", in: scratch)
        let run = try Binary.run("rename", tape, "--path", "/hub=/v2/chat", "--host", "127.0.0.1=chat.example.com")
        #expect(run.code == 0, "\(run.err)")
        let text = try TapeFiles.lines(tape).joined(separator: "\n")
        #expect(text.contains(#""target":"/v2/chat/negotiate"#) && !text.contains(#""target":"/hub"#))
        #expect(text.contains(#"["Host","chat.example.com:"#) && !text.contains(#"["Host","127.0.0.1"#))
        let check = try Binary.run("validate", "--strict", tape)
        #expect(check.code == 0 && check.out.contains("/v2/chat"), "\(check.out)")
        let before = try Data(contentsOf: URL(fileURLWithPath: tape))
        let none = try Binary.run("rename", tape, "--path", "/nowhere=/x")
        #expect(none.code == 1 && none.verdict.contains("'/nowhere' stands nowhere"), "\(none.err)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: tape)) == before)
    }

    @Test func whatCannotBeMeantIsRefused() throws {
        let tape = try TapeFiles.copy("reconnect", in: scratch)
        let before = try Data(contentsOf: URL(fileURLWithPath: tape))
        let many = try Binary.run("cut", tape, "--session", "7")
        #expect(many.code == 1 && many.verdict.hasSuffix("there is no session 7: the tape has 2"), "\(many.err)")
        let stranger = try Binary.run("cut", tape, "--session", "alice")
        #expect(stranger.code == 1 && stranger.verdict.contains("no session is called 'alice'"), "\(stranger.err)")
        let late = try Binary.run("cut", tape, "--from", "24h")
        #expect(late.code == 1 && late.verdict.contains("nothing on the tape is chosen"), "\(late.err)")
        #expect(try Binary.run("cut", tape).code == 64)
        #expect(try Binary.run("cut", tape, "--from", "2s", "--to", "1s").code == 64)
        #expect(try Binary.run("cut", tape, "--messages", "0..3").code == 64)
        let sparse = try TapeFiles.write(TapeFiles.sparse, "sparse.tape", in: scratch)
        let merge = try Binary.run("merge", tape, sparse, "-o", scratch.path("x.tape"))
        #expect(merge.code == 4 && merge.verdict.contains("is a sparse tape"), "\(merge.err)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("x.tape")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: tape)) == before)
    }
}
