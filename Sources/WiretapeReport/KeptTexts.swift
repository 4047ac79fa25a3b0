/// Texts for the report: the first thousand are kept, the rest is counted. A client may say as much as it likes that the tape
/// does not have.
package struct KeptTexts: Hashable, Sendable {
    package static let most = 1_000

    package private(set) var texts: [String] = []
    /// Those that came when there was no more room.
    package private(set) var beyond = 0

    package init() {}

    /// - Parameter beyond: how many more there were.
    package init(_ texts: [String], beyond: Int) {
        self.texts = texts
        self.beyond = beyond
    }

    package var isFull: Bool { texts.count >= KeptTexts.most }

    package mutating func append(_ text: @autoclosure () -> String) {
        guard !isFull else { return beyond += 1 }
        texts.append(text())
    }
}
