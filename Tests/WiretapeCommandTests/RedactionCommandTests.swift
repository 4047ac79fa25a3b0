import Foundation
import Testing
import WiretapeRecorder
import WiretapeWire

/// `record`, `scan`, `redact`, `inspect` and `replay` with secrets, as processes.
@Suite(.waitsForPrograms) struct RedactionCommandTests {
    let scratch: Scratch
    private static let token = "live-Token-5f6e7d8c9b"

    init() throws { scratch = try Scratch() }

    private let header = #"{"tape":1,"started":"2026-11-23T00:00:00.000000Z","tool":"test","redaction":"none"}"#

    /// A tape with a login: a token in a request, which the server says again.
    private func tape(_ name: String) throws -> String {
        let lines = [
            header, "# of Bearer \(Self.token)",
            #"{"t":1,"c":1,"e":"open","upstream":"main"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/me?page=1","headers":[["Authorization","Bearer \#(Self.token)"]],"more":[1]}"#,
            #"{"t":3,"c":1,"e":"response","x":1,"status":200,"headers":[["Content-Type","application/json"]],"text":"{\"you\":\"\#(Self.token)\"}"}"#,
            #"{"t":4,"c":1,"e":"gone","by":"client","how":"fin"}"#, #"{"t":5,"e":"stop","events":4,"connections":1}"#,
        ]
        return try TapeFiles.write(lines, name, in: scratch)
    }

    @Test func scanNamesThePlaceAndNotTheSecret() throws {
        let path = try tape("a.tape")
        let run = try Binary.run("scan", path)
        #expect(run.code == 3)
        #expect(run.out.contains("\(path):4  request  header Authorization"))
        #expect(run.out.contains("\(path):2  comment"))
        #expect(run.out.contains("\(path):5  response"))
        #expect(!run.out.contains(Self.token) && !run.err.contains(Self.token))
        let json = try Binary.run("scan", "--json", path)
        #expect(json.code == 3)
        let finding = try JSONValue(parsing: String(json.out.split(separator: "\n")[1]))
        #expect(finding["line"]?.int == 4 && finding["event"]?.int == 2 && finding["e"]?.string == "request")
        #expect(finding["kind"]?.string == "header" && finding["place"]?.string == "Authorization")
    }

