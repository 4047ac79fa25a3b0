/// A client connection of the replay server: 1, 2, … in the order of acceptance.
package typealias ConnectionID = UInt32
