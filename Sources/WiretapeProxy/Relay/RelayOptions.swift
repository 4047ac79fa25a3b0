package import WiretapeWire

/// What a relay does with the traffic beside forwarding it.
package struct RelayOptions: Hashable, Sendable {
    /// Keep the client's `Host` instead of the upstream's.
    package var keepHost = false
    /// Nanoseconds to wait for each of the upstream's addresses.
    package var connectTimeout = RelayOptions.connectTimeout
    /// The proxy through which upstreams are reached; nil: none.
    package var via: ViaProxy?
    /// Unless asked otherwise; it covers the TLS handshake.
    package static let connectTimeout: UInt64 = 10_000_000_000

    /// Who is let in, by the host that is asked for. The page that asks is for the upstream to judge.
    package var access = AccessPolicy.open

    package init() {}
}
