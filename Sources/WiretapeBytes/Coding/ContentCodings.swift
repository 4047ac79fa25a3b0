/// The content codings of an HTTP body (RFC 9110, 8.4) in the order in which they were applied, as its `Content-Encoding`
/// lines tell them.
package struct ContentCodings: Hashable, Sendable {
    package enum Coding: String, Hashable, Sendable {
        case gzip
        /// zlib (RFC 1950) or, as some servers send it, raw deflate (RFC 1951).
        case deflate
        case brotli = "br"
        case zstd
    }

    /// More than anybody applies: each costs memory of its own.
    package static let most = 4

    /// Without `identity` (which some servers call `none`), in small letters, with `x-gzip` as `gzip`. Empty: the bytes are
    /// what they mean.
    package let names: [String]

    /// - Parameter fields: the values of all `Content-Encoding` lines, in their order.
    package init(_ fields: [String]) {
        names = fields.flatMap { $0.split { $0 == "," } }.map { name in
            let name = name.trimmingPrefix { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }
            return String(name.reversed()).lowercased()
        }
        .filter { !["", "identity", "none"].contains($0) }.map { $0 == "x-gzip" ? "gzip" : $0 }
    }

    /// How the bytes are decoded, the coding that was applied first coming first; nil when one of them is not known, or
    /// there are more than ``most``.
    package var known: [Coding]? {
        guard names.count <= ContentCodings.most else { return nil }
        var codings: [Coding] = []
        for name in names {
            guard let coding = Coding(rawValue: name) else { return nil }
            codings.append(coding)
        }
        return codings
    }

    package var isEmpty: Bool { names.isEmpty }
    package var text: String { names.joined(separator: ", ") }
}
