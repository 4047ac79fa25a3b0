package import WiretapeWire

/// Redirects that lead nowhere: each answer sends the client to the place it asked for, and the target counts how often.
package enum RedirectLoop {
    private static let mark = "wiretape-redirect="

    /// 307 to the same place; the target tells that the client came from there.
    package static func answer(_ head: RequestHead) -> HTTPAnswer {
        var target = head.target
        if let at = target.firstRange(of: mark) {
            let count = Int(target[at.upperBound...].prefix { $0.isNumber }.prefix(9)) ?? 0
            target = String(target[..<at.upperBound]) + "\(count + 1)"
        } else {
            target += (target.contains("?") ? "&" : "?") + mark + "1"
        }
        return HTTPAnswer(status: 307, headers: [HeaderField("Location", target)])
    }

    /// Whether the client came from such an answer.
    package static func follows(_ head: RequestHead) -> Bool { head.target.contains(mark) }
}
