/// Which way bytes go. On tapes `">"` is to the server and `"<"` to the client.
package enum Direction: UInt8, Hashable, Sendable, CaseIterable {
    case toServer
    case toClient

    package var mark: String { self == .toServer ? ">" : "<" }
    package var reversed: Direction { self == .toServer ? .toClient : .toServer }
}
