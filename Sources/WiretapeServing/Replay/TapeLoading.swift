package import WiretapeCommandLine
internal import WiretapeNet
package import WiretapeProtocol
package import WiretapeSystem

/// A tape that is read on a thread of its own while clients can connect already.
package final class TapeLoading: Sendable {
    /// Between two looks for the result.
    package static let look: UInt64 = 2_000_000

    private let outcome = Gate<Result<LoadedTape, any Error>?>(nil)

    package init(path: String, ignore: [IgnoreRule], memory: Int, log: Log) throws(SystemError) {
        _ = try Thread(name: "tape") { [outcome] in
            let result = Result { try LoadedTape(path: path, ignore: ignore, memory: memory, log: log) }
            HeapMemory.trim()
            outcome.update { $0 = result }
        }
    }

    /// Nil until the tape was read.
    package var result: Result<LoadedTape, any Error>? { outcome.withLock { $0 } }
}
