/// Which of the two ends of a connection. `one` is the one that was seen first.
package enum TCPSide: Int, CaseIterable {
    case one, two

    package var other: TCPSide { self == .one ? .two : .one }
}

/// Gets the two byte streams of a connection, each in order, and in an order of both that can have been.
package protocol TCPStreamHandler: AnyObject {
    /// The connection's beginning was captured.
    func opened(by client: TCPSide, at time: UInt64)
    func received(_ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64)
    /// Bytes of this side are not in the capture; nil: an unknown number of them, before it begins.
    func missed(_ count: UInt64?, from side: TCPSide, at time: UInt64)
    func ended(_ side: TCPSide, isReset: Bool, at time: UInt64)
    /// The capture ends, or tells no more of this connection.
    func finished(at time: UInt64)
}
