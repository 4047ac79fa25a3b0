/// How much of unfinished messages an assembler holds over all its connections. While that is more than `limit`, each connection
/// that goes on writes what it holds in small parts.
final class InterceptedPieces {
    /// The size of a part while too much is held.
    static let smallPart = 4096

    private let limit: Int
    private(set) var count = 0

    /// - Parameter limit: bytes.
    init(limit: Int) { self.limit = limit }

    var isTooMuch: Bool { count > limit }

    func change(by difference: Int) { count += difference }
}
