/// Chooses the compression level of each member: 6 when there is time for it, 1 and then stored when compressing would
/// take more than its share, when the queue fills, or when the bytes do not compress anyway.
package struct LevelPolicy: Sendable {
    package static let best = 6

    /// The lowest level that overload forced; nil when none did.
    package private(set) var forced: Int?

    /// Measured nanoseconds a byte of lines, at level 6 and at level 1.
    private var costs = (best: 10.0, fast: 4.0)
    /// Bytes of lines a nanosecond that come in.
    private var rate = 0.0
    private var windowStart: UInt64?
    private var windowBytes = 0
    /// What the load allows.
    private var allowed = LevelPolicy.best
    /// What the content is worth.
    private var worth = LevelPolicy.best
    private var stored = 0

    /// The share of the time that compressing may take at a level: above `most` the level goes down, below `calm` up again.
    /// Level 6 is for calm traffic: under load the loops need the processor more than the tape needs the last 10 %.
    private static func share(_ level: Int) -> (most: Double, calm: Double) {
        level == LevelPolicy.best ? (0.15, 0.09) : (0.6, 0.4)
    }
    private static let window: UInt64 = 200_000_000
    /// Members stored before it is tried again whether they compress.
    private static let probeAfter = 16

    package init() {}

    /// The level for the next member.
    /// - Parameters:
    ///   - bytes: of its lines.
    ///   - fill: of the queue before the writer, 0 to 1.
    ///   - now: monotonic, in nanoseconds.
    package mutating func level(bytes: Int, fill: Double, now: UInt64) -> Int {
        measureRate(bytes, now)
        allowed = allowed(fill)
        if allowed < LevelPolicy.best { forced = min(forced ?? allowed, allowed) }
        guard worth == 0, allowed > 0 else { return min(allowed, worth) }
        stored += 1
        return stored % LevelPolicy.probeAfter == 0 ? 1 : 0
    }

    /// Over windows of 200 ms or more: members that were cut from one batch come at once and say nothing.
    private mutating func measureRate(_ bytes: Int, _ now: UInt64) {
        let start = windowStart ?? now
        windowBytes += bytes
        windowStart = start
        guard now > start, now - start >= LevelPolicy.window else { return }
        let current = Double(windowBytes) / Double(now - start)
        rate = current > rate ? current : (rate + current) / 2
        windowStart = now
        windowBytes = 0
    }

    private func allowed(_ fill: Double) -> Int {
        if fill > 0.5 { return 0 }
        func fits(_ cost: Double, _ level: Int) -> Bool {
            let share = LevelPolicy.share(level)
            return rate * cost < (allowed >= level ? share.most : share.calm)
        }
        if fill <= 0.25, fits(costs.best, LevelPolicy.best) { return LevelPolicy.best }
        return fits(costs.fast, 1) ? 1 : 0
    }

    /// What became of a member.
    package mutating func made(level: Int, bytes: Int, compressed: Int, nanoseconds: UInt64) {
        guard level > 0, bytes > 0 else { return }
        // Small members say little: their cost is that of the tables, their ratio that of the header.
        guard bytes >= 4096 else { return }
        let cost = Double(nanoseconds) / Double(bytes)
        if level == 1 {
            costs.fast = costs.fast * 0.75 + cost * 0.25
        } else {
            costs.best = costs.best * 0.75 + cost * 0.25
        }
        let ratio = Double(compressed) / Double(bytes)
        // Level 1 finds nearly all that there is to find in bytes that hardly compress.
        if ratio > 0.9 {
            worth = 0
        } else if ratio > 0.7 {
            worth = 1
        } else if ratio < 0.65 {
            worth = LevelPolicy.best
        }
    }
}
