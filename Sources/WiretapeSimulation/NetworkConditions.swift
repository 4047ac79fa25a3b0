internal import WiretapeBytes

/// What a simulated network is like. Each connection draws its own buffers and rates from these ranges.
package struct NetworkConditions: Sendable {
    /// Nanoseconds from the sender's kernel to the receiver's, drawn for every piece.
    package var latency: ClosedRange<UInt64>
    /// Bytes that the sender's kernel holds.
    package var sendBuffer: ClosedRange<Int>
    /// Bytes that the receiver's kernel holds: the window.
    package var receiveBuffer: ClosedRange<Int>
    /// Bytes a second of one direction, drawn so that slow ones are as likely as fast ones; nil for no limit.
    package var bytesPerSecond: ClosedRange<Int>?
    /// Whether writes, transmissions and reads are cut at random places. Else as much goes at once as fits.
    package var isChoppy: Bool
    /// One transmission in so many resets its connection, for both ends; 0 for never.
    package var resetOneIn: Int
    /// One transmission in so many loses its connection: from then on nothing passes, and nobody is told; 0 for never.
    package var loseOneIn: Int

    /// Loopback on a good day: 20 to 50 microseconds, buffers of 256 KiB and nothing cut.
    package static let calm = NetworkConditions(
        latency: 20_000...50_000, sendBuffer: 262_144...262_144, receiveBuffer: 262_144...262_144,
        bytesPerSecond: nil, isChoppy: false, resetOneIn: 0, loseOneIn: 0)

    /// Small windows, slow peers and cuts everywhere, but no faults: everything arrives.
    package static let rough = NetworkConditions(
        latency: 1_000...2_000_000, sendBuffer: 1...16_384, receiveBuffer: 1...16_384,
        bytesPerSecond: 50_000...100_000_000, isChoppy: true, resetOneIn: 0, loseOneIn: 0)
}

/// The conditions of one direction of one connection, as drawn.
struct DrawnConditions {
    let sendBuffer: Int
    let receiveBuffer: Int
    /// 0 without a limit.
    let nanosecondsPerByte: UInt64

    init(_ conditions: NetworkConditions, _ random: inout SplitMix64) {
        sendBuffer = max(1, random.draw(in: conditions.sendBuffer))
        receiveBuffer = max(1, random.draw(in: conditions.receiveBuffer))
        guard let rates = conditions.bytesPerSecond else {
            nanosecondsPerByte = 0
            return
        }
        // Halve the span of the rates a random number of times.
        let slowest = max(1, rates.lowerBound)
        var rate = max(slowest, rates.upperBound)
        for _ in 0..<random.below(16) where rate / 2 >= slowest { rate /= 2 }
        nanosecondsPerByte = 1_000_000_000 / UInt64(rate)
    }
}

extension SplitMix64 {
    mutating func draw(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    mutating func draw(in range: ClosedRange<UInt64>) -> UInt64 {
        range.lowerBound + next() % (range.upperBound - range.lowerBound + 1)
    }

    /// Whether this is the one in `n`; never for 0, and then nothing is drawn.
    mutating func isOne(in n: Int) -> Bool { n > 0 && below(n) == 0 }

    /// 1 ... `count`: all of it half the time, now and then very little.
    mutating func piece(of count: Int) -> Int {
        switch below(8) {
        case 0: 1
        case 1: 1 + below(min(count, 16))
        case 2, 3: 1 + below(count)
        default: count
        }
    }
}
