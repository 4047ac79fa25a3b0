/// A running call: for cancelling a stream, and for feeding what it uploads.
package struct HubCall: Hashable, Sendable {
    package let id: String
    /// Ids of the streams that the caller sends with it, in the order of the method's parameters.
    package let uploads: [String]
}
