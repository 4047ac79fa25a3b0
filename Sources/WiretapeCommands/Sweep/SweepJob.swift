internal import WiretapeNet
internal import WiretapeSystem
internal import WiretapeWire

/// One run of the client against the replay, as a process of its own.
struct SweepJob {
    /// Where report and output go, ending with a slash.
    let folder: String
    let tape: String
    /// Options of the replay that were given to the sweep.
    let options: [String]
    let seed: UInt64
    let timeout: String
    let command: [String]

    /// The words of the replay with those rules.
    func words(_ rules: [String]) -> [String] {
        ["replay", tape] + options + rules.flatMap { ["--fault", $0] } + ["--seed", "\(seed)"]
    }

    /// The command that repeats a run, for a shell.
    /// - Parameter hangs: it has to be ended.
    func line(_ rules: [String], hangs: Bool) -> String {
        let end = hangs ? ["--timeout", timeout] : []
        return (["wiretape"] + words(rules) + end + ["--"] + command).map(Self.quoted).joined(separator: " ")
    }

    private func files(_ name: String) -> (report: String, output: String) {
        (folder + name + ".json", folder + name + ".log")
    }

    /// Starts the run.
    /// - Parameter ended: gets what the run came to; called on the loop.
    /// - Returns: the process, to be ended with the sweep.
    func start(
        _ name: String, _ rules: [String], on loop: UVLoop, _ ended: @escaping (SweepOutcome) -> Void
    ) throws -> ChildProcess {
        let (report, output) = files(name)
        let own = ["--report", report, "--timeout", timeout, "--log-level", "error"]
        return try ChildProcess(
            loop, [ThisProcess.executable] + words(rules) + own + ["--"] + command, output: output
        ) { end in
            ended(outcome(name, end))
        }
    }

    private func outcome(_ name: String, _ end: ChildEnd) -> SweepOutcome {
        let (report, output) = files(name)
        let value = Self.text(report, limit: 64 << 20).flatMap { try? JSONValue(parsing: $0) }
        let lines = Self.text(output, limit: 1 << 20)?.split(separator: UInt8(ascii: "\n")) ?? []
        let last = lines.last { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let outcome = SweepOutcome(code: end.exitCode, report: value, lastLine: last)
        try? File.remove(report)
        if !outcome.isBroken { try? File.remove(output) }
        return outcome
    }

    /// Where the output of a run that broke the client stays.
    func output(_ name: String) -> String { files(name).output }

    private static func text(_ path: String, limit: Int) -> [UInt8]? {
        guard let file = try? File.reading(path) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < limit {
            guard let count = try? file.read(at: UInt64(bytes.count), limit: 64 << 10, into: &bytes) else { return nil }
            if count == 0 { break }
        }
        return bytes
    }

    /// A word for a POSIX shell.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || "_-./:=@%+,".utf8.contains(byte)
            }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
