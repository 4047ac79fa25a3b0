import Testing
import WiretapeBytes
import WiretapeCapture
import WiretapeProtocol
import WiretapeWire

/// TLS with a key log that is wrong, or not whole: what it opens is on the tape, and where anything of the rest was said stands a gap.
struct WrongKeysTests {
    /// What is done to a line of the key log.
    enum Change: CaseIterable {
        case missing, wrong, short
    }

    /// What one side said; nil is a gap.
    typealias Said = [String?]

    struct Script {
        var tls: SyntheticTLS
        var client: [String] = []
        var server: [String] = []

        mutating func exchange(_ name: String) {
            ask(name)
            answer(name)
        }

        mutating func ask(_ name: String) {
            tls.say(Script.request(name), fromClient: true)
            client.append(name)
        }

        mutating func answer(_ name: String) {
            tls.say("HTTP/1.1 200 OK\r\nContent-Length: \(name.utf8.count)\r\n\r\n\(name)", fromClient: false)
            server.append(name)
        }

        static func request(_ name: String) -> String { "GET /\(name) HTTP/1.1\r\nHost: a\r\n\r\n" }

        /// - Parameter changes: to the lines of the key log, by their places.
        func keys(_ changes: [Int: Change]) -> KeyLog {
            let keys = KeyLog()
            for (i, line) in tls.log.enumerated() {
                var secret = line.secret
                switch changes[i] {
                case .missing?: continue
                case .wrong?: secret[i % 32] ^= 0x40
                case .short?: secret.removeLast()
                case nil: break
                }
                func hex(_ bytes: [UInt8]) -> String {
                    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                }
                keys.add(Array("\(line.label) \(hex(line.random)) \(hex(secret))\n".utf8).span)
            }
            return keys
        }

        /// - Parameter cut: bytes that are missing at the end of what is said.
        func capture(cut: Int = 0) -> SyntheticCapture {
            var turns = tls.turns
            turns[turns.count - 1].bytes.removeLast(cut)
            return SyntheticCapture(turns)
        }

        func imported(_ changes: [Int: Change] = [:], cut: Int = 0) throws -> Imported {
            try Imported(capture(cut: cut).bytes, keys: keys(changes))
        }

        /// The place of a line of the key log.
        func line(_ label: String) throws -> Int { try #require(tls.log.firstIndex { $0.label == label }) }
    }

    static func new(_ early: SyntheticTLS.Early = .none, updates: Bool = false) -> Script {
        var script = Script(tls: SyntheticTLS(isNew: true))
        script.tls.shakeHands(early: early, early == .none ? [] : [Script.request("early"), Script.request("late")])
        if early == .taken {
            script.client += ["early", "late"]
            script.answer("early")
            script.answer("late")
        }
        for n in 0..<3 {
            script.exchange("\(n)")
            for fromClient in [true, false] where updates { script.tls.updateKey(fromClient: fromClient) }
        }
        return script
    }

    static func old(isShakenTwice: Bool) -> Script {
        var script = Script(tls: SyntheticTLS(isNew: false))
        script.tls.shakeHandsOld()
        script.exchange("0")
        if isShakenTwice { script.tls.shakeHandsOld() }
        script.exchange("1")
        return script
    }

    // MARK: Checks

    private static func said(_ imported: Imported) -> (client: Said, server: Said) {
        var (client, server): (Said, Said) = ([], [])
        for event in imported.events {
            switch event.kind {
            case .request(_, let head, _): client.append(String(head.target.dropFirst()))
            case .response(_, _, .whole(let body), _, _, _): server.append(String(decoding: body, as: UTF8.self))
            case .response: Issue.record("an answer without its body")
            case .missing(.toServer, _): client.append(nil)
            case .missing(.toClient, _): server.append(nil)
            case .open, .chunk, .end, .message, .part, .ping, .pong, .close, .gone, .frame, .fault, .mark, .take, .gap,
                .stop, .unknown:
                break
            }
        }
        return (client, server)
    }

    /// Everything that was said is there in its place, or a gap is.
    private static func follows(_ said: Said, _ truth: [String]) -> Bool {
        var places: Set<Int> = [0]
        for one in said {
            guard let one else {
                places = Set((places.min() ?? 0)...truth.count)
                continue
            }
            places = Set(places.filter { $0 < truth.count && truth[$0] == one }.map { $0 + 1 })
            if places.isEmpty { return false }
        }
        return places.contains(truth.count)
    }

    /// - Returns: what stands on the tape; nil: the connection is told not to be there.
    @discardableResult
    private static func check(_ script: Script, _ changes: [Int: Change], _ what: String = "") throws
        -> (client: Said, server: Said)?
    {
        let imported = try script.imported(changes)
        let lines = changes.map { "\($0.value) \(script.tls.log[$0.key].label)" }.sorted()
        let comment = Comment(rawValue: "\(what) \(lines)")
        let closed = imported.report.closed
        #expect(closed.count <= 1 && closed.allSatisfy { $0.reason.isSealed }, comment)
        guard imported.report.connections > 0 else {
            #expect(closed.count == 1 && !closed.contains { $0.isPartly }, comment)
            return nil
        }
        #expect(closed.allSatisfy { $0.isPartly }, comment)
        let (client, server) = said(imported)
        #expect(follows(client, script.client), "\(comment.rawValue): \(client)")
        #expect(follows(server, script.server), "\(comment.rawValue): \(server)")
        return (client, server)
    }

    private static func isWhole(_ found: (client: Said, server: Said)?, _ script: Script) -> Bool {
        found?.client == script.client && found?.server == script.server
    }

    // MARK: TLS 1.3

