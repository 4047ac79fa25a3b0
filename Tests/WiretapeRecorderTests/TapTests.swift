import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeRuntime
import WiretapeSimulation

/// The recorder's end on a loop, in virtual time.
@Suite struct TapTests {
    /// A sink that never has room, but for what is offered last.
    private final class FullSink: TapSink {
        private(set) var refused = 0
        private(set) var bytes: [UInt8] = []
        let oldestUnwritten = UInt64.max
        let oldestQueued = UInt64.max
        let waits = true

        func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
            guard isLast else {
                refused += 1
                return .full(batch)
            }
            bytes += batch
            return .taken(spare: [])
        }
    }

    /// A recording that is stopped while its writer is behind: all that was relayed reaches the tape.
    @Test func aFullSinkGetsTheRestAtTheEnd() {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        let sink = FullSink()
        let tap = Tap(loop, index: 0, sink: sink)
        let message = [UInt8](repeating: 7, count: 100_000)
        for _ in 0..<5 { tap.record(.bytes, 1, at: loop.now, message.span) }
        #expect(sink.refused > 0 && tap.isHeld)
        tap.close()
        #expect(sink.bytes.count >= 5 * message.count)
    }

    /// A sink that takes all, and whose oldest records have always waited for so long.
    private final class LateSink: TapSink {
        private let loop: any Loop
        let waits: Bool
        var unwritten: UInt64 = 0
        var queued: UInt64 = 0

        init(_ loop: any Loop, waits: Bool) {
            self.loop = loop
            self.waits = waits
        }

        var oldestUnwritten: UInt64 { loop.now.nanoseconds - unwritten }
        var oldestQueued: UInt64 { loop.now.nanoseconds - queued }

        func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
            .taken(spare: [])
        }
    }

    /// Traffic waits while the oldest record is not written for 400 ms, or waits in the queue for 240, until it is half as long.
    @Test(arguments: [\LateSink.unwritten, \.queued], [true, false]) private func aWriterThatIsLateIsWaitedFor(
        _ age: any ReferenceWritableKeyPath<LateSink, UInt64> & Sendable, waits: Bool
    ) {
        let loop = SimulatedLoop(seed: 1, conditions: .calm)
        _ = loop.run(until: loop.now.advanced(by: 1_000_000_000))
        let sink = LateSink(loop, waits: waits)
        let tap = Tap(loop, index: 0, sink: sink)
        var told: [String] = []
        tap.onHold = { told.append("held") }
        tap.onRelease = { told.append("released") }
        let one: [UInt8] = [7]
        let most = age == \LateSink.queued ? 240_000_000 : 400_000_000 as UInt64
        func look(_ nanoseconds: UInt64) {
            sink[keyPath: age] = nanoseconds
            tap.record(.bytes, 1, at: loop.now, one.span)
            _ = loop.run(until: loop.now.advanced(by: 30_000_000))
        }
        look(most)
        #expect(told == [] && !tap.isHeld)
        look(most + 1)
        #expect(told == (waits ? ["held"] : []) && tap.isHeld == waits)
        look(most / 2 + 1)
        #expect(tap.isHeld == waits)
        look(most / 2)
        #expect(told == (waits ? ["held", "released"] : []) && !tap.isHeld)
        tap.close()
    }
}
