/// Steps of a script in ascending order, four bytes each.
package struct StepList: RandomAccessCollection, Sendable {
    private let slice: ArraySlice<Int32>

    package init(_ slice: ArraySlice<Int32>) { self.slice = slice }

    package var startIndex: Int { slice.startIndex }
    package var endIndex: Int { slice.endIndex }

    package subscript(position: Int) -> Int { Int(slice[position]) }

    /// The place of the first of the ascending `steps` that is not smaller than `limit`.
    package static func place(of limit: Int, in steps: [Int32]) -> Int {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if Int(steps[middle]) < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
