/// What a replay was told that concerns protocols.
package struct CodecSettings: Hashable, Sendable {
    /// The interval that is to be announced as that of keepalives, in nanoseconds; nil: the recorded one.
    package var keepalive: UInt64?
    /// Secrets of applications by their public key, for signatures that are made or checked anew.
    package var secrets: [String: String] = [:]

    package init() {}
}
