package import WiretapeBytes

/// What a person says of leading clients back: places beside the known ones at which answers name servers, and the hosts that
/// are meant.
package struct LeadBackRules: Hashable, Sendable {
    /// `GET /config:/hub/url`: a place in the body of the answers to some requests.
    private struct Place: Hashable, Sendable {
        /// Nil: any.
        let method: String?
        /// `*`: any.
        let path: String
        /// A JSON Pointer, in which `*` stands for every member and item of its level.
        let pointer: String
    }

    /// Names of fields in lower case.
    package let fields: Set<String>
    private let places: [Place]
    private let only: HostPatterns
    private let bypass: HostPatterns

    /// Leads everything back that is known to lead away.
    package static let standard = LeadBackRules()

    private init() {
        fields = []
        places = []
        only = .none
        bypass = .none
    }

    /// - Parameters:
    ///   - texts: as `--lead-back` has them, but for `off`.
    ///   - only: nothing is led back but what leads to these; all when empty.
    ///   - bypass: clients go to these by themselves.
    package init(_ texts: [String], only: HostPatterns, bypass: HostPatterns) throws(OptionError) {
        var fields: Set<String> = []
        var places: [Place] = []
        for text in texts {
            if let colon = text.firstRange(of: ":/") {
                places.append(try Self.place(text, colon.lowerBound))
            } else {
                fields.insert(try Self.field(text))
            }
        }
        self.fields = fields
        self.places = places
        self.only = only
        self.bypass = bypass
    }

    /// - Throws: when `text` is neither `off` nor a place.
    package static func check(_ text: String) throws(OptionError) {
        if text != "off" { _ = try LeadBackRules([text], only: .none, bypass: .none) }
    }

    private static func place(_ text: String, _ colon: String.Index) throws(OptionError) -> Place {
        let words = text[..<colon].split(separator: " ", omittingEmptySubsequences: false)
        let path = words.last ?? ""
        let isMethod = words.count == 1 || words[0].allSatisfy { $0.isASCII && $0.isLetter && $0.isUppercase }
        guard words.count <= 2, path == "*" || path.hasPrefix("/"), isMethod, words[0] != "" else { throw wrong(text) }
        return Place(
            method: words.count == 2 ? String(words[0]) : nil, path: String(path),
            pointer: String(text[text.index(after: colon)...]))
    }

    private static func field(_ text: String) throws(OptionError) -> String {
        guard !text.isEmpty, text.utf8.allSatisfy(HTTPHeadReader.isToken), text != "off" else { throw wrong(text) }
        return text.lowercased()
    }

    private static func wrong(_ text: String) -> OptionError {
        if text == "off" { return OptionError("'off' stands alone: with it nothing is led back") }
        return OptionError(
            "'\(text)' is no place that could lead away; write 'GET /config:/hub/url' for a JSON body, X-Hub-Url for a header field, "
                + "or off")
    }

    /// Whether a client that is sent there is led back.
    package func leads(_ origin: WebOrigin) -> Bool {
        !bypass.matches(origin.target) && (only.isEmpty || only.matches(origin.target))
    }

    /// Whether a place in the body of the answer to that request is named.
    package func names(_ request: RequestHead) -> Bool {
        !places.isEmpty && places.contains { Self.applies($0, request) }
    }

    private static func applies(_ place: Place, _ request: RequestHead) -> Bool {
        (place.method == nil || place.method == request.method) && (place.path == "*" || place.path == request.path)
    }

    /// The body of an answer with what stands at the named places as `led` has it. Nil: nothing there is led.
    package func leading(_ body: [UInt8], to request: RequestHead, _ led: (String) -> String?) -> [UInt8]? {
        guard names(request), var value = try? JSONValue(parsing: body) else { return nil }
        var hasChanged = false
        for place in places where Self.applies(place, request) {
            value = value.mapping(place.pointer, anyName: "*") { one in
                guard let text = one.string, let new = led(text) else { return one }
                hasChanged = true
                return .string(new)
            }
        }
        return hasChanged ? Array(value.text.utf8) : nil
    }
}
