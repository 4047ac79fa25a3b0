import WiretapeBytes
import WiretapeWire

/// Every way to feed `bytes` that a test of a machine needs: whole, cut in two at each byte, byte by byte, and `random` ways
/// with several cuts from `seed`.
func pieces(of bytes: [UInt8], random: Int = 20, seed: UInt64 = 1) -> [[[UInt8]]] {
    var ways: [[[UInt8]]] = [[bytes], bytes.map { [$0] }]
    for cut in 0...bytes.count { ways.append([Array(bytes[..<cut]), Array(bytes[cut...])]) }
    var generator = SplitMix64(seed: seed)
    for _ in 0..<random {
        var way: [[UInt8]] = []
        var at = 0
        while at < bytes.count {
            let next = min(bytes.count, at + 1 + generator.below(generator.below(2) == 0 ? 5 : 60))
            way.append(Array(bytes[at..<next]))
            at = next
        }
        ways.append(way)
    }
    return ways
}

/// The bytes of a hexadecimal text.
func hex(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap(hexDigit)
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
