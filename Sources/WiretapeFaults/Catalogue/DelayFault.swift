internal import WiretapeBytes

/// `delay(20ms..200ms)`: later, in order.
enum DelayFault {
    package static let entry = FaultEntry(
        word: "delay",
        summary:
            "later, drawn for each: a duration, a range, normal(mean, deviation) or pareto(min, shape); order is kept, keepalives pass unless they are named",
        examples: [
            "delay(2s) on negotiate", "delay(20ms..200ms) on message[direction=toClient] p=0.2",
            "delay(normal, 100ms, 20ms) on Tick", "delay(pareto, 20ms, 1.5) on Tick", "delay(5s) on Ping",
        ]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let first = arguments.arguments.first
        switch first?.key == nil ? first?.value : nil {
        case "normal":
            _ = reader.next("distribution")
            guard let mean = try reader.duration("mean"), let deviation = try reader.duration("deviation") else {
                throw reader.error("a normal delay needs a mean and a deviation: delay(normal, 100ms, 20ms)")
            }
            try reader.finish("a mean and a deviation")
            let spelled = [mean, deviation].map(DurationText.describe).joined(separator: ", ")
            return (.message(.delay(.normal(mean: mean, deviation: deviation))), "normal, \(spelled)")
        case "pareto":
            _ = reader.next("distribution")
            guard let least = try reader.duration("min"), let shape = reader.next("shape") else {
                throw reader.error("a pareto delay needs a minimum and a shape: delay(pareto, 20ms, 1.5)")
            }
            guard let value = Double(shape.value), value >= 0.5, value <= 16 else {
                throw text.error("'\(shape.value)' is not a shape from 0.5 to 16", at: shape.at)
            }
            try reader.finish("a minimum and a shape")
            return (
                .message(.delay(.pareto(minimum: least, shape: value))),
                "pareto, \(DurationText.describe(least)), \(value)"
            )
        default:
            return try plain(&reader, first, text)
        }
    }

    private static func plain(
        _ reader: inout ArgumentReader, _ first: FaultArguments.Argument?, _ text: RuleText
    ) throws(PlanError) -> (FaultEffect, String) {
        guard let first, let dots = first.value.firstRange(of: "..") else {
            guard let time = try reader.duration("time") else {
                throw reader.error("delay needs a duration: delay(20ms) or delay(20ms..200ms)")
            }
            guard time <= Delay.longest else { throw reader.error("no delay is longer than 10m") }
            try reader.finish("a duration")
            return (.message(.delay(.fixed(time))), DurationText.describe(time))
        }
        _ = reader.next("time")
        guard let low = DurationText.parse(first.value[..<dots.lowerBound]),
            let high = DurationText.parse(first.value[dots.upperBound...])
        else { throw text.error("'\(first.value)' is not a range such as 20ms..200ms", at: first.at) }
        guard low <= high else { throw text.error("the range \(first.value) is empty", at: first.at) }
        guard high <= Delay.longest else { throw text.error("no delay is longer than 10m", at: first.at) }
        try reader.finish("a duration")
        return (
            .message(.delay(.uniform(low, high))), "\(DurationText.describe(low))..\(DurationText.describe(high))"
        )
    }
}
