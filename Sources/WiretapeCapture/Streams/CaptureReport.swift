package import WiretapePackets

/// What an import came to, for people.
package struct CaptureReport: Sendable {
    package var packets: UInt64 = 0
    /// Link types that are not understood, with packets of each.
    package var unknownLinks: [UInt32: UInt64] = [:]
    /// Packets whose headers were not captured whole.
    package var cutHeaders: UInt64 = 0
    /// IP packets whose fragments did not all come.
    package var lostFragments: UInt64 = 0
    /// Connections on the tape.
    package var connections: UInt64 = 0
    /// Gaps, and the bytes that are known to be missing.
    package var gaps: UInt64 = 0
    package var missingBytes: UInt64 = 0
    /// Bytes that were captured and are not on the tape, since what they belong to is missing.
    package var unreadBytes: UInt64 = 0
    /// Bytes that came twice and differed the second time; the first ones are on the tape.
    package var differingBytes: UInt64 = 0
    /// Connections that were dropped from memory while they were open.
    package var evicted: UInt64 = 0
    /// Connections that are not on the tape, or end on it early, each with the reason.
    package var closed: [CaptureClosed] = []
    /// More of them than are listed.
    package var moreClosed: UInt64 = 0
    /// The first time in the capture, nanoseconds since 1970.
    package var firstTime: UInt64?
    /// Why the file could not be read to its end.
    package var fault: CaptureFault?
    /// Bytes of a record at the end of the file that is not whole.
    package var tornBytes = 0
    /// Lines of the capture's own key logs that are no secrets.
    package var badKeyLines: UInt64 = 0

    /// The servers of connections on the tape, by the names that these have there.
    package var servers: [(name: String, url: String)] = []

    /// Servers that have no name there: their connections are called those of `main`.
    package var unnamedServers: Set<String> = []

    package init() {}

    /// What is told of a link type that is not understood.
    package static func describe(link: UInt32) -> String { LinkLayer.describe(link) }
}

/// A connection whose content is not on the tape, or not all of it.
package struct CaptureClosed: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// `text`: its first bytes in words.
        case otherProtocol
        case http2(streams: Int)
        /// TLS whose secrets are in no key log.
        case noKeys(sni: String?)
        /// TLS that could not be decrypted to its end.
        case tls(String)
        /// Nothing that begins a request was found in a stream that was captured from its middle.
        case noBeginning
        /// TLS with its secrets, in which nothing was said up to the end of the capture.
        case silent
        /// Something was said, and none of it was captured.
        case noBytes

        /// Whether a key log would have helped.
        package var wantsKeys: Bool {
            switch self {
            case .noKeys: true
            case .otherProtocol, .http2, .tls, .noBeginning, .silent, .noBytes: false
            }
        }

        /// Whether it is TLS that could not be decrypted.
        package var isSealed: Bool {
            switch self {
            case .noKeys, .tls: true
            case .otherProtocol, .http2, .noBeginning, .silent, .noBytes: false
            }
        }
    }

    package var from: String
    package var to: String
    package var reason: Reason
    /// Some of it is on the tape.
    package var isPartly = false
}