    /// One line is wrong, or two are, in every way.
    @Test(arguments: [SyntheticTLS.Early.none, .taken, .refused], [false, true])
    func whatTheKeyLogDoesNotOpenIsMissing(_ early: SyntheticTLS.Early, updates: Bool) throws {
        let script = Self.new(early, updates: updates)
        #expect(Self.isWhole(try Self.check(script, [:]), script))
        for i in script.tls.log.indices {
            for one in Change.allCases {
                try Self.check(script, [i: one])
                for j in script.tls.log.indices where j > i {
                    for other in Change.allCases { try Self.check(script, [i: one, j: other]) }
                }
            }
        }
        for one in Change.allCases {
            let all = Dictionary(uniqueKeysWithValues: script.tls.log.indices.map { ($0, one) })
            #expect(try Self.check(script, all) == nil)
        }
    }

    /// What the other direction's secret opens is there.
    @Test(arguments: Change.allCases) func theOtherDirectionIsRead(_ change: Change) throws {
        let script = Self.new(updates: true)
        let withoutServer = try Self.check(script, [script.line("SERVER_TRAFFIC_SECRET_0"): change])
        #expect(withoutServer?.client == script.client)
        #expect(withoutServer?.server == [nil])
        let withoutClient = try Self.check(script, [script.line("CLIENT_TRAFFIC_SECRET_0"): change])
        #expect(withoutClient?.client == [nil])
        #expect(withoutClient?.server == script.server)
    }

    /// Logs without the handshake's secrets open all that was said: its records are no content, and no gap.
    @Test(arguments: Change.allCases) func theHandshakeIsNoContent(_ change: Change) throws {
        let script = Self.new()
        let labels = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET"]
        let places = try labels.map { try script.line($0) }
        for lines in [[places[0]], [places[1]], places] {
            let changes = Dictionary(uniqueKeysWithValues: lines.map { ($0, change) })
            #expect(Self.isWhole(try Self.check(script, changes), script))
        }
    }

    /// The server says that it reads no early data: what does not open of it is not missing.
    @Test(arguments: Change.allCases) func refusedEarlyDataIsNotMissing(_ change: Change) throws {
        let script = Self.new(.refused)
        let place = try script.line("CLIENT_EARLY_TRAFFIC_SECRET")
        #expect(Self.isWhole(try Self.check(script, [place: change]), script))
    }

    /// A secret under the name of another, beside its own name or in place of it.
    @Test func aSecretMayStandUnderAnotherName() throws {
        var hasty = Script(tls: SyntheticTLS(isNew: true))
        hasty.tls.shakeHands(early: .taken, [Script.request("early")])
        hasty.client = ["early"]
        hasty.ask("0")
        for name in ["early", "0"] { hasty.answer(name) }
        for script in [Self.new(), Self.new(.taken), Self.new(.refused), hasty] {
            let labels = script.tls.log.map(\.label)
            for to in labels.indices {
                for from in labels.indices where from != to {
                    var bent = script
                    bent.tls.rename(labels[from], as: labels[to])
                    try Self.check(bent, [:], "\(labels[from]) as \(labels[to]), and not")
                    // What early data opens with is believed to be content's where the log says so.
                    if labels[to].hasSuffix("TRAFFIC_SECRET_0"), labels[from].contains("EARLY") { continue }
                    for other in labels.indices where other != to {
                        var changes = [from: Change.missing]
                        changes[other] = .missing
                        try Self.check(bent, changes, "\(labels[from]) as \(labels[to]), and not")
                    }
                }
            }
        }
    }

    // MARK: TLS 1.2

    @Test(arguments: [false, true]) func theMasterSecretMayBeWrong(isShakenTwice: Bool) throws {
        let script = Self.old(isShakenTwice: isShakenTwice)
        #expect(Self.isWhole(try Self.check(script, [:]), script))
        for one in [Change.missing, .wrong] {
            #expect(try Self.check(script, [0: one]) == nil)
            guard isShakenTwice else { continue }
            let half = try #require(try Self.check(script, [1: one]))
            #expect(half.client == ["0", nil] && half.server == ["0", nil])
        }
    }

    /// A packet is lost behind more records than are tried.
    @Test func keysThatAreInUseGoOnBehindAGap() throws {
        var script = Self.old(isShakenTwice: false)
        for n in 2..<600 { script.exchange("\(n)") }
        var capture = script.capture()
        capture.packets.removeAll { !$0.fromClient && $0.payload == script.tls.turns[script.tls.turns.count - 3].bytes }
        let imported = try Imported(capture.bytes, keys: script.keys([:]))
        let (client, server) = Self.said(imported)
        #expect(client.count == 600)
        #expect(server.count == 600 && server.suffix(3) == ["597", nil, "599"])
        #expect(imported.report.closed.isEmpty)
    }

    // MARK: Other bytes

    @Test(arguments: [true, false]) func aRecordThatIsNotWholeIsMissing(isNew: Bool) throws {
        let script = isNew ? Self.new() : Self.old(isShakenTwice: false)
        let (client, server) = Self.said(try script.imported(cut: 3))
        #expect(client == script.client)
        #expect(server == script.server.dropLast() + [nil])
    }

    /// Behind what is no TLS nothing of its direction is read; the other one goes on.
    @Test(arguments: [true, false]) func whatIsNoRecordEndsItsDirection(fromClient: Bool) throws {
        var script = Self.new()
        script.tls.babble(fromClient: fromClient)
        script.exchange("3")
        let imported = try script.imported()
        let (client, server) = Self.said(imported)
        let all = ["0", "1", "2", "3"]
        let cut = ["0", "1", "2", nil]
        #expect(client == (fromClient ? cut : all))
        #expect(server == (fromClient ? all : cut))
        #expect(imported.report.closed.map(\.isPartly) == [true])
    }
}
