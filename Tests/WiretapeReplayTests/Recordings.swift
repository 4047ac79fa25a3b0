import Foundation
import WiretapeCodecs
import WiretapeCore
import WiretapeTape

/// Sessions of the tapes in `recordings/`.
enum Recordings {
    /// - Parameter name: of the file, without `.tape.gz`.
    static func sessions(_ name: String) throws -> [RecordedSession] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let path = tests.deletingLastPathComponent().appending(path: "recordings/\(name).tape.gz").path
        var tape = try TapeReader(path: path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return reader.finish()
    }
}
