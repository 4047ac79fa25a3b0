package import WiretapeBytes

/// An event loop: the clock, the timers and the streams of one thread. Everything that a loop calls, it calls on its own
/// thread, one call at a time. There are two: libuv (`WiretapeNet`) and a simulated one in virtual time
/// (`WiretapeSimulation`). Nothing above this protocol knows which.
package protocol Loop: AnyObject {
    /// Monotonic time in nanoseconds, from an arbitrary start.
    var now: WireInstant { get }
    /// The most bytes that one read takes; the loop's own buffer bounds it, too. `.max` at the beginning.
    var readLimit: Int { get set }

    /// A timer that is not armed. `fire` runs once for each arming.
    func timer(_ fire: @escaping () -> Void) -> any LoopTimer

    /// Starts to connect. `handler.connected()` or `handler.ended(_:)` follows, never before this call returns.
    func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream

    /// Listens. `accept` is called with each connected stream, whose reading is off, and returns its handler.
    /// - Parameter reusePort: several loops may listen on the same port and share its connections.
    func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener

    /// All addresses of `host` in the order in which they should be tried. `done` never runs before this call returns.
    func resolve(_ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void)
}

/// One deadline. Arming again moves it.
package protocol LoopTimer: AnyObject {
    /// Fires at `instant`, or as soon as possible when that has passed.
    func arm(at instant: WireInstant)
    /// Disarms. The timer may be armed again.
    func cancel()
    /// Disarms for good and lets go of the closure. Must be called once: a loop does not end while timers are open.
    func close()
}

package protocol Listener: AnyObject {
    /// Where it listens; the port is the real one.
    var address: Address { get }
    /// Stops accepting. Accepted streams go on.
    func close()
}
