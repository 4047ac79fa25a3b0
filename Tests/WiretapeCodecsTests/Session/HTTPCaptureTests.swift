import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Real sessions over HTTP, captured and decoded independently of Wiretape.
@Suite struct HTTPCaptureTests {
    static let captures: [(name: String, transports: [Transport])] = [
        ("aspnet10-js-longpolling", [.lp]), ("signalr-js-longpolling-json", [.lp]), ("aspnetcore-js-sse", [.sse]),
        ("signalr-signalrcore-sse", [.sse]), ("aspnet10-js-redirect-token", [.ws, .sse, .lp]),
    ]

    /// `> 0123456789abcdef`: direction and hash of each payload, in the order in which they were whole.
    private static func truth(_ name: String) throws -> [String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: tests.appending(path: "Fixtures/signalr/\(name).truth"), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: captures)
    func payloadsAreThoseOfTheTruth(_ name: String, _ transports: [Transport]) throws {
        let reading = try Reading(Codecs.all, FixtureTape("signalr/\(name)").events)
        var payloads: [String] = []
        var last: (event: UInt64, frame: Int)?
        for message in reading.messages where last?.event != message.event || last?.frame != message.frame {
            last = (message.event, message.frame)
            let hash = hexText(SHA256.hash(message.payload.span).prefix(8))
            payloads.append("\(message.message.direction.mark) \(hash)")
        }
        #expect(try payloads == Self.truth(name))
        #expect(reading.messages.allSatisfy { $0.codec == "signalr" && $0.message.role != .opaque })
        let played = reading.sessions.filter { $0.refusal == nil }
        #expect(played.map(\.transport) == transports)
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test func redirectsAndARefusedToken() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("signalr/aspnet10-js-redirect-token").events).sessions
        #expect(sessions.map(\.route) == ["/front", "/front", "/front", "/hub"])
        #expect(sessions.map(\.redirects.count) == [1, 1, 1, 0])
        #expect(
            sessions.prefix(3).allSatisfy {
                $0.negotiate?.request.target == "/hub/negotiate?via=front&negotiateVersion=1"
            })
        #expect(sessions.map(\.refusal?.status) == [nil, nil, nil, 401])
        #expect(
            sessions.map(\.serverIDs?.token) == [
                "V8o8wroadABB4Dfuth5hrA", "WdHvP4h-T95-au6PQXbtUQ", "9JjRnt7ippgN0kWb8-MaWg", nil,
            ])
        // js ends each by itself: no ending is the server's.
        for session in sessions {
            #expect(!session.entries.contains { if case .ending = $0.what { true } else { false } })
        }
    }

    /// Whether bodies stand inline or come in pieces, and how they are cut, is the recorder's affair.
    @Test(arguments: captures.map(\.name), [1, 3, 100])
    func tornBodiesGiveEqualSessions(_ name: String, _ size: Int) throws {
        let events = try FixtureTape("signalr/\(name)").events
        func key(_ reading: Reading) -> [[String]] {
            [reading.messages.map { "\($0.session) \($0.frame) \($0.message.summary)" }] + reading.sessions.map(\.lines)
        }
        #expect(key(Reading(Codecs.all, events.flatMap { Self.torn($0, size) })) == key(Reading(Codecs.all, events)))
    }

    private static func torn(_ event: TapeEvent, _ size: Int) -> [TapeEvent] {
        func with(_ kind: TapeEvent.Kind) -> TapeEvent {
            TapeEvent(time: event.time, connection: event.connection, kind)
        }
        func pieces(_ x: UInt32, _ direction: Direction, _ bytes: [UInt8]) -> [TapeEvent] {
            stride(from: 0, to: bytes.count, by: size).map {
                with(.chunk(x: x, direction, Array(bytes[$0..<min($0 + size, bytes.count)])))
            }
        }
        switch event.kind {
        case .chunk(let x, let direction, let bytes): return pieces(x, direction, bytes)
        case .request(let x, let head, .whole(let bytes)):
            return [with(.request(x: x, head, .streamed))] + pieces(x, .toServer, bytes)
                + [with(.end(x: x, .toServer, trailers: []))]
        case .response(let x, let head, .whole(let bytes), let interim, let coding, let proxy):
            return [with(.response(x: x, head, .streamed, interim: interim, coding: coding, proxy: proxy))]
                + pieces(x, .toClient, bytes) + [with(.end(x: x, .toClient, trailers: []))]
        default: return [event]
        }
    }
}
