import Foundation
import WiretapeCodecs
import WiretapeProtocol
import WiretapeTape

/// Sessions of the tapes in `recordings/`.
enum Recordings {
    /// - Parameter name: of the file, without `.tape.gz`.
    static func sessions(_ name: String) throws -> [RecordedSession] { try read(name).sessions }

    /// The sessions, and the tape's events, which can be read again.
    static func read(_ name: String) throws -> (sessions: [RecordedSession], events: Events) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let path = tests.deletingLastPathComponent().appending(path: "recordings/\(name).tape.gz").path
        var tape = try TapeReader(path: path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        var events = Events()
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            events.all[next.number] = (next.event, next.line, next.isUnframed)
        }
        return (reader.finish(), events)
    }

    struct Events: PayloadSource {
        fileprivate(set) var all: [UInt64: (event: TapeEvent, line: Int, isUnframed: Bool)] = [:]

        func event(_ number: UInt64) -> (event: TapeEvent, line: Int, isUnframed: Bool)? { all[number] }
    }
}
