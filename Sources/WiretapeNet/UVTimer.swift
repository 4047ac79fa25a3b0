internal import WiretapeBytes
internal import WiretapeRuntime

/// One deadline in the loop's heap. Costs no descriptor and no libuv handle.
final class UVTimer: LoopTimer {
    private let loop: UVLoop
    private var fire: (() -> Void)?
    /// Whether an open timer keeps `run()` going.
    private let holdsLoop: Bool
    /// Place in the heap, -1 while not armed.
    var slot = -1

    init(_ loop: UVLoop, holdsLoop: Bool, _ fire: @escaping () -> Void) {
        self.loop = loop
        self.holdsLoop = holdsLoop
        self.fire = fire
        if holdsLoop { loop.timerOpened() }
    }

    func arm(at instant: WireInstant) {
        guard fire != nil else { return }
        loop.arm(self, at: instant.nanoseconds)
    }

    func cancel() { loop.disarm(self) }

    func close() {
        guard fire != nil else { return }
        loop.disarm(self)
        fire = nil
        if holdsLoop { loop.timerClosed() }
    }

    /// From the loop. The closure may close the timer.
    func fireNow() {
        let fire = self.fire
        fire?()
    }
}
