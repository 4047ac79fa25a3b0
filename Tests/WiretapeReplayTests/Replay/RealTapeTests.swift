import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReplay
import WiretapeReport
import WiretapeTape
import WiretapeWire

/// Sessions of real servers and clients, replayed to model clients that say what the tape's client said, under other ids.
@Suite struct RealTapeTests {
    static let tapes = [
        "signalr-js-ws-json", "aspnet10-js-ws-json", "aspnet10-dotnet-ws-json", "signalr-js-ws-reconnect",
        "signalr-swift-ws-json", "aspnet10-js-abort-skip-negotiation",
    ]

    /// Says each message once everything recorded before it has come.
    @Test(arguments: tapes) func aClientThatWaitsGetsEveryChainInItsOrder(_ name: String) throws {
        for speed in [ReplayOptions.Speed.instant, .factor(1), .factor(10)] {
            let (play, clients) = try self.clients(name, speed: speed)
            for client in clients {
                try client.connect(to: play)
                client.run { client, said, heard in
                    client.script[..<said].count { $0.direction == .toClient } <= heard
                }
                #expect(client.got.count == client.wanted.count)
                #expect(chains(client.got) == chains(client.wanted))
            }
            let report = play.finish()
            #expect(report.verdict == .pass && report.unclaimed.isEmpty, "\(report.reasons)")
            let finished = report.sessions.allSatisfy { $0.finished }
            #expect(finished)
        }
    }

    /// Says everything at once but answers: gets the same in every chain.
    @Test(arguments: tapes) func aClientThatDoesNotWaitGetsTheSame(_ name: String) throws {
        var digests: Set<String> = []
        for speed in [ReplayOptions.Speed.instant, .factor(1), .factor(10)] {
            let (play, clients) = try self.clients(name, speed: speed)
            for client in clients {
                try client.connect(to: play)
                client.run { client, said, heard in
                    let message = client.script[said]
                    if message.role == .close { return heard == client.wanted.count }
                    // An answer needs its question, and everything needs the handshake.
                    let asked =
                        message.role == .reply ? client.script[..<said].lastIndex { $0.chain == message.chain } : 1
                    let before = client.script[...(asked ?? 1)].count { $0.direction == .toClient }
                    return message.role == .handshake || heard >= before
                }
                #expect(client.got.count == client.wanted.count)
                #expect(chains(client.got) == chains(client.wanted))
            }
            let report = play.finish()
            let finished = report.sessions.allSatisfy { $0.finished }
            #expect(report.verdict == .pass && finished, "\(report.reasons)")
            digests.insert(report.digest)
        }
        #expect(digests.count == 1)
    }

    /// The messages of each chain in their order.
    private func chains(_ records: [String]) -> [String: [String]] {
        Dictionary(grouping: records) { record in
            (try? JSONValue(parsing: record))?["invocationId"]?.string ?? "none"
        }
    }

    private func clients(_ name: String, speed: ReplayOptions.Speed) throws -> (Playbook, [TapeClient]) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var tape = try TapeReader(path: tests.appending(path: "Fixtures/signalr/\(name).tape").path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        let sessions = reader.finish()
        try #require(!sessions.isEmpty)
        return (try Playbook(sessions, speed: speed), sessions.map(TapeClient.init))
    }
}

/// The client of a recorded session.
final class TapeClient {
    let session: RecordedSession
    /// Both sides' messages up to the farewell and without what comes after it.
    let script: [Message]
    private var ids = IDMap()
    private var play: Playbook!
    private var c: ConnectionID = 0
    private(set) var got: [String] = []

    init(_ session: RecordedSession) {
        self.session = session
        var messages: [Message] = []
        for case .message(let message) in session.entries.map(\.what) {
            messages.append(message)
            if message.role == .close, message.direction == .toServer { break }
            guard message.direction == .toServer else { continue }
            for chain in [message.chain].compactMap(\.self) + message.opens where chain.origin == .toServer {
                ids.bind(chain, to: "live-\(chain.id)")
            }
        }
        script = messages
    }

    /// What the server says, with this client's ids.
    var wanted: [String] { script.filter { $0.direction == .toClient }.flatMap { records(text(of: $0)) } }

    private func text(of message: Message) -> String {
        var bytes: [UInt8] = []
        _ = session.writer.write(message, ids: ids, on: .ws, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func records(_ text: String) -> [String] { text.split(separator: "\u{1e}").map(String.init) }

    func connect(to play: Playbook) throws {
        self.play = play
        var target = session.opening.request.target
        if let negotiate = session.negotiate?.request {
            let asked = play.request(negotiate.method, negotiate.target)
            let body = try JSONValue(parsing: play.answers[asked]?.body ?? [])
            let token = try #require((body["connectionToken"] ?? body["connectionId"])?.string)
            target = target.replacingOccurrences(of: session.serverIDs?.token ?? "-", with: token)
        }
        c = play.request("GET", target, [HeaderField("Upgrade", "websocket")])
        try #require(play.take(c) == ["101"])
    }

    /// Says message after message as soon as `may` allows it: by the index of the message and the number of records heard.
    func run(_ may: (TapeClient, Int, Int) -> Bool) {
        var turn = 0
        for _ in 0..<400_000 {
            got += play.take(c).filter { $0.hasPrefix("{") && $0 != #"{"type":6}"# }
            while turn < script.count, script[turn].direction == .toClient { turn += 1 }
            if turn < script.count, may(self, turn, got.count) {
                play.send(c, String(text(of: script[turn]).dropLast()))
                turn += 1
            } else if turn == script.count, got.count >= wanted.count {
                break
            } else {
                play.pass(ms: 1)
            }
        }
        play.pass(ms: 100_000)
        got += play.take(c).filter { $0.hasPrefix("{") && $0 != #"{"type":6}"# }
        if got.count > wanted.count {
            got = Array(got.prefix(wanted.count)) + got.dropFirst(wanted.count).filter { !$0.contains(#""type":7"#) }
        }
        play.close(c)
    }
}
