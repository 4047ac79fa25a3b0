import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeProtocol
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// WebSockets that were compressed on the tape, and the bytes that clients get in replay.
struct DeflateTests {
    /// What the recorded server said: its length tells whether it was compressed.
    private let said = [
        String(repeating: "compressed ", count: 20), "plain", String(repeating: "compressed ", count: 20),
    ]

    private func sessions(_ extensions: String?) -> [RecordedSession] {
        let asked = RequestHead(
            method: "GET", target: "/chat",
            headers: [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")])
        let answered = ResponseHead(
            status: 101,
            headers: [HeaderField("Upgrade", "websocket")]
                + (extensions.map { [HeaderField("Sec-WebSocket-Extensions", $0)] } ?? []))
        var kinds: [TapeEvent.Kind] = [
            .open(.init()), .request(x: 1, asked, .none),
            .response(x: 1, answered, .none, interim: false, coding: nil, proxy: false),
            .message(.toServer, .text, Array("hello".utf8), deflated: extensions != nil, fragments: []),
        ]
        for text in said {
            let deflated = extensions != nil && text.utf8.count > 10
            kinds.append(.message(.toClient, .text, Array(text.utf8), deflated: deflated, fragments: []))
        }
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        for (i, kind) in kinds.enumerated() {
            reader.read(TapeEvent(time: UInt64(i), connection: 1, kind), number: UInt64(i + 1), into: &messages)
        }
        return reader.finish()
    }

    private struct Played {
        var head = ""
        /// The bytes behind the upgrade, and what they are.
        var bytes: [UInt8] = []
        var messages: [String] = []
        var report = ReplayReport.empty(seed: 0)
        var taped: [Bool] = []
    }

    /// - Parameters:
    ///   - offer: of the client.
    ///   - agreed: what the client reads by; nil: nothing.
    ///   - frames: what it says, given what was agreed on.
    private func play(
        recorded: String? = "permessage-deflate", offer: String?, agreed: DeflateParameters?, faults: [String] = [],
        mode: ReplayOptions.Deflate = .tape, frames: [UInt8] = ReplayStage.frame("hello")
    ) throws -> Played {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        var options = ReplayOptions()
        options.speed = .instant
        options.deflate = mode
        var plan = FaultPlan()
        for fault in faults { plan.append(try FaultRule(parsing: fault, from: RuleSource(file: "--fault"))) }
        let engine = ReplayEngine(
            sessions: sessions(recorded), tapeName: "test.tape", options: options, faults: plan, seed: 1)
        let server = ReplayService(loop, driver: engine)
        var played = Played()
        server.observe = { event in
            if case .message(_, _, _, let deflated, _) = event.kind { played.taped.append(deflated) }
        }
        let address = try server.listen(on: Address(host: "127.0.0.1", port: 0))
        let client = ScriptedPeer()
        let field = offer.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? ""
        client.onConnect = {
            $0.send(Array("GET /chat HTTP/1.1\r\n\(field)".utf8) + ReplayStage.opening.dropFirst(20))
            $0.send(frames)
        }
        client.stream = loop.connect(to: address, client)
        _ = loop.run(until: loop.now.advanced(by: 5_000_000_000))
        played.report = server.report()
        server.stop {}
        _ = loop.run(until: loop.now.advanced(by: 2_000_000_000))
        loop.shutdown()
        #expect(loop.violations == [])
        let blank: [UInt8] = [13, 10, 13, 10]
        let received = client.received
        let end = try #require(received.indices.first { received[$0...].starts(with: blank) }, "\(client.text)")
        played.head = String(decoding: received[..<end], as: UTF8.self)
        played.bytes = Array(received[(end + 4)...])
        played.messages = read(played.bytes, agreed)
        return played
    }

    /// Messages with `+` before what was compressed; how the connection was closed.
    private func read(_ bytes: [UInt8], _ agreed: DeflateParameters?) -> [String] {
        var assembler = MessageAssembler(.toClient, deflate: agreed)
        var found: [String] = []
        var at = 0
        while true {
            switch assembler.feed(bytes.span, from: at) {
            case .more: return found
            case .message(_, let payload, let deflated, _, let next):
                found.append((deflated ? "+" : "") + String(decoding: payload, as: UTF8.self))
                at = next
            case .ping(_, let next), .pong(_, let next): at = next
            case .close(let code, _, let next):
                found.append("close \(code ?? 0)")
                at = next
            case .violation(let code, let reason): return found + ["violation \(code) \(reason)"]
            }
        }
    }

    private func header(_ played: Played) -> String? {
        let lines = played.head.split(separator: "\r\n")
        return lines.first { $0.hasPrefix("Sec-WebSocket-Extensions: ") }.map { String($0.dropFirst(26)) }
    }

    @Test func eachMessageAsRecorded() throws {
        let played = try play(offer: "permessage-deflate; client_max_window_bits", agreed: DeflateParameters())
        #expect(header(played) == "permessage-deflate")
        #expect(played.messages == ["+" + said[0], said[1], "+" + said[2], "close 1001"])
        #expect(played.taped == [false, true, false, true])
        #expect(played.report.verdict == .pass, "\(played.report.reasons)")
        // The window is kept: the second of two equal messages is a reference to the first.
        #expect(played.bytes.count < 100)
        let again = try play(offer: "permessage-deflate; client_max_window_bits", agreed: DeflateParameters())
        #expect(again.bytes == played.bytes && again.report.digest == played.report.digest)
    }

    @Test func theRecordedParameters() throws {
        var agreed = DeflateParameters()
        agreed.serverNoContextTakeover = true
        agreed.serverMaxWindowBits = 10
        agreed.clientMaxWindowBits = 11
        let recorded =
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits=11"
        let played = try play(
            recorded: recorded, offer: "permessage-deflate; client_max_window_bits", agreed: agreed)
        #expect(header(played) == recorded)
        #expect(played.messages == ["+" + said[0], said[1], "+" + said[2], "close 1001"])
        // Without a window the equal messages are equal bytes.
        let first = Array(played.bytes.prefix { $0 != 0x81 })
        #expect(played.bytes.dropFirst(first.count + 7).starts(with: first))
    }

    @Test func whereItIsNotAgreedOn() throws {
        let plain = said + ["close 1001"]
        let none = try play(offer: nil, agreed: nil)
        #expect(header(none) == nil && none.messages == plain)
        let off = try play(offer: "permessage-deflate", agreed: nil, mode: .off)
        #expect(header(off) == nil && off.messages == plain)
        let unrecorded = try play(recorded: nil, offer: "permessage-deflate", agreed: nil)
        #expect(header(unrecorded) == nil && unrecorded.messages == plain)
        // A client that does not name its window cannot be told a smaller one.
        let declined = try play(
            recorded: "permessage-deflate; client_max_window_bits=9", offer: "permessage-deflate", agreed: nil)
        #expect(header(declined) == nil && declined.messages == plain)
    }

    private func deflated(_ payloads: [UInt8]...) -> [UInt8] {
        var deflater = MessageDeflater(.toServer, DeflateParameters())
        var out: [UInt8] = []
        for payload in payloads {
            let packed = deflater.pack(payload.span) ?? []
            FrameWriter.append(opcode: 1, rsv1: true, payload: packed.span, mask: 0x0102_0304, into: &out)
        }
        return out
    }

    @Test func whatTheClientCompressed() throws {
        let offer = "permessage-deflate"
        let played = try play(offer: offer, agreed: DeflateParameters(), frames: deflated(Array("hello".utf8)))
        #expect(played.report.verdict == .pass, "\(played.report.reasons)")
        #expect(played.messages.first == "+" + said[0] && played.taped.first == true)
        // Where nothing was agreed on it breaks the protocol, and so does a bomb anywhere.
        let unasked = try play(offer: nil, agreed: nil, frames: deflated(Array("hello".utf8)))
        #expect(unasked.messages == ["close 1002"])
        let bomb = deflated([UInt8](repeating: 65, count: 65 << 20))
        #expect(bomb.count < 100_000)
        #expect(try play(offer: offer, agreed: DeflateParameters(), frames: bomb).messages == ["close 1009"])
        let rubbish = ReplayStage.frame("\u{7}\u{7}\u{7}")
        let broken = try play(offer: offer, agreed: DeflateParameters(), frames: [0xc1] + rubbish.dropFirst())
        #expect(broken.messages == ["close 1007"])
    }

    /// Rules act as on a socket without compression; what comes behind them is read well.
    @Test func rules() throws {
        func messages(_ rule: String) throws -> [String] {
            let rule = rule + "[1, direction=toClient]"
            return try play(offer: "permessage-deflate", agreed: DeflateParameters(), faults: [rule]).messages
        }
        let (first, last) = ("+" + said[0], "+" + said[2])
        #expect(try messages("drop on message") == [said[1], last, "close 1001"])
        #expect(try messages("duplicate on message") == [first, first, said[1], last, "close 1001"])
        #expect(try messages("replace(\"other\") on message") == ["+other", said[1], last, "close 1001"])
        #expect(try messages("reorder(1) on message") == [said[1], first, last, "close 1001"])
        #expect(try messages("corrupt(utf8) on message") == ["violation 1007 text is not UTF-8"])
        #expect(try messages("corrupt(rsv) on message") == ["violation 1002 reserved bit"])
        #expect(try messages("corrupt(mask) on message") == ["violation 1002 masked frame"])
        // So many bytes of a frame with its header: the message is not compressed then.
        let cut = try play(
            offer: "permessage-deflate", agreed: DeflateParameters(),
            faults: ["truncate(9) on message[3, direction=toClient]"])
        let third = [0x81, 126, 0, 220] + Array(said[2].utf8.prefix(5))
        #expect(cut.messages == [first, said[1]] && cut.bytes.suffix(9) == third[...])
    }
}
