/// Sizes as people write them: `64KiB`, `256MiB`, `2GiB`, or a number of bytes.
package enum ByteSize {
    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)]

    /// Nil for anything but a size above 0.
    package static func parse(_ text: String) -> Int? {
        for (unit, bytes) in units where text.hasSuffix(unit) {
            guard let count = Int(text.dropLast(unit.count).trimmingBlanks()), count > 0 else { return nil }
            let (size, overflow) = count.multipliedReportingOverflow(by: bytes)
            return overflow ? nil : size
        }
        return nil
    }

    /// In the largest unit that needs no fraction.
    package static func text(_ size: Int) -> String {
        for (unit, bytes) in units.dropLast().reversed() where size >= bytes && size % bytes == 0 {
            return "\(size / bytes) \(unit)"
        }
        return "\(size) bytes"
    }
}
