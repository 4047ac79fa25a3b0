import Foundation
import Testing

/// A signal that comes while a run is still being set up: it is kept until there is something to stop.
@Suite(.waitsForPrograms) struct EarlySignalTests {
    private static let tape = Binary.root.appendingPathComponent("recordings/chat.tape.gz").path
    private static let upstream = ["--upstream", "http://127.0.0.1:9"]
    /// The codes are those of runs that nobody came to.
    private static let runs: [([String], Int32)] = [
        (["replay", tape], 2), (["proxy"] + upstream, 128 + SIGTERM), (["record"] + upstream, 1),
    ]

    @Test(arguments: runs, [[], ["--", "/bin/sleep", "60"]])
    func endsTheRun(_ run: (words: [String], code: Int32), _ command: [String]) throws {
        let words = run.words
        let scratch = try Scratch()
        // At several moments behind the first at which a signal does not kill it.
        for moment in 0..<8 {
            let process = Process()
            process.executableURL = Binary.wiretape
            let output = words[0] == "record" ? ["--output", scratch.path("\(moment).tape")] : []
            process.arguments = words + output + ["--log-level", "error"] + command
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let pid = process.processIdentifier
            while process.isRunning, try !ProcessStatus(pid).catches(SIGTERM) {}
            if moment > 0 { usleep(UInt32(500 << moment)) }
            kill(pid, SIGTERM)
            // So long that nothing but waiting for ever takes that time.
            for _ in 0..<3000 where process.isRunning { usleep(10_000) }
            let hasEnded = !process.isRunning
            if !hasEnded { kill(pid, SIGKILL) }
            process.waitUntilExit()
            #expect(hasEnded, "\(words[0]) goes on after a signal (moment \(moment))")
            #expect(process.terminationStatus == run.code, "\(words[0]), moment \(moment)")
        }
    }
}
