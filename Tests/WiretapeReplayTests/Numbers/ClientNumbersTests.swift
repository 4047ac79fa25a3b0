import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// Every number that a client sends, at its limits: the replay takes it, calls it a divergence, or refuses it.
@Suite struct ClientNumbersTests {
    /// A number of a client's message: the first of each protocol, type and member.
    struct Place: CustomTestStringConvertible, Sendable {
        var tape: String
        var session: Int
        var event: UInt64
        var bytes: [UInt8]
        var range: Range<Int>
        var testDescription: String
    }

    static let tapes: [(name: String, reading: CodedTape.Reading)] = NumbersTape.recordings.compactMap { name, lines in
        (try? CodedTape.read(lines.flatMap { $0 + [0x0a] })).map { (name, $0) }
    }

    static let places: [Place] = {
        var seen: Set<String> = []
        var found: [Place] = []
        for (name, reading) in tapes {
            for (s, session) in reading.sessions.enumerated() {
                for entry in session.entries {
                    guard case .message(let message) = entry.what, message.direction == .toServer,
                        message.opcode == .text
                    else { continue }
                    for place in LimitNumbers.places(in: message.bytes) {
                        let key = "\(session.codec.id) \(session.transport.rawValue) \(message.type) '\(place.key)'"
                        guard seen.insert(key).inserted else { continue }
                        found.append(
                            Place(
                                tape: name, session: s, event: entry.event, bytes: message.bytes, range: place.range,
                                testDescription: key))
                    }
                }
            }
        }
        return found
    }()

    @Test(arguments: places) func ofMessages(_ place: Place) throws {
        let reading = try #require(Self.tapes.first { $0.name == place.tape }?.reading)
        let session = reading.sessions[place.session]
        for number in LimitNumbers.all {
            let client = try NumbersPlay(reading)
            let c = client.connect(session)
            client.say(session, on: c) { message in
                message.bytes == place.bytes
                    ? LimitNumbers.replacing(place.range, of: place.bytes, with: number) : nil
            }
            client.play.pass(ms: 100_000)
            _ = client.play.finish()
        }
    }

    /// The first recording of each protocol over each transport.
    static let kinds: [String] = {
        var seen: Set<String> = []
        return tapes.sorted { $0.reading.events.count < $1.reading.events.count }.compactMap { name, reading in
            guard let first = reading.sessions.first,
                seen.insert("\(first.codec.id) \(first.transport.rawValue)").inserted
            else { return nil }
            return name
        }
    }()

    /// Items of the query and header fields, those that recorded clients send and those that servers know.
    @Test(arguments: kinds) func ofRequests(_ name: String) throws {
        let reading = try #require(Self.tapes.first { $0.name == name }?.reading)
        let session = try #require(reading.sessions.first)
        let fields = [
            "X-Cache-Date", "X-Heartbeat-Server", "X-Atmosphere-tracking-id", "Content-Length", "Last-Event-ID",
            "Sec-WebSocket-Version", "Retry-After", "X-atmo-protocol",
        ]
        let target = session.opening.request.target
        let digits = LimitNumbers.digits(in: target).map { range in
            target.utf8.distance(from: target.startIndex, to: range.lowerBound)
        }
        for number in LimitNumbers.all {
            for field in fields {
                try ask(reading, session) { head in
                    head.headers.removeAll { $0.name == field }
                    head.headers.append(HeaderField(field, number))
                }
                try ask(reading, session) { head in
                    head.target += "\(head.target.contains("?") ? "&" : "?")\(field)=\(number)"
                }
            }
            for at in digits.indices {
                try ask(reading, session) { head in
                    let ranges = LimitNumbers.digits(in: head.target)
                    if ranges.indices.contains(at) { head.target.replaceSubrange(ranges[at], with: number) }
                }
            }
            let extensions = "permessage-deflate; client_max_window_bits=\(number); server_max_window_bits=\(number)"
            try ask(reading, session) { $0.headers.append(HeaderField("Sec-WebSocket-Extensions", extensions)) }
        }
    }

    private func ask(
        _ reading: CodedTape.Reading, _ session: RecordedSession, _ change: (inout RequestHead) -> Void
    ) throws {
        let client = try NumbersPlay(reading)
        _ = client.connect(session, change)
        client.play.pass(ms: 1_000)
        _ = client.play.finish()
    }

    /// Stateful reconnect: the client says from which number on it sends, and which it has, in both hub protocols.
    @Test(arguments: ["stateful", "stateful-messagepack"]) func ofSequences(_ name: String) throws {
        let reading = try #require(Self.tapes.first { $0.name == name }?.reading)
        let session = try #require(reading.sessions.first)
        let isBinary = name.hasSuffix("messagepack")
        for number in LimitNumbers.all {
            for type in [8, 9] {
                for before in ["0", number] {
                    let client = try NumbersPlay(reading) { $0.ids.areFresh = true }
                    let c = client.connect(session)
                    client.say(session, on: c)
                    for value in [before, number, "5", number] {
                        guard let bytes = Self.sequence(type, value, isBinary) else { continue }
                        client.play.sendBytes(c, isBinary ? .binary : .text, bytes)
                        client.play.pass(ms: 2_000)
                    }
                    _ = client.play.finish()
                }
            }
        }
    }

    /// `{"type":9,"sequenceId":0}`, or the same in MessagePack.
    private static func sequence(_ type: Int, _ number: String, _ isBinary: Bool) -> [UInt8]? {
        guard isBinary else { return Array("{\"type\":\(type),\"sequenceId\":\(number)}\u{1e}".utf8) }
        var body: [UInt8] = []
        let value = JSONValue.array([.number(type), .number(UInt64(number) ?? .max)])
        guard MessagePack.write(value, into: &body) else { return nil }
        return [UInt8(body.count)] + body
    }
}
