/// When each credential of a session was issued, expires and was renewed, for the policy `refreshes`. Times are nanoseconds since the run began.
/// The last 1,024 credentials are kept.
package struct CredentialTimes: Hashable, Sendable {
    private static let limit = 1_024

    struct Credential: Hashable, Sendable {
        var expiresAt: UInt64
        /// When the client requested the next credential. Nil if the client did not renew this one.
        var renewedAt: UInt64?
        /// Whether the client received another credential before this one expired, without renewing it.
        var isReplaced = false
    }

    private(set) var all: [Credential] = []

    package init() {}

    /// The server has issued a credential that expires after `seconds`.
    package mutating func recordIssued(lifetime seconds: Int, at time: UInt64) {
        guard seconds > 0 else { return }
        if let last = all.indices.last, all[last].renewedAt == nil { all[last].isReplaced = time < all[last].expiresAt }
        let (length, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (end, isTooLate) = time.addingReportingOverflow(length)
        all.append(Credential(expiresAt: isTooLong || isTooLate ? .max : end))
        if all.count > CredentialTimes.limit { all.removeFirst() }
    }

    /// The client requests a new credential.
    package mutating func recordRenewal(at time: UInt64) {
        guard let last = all.indices.last, all[last].renewedAt == nil else { return }
        all[last].renewedAt = time
    }
}
