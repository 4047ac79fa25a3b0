import Foundation

/// What `/proc/PID/status` tells of a process now.
struct ProcessStatus {
    private let lines: [Substring]

    /// - Throws: when there is no such process.
    init(_ pid: pid_t) throws {
        lines = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
    }

    private func value(_ name: String) -> Substring {
        let line = lines.first { $0.hasPrefix(name + ":") } ?? ""
        return line.dropFirst(name.count + 1).drop { $0 == "\t" }
    }

    var isStopped: Bool { value("State").hasPrefix("T") }

    /// It has a handler for a signal.
    func catches(_ signal: Int32) -> Bool { has(signal, in: "SigCgt") }

    /// A signal was sent to it that it has not taken yet.
    func waits(for signal: Int32) -> Bool { has(signal, in: "ShdPnd") }

    private func has(_ signal: Int32, in name: String) -> Bool {
        (UInt64(value(name), radix: 16) ?? 0) & (1 << (UInt64(signal) - 1)) != 0
    }
}
