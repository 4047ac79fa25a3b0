/// A part of the program that takes bytes from outside, and what must hold whatever they are. A trap is found by itself; what
/// does not trap and is wrong all the same, the target says.
package struct FuzzTarget: Sendable {
    package let name: String
    /// Longer inputs find nothing that shorter ones do not.
    package let longest: Int
    private let judge: @Sendable ([UInt8]) -> String?

    init(_ name: String, longest: Int = 4_096, _ judge: @escaping @Sendable ([UInt8]) -> String?) {
        self.name = name
        self.longest = longest
        self.judge = judge
    }

    /// - Returns: what is wrong; nil when nothing is.
    package func run(_ input: [UInt8]) -> String? { judge(input) }

    package static let all: [FuzzTarget] =
        HTTPTargets.all + WebSocketTargets.all + TextTargets.all + StreamTargets.all + SettingsTargets.all
        + TapeTargets.all + ImportTargets.all + CodecTargets.all + RelayTargets.all + ReplayTargets.all

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
