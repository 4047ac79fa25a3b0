import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeTape

/// Sessions of real servers and clients, replayed to model clients.
@Suite struct GraphQLTapeTests {
    static let tapes = ["graphql-transport-ws-js", "graphql-legacy-ws-stw", "graphql-wss-tls12-gql"]

    @Test(arguments: tapes, [false, true]) func everyChainComesInItsOrder(_ name: String, _ waits: Bool) throws {
        var digests: Set<String> = []
        for speed in [ReplayOptions.Speed.instant, .factor(1), .factor(10)] {
            let play = try Playbook(sessions(name), speed: speed)
            for session in try sessions(name).filter(isTalk) {
                let client = GraphQLModelClient(session, play)
                client.run(waits: waits)
                #expect(client.got == client.wanted)
            }
            let report = play.finish()
            #expect(report.verdict == .pass, "\(report.reasons)")
            digests.insert(report.digest)
        }
        #expect(digests.count == 1)
    }

    /// A connection that is lost behind any message of the server: every result of a subscription comes once, and in order.
    @Test(arguments: tapes) func nothingIsLostWithAConnection(_ name: String) throws {
        let session = try #require(try sessions(name).first)
        for cut in 1...25 {
            let play = try Playbook([session], speed: .factor(10))
            let client = GraphQLModelClient(session, play)
            client.run(waits: false, cut: cut)
            for (id, wanted) in client.wanted {
                // A query that is asked again is answered again, whole.
                let got = client.got[id] ?? []
                // What crosses the client's own end is lost with the connection.
                if client.cancelled.contains(id), wanted.starts(with: got) { continue }
                #expect(
                    got == wanted || got.suffix(wanted.count) == wanted[...] && wanted.count <= 2,
                    "cut \(cut), \(id): \(got)")
            }
            let report = play.finish()
            #expect(report.verdict == .pass, "cut \(cut): \(report.reasons)")
        }
    }

    private func isTalk(_ session: RecordedSession) -> Bool { session.entries.count > 2 }

    private func sessions(_ name: String) throws -> [RecordedSession] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var tape = try TapeReader(path: tests.appending(path: "Fixtures/graphql/\(name).tape").path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return reader.finish()
    }
}
