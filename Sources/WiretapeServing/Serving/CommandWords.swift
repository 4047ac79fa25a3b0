package import WiretapeBytes

/// The words of a command behind `--`: `{url}` and `{url:NAME}` in them stand for addresses of the run.
package enum CommandWords {
    /// - Parameter names: of the run's listeners.
    /// - Throws: when a word names another one.
    package static func check(_ words: [String]?, names: [String]) throws(OptionError) {
        for word in words ?? [] {
            for asked in asked(by: word) where !names.contains(asked) {
                var known: [String] = []
                for name in names where !known.contains(name) { known.append(name) }
                let hint = NearestName.hint(asked, among: known)
                throw OptionError(
                    "'{url:\(asked)}' in the command: no listener has that name"
                        + (hint.isEmpty ? "; there is \(known.joined(separator: ", "))" : hint))
            }
        }
    }

    /// - Parameter urls: names of listeners and where clients reach them; the first of a name counts.
    package static func filled(_ words: [String], _ urls: [(name: String, url: String)]) -> [String] {
        words.map { word in
            var word = word.replacing("{url}", with: urls.first?.url ?? "")
            for (name, url) in urls { word = word.replacing("{url:\(name)}", with: url) }
            return word
        }
    }

    /// The variable that has the address of a listener: `WIRETAPE_URL_CHAT_API` for `chat-api`.
    package static func variable(_ name: String) -> String {
        "WIRETAPE_URL_" + String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func asked(by word: String) -> [String] {
        var names: [String] = []
        var rest = word[...]
        while let mark = rest.firstRange(of: "{url:"), let end = rest[mark.upperBound...].firstIndex(of: "}") {
            names.append(String(rest[mark.upperBound..<end]))
            rest = rest[end...]
        }
        return names
    }
}
