import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Real sessions, against what an independent dissector found in their packets.
@Suite struct EventflitCaptureTests {
    private static let names = ["eventflit-js-ipe", "pusher-js-any-sll2", "pusher-pysher-ipe"]

    private static func truth(_ name: String) throws -> [String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: tests.appending(path: "Fixtures/eventflit/\(name).truth"), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: names) func everyMessage(_ name: String) throws {
        let reading = Reading(Codecs.all, try FixtureTape("eventflit/\(name)").events)
        let mine = reading.messages.filter { $0.codec == "eventflit" }
        #expect(
            try Self.truth(name)
                == mine.map { "\($0.message.direction.mark) \(hexText(SHA256.hash($0.payload.span).prefix(8)))" })
        #expect(mine.allSatisfy { $0.message.role != .opaque })
    }

    @Test func twoClients() throws {
        let reading = Reading(Codecs.all, try FixtureTape("eventflit/eventflit-js-ipe").events)
        let sessions = reading.sessions
        #expect(sessions.map(\.codec.id) == ["eventflit", "eventflit"])
        #expect(sessions.map(\.route) == ["/app/278d525bdf162c739803", "/app/278d525bdf162c739803"])
        // The server's greeting is part of the script: replay plays it.
        #expect(sessions.allSatisfy { $0.lines.first?.hasPrefix("< connection_established") == true })
        let second = sessions[1].lines
        #expect(second.contains("> client-note on private-room {\"n\":1}"))
        #expect(sessions[0].lines.contains("< client-note on private-room {\"n\":1}"))
        #expect(sessions[0].lines.contains("< member_removed presence-lobby u1099875183.1658237939"))
        // The calls of publishers are ordinary requests.
        #expect(reading.reader.exchanges.count == 7)
    }
}
