internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What a lost connection means for what was said and heard.
extension ClientPlay {
    mutating func settle(_ loss: ModelClient.Loss) {
        switch loss {
        case .said(let lines):
            for line in lines { said[line] = false }
        case .heard(let line):
            // A question whose answer is not there comes again.
            guard heard[line] == .no, answer(to: line).map({ said[$0] }) ?? true else { return }
            heard[line] = .lost
        }
    }

    /// Requests that the server has from an earlier connection, and that were not made again on this one, never will be; nor
    /// is the rest of their uploads said.
    mutating func giveUpRepeats() {
        for line in again where talk.lines[line].role == .request && (said[line] || reached.contains(line)) {
            givenUp.insert(line)
        }
        again = again.filter { !isGivenUp($0) }
        order = order[..<at] + order[at...].filter { !isGivenUp($0) }
    }

    /// Works out what is said again on the next connection.
    mutating func reconnect(_ habits: ClientHabits, _ random: inout SplitMix64) {
        again = []
        reached.formUnion(order[..<at].filter { said[$0] })
        var chains: [Int] = []
        for line in order[..<at] {
            let opener = talk.lines[line].opener ?? line
            guard !givenUp.contains(opener), !unasked.contains(opener) else { continue }
            if talk.lines[line].role == .send || talk.lines[line].role == .opaque {
                if !said[line] { again.append(line) }
                continue
            }
            guard opener == line else { continue }
            let mine = chain(opener)
            let isPending = talk.chain(of: opener, .toClient).contains { heard[$0] == .no }
            let hasMore = mine.contains { !said[$0] }
            guard isPending || hasMore else { continue }
            if !hasMore, habits.givesUpOneIn > 0, random.below(habits.givesUpOneIn) == 0 {
                givenUp.insert(opener)
                continue
            }
            chains.append(opener)
        }
        // A chain is opened again as a whole.
        for line in order[..<at] where chains.contains(talk.lines[line].opener ?? -1) {
            if talk.lines[line].role == .cancel, said[line] { continue }
            again.append(line)
        }
        let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        again.sort { places[$0, default: 0] < places[$1, default: 0] }
        // A question without an answer is asked again.
        questions = []
        for line in talk.lines.indices where talk.lines[line].direction == .toServer && talk.lines[line].role == .reply
        {
            guard !said[line], let question = talk.lines[line].opener else { continue }
            heard[question] = .no
        }
    }
}
