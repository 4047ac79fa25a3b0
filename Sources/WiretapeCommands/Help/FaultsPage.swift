internal import WiretapeCommandLine
internal import WiretapeFaults

/// What `wiretape help faults` prints, and the man page's section about faults: the words that rules are made of, from the
/// tables that rules are read with.
package enum FaultsPage {
    /// A word with its meaning and a rule that uses it.
    package struct Entry: Sendable {
        package var term: String
        package var summary: String
        package var example: String?
    }

    /// What rules are, before the lists.
    static let about = """
        A rule says what to do and where: a fault, a place, a point or a message's label, and in brackets which of them. \
        --fault takes one, --faults a file of them.
        """

    package static let sections: [(title: String, entries: [Entry])] = [
        ("Faults", Faults.all.map { Entry(term: $0.word, summary: $0.summary, example: $0.examples[0]) }),
        ("Places", RuleWord.places.map(entry)),
        ("Points", RuleWord.points.map(entry)),
        ("In brackets", (RuleWord.brackets + RuleWord.conditions).map(entry)),
        ("Behind", RuleWord.filters.map(entry)),
    ]

    /// The whole page.
    package static func text(width: Int) -> String {
        var out = TextWrap.block(about, indent: 0, width: width)
        for section in sections {
            out += "\n\(section.title):\n"
            for entry in section.entries {
                let text = [entry.summary, entry.example].compactMap(\.self).joined(separator: "\n")
                out += TextWrap.entry(entry.term, text, column: 22, width: width)
            }
        }
        return out
    }

    private static func entry(_ word: RuleWord) -> Entry {
        Entry(term: word.term, summary: word.summary, example: word.example)
    }
}
