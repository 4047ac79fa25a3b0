package import WiretapeBytes
internal import WiretapeRuntime

package final class SimulatedTimer: LoopTimer {
    // Lifetime: the test keeps the loop until all is over.
    private unowned let loop: SimulatedLoop
    private var fire: (() -> Void)?
    private(set) var arming: UInt64 = 0
    private(set) var isClosed = false

    init(_ loop: SimulatedLoop, _ fire: @escaping () -> Void) {
        self.loop = loop
        self.fire = fire
    }

    package func arm(at instant: WireInstant) {
        guard !isClosed else { return loop.violated("a timer was armed after its close") }
        arming += 1
        loop.schedule(self, at: max(instant.nanoseconds, loop.now.nanoseconds))
    }

    package func cancel() { arming += 1 }

    package func close() {
        guard !isClosed else { return loop.violated("a timer was closed twice") }
        isClosed = true
        arming += 1
        fire = nil
        loop.timerClosed()
    }

    func run(_ arming: UInt64) {
        guard arming == self.arming else { return }
        self.arming += 1
        fire?()
    }
}
