internal import WiretapeBytes
package import WiretapeRuntime

/// The moment before a run of live traffic is judged.
package enum RelaySettling {
    /// Longer than the interval at which Wiretape checks a stalled client for its end.
    private static let time = InterceptedConnection.peekInterval + 5_000_000

    /// Lets the loop read everything that has arrived, then calls `done`, so that the run includes ends that have arrived.
    package static func settle(_ loop: any Loop, _ done: @escaping () -> Void) {
        var timer: (any LoopTimer)?
        // Lifetime: the timer is kept by its own closure until it has fired.
        timer = loop.timer {
            timer?.close()
            timer = nil
            done()
        }
        timer?.arm(at: loop.now.advanced(by: time))
    }
}
