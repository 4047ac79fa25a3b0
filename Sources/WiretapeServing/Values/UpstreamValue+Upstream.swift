internal import WiretapeCommandLine
package import WiretapeProxy

extension UpstreamValue {
    /// For relays, which speak HTTP until the client asks for an upgrade: ws is http.
    package var upstream: Upstream {
        var url = origin
        url.scheme = origin.isTLS ? "https" : "http"
        return Upstream(name: name, url: url.text, host: origin.host, port: origin.port, isTLS: origin.isTLS)
    }
}
