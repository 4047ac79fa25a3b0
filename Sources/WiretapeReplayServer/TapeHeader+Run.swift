package import WiretapeProtocol
package import WiretapeReplay

extension TapeHeader {
    /// The header of the tape of a run.
    /// - Parameters:
    ///   - tape: the name of the tape that is played.
    ///   - started: when, as RFC 3339 has it.
    ///   - tool: what plays it.
    package init(ofRun tape: String, _ upstreams: Upstreams, started: String, tool: String) {
        let names = upstreams.isForward ? [] : upstreams.names.isEmpty ? ["main"] : upstreams.names
        self.init(
            started: started, tool: tool, mode: upstreams.isForward ? "forward" : "reverse",
            upstreams: names.map { ($0, "replay:\(tape)") }, redaction: "default")
    }
}
