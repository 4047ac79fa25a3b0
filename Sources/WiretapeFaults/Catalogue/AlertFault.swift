/// `alert(handshake-failure)`: a TLS handshake that the server refuses.
enum AlertFault {
    package static let entry = FaultEntry(
        word: "alert",
        summary: "a TLS handshake is refused: handshake-failure unless said, protocol-version, unrecognized-name …",
        examples: ["alert on tls[1]", "alert(protocol-version) on tls p=0.1"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let name = try reader.choice("name", TLSAlert.self) ?? .handshakeFailure
        try reader.finish("the name of an alert")
        return (.tls(.alert(name)), name == .handshakeFailure ? "" : name.rawValue)
    }
}
