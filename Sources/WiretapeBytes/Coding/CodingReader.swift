/// One content coding of a body, read in pieces.
final class CodingReader {
    private var reader: Reader
    private let coding: ContentCodings.Coding
    private var hasEnded = false
    /// The body may end here: nothing has come, or the last stream is whole.
    private(set) var isAtEnd = true
    /// Bytes that came out.
    private(set) var total = 0

    private enum Reader: ~Copyable {
        /// Which of the two forms of deflate it is, the first byte tells.
        case undecided
        case inflater(Inflater)
        case brotli(BrotliReader)
        case zstd(ZstdReader)
    }

    init(_ coding: ContentCodings.Coding) {
        self.coding = coding
        reader =
            switch coding {
            case .gzip: .inflater(Inflater(.gzip))
            case .deflate: .undecided
            case .brotli: .brotli(BrotliReader())
            case .zstd: .zstd(ZstdReader())
            }
    }

    /// Reads `input` from offset `used` on, moves `used` behind what was taken and appends at most `limit` bytes.
    /// - Returns: never `.end`: members and frames may follow each other, ``isAtEnd`` tells whether one is open.
    func feed(_ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]) -> Inflater.Outcome {
        var left = limit
        while true {
            if used < input.count {
                // Only gzip and zstd have further streams behind the first.
                if hasEnded, coding == .deflate || coding == .brotli { return .bad(.corrupt) }
                isAtEnd = false
            } else if isAtEnd {
                return .more
            }
            let before = out.count
            let outcome = readOnce(input, used: &used, limit: left, into: &out)
            left -= out.count - before
            total += out.count - before
            switch outcome {
            case .more, .bad: return outcome
            case .full: return .full
            case .end:
                hasEnded = true
                isAtEnd = true
                if used < input.count, left == 0 { return .full }
            }
        }
    }

    private func readOnce(
        _ input: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]
    ) -> Inflater.Outcome {
        var current = Reader.undecided
        swap(&current, &reader)
        switch consume current {
        case .undecided:
            guard used < input.count else {
                reader = .undecided
                return .more
            }
            // A zlib stream begins with method 8; a raw one of a sane encoder does not.
            reader = .inflater(Inflater(input[used] & 0x0f == 8 ? .zlib : .raw(windowBits: 15)))
            return readOnce(input, used: &used, limit: limit, into: &out)
        case .inflater(var inflater):
            let outcome = inflater.feed(input, used: &used, limit: limit, into: &out)
            reader = .inflater(inflater)
            return outcome
        case .brotli(var brotli):
            let outcome = brotli.feed(input, used: &used, limit: limit, into: &out)
            reader = .brotli(brotli)
            return outcome
        case .zstd(var zstd):
            let outcome = zstd.feed(input, used: &used, limit: limit, into: &out)
            reader = .zstd(zstd)
            return outcome
        }
    }
}
