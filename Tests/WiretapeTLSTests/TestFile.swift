import Foundation
import WiretapeSystem

/// Files of a test, in the system's temporary folder.
enum TestFile {
    static func path() -> String {
        NSTemporaryDirectory() + "wiretape-\(ThisProcess.id)-\(UInt64.random(in: 0 ... .max))"
    }

    static func write(_ bytes: [UInt8]) throws -> String {
        let path = path()
        let file = try File.creating(path, overwrite: false)
        try file.write(bytes.span)
        return path
    }

    static func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    static func remove(_ path: String) { try? File.remove(path) }
}
