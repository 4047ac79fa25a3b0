internal import WiretapeBytes
internal import WiretapeProxy
internal import WiretapeSystem

/// The server that is recorded when `WIRETAPE_RECORD_MODE` wants a recording: `.environment("CHAT_UPSTREAM")`, `.url("http://127.0.0.1:5000/chat")`.
public struct TapeUpstream: Hashable, Sendable {
    private enum Source: Hashable, Sendable { case variable(String), url(String) }
    private let source: Source

    /// At the address in that variable of the environment: an origin, or the endpoint of the client with its path.
    public static func environment(_ variable: String) -> TapeUpstream { TapeUpstream(source: .variable(variable)) }

    /// At that address.
    public static func url(_ url: String) -> TapeUpstream { TapeUpstream(source: .url(url)) }

    /// - Returns: the server, and what stands behind its origin: `/chat`.
    /// - Throws: for people, when there is no address or it is none.
    func resolved() throws(TapeFailure) -> (upstream: Upstream, path: String) {
        let text: String
        switch source {
        case .url(let url): text = url
        case .variable(let name):
            guard let value = ThisProcess.environment(name), !value.isEmpty else {
                throw TapeFailure("\(RecordMode.variable) wants a recording, and \(name) has no address of the server")
            }
            text = value
        }
        for (scheme, isTLS) in [("http://", false), ("https://", true), ("ws://", false), ("wss://", true)]
        where text.hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            var host = String(authority)
            var port: UInt16? = isTLS ? 443 : 80
            if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
                host = String(authority[..<colon])
                port = UInt16(authority[authority.index(after: colon)...])
            }
            host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            guard !host.isEmpty, let port, port > 0 else { break }
            let url = (isTLS ? "https://" : "http://") + authority
            return (
                Upstream(name: "main", url: url, host: host, port: port, isTLS: isTLS),
                String(rest.dropFirst(authority.count))
            )
        }
        throw TapeFailure("'\(text)' is no address of a server; write http://127.0.0.1:5000")
    }
}

/// When tests record what they would play.
package enum RecordMode: String, CaseIterable {
    /// Never: a missing tape fails its test.
    case none
    /// When there is no tape.
    case once
    /// Always.
    case all

    static let variable = "WIRETAPE_RECORD_MODE"

    static func current() throws(TapeFailure) -> RecordMode {
        guard let text = ThisProcess.environment(variable), !text.isEmpty else { return .none }
        guard let mode = RecordMode(rawValue: text) else {
            let hint = NearestName.hint(text, among: allCases.map(\.rawValue))
            throw TapeFailure("\(variable)=\(text) is none of none, once and all\(hint)")
        }
        return mode
    }
}
