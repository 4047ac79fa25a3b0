import Foundation
import Testing

/// A program that runs beside the test: a hub, a recorder. Its first line on standard output says where it listens.
final class Running {
    let process = Process()
    let url: String
    private let errFile: URL

    convenience init(_ name: String, _ arguments: [String], in folder: URL) throws {
        try self.init(Binary.folder.appendingPathComponent(name), arguments, in: folder)
    }

    init(_ program: URL, _ arguments: [String], in folder: URL) throws {
        let pipe = Pipe()
        errFile = folder.appendingPathComponent("err-\(UUID().uuidString)")
        try Data().write(to: errFile)
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errFile)
        try process.run()
        var line = Data()
        while !line.contains(0x0a) {
            let more = pipe.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += more
        }
        struct Ready: Decodable { var url: String }
        url = try JSONDecoder().decode(Ready.self, from: line.prefix { $0 != 0x0a }).url
    }

    /// Sends the signal and waits for the end.
    func stop(_ signal: Int32 = SIGINT) throws -> (code: Int32, err: String) {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: errFile, encoding: .utf8))
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}

extension Running {
    /// Records the sample client at the sample hub: `ada` says one, two and three.
    static func recordChat(to tape: String, in folder: URL) throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: folder)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        let run = try Binary.run(
            "record", "--upstream", hub.url, "--output", tape, "--", client, "--say", "one", "--say", "two", "--say",
            "three")
        #expect(run.code == 0, "\(run.err)")
        _ = try hub.stop()
    }
}

/// A folder that is gone after the test.
final class Scratch {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("wt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    deinit { try? FileManager.default.removeItem(at: url) }
}
