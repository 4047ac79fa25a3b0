import Foundation
import WiretapeTape

/// Tapes as the tests of the tape tools need them.
enum TapeFiles {
    static let recordings = ["chat", "everything", "pysignalr", "reconnect", "signalrcore", "skip-negotiation"]

    static func recording(_ name: String) -> String {
        Binary.root.appendingPathComponent("recordings/\(name).tape.gz").path
    }

    /// A copy that may be changed.
    static func copy(_ name: String, in scratch: Scratch) throws -> String {
        let path = scratch.path("\(name).tape.gz")
        try FileManager.default.copyItem(atPath: recording(name), toPath: path)
        return path
    }

    static func write(_ lines: [String], _ name: String, in scratch: Scratch) throws -> String {
        let path = scratch.path(name)
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The lines of a tape, compressed or not.
    static func lines(_ path: String) throws -> [String] {
        var reader = try TapeLineReader(path: path)
        var lines: [String] = []
        while let line = try reader.next() { lines.append(String(decoding: line.bytes, as: UTF8.self)) }
        return lines
    }

    static let sparse = [
        #"{"tape":1,"protocol":"signalr","route":"/chat"}"#,
        "# ada speaks",
        #"{"d":">","json":{"type":1,"invocationId":"1","target":"SendMessage","arguments":["ada", "hello"]}}"#,
        #"{"d":"<","json":{"type":1,"target":"ReceiveMessage","arguments":["ada","hello"]}}"#,
        #"{"d":"<","after":"100ms","json":{"type":3,"invocationId":"1","result":null}}"#,
    ]
}
