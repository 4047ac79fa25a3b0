package import WiretapeCapture

/// What is told of an import.
package enum ImportWords {
    /// Closed connections that are told one by one.
    private static let mostLines = 20

    package static func count(_ n: UInt64, _ noun: String, _ plural: String? = nil) -> String {
        "\(n) \(n == 1 ? noun : plural ?? noun + "s")"
    }

    /// What is missing on the tape, behind the verdict's numbers.
    package static func losses(_ report: CaptureReport) -> String {
        var text = ""
        if report.gaps > 0 {
            text += "; \(count(report.gaps, "gap"))"
        }
        if report.missingBytes > 0 {
            text += ", \(count(report.missingBytes, "byte")) known to be missing in the capture"
        }
        if report.unreadBytes > 0 { text += "; \(count(report.unreadBytes, "byte")) behind gaps could not be read" }
        return text
    }

    /// Sentences about what is not on the tape.
    package static func details(_ report: CaptureReport) -> [String] {
        var out: [String] = []
        for (link, packets) in report.unknownLinks.sorted(by: { $0.key < $1.key }) {
            out.append(
                "\(count(packets, "packet")) of a link that is not understood: \(CaptureReport.describe(link: link))")
        }
        if report.cutHeaders > 0 {
            out.append(
                "\(count(report.cutHeaders, "packet")) without a whole header: the capture cut them (snap length)")
        }
        if report.lostFragments > 0 {
            out.append("\(count(report.lostFragments, "IP packet")) whose fragments are not all in the capture")
        }
        if report.differingBytes > 0 {
            out.append(
                "\(count(report.differingBytes, "byte")) came twice and differed the second time: the first ones are on the tape"
            )
        }
        if report.evicted > 0 {
            out.append(
                "\(count(report.evicted, "connection")) were open at a time beyond what is kept, and end early on the tape"
            )
        }
        if report.tornBytes > 0 {
            out.append("the last packet of the file is not whole, as a capture that was killed leaves it")
        }
        if report.badKeyLines > 0 {
            out.append("\(count(report.badKeyLines, "line")) of the capture's own key log could not be used as secrets")
        }
        for closed in report.closed.prefix(mostLines) {
            let what = closed.isPartly ? "not all of it is on the tape" : "not on the tape"
            out.append("\(what): \(closed.from) to \(closed.to): \(reason(closed.reason))")
        }
        let more = UInt64(max(0, report.closed.count - mostLines)) + report.moreClosed
        if more > 0 { out.append("not on the tape, or not all of it: \(count(more, "more connection"))") }
        if report.closed.contains(where: { $0.reason.wantsKeys }) {
            out.append(
                "TLS is read with its secrets: run the client or the server with SSLKEYLOGFILE=keys.log (browsers, curl, node "
                    + "--tls-keylog, wiretape itself) and import with --keylog keys.log")
        }
        return out
    }

    private static func reason(_ reason: CaptureClosed.Reason) -> String {
        switch reason {
        case .otherProtocol: "no HTTP"
        case .http2(let streams): "HTTP/2 with \(count(UInt64(streams), "stream")), which is not read yet"
        case .noKeys(let sni): "TLS\(sni.map { " for \($0)" } ?? "") whose secrets are not in a key log"
        case .tls(let why): "TLS that could not be read: \(why)"
        case .silent: "TLS in which nothing was said"
        case .noBytes: "the capture has none of its bytes"
        case .noBeginning: "it began before the capture, and no packet of it begins with a request or an answer"
        }
    }

    /// Why there is no tape.
    static func nothing(_ report: CaptureReport) -> String {
        if report.packets == 0 { return "there is no packet in it" }
        let closed = UInt64(report.closed.count) + report.moreClosed
        let packets = "\(count(report.packets, "packet"))"
        if closed == 0 { return "no TCP connection with HTTP in \(packets)" }
        let sealed = UInt64(report.closed.count { $0.reason.isSealed })
        let rest = sealed == 0 ? "" : ", \(sealed) of them TLS that could not be decrypted"
        return "nothing that can be read in \(packets) of \(count(closed, "connection"))\(rest)"
    }
}
