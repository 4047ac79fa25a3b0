internal import WiretapeBytes

extension FaultAction {
    /// `word [ "(" arg { "," arg } ")" ]`.
    init(parsing text: inout RuleText) throws(PlanError) {
        let start = text.at
        let word = text.word()
        guard !word.isEmpty else {
            throw text.error(text.isAtEnd ? "an action is missing" : "expected an action, found '\(text.next ?? " ")'")
        }
        guard FaultRule.placeWord(word) == nil else {
            throw text.error("an action is missing before '\(word)'", at: start)
        }
        guard let entry = Faults.all.first(where: { $0.word == word }) else {
            let known = Faults.all.map(\.word)
            let meant = ForeignWords.meaning(of: word, in: ForeignWords.actions)
            let hint = meant.map { "; did you mean '\($0)'?" } ?? NearestName.hint(word, among: known)
            throw text.error("'\(word)' is not a fault\(hint)", at: start)
        }
        let arguments = try FaultArguments(parsing: &text, of: word, at: start)
        let (verdict, canonical) = try entry.make(arguments, text)
        self.init(text: canonical.isEmpty ? word : "\(word)(\(canonical))", verdict: verdict)
    }
}
