// simulate [COUNT] [--from N] [--seed N] [--kinds LIST]: the replay engine's simulation, as many seeds as wanted; or one, with everything
// that happens. Exit 1 when a seed breaks a rule, 64 for unknown arguments.

internal import WiretapeCodecs
internal import WiretapeProtocol
internal import WiretapeSimulation
internal import WiretapeSystem

var count: UInt64 = 1_000_000
var from: UInt64 = 1
var one: UInt64?
var arguments = Array(CommandLine.arguments.dropFirst())
var kinds = EngineSimulation.kept
while !arguments.isEmpty {
    let argument = arguments.removeFirst()
    if argument == "--kinds", !arguments.isEmpty {
        kinds = arguments.removeFirst().split(separator: ",").compactMap { EngineScenario.Kind(rawValue: String($0)) }
        if !kinds.isEmpty { continue }
    }
    let number = argument.hasPrefix("--") && !arguments.isEmpty ? UInt64(arguments.removeFirst()) : UInt64(argument)
    switch (argument, number) {
    case ("--from", let number?): from = max(1, number)
    case ("--seed", let number?): one = number
    case (_, let number?) where !argument.hasPrefix("--"): count = number
    default:
        let names = EngineSimulation.kept.map(\.rawValue).joined(separator: ",")
        print("usage: tools/simulate [COUNT] [--from N] [--seed N] [--kinds \(names)]")
        ThisProcess.exit(64)
    }
}

let codec = CodecEntry(SignalRCodec.self)
if let one {
    let problems = EngineSimulation.problems(seed: one, codec, kinds: kinds) { print($0) }
    for problem in problems { print("PROBLEM \(problem)") }
    print("seed \(one): \(problems.count) problems")
    ThisProcess.exit(problems.isEmpty ? 0 : 1)
}

let begin = SystemClock.monotonic
var failed = 0
let slice: UInt64 = 50_000
var next = from
while next < from + count {
    let range = next..<min(next + slice, from + count)
    failed += await Slice.run(range, codec, kinds)
    next = range.upperBound
    let seconds = (SystemClock.monotonic - begin) / 1_000_000_000
    print("\(next - from) seeds, \(failed) failed, \(seconds) s")
}
ThisProcess.exit(failed == 0 ? 0 : 1)
