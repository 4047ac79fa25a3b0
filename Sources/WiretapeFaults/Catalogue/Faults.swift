/// Every fault, one file and one line each.
package enum Faults {
    package static let all: [FaultEntry] = [
        DelayFault.entry,
        DropFault.entry,
        DuplicateFault.entry,
        ReorderFault.entry,
        ReplaceFault.entry,
        InjectFault.entry,
        CorruptFault.entry,
        TruncateFault.entry,
        DisconnectFault.entry,
        ResetFault.entry,
        CloseFault.entry,
        StallFault.entry,
        MuteFault.entry,
        ThrottleFault.entry,
        SliceFault.entry,
        RespondFault.entry,
        MalformedFault.entry,
        WrongAcceptFault.entry,
        WrongSubprotocolFault.entry,
        RedirectLoopFault.entry,
        RefuseFault.entry,
        OutageFault.entry,
        DowngradeFault.entry,
        ExpireFault.entry,
    ]
}
