internal import WiretapeBytes
internal import WiretapeProtocol

extension TapeReader {
    /// Every member from the beginning, by their headers: nothing is inflated. Nil when the tape is plain or one of the
    /// members has no field. A torn member at the end is left out, and reading goes on where it was.
    package mutating func members() throws(TapeError) -> [TapeMember]? {
        guard inflow.isCompressed else { return nil }
        var members: [TapeMember] = []
        var whole = true
        try walk { member in
            members.append(member)
            return true
        } otherwise: {
            whole = false
        }
        return whole ? members : nil
    }

    /// The members in which connections were opened. Nil as with ``members()``.
    package mutating func openings() throws(TapeError) -> [TapeMember]? {
        try members()?.filter { $0.info.opens > 0 }
    }

    /// The next event is the first one of `member` that has any. Lines have no numbers from then on.
    package mutating func seek(to member: TapeMember) throws(TapeError) {
        inflow.seek(to: member.offset)
        restart(number: member.info.firstEvent)
        if member.offset == 0 { try passHeader() }
    }

    /// The next event is the first one whose `t` is `time` or later. Members before it are passed over by their headers;
    /// where there are no fields, everything before it is read. On a tape with a `take` the first recording counts.
    package mutating func seek(toTime time: UInt64) throws(TapeError) {
        var best: TapeMember?
        if inflow.isCompressed {
            try walk { member in
                // Members without events have no time.
                guard member.info.events > 0 else { return true }
                if best == nil || member.info.firstTime < time { best = member }
                return member.info.firstTime < time
            } otherwise: {
            }
        }
        if let best {
            try seek(to: best)
        } else {
            inflow.seek(to: 0)
            restart(number: 1)
            try passHeader()
        }
        from = time
    }

    /// Goes from header to header while `visit` wants more. A member counts when the one before told where it begins and
    /// the numbers of its events go on; `otherwise` is told of one that does not.
    private mutating func walk(_ visit: (TapeMember) -> Bool, otherwise: () -> Void) throws(TapeError) {
        let back = inflow.offset
        defer { inflow.comeBack(to: back) }
        var offset: UInt64 = 0
        var event: UInt64 = 1
        let size = inflow.size
        while offset < size {
            guard let info = try inflow.member(at: offset), info.size >= UInt32(MemberInfo.headerSize),
                info.events == 0 || info.firstEvent == event
            else {
                if size - offset >= UInt64(MemberInfo.headerSize) { otherwise() }
                return
            }
            let (next, over) = offset.addingReportingOverflow(UInt64(info.size))
            guard !over, next <= size else { return }
            guard visit(TapeMember(offset: offset, info: info)) else { return }
            offset = next
            event += UInt64(info.events)
        }
    }

    private mutating func restart(number: UInt64) {
        lines.removeAll(keepingCapacity: true)
        at = 0
        scanned = 0
        line = 0
        origin = inflow.offset
        // A member without events may claim any number; there are fewer events than that behind it.
        self.number = min(max(1, number), 1 << 63) - 1
        from = nil
        owesLineFeed = false
        parser = TapeLineParser(sparse: header.protocolID != nil)
    }

    /// The header's line is read again, and passed over.
    private mutating func passHeader() throws(TapeError) {
        line = 1
        while true {
            if let end = firstIndex(of: 0x0a, in: lines.span, from: at) {
                let range = at..<end
                at = end + 1
                scanned = at
                line += 1
                if TapeReader.isEvent(lines.span, range) { return }
            } else if try inflow.read(into: &lines) == .end {
                at = lines.count
                scanned = at
                return
            }
        }
    }
}
