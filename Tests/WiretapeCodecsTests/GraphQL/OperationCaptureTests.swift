import Foundation
import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// GraphQL over plain HTTP, captured and decoded independently of Wiretape.
@Suite struct OperationCaptureTests {
    static let captures = ["graphql-multipart-strawberry", "graphql-badnet-http", "graphql-wss-tls12-gql-http"]
    private static let end = Array(#"{"type":"complete"}"#.utf8)

    /// `> {"query":…}`: direction and text of each payload, in the order in which they were whole.
    private static func truth(_ name: String) throws -> [String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: tests.appending(path: "Fixtures/graphql/\(name).truth"), encoding: .utf8)
        return try text.split(separator: "\n").map { try #require(try JSONValue(parsing: String($0)).string) }
    }

    private static func payloads(_ reading: Reading) -> [String] {
        reading.messages.filter { $0.payload != end }.map {
            "\($0.message.direction.mark) \(String(decoding: $0.payload, as: UTF8.self))"
        }
    }

    @Test(arguments: captures)
    func payloadsAreThoseOfTheTruth(_ name: String) throws {
        let reading = try Reading(Codecs.all, FixtureTape("graphql/\(name)").events)
        #expect(try Self.payloads(reading) == Self.truth(name))
        #expect(reading.messages.allSatisfy { $0.codec == "graphql" && $0.message.role != .opaque })
        #expect(reading.sessions.allSatisfy { $0.isOperation && $0.refusal == nil && $0.route == "/graphql" })
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test(arguments: captures, [1, 3, 100])
    func tornBodiesGiveEqualSessions(_ name: String, _ size: Int) throws {
        let events = try FixtureTape("graphql/\(name)").events
        let torn = events.flatMap { event -> [TapeEvent] in
            guard case .chunk(let x, let direction, let bytes) = event.kind else { return [event] }
            return stride(from: 0, to: bytes.count, by: size).map { at in
                let piece = Array(bytes[at..<min(at + size, bytes.count)])
                return TapeEvent(time: event.time, connection: event.connection, .chunk(x: x, direction, piece))
            }
        }
        let (left, right) = (Reading(Codecs.all, torn), Reading(Codecs.all, events))
        #expect(Self.payloads(left) == Self.payloads(right))
        #expect(left.sessions.map(\.lines) == right.sessions.map(\.lines))
    }

    @Test func everyExchangeIsASession() throws {
        let sessions = try Reading(Codecs.all, FixtureTape("graphql/graphql-multipart-strawberry").events).sessions
        #expect(sessions.map(\.transport) == [.multipart, .multipart, .http, .multipart])
        #expect(
            sessions[0].lines == ["> counter"] + (1...6).map { "< counter {\"counter\":\($0)}" } + [
                "< counter", "< close 1000",
            ])
        // The answer ends without its last chunk.
        #expect(
            sessions[1].lines == [
                "> failing", #"< failing {"failing":1}"#, #"< failing errors "deliberate failure""#, "< disconnect",
            ])
        #expect(
            sessions[2].lines == ["> query hello", "< hello {\"hello\":\"hello wörld 🌍\"}", "< hello", "< close 1000"])
        // Heartbeats are no entries.
        #expect(sessions[3].lines.count == 5)
    }
}
