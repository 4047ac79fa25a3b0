internal import CWiretapeUV

// Lifetime: the handles live as every `Handle` does: retained until their close callback.

/// Signals of this process as calls on a loop. While one is watched, its default action is off. Does not keep a loop going.
package final class SignalWatcher {
    /// The signals that ask a command to end.
    package static var ending: [Int32] { [SIGINT, SIGTERM] }

    private var handles: [SignalHandle] = []

    /// - Parameter received: called with the signal's number, on the loop, each time.
    package init(_ loop: UVLoop, _ signals: [Int32], _ received: @escaping (Int32) -> Void) {
        handles = signals.compactMap { SignalHandle(loop, $0, received) }
    }

    /// The default actions are back. Must be called once.
    package func close() {
        for handle in handles { handle.close() }
        handles = []
    }
}

private final class SignalHandle: Handle {
    private var received: ((Int32) -> Void)?

    init?(_ loop: UVLoop, _ number: Int32, _ received: @escaping (Int32) -> Void) {
        guard !loop.isShutDown else { return nil }
        self.received = received
        super.init(UV_SIGNAL)
        let signal = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_signal_t.self)
        guard unsafe uv_signal_init(loop.raw, signal) == 0 else { return nil }
        adopt()
        let rc = unsafe uv_signal_start(
            signal,
            { signal, number in
                let me = unsafe Handle.owner(signal!.pointee.data, as: SignalHandle.self)
                me.received?(number)
            }, number)
        if rc == 0 { unsafe uv_unref(raw) } else { close() }
    }

    override func didClose() { received = nil }
}
