/// `certificate(expired)`: a certificate that a client must refuse.
enum CertificateFault {
    package static let entry = FaultEntry(
        word: "certificate",
        summary:
            "the TLS client is shown a certificate that it must refuse: expired, not-yet-valid, wrong-name, unknown-ca or self-signed",
        examples: [
            "certificate(expired) on tls[1]", "certificate(wrong-name) on tls[2..3]", "certificate(unknown-ca) on tls",
        ]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let flaw = try reader.choice("flaw", CertificateFlaw.self) else {
            let flaws = CertificateFlaw.allCases.map(\.rawValue).joined(separator: ", ")
            throw reader.error("certificate needs what is wrong with it: \(flaws)")
        }
        try reader.finish("what is wrong with it")
        return (.tls(.certificate(flaw)), flaw.rawValue)
    }
}
