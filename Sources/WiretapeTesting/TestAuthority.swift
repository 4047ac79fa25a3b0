internal import WiretapeProxy
internal import WiretapeTLS

/// The authority of this process, whose certificates secure servers show. Its key never leaves memory.
enum TestAuthority {
    private static let made = Result {
        let authority = try TLSIdentity.authority("Wiretape authority of a test process")
        let flawed = FlawedCertificates(trusted: authority) { authority, leaves throws(TLSError) in
            try TLSContext(serverIssuing: authority, leaves: leaves)
        }
        return (authority, TLSDoor(try TLSContext(serverIssuing: authority), flawed: flawed) { _, _ in })
    }

    static func shared() throws(TapeFailure) -> TLSIdentity { try both().authority }

    static func door() throws(TapeFailure) -> TLSDoor { try both().door }

    private static func both() throws(TapeFailure) -> (authority: TLSIdentity, door: TLSDoor) {
        do {
            return try made.get()
        } catch {
            throw TapeFailure("TLS: \(error)")
        }
    }
}
