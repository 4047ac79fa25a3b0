/// How a session's messages travel. The raw values are the spelling used everywhere.
package enum Transport: String, Hashable, Sendable, CaseIterable {
    case ws, sse, lp, stream, multipart, http
}
