internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

extension ScriptCursor {
    /// What was sent, hashed for the digest of the run.
    ///
    /// - Parameter timed: what was sent depended on the moment of a reconnect: only the chains of client requests count.
    /// - Parameter part: the number of the operation, of a session that is one of a recorded one.
    func digest(timed: Bool, part: Int?) -> UInt64 {
        var hash = StableHash()
        if let part { hash.combine("operation \(part)") }
        let counted = sent.indices.filter { i in
            let step = script.steps[Int(sent[i])]
            return !step.optional && step.role != .handshake && !(timed && step.groupIndex < 0)
        }
        // Chain by chain, each in its own order.
        let ordered = counted.sorted { a, b in
            (script.steps[Int(sent[a])].groupIndex, a) < (script.steps[Int(sent[b])].groupIndex, b)
        }
        var group: Int32?
        for i in ordered {
            let index = Int(sent[i])
            if group != script.steps[index].groupIndex {
                group = script.steps[index].groupIndex
                hash.combine(UInt64(bitPattern: Int64(script.steps[index].groupIndex)))
            }
            hash.combine(UInt64(script.meanings[index]))
        }
        return hash.value
    }
}
