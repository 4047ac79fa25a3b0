package import WiretapeSystem

/// `-` where a file is read: standard input, for one reader.
package enum StandardInput {
    private struct State: Sendable {
        /// What it is read for.
        var purpose: String?
        var kept: String?
        var bytes: [UInt8]?
    }

    private static let state = Gate(State())

    /// A path for what is read in one go, such as a plan.
    package static let once = "/dev/stdin"

    /// What the command line calls a file that is read more than once.
    /// - Returns: for `-` a path at which standard input can be read as often as wanted; every other path as it is.
    package static func again(_ path: String, _ arguments: ParsedArguments) throws(UsageError) -> String {
        guard path == "-" else { return path }
        return try state.withLock { state throws(UsageError) in
            try take(&state, "FILE", arguments)
            if let kept = state.kept { return kept }
            do throws(FileError) {
                let path = try KeptInput.path(in: ThisProcess.environment("TMPDIR") ?? "/tmp")
                state.kept = path
                return path
            } catch {
                throw arguments.error("FILE -: standard input cannot be kept: \(error.reason)")
            }
        }
    }

    /// All of it, for what is small; the same bytes each time.
    /// - Parameters:
    ///   - purpose: what wants it: `--faults`.
    ///   - limit: bytes beyond which nothing more is read.
    package static func bytes(for purpose: String, limit: Int) throws(FileError) -> [UInt8] {
        try state.withLock { state throws(FileError) in
            if let other = state.purpose, other != purpose {
                throw FileError("read", "-", code: 0, reason: "\(other) has standard input already; name a file")
            }
            state.purpose = purpose
            if let bytes = state.bytes { return bytes }
            var bytes: [UInt8] = []
            let input = try File.reading(once)
            while bytes.count <= limit, try input.read(at: UInt64(bytes.count), limit: 64 << 10, into: &bytes) > 0 {}
            state.bytes = bytes
            return bytes
        }
    }

    private static func take(_ state: inout State, _ purpose: String, _ arguments: ParsedArguments) throws(UsageError) {
        if let other = state.purpose, other != purpose {
            throw arguments.error("\(purpose) -: \(other) has standard input already; name a file")
        }
        state.purpose = purpose
    }

    /// A text for people, in which what was kept is called `-` again.
    package static func named(_ text: String) -> String {
        guard let kept = state.withLock({ $0.kept }) else { return text }
        return text.replacing(kept, with: "-")
    }
}
