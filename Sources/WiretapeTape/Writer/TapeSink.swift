/// Where a writer's members go. Called by one thread.
package protocol TapeSink: AnyObject, Sendable {
    /// Appends all of `bytes`, a whole member or whole lines, or throws and leaves nothing of them behind if it can.
    func write(_ bytes: Span<UInt8>) throws(TapeError)

    /// Hands all that was written to the device, so that it outlives a loss of power.
    func sync() throws(TapeError)

    /// Nothing more is written: others may change the tape.
    func release()

    /// Takes away what was written: nothing came of it.
    func discard()
}

extension TapeSink {
    /// For sinks without a device.
    package func sync() throws(TapeError) {}
    package func release() {}
    /// For sinks that keep nothing.
    package func discard() {}
}
