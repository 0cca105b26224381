/** Findings: the results of the doctor's checks, with remedies. */

/** `warning`: it works, and should be looked at. `wrong`: it does not work, or will not for long. */
export type FindingVerdict = "ok" | "warning" | "wrong";

/** The result of one check. */
export interface DiagnosisFinding {
  readonly verdict: FindingVerdict;
  /** The checked subject, in a word or two. */
  readonly check: string;
  /** The fact that the check found. */
  readonly found: string;
  /** The remedy; null when all is well. */
  readonly todo: string | null;
}

/** A problem that a check found, and the remedy. */
interface Complaint {
  readonly found: string;
  readonly todo: string;
}

export function fine(check: string, found: string): DiagnosisFinding {
  return { verdict: "ok", check, found, todo: null };
}

export function warning(check: string, complaint: Complaint): DiagnosisFinding {
  return { verdict: "warning", check, ...complaint };
}

export function wrong(check: string, complaint: Complaint): DiagnosisFinding {
  return { verdict: "wrong", check, ...complaint };
}
