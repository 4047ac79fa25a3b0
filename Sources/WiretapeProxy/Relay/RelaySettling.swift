internal import WiretapeBytes
package import WiretapeRuntime

/// The moment before a run of live traffic is judged.
package enum RelaySettling {
    /// Somewhat longer than the time after which an intercepted client that is not read is looked at again.
    private static let time = InterceptedConnection.peekInterval + 5_000_000

    /// Lets the loop read what has arrived by now, and calls `done`: a client's end that came before the run is judged belongs to it.
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
