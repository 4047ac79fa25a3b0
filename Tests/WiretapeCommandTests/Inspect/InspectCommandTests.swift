import Foundation
import Testing

/// `wiretape inspect` as a process, over captured sessions.
@Suite(.waitsForPrograms) struct InspectCommandTests {
    private let folder = Binary.root.appending(path: "Tests/Fixtures")

    private func tape(_ name: String) -> String { folder.appending(path: "signalr/\(name).tape").path }

    private func golden(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "inspect/\(name)"), encoding: .utf8)
    }

    /// A path that is free, and gone afterwards.
    private func withFile<R>(_ body: (URL) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "wt-\(UUID().uuidString).tape")
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file)
    }

    @Test(arguments: ["table", "json", "sequence"])
    func capturesAreShown(_ format: String) throws {
        let run = try Binary.run("inspect", tape("signalr-js-ws-reconnect"), "--format", format)
        #expect(run.code == 0)
        #expect(run.out == (try golden("reconnect.\(format).txt")))
        #expect(run.verdict == "wiretape: done (exit 0): 66 events, 42 messages, 3 sessions")
    }

    @Test func standardInputAndFilters() throws {
        let text = try String(contentsOfFile: tape("aspnet10-js-ws-json"), encoding: .utf8)
        let run = try Binary.run("inspect", "-", "-f", "json", "--filter", "ReceiveMessage[2..3]", input: text)
        #expect(run.code == 0)
        #expect(run.out.split(separator: "\n").count == 2)
        #expect(run.out.contains(#""summary":"ReceiveMessage("#))
        #expect(run.verdict.contains("2 rows shown of"))
    }

    @Test func cutTapesAreShownUpToTheCut() throws {
        let text = try String(contentsOfFile: tape("signalr-js-ws-json"), encoding: .utf8)
        try withFile { file in
            try text.prefix(4_000).write(to: file, atomically: true, encoding: .utf8)
            let run = try Binary.run("inspect", file.path)
            #expect(run.code == 0)
            #expect(run.verdict.hasSuffix("the last event is cut off, as a recorder that was killed leaves it"))
            #expect(run.out.split(separator: "\n").count > 10)
        }
    }

    @Test func whatIsNoTapeIsAnError() throws {
        let notATape = try Binary.run("inspect", Binary.root.appending(path: "Package.swift").path)
        #expect(notATape.code == 4)
        #expect(notATape.verdict.hasPrefix("wiretape: failed (exit 4): "))
        let missing = try Binary.run("inspect", "/nowhere/x.tape")
        #expect(missing.code == 1)
        let empty = try Binary.run("inspect", "-", input: "")
        #expect(empty.code == 4)
        let broken = "{\"tape\":1}\n{\"t\":0,\"c\":1,\"e\":\"mark\",\"text\":\"seen\"}\n{\"t\":x}\n{\"t\":0}\n"
        let damaged = try Binary.run("inspect", "-", input: broken)
        #expect(damaged.code == 4)
        #expect(damaged.out.contains("mark: seen"))
        #expect(damaged.verdict.contains("line 3"))
    }

    @Test func usageErrorsNameTheWord() throws {
        let filter = try Binary.run("inspect", "x", "--filter", "Send[")
        #expect(filter.code == 64)
        #expect(filter.verdict.contains("--filter: 1:6: a condition is missing"))
        let format = try Binary.run("inspect", "x", "--format", "tabel")
        #expect(format.verdict.contains("did you mean 'table'?"))
        #expect(try Binary.run("inspect").verdict == "wiretape: usage (exit 64): inspect needs FILE")
    }

    @Test(.timeLimit(.minutes(15)))
    func followsATapeThatGrows() throws {
        let lines = try String(contentsOfFile: tape("signalr-js-ws-json"), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { $0 + "\n" }.dropLast()
        try withFile { file in
            try lines.prefix(20).joined().write(to: file, atomically: false, encoding: .utf8)
            let process = Process()
            process.executableURL = Binary.wiretape
            process.arguments = ["inspect", file.path, "--follow"]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            var shown = ""
            func read(until count: Int) {
                while shown.split(separator: "\n").count < count {
                    let more = output.fileHandleForReading.availableData
                    if more.isEmpty { return }
                    shown += String(decoding: more, as: UTF8.self)
                }
            }
            // The head, and 19 events that hold one message each at most.
            read(until: 20)
            #expect(process.isRunning)
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            for line in lines.dropFirst(20) {
                try handle.write(contentsOf: Data(line.utf8))
            }
            try handle.close()
            read(until: .max)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let whole = try Binary.run("inspect", tape("signalr-js-ws-json"))
            #expect(shown == whole.out)
        }
    }
}
