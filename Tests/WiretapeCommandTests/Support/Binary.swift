import Foundation
import Testing

/// The tool as it was built, driven as a process. It lies beside the test bundle.
enum Binary {
    struct Run: Equatable {
        var code: Int32
        var out: String
        var err: String

        /// The last line on standard error.
        var verdict: String { err.split(separator: "\n").last.map(String.init) ?? "" }
    }

    static let folder: URL = {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: own).deletingLastPathComponent()
    }()

    static let wiretape = folder.appendingPathComponent("wiretape")

    /// The top of the repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Runs the tool to its end.
    static func run(_ arguments: String..., input: String? = nil) throws -> Run {
        try run(wiretape, arguments, input: input)
    }

    /// Runs any program to its end.
    static func run(_ program: URL, _ arguments: [String], input: String? = nil) throws -> Run {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, not pipes: a pipe that nobody drains would stop a program that prints much.
        let outFile = folder.appendingPathComponent("out")
        let errFile = folder.appendingPathComponent("err")
        let inFile = folder.appendingPathComponent("in")
        for file in [outFile, errFile] { try Data().write(to: file) }
        try Data((input ?? "").utf8).write(to: inFile)
        process.standardOutput = try FileHandle(forWritingTo: outFile)
        process.standardError = try FileHandle(forWritingTo: errFile)
        process.standardInput = try FileHandle(forReadingFrom: inFile)
        try process.run()
        process.waitUntilExit()
        return Run(
            code: process.terminationStatus, out: String(decoding: try Data(contentsOf: outFile), as: UTF8.self),
            err: String(decoding: try Data(contentsOf: errFile), as: UTF8.self))
    }
}
