import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeSimulation

/// The recorder's end on a loop, in virtual time.
@Suite struct TapTests {
    /// A sink that never has room, but for what is offered last.
    private final class FullSink: TapSink {
        private(set) var refused = 0
        private(set) var bytes: [UInt8] = []
        let oldestUnwritten = UInt64.max
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
}
