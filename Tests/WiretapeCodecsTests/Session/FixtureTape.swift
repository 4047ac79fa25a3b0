import Foundation
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// A tape of `Tests/Fixtures`.
struct FixtureTape {
    var events: [TapeEvent] = []

    static let signalR = [
        "signalr-js-ws-json", "aspnet10-js-ws-json", "aspnet10-dotnet-ws-json", "signalr-js-ws-reconnect",
        "signalr-swift-ws-json", "aspnet10-js-abort-skip-negotiation", "aspnet10-js-ws-stateful-reconnect",
        "aspnet10-js-ws-messagepack", "signalr-pysignalr-ws-messagepack-deflate",
    ].map { "signalr/\($0)" }

    /// - Parameter name: below `Tests/Fixtures`, without `.tape`.
    init(_ name: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        try self.init(path: tests.appending(path: "Fixtures/\(name).tape").path)
    }

    /// A tape of `recordings/`.
    init(recording name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        try self.init(path: root.appending(path: "recordings/\(name).tape.gz").path)
    }

    private init(path: String) throws {
        var reader = try TapeReader(path: path)
        while let next = try reader.next() { events.append(next.event) }
    }
}

/// Reads events in order.
struct Reading {
    var reader: SessionReader
    var messages: [DecodedMessage] = []
    private var count: UInt64 = 0

    /// A tape as text.
    init(tape text: String) throws {
        var tape = try TapeReader(bytes: Array(text.utf8), name: "test.tape")
        reader = SessionReader(codecs: Codecs.all, header: tape.header)
        while let next = try tape.next() {
            reader.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
    }

    init(_ codecs: [CodecEntry], _ events: [TapeEvent] = [], keepsEntries: Bool = true) {
        reader = SessionReader(codecs: codecs, keepsEntries: keepsEntries)
        for event in events { read(event) }
    }

    mutating func read(_ event: TapeEvent) {
        count += 1
        reader.read(event, number: count, into: &messages)
    }

    var sessions: [RecordedSession] { reader.finish() }
}

extension RecordedSession {
    /// `> Send("ada")`, `< close 1000`: the entries as lines.
    var lines: [String] {
        entries.map { entry in
            switch entry.what {
            case .message(let message): "\(message.direction.mark) \(message.summary)"
            case .ending(.close(let code, let reason)): "< close \(code.map { "\($0)" } ?? "")\(reason)"
            case .ending(.disconnect): "< disconnect"
            case .ending(.reset): "< reset"
            }
        }
    }
}
