internal import WiretapeBytes
internal import WiretapeWire

/// A file of the web page, as it is served: the files of the folder `Page`, which the build puts into the program
/// (`Plugins/EmbedPage`).
struct PageFile: Sendable {
    let type: String
    let bytes: [UInt8]
    /// What the browser may do with it.
    let headers: [HeaderField]

    private init(_ type: String, _ bytes: [UInt8], policy: String? = nil) {
        self.type = type
        self.bytes = bytes
        headers =
            PageFile.safety + (policy.map { [HeaderField("Content-Security-Policy", $0)] } ?? [])
    }

    /// A report as a page of its own, which has neither scripts nor anything from elsewhere.
    init(report: String) {
        self.init("text/html; charset=utf-8", Array(report.utf8), policy: PageFile.reportPolicy)
    }

    /// The page itself, behind `GET /`.
    static let index = PageFile("text/html; charset=utf-8", bytes(of: "index.html"), policy: pagePolicy)

    /// - Parameter name: as it stands behind `/page/`.
    static func named(_ name: String) -> PageFile? { files[name] }

    /// Types are what they are said to be, nothing frames the page, and its address is nobody's business.
    private static let safety = [
        HeaderField("X-Content-Type-Options", "nosniff"), HeaderField("X-Frame-Options", "DENY"),
        HeaderField("Referrer-Policy", "no-referrer"), HeaderField("Cross-Origin-Resource-Policy", "same-origin"),
        HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
    ]

    private static let reportPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

    /// Scripts and styles are files of the program, connections go to it alone, and text never becomes markup or code. The one script that
    /// stands in the page is its import map, which is let in by its hash.
    private static let pagePolicy: String = {
        let text = String(decoding: bytes(of: "index.html"), as: UTF8.self)
        let map = text.firstRange(of: "<script type=\"importmap\">").map { text[$0.upperBound...].prefix { $0 != "<" } }
        let hash = Base64.encode(SHA256.hash(Array((map ?? "").utf8).span).span)
        return "default-src 'none'; script-src 'self' 'sha256-\(hash)'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'"
    }()

    private static func bytes(of path: String) -> [UInt8] {
        PageResources.files.first { $0.path == path }.map { Array($0.text.utf8) } ?? []
    }

    private static let types = [
        "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    ]

    /// Scripts, styles and the icon by their names, and all licences as one text.
    private static let files: [String: PageFile] = {
        var files: [String: PageFile] = [:]
        var licences = ""
        for file in PageResources.files {
            let name = String(file.path.split(separator: "/").last ?? "")
            if name.hasPrefix("LICENSE") || name == "NOTICE.md" {
                // What they are for stands before them.
                licences = name == "NOTICE.md" ? file.text + licences : licences + "\n\n\(name)\n\n\(file.text)"
            } else if let type = name.split(separator: ".").last.flatMap({ types[String($0)] }) {
                files[name] = PageFile(type, Array(file.text.utf8))
            }
        }
        files["licences.txt"] = PageFile("text/plain; charset=utf-8", Array(licences.utf8))
        return files
    }()
}
