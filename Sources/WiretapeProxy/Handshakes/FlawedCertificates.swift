internal import Synchronization
internal import WiretapeFaults
package import WiretapeTLS

/// What clients are shown when a rule wants them to refuse it. Made when it is first needed, and then kept: a client that
/// takes it all the same resumes its sessions as with any other. May be used by all threads.
package final class FlawedCertificates: Sendable {
    private let authority: TLSIdentity?
    private let make: @Sendable (TLSIdentity?, TLSContext.Leaves) throws(TLSError) -> TLSContext
    private let made = Mutex<[CertificateFlaw: TLSContext]>([:])

    /// - Parameters:
    ///   - authority: the one that clients trust; nil: a certificate was given, and only those come about that nobody trusts.
    ///   - make: a context that shows what that authority has issued; nil: nobody has.
    package init(
        trusted authority: TLSIdentity?,
        _ make: @escaping @Sendable (TLSIdentity?, TLSContext.Leaves) throws(TLSError) -> TLSContext
    ) {
        self.authority = authority
        self.make = make
    }

    /// Whether clients may trust who issues them.
    var hasAuthority: Bool { authority != nil }

    /// Nil when it cannot be made.
    func context(_ flaw: CertificateFlaw) -> TLSContext? {
        made.withLock { made in
            if let context = made[flaw] { return context }
            guard let context = try? fresh(flaw) else { return nil }
            made[flaw] = context
            return context
        }
    }

    private func fresh(_ flaw: CertificateFlaw) throws(TLSError) -> TLSContext? {
        guard authority != nil || !flaw.needsTrust else { return nil }
        let day = 86_400
        switch flaw {
        case .expired: return try make(authority, TLSContext.Leaves(from: -30 * day, to: -day))
        case .notYetValid: return try make(authority, TLSContext.Leaves(from: day, to: 30 * day))
        case .wrongName: return try make(authority, TLSContext.Leaves(name: "wrong-name.invalid"))
        case .unknownCA: return try make(TLSIdentity.authority("An authority that nobody trusts"), TLSContext.Leaves())
        case .selfSigned: return try make(nil, TLSContext.Leaves())
        }
    }
}
