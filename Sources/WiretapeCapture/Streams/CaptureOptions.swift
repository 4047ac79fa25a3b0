/// What of a capture is wanted.
package struct CaptureOptions: Sendable {
    /// Ports of servers; empty: all.
    package var ports: Set<UInt16> = []

    package init() {}
}
