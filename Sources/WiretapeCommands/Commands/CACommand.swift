internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeServing
internal import WiretapeSystem
internal import WiretapeTLS
internal import WiretapeWire

/// `wiretape ca`.
package struct CACommand: Command {
    package static let spec = CommandSpec(
        name: "ca", abstract: "Manage the certificate authority that clients have to trust",
        discussion: """
            Listeners with --tls show clients certificates that this user's own authority issues, one for each name that a \
            client asks for. Clients connect when they trust the authority's certificate. It is made when it is first \
            needed, for this user alone: who has its key (ca.key, 0600) could stand in front of every server towards \
            those who trust it.

            init makes one. export writes its certificate, never its key. show tells where it is and what identifies it. \
            trust-help says how systems, browsers, phones and programs come to trust it, and how they forget it.
            """,
        positionals: [
            PositionalSpec(
                "ACTION", .choice(Action.allCases.map(\.rawValue)), "What to do: init, export, show, trust-help.")
        ],
        groups: [
            OptionGroup(
                "Options",
                [
                    caFolder,
                    OptionSpec(switch: "force", "With init: replace the authority that is there."),
                    OptionSpec(
                        "format", "FORMAT", .choice(Format.allCases.map(\.rawValue)), default: "pem",
                        "With export: pem, der (Android, Windows), p12 (Java), apple (a profile for iPhones and Macs)."),
                    OptionSpec(
                        "output", short: "o", "FILE", .file, default: "-",
                        "With export: where to; - is standard output."),
                    OptionSpec(
                        "password", "TEXT", .text,
                        "With export --format p12: the file's password; there is no secret in it. "
                            + "(default: an empty one)"),
                    OptionSpec(switch: "json", "With show: print an object."),
                ])
        ],
        examples: [
            ExampleSpec("wiretape ca init", "Makes the authority."),
            ExampleSpec("wiretape ca export --format apple -o wiretape.mobileconfig", "A profile for an iPhone."),
            ExampleSpec(
                "curl --cacert \"$(wiretape ca show --json | jq -r .certificate)\" https://localhost:8443/",
                "Trusts it for one request."),
        ],
        exitCodes: [.failure, .missing])

    static let caFolder = OptionSpec(
        "ca-dir", "FOLDER", .directory,
        "Where the certificate authority is kept. (default: $WIRETAPE_CA_DIR, else wiretape/ca in $XDG_DATA_HOME or "
            + "~/.local/share)")

    private enum Action: String, CaseIterable {
        case initialise = "init"
        case export, show
        case trustHelp = "trust-help"
    }

    private enum Format: String, CaseIterable { case pem, der, p12, apple }

    private let arguments: ParsedArguments
    private let action: Action
    private let format: Format

    package init(_ arguments: ParsedArguments) {
        self.arguments = arguments
        action = Action(rawValue: arguments.positionals[0]) ?? .show
        format = arguments.value("format").flatMap(Format.init(rawValue:)) ?? .pem
    }

    package func run() throws -> Int32 {
        let folder = try AuthorityFolder(arguments.value("ca-dir"))
        switch action {
        case .initialise:
            let authority = try folder.make(force: arguments.has("force"))
            return Verdict(
                .done, 0, "\(folder.certificatePath): \(authority.names[0]), SHA-256 \(authority.fingerprint)"
            )
            .tell()
        case .export: return try export(folder.load(), from: folder)
        case .show: return try show(folder.load(), in: folder)
        case .trustHelp:
            Console.output.write(TrustHelp.text(certificate: TerminalText.line(folder.certificatePath)))
            guard folder.exists else {
                return Verdict(.done, 0, "there is no authority yet; 'wiretape ca init' makes it").tell()
            }
            return 0
        }
    }

    private func export(_ authority: TLSIdentity, from folder: AuthorityFolder) throws -> Int32 {
        let bytes: [UInt8] =
            switch format {
            case .pem: authority.certificatePEM
            case .der: authority.certificateDER
            case .p12: try authority.certificateP12(password: arguments.value("password") ?? "")
            case .apple: AppleProfile.text(authority)
            }
        let output = arguments.value("output") ?? "-"
        guard output != "-" else {
            Console.output.writeTape(bytes.span)
            return 0
        }
        let file = try File.creating(output, overwrite: true)
        try file.write(bytes.span)
        return Verdict(.done, 0, "\(output): the certificate of \(authority.names[0])").tell()
    }

    private func show(_ authority: TLSIdentity, in folder: AuthorityFolder) -> Int32 {
        if arguments.has("json") {
            let object = JSONValue.object([
                .init("name", .string(authority.names[0])), .init("certificate", .string(folder.certificatePath)),
                .init("sha256", .string(authority.fingerprint)), .init("valid_until", .string(authority.validUntil)),
            ])
            Console.output.writeJSON(object.text + "\n")
            return 0
        }
        let lines = [
            "name         \(authority.names[0])", "certificate  \(folder.certificatePath)",
            "SHA-256      \(authority.fingerprint)", "valid until  \(authority.validUntil)",
        ]
        Console.output.write(lines.map { TerminalText.line($0) + "\n" }.joined())
        return 0
    }
}