    /// What `redact` leaves is not promised to be taken out.
    @Test func scanSaysWhatRedactLeaves() throws {
        let random = "Zk3vQ9xT7mLw2RbY8pHs4NcJ6fGd1AeU"
        func body(_ text: String) throws -> String {
            try TapeFiles.write(
                [
                    header, #"{"t":1,"c":1,"e":"open","upstream":"main"}"#,
                    #"{"t":2,"c":1,"e":"request","x":1,"method":"POST","target":"/","headers":[],"text":"\#(text)"}"#,
                    #"{"t":4,"c":1,"e":"gone","by":"client","how":"fin"}"#,
                    #"{"t":5,"e":"stop","events":3,"connections":1}"#,
                ], "r.tape", in: scratch)
        }
        let alone = try Binary.run("scan", try body("see \(random)"))
        #expect(alone.code == 3 && alone.out.contains("entropy"))
        #expect(alone.verdict.contains("leaves what is only as random") && !alone.verdict.contains("takes them out"))
        let both = try Binary.run("scan", try body(#"see \#(random) password=hunter2-and-more"#))
        #expect(
            both.code == 3 && both.verdict.contains("takes them out, 1 of them where --redact names the place"),
            "\(both)")
        let known = try Binary.run("scan", try body(#"{\"password\":\"hunter2-and-more\"}"#))
        #expect(known.verdict.hasSuffix("takes them out"), "\(known)")
    }

    @Test func redactRewritesAndReplayTakesTheLiveToken() throws {
        let path = try tape("a.tape")
        #expect(try Binary.run("redact", path).code == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(Self.token))
        #expect(
            text.contains(#""redaction":"default""#) && text.contains("# of Bearer td_1")
                && text.contains(#""more":[1]"#))
        #expect(try Binary.run("scan", path).code == 0)
        #expect(try Binary.run("validate", path).code == 0)
        let again = try Binary.run("redact", path)
        #expect(again.code == 0 && again.verdict.contains("0 secrets replaced"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        let script = """
            hostport=${WIRETAPE_URL#http://}; exec 3<>/dev/tcp/${hostport%:*}/${hostport#*:}
            printf 'GET /me?page=1 HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer renewed-token-123\\r\\nConnection: close\\r\\n\\r\\n' >&3
            cat <&3 | tail -n 1
            """
        let run = try Binary.run("replay", path, "--report", scratch.path("out"), "--", "/bin/bash", "-c", script)
        #expect(run.code == 0, "\(run.err)")
        #expect(run.out.contains(#"{"you":"renewed-token-123"}"#))
        for name in ["report.html", "report.json", "report.txt", "report.xml", "actual.tape"] {
            let said = try String(contentsOfFile: scratch.path("out/\(name)"), encoding: .utf8)
            #expect(!said.contains("renewed-token"), "\(name)")
        }
        #expect(!run.err.contains("renewed-token"))
    }

    @Test func inspectAndDiffPrintNone() throws {
        let (a, b) = (try tape("a.tape"), try tape("b.tape"))
        for format in ["table", "json", "sequence"] {
            let run = try Binary.run("inspect", a, "--format", format)
            #expect(run.code == 0 && !run.out.contains(Self.token), "\(format)")
        }
        _ = try Binary.run("redact", b)
        let run = try Binary.run("diff", a, b)
        #expect(run.code == 0, "\(run.out) \(run.err)")
        #expect(!run.out.contains(Self.token))
    }

    @Test func recordRedactsUnlessItIsToldNotTo() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        func record(_ name: String, _ options: String...) throws -> (err: String, tape: String) {
            let run = try Binary.run(
                Binary.wiretape,
                ["record", "--upstream", hub.url, "--output", scratch.path(name)] + options + [
                    "--", client, "{url}/chat?access_token=\(Self.token)", "--say", "my token is \(Self.token)",
                ])
            #expect(run.code == 0, "\(run.err)")
            return (run.err, try String(contentsOfFile: scratch.path(name), encoding: .utf8))
        }
        let plain = try record("plain.tape", "--redact", "off")
        #expect(plain.err.contains("WARNING: --redact off") && plain.tape.contains(Self.token))
        #expect(plain.tape.contains(#""redaction":"none""#))
        let clean = try record("clean.tape")
        #expect(!clean.err.contains("WARNING") && !clean.tape.contains(Self.token) && !clean.err.contains(Self.token))
        #expect(clean.tape.contains(#""redaction":"default""#) && clean.tape.contains("my token is td_1"))
        let kept = try record("kept.tape", "--keep", "query:access_token")
        #expect(kept.err.contains("WARNING: --keep query:access_token") && kept.tape.contains(Self.token))
        #expect(kept.tape.contains(#""redaction":"rules""#))
        let canonical = try record("canonical.tape", "--canonical")
        #expect(!canonical.tape.contains(Self.token) && canonical.tape.contains("my token is td_1"))
        // The redacted tapes play to the client with another token.
        for name in ["clean.tape", "canonical.tape"] {
            let run = try Binary.run(
                Binary.wiretape,
                [
                    "replay", scratch.path(name), "--speed", "instant", "--", client,
                    "{url}/chat?access_token=renewed-token-99", "--say", "my token is renewed-token-99",
                ])
            #expect(run.code == 0, "\(run.err)")
            #expect(run.out.contains("my token is renewed-token-99"))
        }
    }

    @Test func settingsAddRules() throws {
        try "redact: json:/you\nkeep: header:authorization\n".write(
            toFile: scratch.path("wiretape.yaml"), atomically: true, encoding: .utf8)
        let path = try tape("a.tape")
        let run = try Binary.run("redact", path, "--config", scratch.path("wiretape.yaml"))
        #expect(run.code == 0 && run.err.contains("WARNING: --keep header:authorization"), "\(run.err)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains(#""redaction":"rules""#) && text.contains(#"{\"you\":\"td_"#))
    }

    @Test(arguments: [["redact", "--redact", "off"], ["scan", "--redact", "off"], ["scan", "--keep", "x"]])
    func contradictionsAreRefused(_ words: [String]) throws {
        let path = try tape("a.tape")
        #expect(try Binary.run(Binary.wiretape, words + [path]).code == 64)
    }
}
