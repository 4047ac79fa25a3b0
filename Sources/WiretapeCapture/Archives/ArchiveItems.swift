internal import WiretapeBytes
internal import WiretapePackets

/// Cuts a file that others wrote into its items, piece by piece, without reading the whole of it.
protocol ArchiveItems {
    /// More bytes of the file. Ask for ``next()`` until it is `.more` before the next ones.
    mutating func append(_ piece: Span<UInt8>)
    mutating func next() -> ArchiveStep
    /// Why the file was not read to its end, or what its end has cut; nil when all of it was read.
    var torn: CaptureFault? { get }
}

/// What ``ArchiveItems/next()`` found.
enum ArchiveStep {
    /// Give it more bytes.
    case more
    /// An item, and where it begins in the file.
    case item([UInt8], at: UInt64)
    /// A member beside the items: `log/creator`.
    case member(String, [UInt8], at: UInt64)
    case bad(CaptureFault)
}
