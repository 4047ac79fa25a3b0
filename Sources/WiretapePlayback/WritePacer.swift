package import WiretapeBytes

/// Holds back what a connection writes: not at all, at so many bytes a second, in pieces with pauses between them, or until
/// it is told otherwise. Bytes keep their order. Times are those of the loop.
package struct WritePacer: Sendable {
    private var bytes: [UInt8] = []
    private var first = 0
    private var pace = Pace.free
    /// When the pace began, and what has left under it.
    private var since = WireInstant.zero
    private var written: UInt64 = 0
    private var nextSlice = WireInstant.zero
    /// Nothing leaves at all.
    package var isStopped = false

    package enum Pace: Hashable, Sendable {
        case free
        /// Bytes a second, more than 0.
        case rate(UInt64)
        /// Writes of at most so many bytes, so many nanoseconds apart.
        case slices(Int, every: UInt64)
    }

    package init() {}

    /// Bytes that wait.
    package var count: Int { bytes.count - first }

    /// Whether everything passes at once.
    package var isIdle: Bool { pace == .free && !isStopped && count == 0 }

    package mutating func set(_ pace: Pace, at now: WireInstant) {
        self.pace = pace
        since = now
        written = 0
        nextSlice = now
    }

    package mutating func append(_ more: [UInt8], at now: WireInstant) {
        if count == 0 { catchUp(at: now) }
        if first == bytes.count {
            bytes = more
            first = 0
        } else {
            bytes += more
        }
    }

    /// What leaves now, as the writes that it is to be.
    package mutating func take(at now: WireInstant) -> [[UInt8]] {
        guard !isStopped, count > 0 else { return [] }
        switch pace {
        case .free: return [cut(count)]
        case .rate(let rate):
            let allowed = allowance(rate, at: now)
            guard allowed > 0 else { return [] }
            let piece = cut(Int(min(allowed, UInt64(count))))
            written += UInt64(piece.count)
            return [piece]
        case .slices(let size, let every):
            var pieces: [[UInt8]] = []
            while count > 0, nextSlice <= now {
                pieces.append(cut(min(size, count)))
                nextSlice = nextSlice.advanced(by: every)
            }
            return pieces
        }
    }

    /// When more may leave; nil: nothing waits, or nobody knows.
    package func nextTake(after now: WireInstant) -> WireInstant? {
        guard count > 0, !isStopped else { return nil }
        switch pace {
        case .free: return now
        case .rate(let rate):
            // At most a hundred writes a second, and whole bytes.
            let step = max(1, rate / 100)
            let position = written + min(step, UInt64(count))
            let (high, low) = position.multipliedFullWidth(by: 1_000_000_000)
            let gap = rate.dividingFullWidth((high % rate, low)).quotient
            return max(since.advanced(by: gap).advanced(by: 1), now)
        case .slices: return max(nextSlice, now)
        }
    }

    /// Everything that waits, at once: what comes next does not keep order with it.
    package mutating func takeAll() -> [UInt8] { cut(count) }

    private func allowance(_ rate: UInt64, at now: WireInstant) -> UInt64 {
        let (high, low) = now.since(since).multipliedFullWidth(by: rate)
        guard high < 1_000_000_000 else { return .max }
        let total = UInt64(1_000_000_000).dividingFullWidth((high, low)).quotient
        return total > written ? total - written : 0
    }

    /// Nothing is saved up while nothing waits.
    private mutating func catchUp(at now: WireInstant) {
        if case .rate(let rate) = pace, allowance(rate, at: now) > 0 {
            since = now
            written = 0
        }
        nextSlice = max(nextSlice, now)
    }

    private mutating func cut(_ length: Int) -> [UInt8] {
        let piece = Array(bytes[first..<first + length])
        first += length
        if first == bytes.count {
            bytes = []
            first = 0
        } else if first > 1 << 16, first * 2 > bytes.count {
            bytes.removeFirst(first)
            first = 0
        }
        return piece
    }
}
