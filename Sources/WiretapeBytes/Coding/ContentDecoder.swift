internal import Synchronization

/// Removes the content codings of one body that comes in pieces. Memory: a window for each coding and 64 KiB between two
/// of them. Bodies that pretend are refused: no coding may give more than 16 MiB and more than 100 times what was received.
///
/// It has one owner, though copies of a struct that holds it share it: what is read from one is gone for the others.
package final class ContentDecoder: Sendable {
    /// Why a body cannot be decoded.
    package enum Fault: Error, Hashable, Sendable {
        case unknown(String)
        case bad(InflateFault)
        /// The body is over and a coding is not.
        case truncated
        case tooMuch
        /// More than the reader keeps comes out of it.
        case tooLong(limit: Int)

        /// As the end of a sentence: "the body cannot be decoded: …".
        package var text: String {
            switch self {
            case .unknown(let names): "the coding '\(names)' is not known"
            case .bad(.corrupt): "the bytes are damaged, or of another coding"
            case .bad(.needsDictionary): "it needs a dictionary"
            case .bad(.windowTooLarge): "it needs a window above 8 MiB"
            case .bad(.outOfMemory): "there is no memory for it"
            case .bad(.misused): "the library refuses it"
            case .truncated: "it ends too early"
            case .tooMuch: "more than 16 MiB and 100 times its size comes out of it"
            case .tooLong(let limit): "more than \(limit >> 10) KiB comes out of it"
            }
        }
    }

    package enum Outcome: Hashable, Sendable {
        /// All input is used.
        case more
        /// `limit` bytes came and there may be more: call again.
        case full
        /// Nothing more can be read; every later call says the same.
        case bad(Fault)
    }

    /// What may come out whatever was received, and how many times what was received may come out beyond that.
    package static let floor = 16 << 20
    package static let ratio = 100

    private let chain: Mutex<Chain>

    /// Nil when there is nothing to remove, or something that is not known.
    package init?(_ codings: ContentCodings) {
        guard let known = codings.known, !known.isEmpty else { return nil }
        chain = Mutex(Chain(known))
    }

    /// Reads `input` from offset `used` on, moves `used` behind what was taken and appends at most `limit` bytes.
    package func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Outcome {
        chain.withLock { $0.feed(input, used: &used, limit: limit, into: &out) }
    }

    /// Whether the body may end here.
    package var isAtEnd: Bool { chain.withLock { $0.isAtEnd } }

    /// A whole body without its codings. An empty body has none, whatever its head says.
    /// - Parameter limit: bytes that may come out of it.
    package static func whole(
        _ body: [UInt8], _ codings: ContentCodings, limit: Int
    ) throws(Fault) -> [UInt8] {
        var reading = try WholeBody(body, codings, limit: limit)
        while true {
            if let plain = try reading.next(1 << 20) { return plain }
        }
    }

    /// The codings of a body, the one that was applied last first.
    private struct Chain: ~Copyable {
        private let readers: [CodingReader]
        /// What the reader before it has given and the reader has not taken yet.
        private var between: [(bytes: [UInt8], used: Int)]
        private var received = 0
        private var fault: Fault?

        init(_ codings: [ContentCodings.Coding]) {
            readers = codings.reversed().map { CodingReader($0) }
            between = codings.map { _ in ([], 0) }
        }

        var isAtEnd: Bool { fault == nil && readers.allSatisfy(\.isAtEnd) }

        mutating func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Outcome {
            if let fault { return .bad(fault) }
            let before = used
            let outcome = pull(readers.count - 1, input, &used, limit: limit, into: &out)
            received += used - before
            let most = readers.map(\.total).max() ?? 0
            if most > ContentDecoder.floor, most / ContentDecoder.ratio > received { fault = .tooMuch }
            switch outcome {
            case .bad(let why): fault = fault ?? .bad(why)
            case .full: if fault == nil { return .full }
            case .more, .end: if fault == nil { return .more }
            }
            return fault.map { .bad($0) } ?? .more
        }

        /// At most `limit` bytes from reader `i`, which is given what the one before it reads.
        private mutating func pull(
            _ i: Int, _ input: Span<UInt8>, _ used: inout Int, limit: Int, into out: inout [UInt8]
        ) -> Inflater.Outcome {
            guard i > 0 else { return readers[0].feed(input, used: &used, limit: limit, into: &out) }
            var left = limit
            while true {
                let before = out.count
                let (bytes, from) = between[i]
                var at = from
                between[i].bytes = []
                let outcome = readers[i].feed(bytes.span, used: &at, limit: left, into: &out)
                left -= out.count - before
                guard outcome == .more else {
                    between[i] = (bytes, at)
                    return outcome
                }
                var next: [UInt8] = []
                let source = pull(i - 1, input, &used, limit: 64 << 10, into: &next)
                between[i] = (next, 0)
                // What came before a fault is still read: the fault is told when nothing is left.
                if next.isEmpty { return source }
                let most = readers.map(\.total).max() ?? 0
                if most > ContentDecoder.floor, most / ContentDecoder.ratio > received + used { return .full }
            }
        }
    }
}
