package import WiretapeFaults

/// Whether clients of a run can speak TLS at all, and what they are shown then.
package struct SpokenTLS {
    private var isThere = false
    private var issues = false

    package init() {}

    /// - Parameter door: nil: of a listener that speaks plain HTTP.
    package mutating func add(_ door: TLSDoor?) {
        guard let door else { return }
        isThere = true
        issues = door.flawed?.hasAuthority ?? false
    }

    /// Why rules could not be carried out; nil when they could.
    package func problem(of plan: FaultPlan) -> PlanError? { plan.problemsOfTLS(hasTLS: isThere, issues: issues).first }
}
