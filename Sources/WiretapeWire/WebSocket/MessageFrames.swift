/// The WebSocket frames in which a message is sent.
package enum MessageFrames: Hashable, Sendable {
    case one
    /// The byte count of each frame. A frame is shorter or empty if the payload ends earlier. The last frame gets all remaining bytes. With
    /// fewer than two sizes, the message is one frame.
    case sizes([Int32])
    /// Frames of at most this many bytes. Values below 1 count as 1.
    case atMost(Int)

    /// The length of a frame, and whether it is the last one.
    /// - Parameters:
    ///   - index: of the frame, from 0.
    ///   - left: the bytes of the payload that are not yet sent.
    func frame(_ index: Int, left: Int) -> (length: Int, isLast: Bool) {
        switch self {
        case .one: (left, true)
        case .sizes(let sizes):
            index + 1 >= sizes.count ? (left, true) : (min(max(Int(sizes[index]), 0), left), false)
        case .atMost(let size): left <= max(1, size) ? (left, true) : (max(1, size), false)
        }
    }
}
