internal import WiretapeFaults

/// Whether clients of a run can speak TLS at all, and what they are shown then.
struct SpokenTLS {
    private var isThere = false
    private var issues = false

    /// - Parameter door: nil: of a listener that speaks plain HTTP.
    mutating func add(_ door: TLSDoor?) {
        guard let door else { return }
        isThere = true
        issues = door.flawed?.hasAuthority ?? false
    }

    /// Why rules could not be carried out; nil when they could.
    func problem(of plan: FaultPlan) -> PlanError? { plan.problemsOfTLS(hasTLS: isThere, issues: issues).first }
}
