internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ScriptCursor {
    /// The awaited client message that stands for one which is equal to none: same role, type and label, for what continues
    /// a chain of that chain, within the window. Of several that the client may say by now the one that differs in the
    /// fewest places, else the one recorded first. With `--match off`, where nothing is compared, the first, and any of the
    /// same role will do after those.
    /// - Parameter place: the recorded chain that the message continues.
    func nearest(to message: Message, in place: Script.ChainPlace?, anyOfRole: Bool = true) -> Int? {
        var second: Int?
        var best: (step: Int, places: Int)?
        var compared = 0
        var index = firstAwaited
        var seen = 0
        while index < script.steps.count, seen < Script.window {
            defer { index += 1 }
            guard isAwaited(index), isTurn(index) else { continue }
            seen += 1
            let step = script.steps[index]
            guard step.role == message.role else { continue }
            if let group = place?.group, group >= 0, step.group != group, continues(step.role) { continue }
            guard let name = script.name(index), name.type == message.type, name.label == message.label else {
                if second == nil, anyOfRole { second = index }
                continue
            }
            if anyOfRole { return index }
            if let best, index > head || compared == ScriptCursor.mostCompared { return best.step }
            compared += 1
            let recorded = script.message(index)?.meaning ?? .null
            let places = recorded.differences(from: message.meaning).count
            if places < best?.places ?? .max { best = (index, places) }
        }
        return best?.step ?? second
    }

    /// Recorded messages with which one of the client is compared place by place.
    static let mostCompared = 16

    private func continues(_ role: Role?) -> Bool { role == .part || role == .cancel || role == .reply }

    /// A client message whose question has not been asked is not awaited yet, nor one of a chain that is not open.
    private func isTurn(_ index: Int) -> Bool {
        guard let group = script.steps[index].group, let request = script.groups[group].request, request != index else {
            return true
        }
        return state[request] == .done
    }
}
