import Foundation
import Testing

/// What `--memory` bounds, seen from outside, and what it may be.
@Suite(.waitsForPrograms) struct MemoryCommandTests {
    /// A tape without its end, of one message: `inspect --follow` stays there, so that its memory can be looked at.
    private func tape(_ text: String, in scratch: Scratch) throws -> String {
        let path = scratch.path("trees.tape")
        let lines = [
            #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z"}"#, #"{"t":1,"c":1,"e":"open","from":"127.0.0.1:1"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/x","headers":[["Host","a"],["Upgrade","websocket"],["Connection","Upgrade"],["Sec-WebSocket-Key","dGhlIHNhbXBsZSBub25jZQ=="],["Sec-WebSocket-Version","13"]]}"#,
            #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#,
            #"{"t":4,"c":1,"e":"message","d":"<","op":"text","text":"\#(text)"}"#,
            #"{"t":5,"c":1,"e":"mark","text":"seen"}"#,
        ]
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The most memory that the process has had so far, in MiB.
    private func peak(_ process: Process) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ")[1].filter(\.isNumber))) >> 10
    }

    /// As a tree of boxed values it took 560 MiB.
    @Test(arguments: ["0,", "[],", "{},"])
    func aTapeOfMillionsOfValues(_ item: String) throws {
        let scratch = try Scratch()
        let text = "[" + String(repeating: item, count: (16 << 20) / item.utf8.count) + "0]"
        let path = try tape(text, in: scratch)
        let process = Process()
        let pipe = Pipe()
        process.executableURL = Binary.wiretape
        process.arguments = ["inspect", "--follow", path]
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        var said = ""
        while !said.contains("mark: seen") {
            let more = pipe.fileHandleForReading.availableData
            if more.isEmpty { break }
            said += String(decoding: more, as: UTF8.self)
        }
        #expect(said.contains("mark: seen"))
        #expect(try peak(process) < 256 + 48)
        process.interrupt()
        process.waitUntilExit()
    }

    @Test func aLineThatTakesMoreThanThereIs() throws {
        let scratch = try Scratch()
        let path = try tape(String(repeating: "x", count: 17 << 20), in: scratch)
        for command in ["inspect", "validate", "name", "canon"] {
            let words = [command, path] + (command == "name" ? ["a=1"] : []) + ["--memory", "64MiB"]
            let run = try Binary.run(Binary.wiretape, words)
            #expect(run.code == 4, "\(command): \(run.err)")
            #expect((run.out + run.err).contains("which takes more than --memory allows"), "\(command): \(run.err)")
        }
        #expect(try Binary.run("inspect", path, "--memory", "256MiB").code == 0)
    }

    @Test(arguments: ["1MiB", "lots", "0", "63MiB"])
    func whatIsNoMemory(_ text: String) throws {
        let run = try Binary.run("inspect", "x.tape", "--memory", text)
        #expect(run.code == 64)
        #expect(run.err.contains("no size of 64MiB or more"))
    }
}
