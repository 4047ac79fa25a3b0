internal import CWiretapeUV
internal import Synchronization
internal import WiretapeBytes

// Lifetime: a number is asked of the loop, which outlives its listeners.

/// Out of descriptors, libuv accepts connections and closes them: the clients see a failure that no one notes. So the
/// listener stops in time. Descriptors are numbered from the lowest free one: a connection whose number is near the limit
/// says that nearly all below are taken, and this costs no counting. It is then not taken from libuv, which stops polling;
/// further clients wait in the system's backlog until descriptors come free.
extension UVListener {
    private static let saidSo = Atomic(false)

    var isNearDescriptorLimit: Bool { Int(heldDescriptor) >= ProcessSetup.descriptorCeiling(loop.descriptorLimit()) }

    func withhold() {
        if !Self.saidSo.exchange(true, ordering: .relaxed) {
            Notice.write(
                "nearly all \(loop.descriptorLimit()) file descriptors are in use: new connections wait until "
                    + "others end (ulimit -n raises the limit)")
        }
        loop.withholding.append(self)
        loop.armWithholding()
    }
}

extension UVLoop {
    private static var withholdInterval: UInt64 { 50_000_000 }

    func armWithholding() {
        // Lifetime: the loop keeps the timer and fires it itself.
        let timer = withholdTimer ?? UVTimer(self, holdsLoop: false) { [unowned self] in releaseWithheld() }
        withholdTimer = timer
        timer.arm(at: now.advanced(by: Self.withholdInterval))
    }

    private func releaseWithheld() {
        let next = Int(wiretape_next_descriptor(unsafe uv_backend_fd(raw)))
        guard next >= 0, next < ProcessSetup.descriptorCeiling(descriptorLimit()) else {
            if !withholding.isEmpty { armWithholding() }
            return
        }
        let listeners = withholding
        withholding = []
        for listener in listeners { listener.goOn() }
    }
}
