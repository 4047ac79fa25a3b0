extension StringProtocol {
    /// Without blanks and tabs at both ends.
    package func trimmingBlanks() -> String {
        let kept = self.drop { $0 == " " || $0 == "\t" }
        guard let last = kept.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(kept[...last])
    }
}
