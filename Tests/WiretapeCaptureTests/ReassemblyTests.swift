import Testing
import WiretapeBytes
import WiretapeCapture
import WiretapeProtocol
import WiretapeWire

/// What stands on the tape of a damaged capture was sent: no byte of a body is wrong, and what is missing is told.
struct ReassemblyTests {
    /// Exchanges whose bodies are known by their numbers.
    private static let count = 12

    private static func body(_ n: Int, fromClient: Bool) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(n * 2 + (fromClient ? 1 : 0)) &* 0x9e37_79b9)
        return (0..<(200 + Int(random.below(4_000)))).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private static func turns() -> [(fromClient: Bool, bytes: [UInt8])] {
        (0..<count).flatMap { n in
            let asked = body(n, fromClient: true)
            let said = body(n, fromClient: false)
            let request = "POST /m?id=\(n) HTTP/1.1\r\nHost: a\r\nContent-Length: \(asked.count)\r\n\r\n"
            let response = "HTTP/1.1 200 OK\r\nX-Id: \(n)\r\nContent-Length: \(said.count)\r\n\r\n"
            return [(true, Array(request.utf8) + asked), (false, Array(response.utf8) + said)]
        }
    }

    /// The bodies on the tape by exchange, and whether each is whole. Fails when a byte was not sent so.
    private static func check(_ imported: Imported, _ what: String) -> Int {
        var whole = 0
        /// The numbers of the exchanges on each connection, as their heads tell them.
        var asked: [String: Int] = [:]
        var said: [String: Int] = [:]
        var pieces: [String: [UInt8]] = [:]
        for event in imported.events {
            switch event.kind {
            case .request(let x, let head, let bytes):
                guard let n = head.target.split(separator: "=").last.flatMap({ Int($0) }) else {
                    Issue.record("\(what): a head that nobody sent: \(head.target)")
                    continue
                }
                asked["\(event.connection) \(x)"] = n
                if case .whole(let body) = bytes {
                    #expect(body == Self.body(n, fromClient: true), "\(what): request \(n)")
                    whole += 1
                }
            case .response(let x, let head, let bytes, _, _, _):
                guard let n = head.headers.first("X-Id").flatMap({ Int($0) }) else {
                    Issue.record("\(what): an answer that nobody gave")
                    continue
                }
                said["\(event.connection) \(x)"] = n
                if case .whole(let body) = bytes {
                    #expect(body == Self.body(n, fromClient: false), "\(what): answer \(n)")
                    whole += 1
                }
            case .chunk(let x, let direction, let bytes):
                pieces["\(event.connection) \(x) \(direction == .toServer)", default: []] += bytes
            case .open, .end, .message, .part, .ping, .pong, .close, .gone, .frame, .fault, .mark, .take, .gap,
                .missing, .stop,
                .unknown:
                break
            }
        }
        for (key, bytes) in pieces {
            let parts = key.split(separator: " ")
            let isAsked = parts[2] == "true"
            let place = "\(parts[0]) \(parts[1])"
            guard let n = isAsked ? asked[place] : said[place] else {
                Issue.record("\(what): pieces of no exchange")
                continue
            }
            #expect(Self.body(n, fromClient: isAsked).starts(with: bytes), "\(what): pieces of \(n)")
        }
        return whole
    }

    @Test(arguments: 0..<20) func whatIsAllThereIsWhole(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        // The sequence numbers wrap in some of them.
        var capture = SyntheticCapture(Self.turns(), start: UInt32.max - UInt32(random.below(60_000)), &random)
        // Repetitions, neighbours out of order, and segments that begin in the one before.
        var moved: [SyntheticCapture.Packet] = []
        for packet in capture.packets {
            moved.append(packet)
            guard packet.payload.count > 2 else { continue }
            if random.below(4) == 0 { moved.append(packet) }
            if random.below(5) == 0 {
                var part = packet
                let cut = 1 + Int(random.below(packet.payload.count - 1))
                part.payload.removeFirst(cut)
                part.sequence = packet.sequence &+ UInt32(cut)
                moved.append(part)
            }
        }
        for i in moved.indices.dropFirst(3).dropLast(4) where random.below(3) == 0 && i + 1 < moved.count - 2 {
            // What one side says in one turn; the turns themselves have causes.
            if moved[i].fromClient == moved[i + 1].fromClient { moved.swapAt(i, i + 1) }
        }
        capture.packets = moved
        let imported = try Imported(capture.bytes, piece: 1 + Int(random.below(5_000)))
        #expect(Self.check(imported, "seed \(seed)") == 2 * Self.count)
        #expect(imported.report.missingBytes == 0 && imported.report.gaps == 0 && imported.report.fault == nil)
        #expect(!imported.events.contains { if case .missing = $0.kind { true } else { false } })
    }

    @Test(arguments: 0..<20) func whatIsLostIsTold(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed + 1_000))
        var capture = SyntheticCapture(Self.turns(), start: UInt32(random.below(1 << 32)), &random)
        let before = capture.packets.count
        capture.packets.removeAll { !$0.payload.isEmpty && random.below(33) == 0 }
        let lost = before - capture.packets.count
        let imported = try Imported(capture.bytes)
        let whole = Self.check(imported, "seed \(seed)")
        guard lost > 0 else { return }
        #expect(whole < 2 * Self.count)
        #expect(imported.report.missingBytes > 0 && imported.report.gaps > 0)
        #expect(imported.events.contains { if case .missing = $0.kind { true } else { false } })
    }

    @Test(arguments: 0..<20) func cutPacketsAndMissingEndsInventNothing(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed + 2_000))
        var capture = SyntheticCapture(Self.turns(), start: UInt32(random.below(1 << 32)), &random)
        switch seed % 3 {
        case 0:
            for i in capture.packets.indices where random.below(20) == 0 {
                capture.packets[i].kept = 60 + Int(random.below(900))
            }
        case 1: capture.packets.removeFirst(1 + Int(random.below(20)))
        default: capture.packets.removeLast(1 + Int(random.below(20)))
        }
        let imported = try Imported(capture.bytes)
        _ = Self.check(imported, "seed \(seed)")
    }

    @Test func theFirstOfTwoDifferentBytesStands() throws {
        var random = SplitMix64(seed: 5)
        var capture = SyntheticCapture(Self.turns(), start: 1, &random)
        let at = try #require(capture.packets.firstIndex { $0.payload.count > 100 })
        var other = capture.packets[at]
        other.payload = other.payload.map { $0 ^ 0xff }
        capture.packets.insert(other, at: at + 1)
        let imported = try Imported(capture.bytes)
        #expect(Self.check(imported, "differing") == 2 * Self.count)
        #expect(imported.report.differingBytes > 0)
    }

    // MARK: Single packets

    private static func said(_ turns: [(Bool, String)]) -> SyntheticCapture {
        SyntheticCapture(turns.map { ($0.0, Array($0.1.utf8)) })
    }

    private static func ask(_ n: Int) -> (Bool, String) { (true, "GET /\(n) HTTP/1.1\r\nHost: a\r\n\r\n") }
    private static func answer(_ n: Int) -> (Bool, String) {
        (false, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n0\(n)")
    }

    /// A lost request: its answer waits for the gap, and is not taken for that of another request.
    @Test func anAnswerIsNotGivenToAnotherRequest() throws {
        var capture = Self.said([
            Self.ask(1), Self.answer(1), Self.ask(2), Self.answer(2), Self.ask(3), Self.answer(3), Self.ask(4),
        ])
        // SYN, SYN ACK, and a packet a turn; the next request comes when the hole is nearly old enough.
        let times: [UInt32] = [0, 1, 2, 3, 4, 10_000, 105_000, 112_000, 160_000, 900_000, 900_001]
        for i in capture.packets.indices { capture.packets[i].time = times[min(i, times.count - 1)] }
        capture.packets.remove(at: 4)
        let imported = try Imported(capture.bytes)
        var targets: [UInt32: String] = [:]
        var answered: [String: String] = [:]
        for event in imported.events {
            if case .request(let x, let head, _) = event.kind { targets[x] = head.target }
            if case .response(let x, _, .whole(let body), _, _, _) = event.kind {
                answered[targets[x] ?? "?"] = String(decoding: body, as: UTF8.self)
            }
        }
        #expect(answered == ["/1": "01", "?": "02", "/3": "03"])
        #expect(imported.report.gaps == 1)
    }

    /// The server's SYN stands behind its first words in the file: what the client has of it tells where they begin.
    @Test(arguments: [true, false]) func anAcknowledgedHandshakeIsNoGap(isThere: Bool) throws {
        var capture = Self.said([Self.ask(1), Self.answer(1), Self.ask(2), Self.answer(2)])
        let syn = capture.packets.remove(at: 1)
        if isThere { capture.packets.insert(syn, at: 3) }
        let imported = try Imported(capture.bytes)
        #expect(imported.report.gaps == 0)
        #expect(imported.events.count { if case .response = $0.kind { true } else { false } } == 2)
    }

    /// Without the answer to an upgrade nobody can say what the client's words behind it are: they are told as what they are.
    @Test func wordsBehindALostUpgradeAreTold() throws {
        let frame: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]
        let upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        var capture = SyntheticCapture([
            (true, Array(upgrade.utf8)), (false, Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8)),
            (true, frame), (false, [0x81, 2, 0x68, 0x69]),
        ])
        #expect(try Imported(capture.bytes).events.count { if case .message = $0.kind { true } else { false } } == 2)
        capture.packets.remove(at: 3)
        let imported = try Imported(capture.bytes)
        let kinds = imported.events.compactMap { event -> String? in
            switch event.kind {
            case .missing(let direction, _): "missing \(direction)"
            case .unknown(let kind): kind
            case .gone(let party, _, _): "gone \(party)"
            case .message: "message"
            case .open, .request, .response, .chunk, .end, .part, .ping, .pong, .close, .frame, .fault, .mark, .take,
                .gap, .stop:
                nil
            }
        }
        #expect(kinds.prefix(3) == ["missing toClient", "malformed", "malformed"])
        #expect(kinds.dropFirst(3).sorted() == ["gone client", "gone server"])
        #expect(imported.report.unreadBytes == UInt64(frame.count + 4))
    }

    /// A snap length that leaves nothing but headers.
    @Test func aConnectionWithoutBytesIsTold() throws {
        var capture = Self.said([Self.ask(1), Self.answer(1)])
        for i in capture.packets.indices { capture.packets[i].kept = 54 }
        let imported = try Imported(capture.bytes)
        #expect(imported.report.closed.map(\.reason) == [.noBytes])
        #expect(imported.report.connections == 0)
    }

    /// Files of nonsense, each a real one with bytes changed, cut out or doubled: an end with a reason, and never a trap.
    @Test(arguments: 0..<40) func nonsenseIsReadToAnEnd(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed + 3_000))
        let capture = SyntheticCapture(Array(Self.turns().prefix(6)), start: 1, &random)
        let whole = capture.bytes
        for _ in 0..<50 {
            var bytes = whole
            for _ in 0...random.below(6) {
                let at = Int(random.below(bytes.count))
                switch random.below(4) {
                case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.below(300))))
                case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + Int(random.below(300)))], at: at)
                default:
                    for i in at..<min(bytes.count, at + 4) { bytes[i] = random.below(2) == 0 ? 0xff : 0 }
                }
                if bytes.count < 24 { bytes = whole }
            }
            _ = try Imported(bytes)
        }
    }
}
