import Foundation
import Testing

/// A path of a file that is not there.
func temporaryPath(_ name: String) -> String {
    NSTemporaryDirectory() + "/wiretape-\(name)-\(UUID().uuidString)"
}

func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

func readFile(_ path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [] }

func writeFile(_ path: String, _ bytes: [UInt8]) {
    #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
}

/// Appends to the file that is there, or makes it.
func appendFile(_ path: String, _ bytes: [UInt8]) throws {
    guard let file = FileHandle(forWritingAtPath: path) else { return writeFile(path, bytes) }
    try file.seekToEnd()
    try file.write(contentsOf: Data(bytes))
    try file.close()
}
