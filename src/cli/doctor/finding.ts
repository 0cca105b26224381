/** What one check of the doctor found, and what is to be done about it. */

/** `warning`: it works, and should be looked at. `wrong`: it does not work, or will not for long. */
type Verdict = "ok" | "warning" | "wrong";

/** One line of the doctor's. */
export interface Finding {
  readonly verdict: Verdict;
  /** What was looked at, in a word or two. */
  readonly check: string;
  /** What is there. */
  readonly found: string;
  /** What to do about it; null where all is well. */
  readonly todo: string | null;
}

/** What was found, and what to do about it. */
interface Complaint {
  readonly found: string;
  readonly todo: string;
}

export function fine(check: string, found: string): Finding {
  return { verdict: "ok", check, found, todo: null };
}

export function warning(check: string, complaint: Complaint): Finding {
  return { verdict: "warning", check, ...complaint };
}

export function wrong(check: string, complaint: Complaint): Finding {
  return { verdict: "wrong", check, ...complaint };
}
