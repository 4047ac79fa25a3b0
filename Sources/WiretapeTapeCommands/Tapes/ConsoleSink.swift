internal import WiretapeSystem
internal import WiretapeTape

/// A tape on standard output.
final class ConsoleSink: TapeSink {
    func write(_ bytes: Span<UInt8>) { Console.output.writeTape(bytes) }
}
