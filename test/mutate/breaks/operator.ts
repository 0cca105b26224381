/** Breaks of what operators decide, and of what they are told. */
import type { Break } from "../break.ts";

const WHO_ACTS = "src/payments/operator/who-acts.ts";
const RESOLVING = ["payments/operator/resolve.test.ts"];

export const OPERATOR_BREAKS: readonly Break[] = [
  {
    property: "a name or a reason with a character that nobody sees is refused",
    file: WHO_ACTS,
    text: "if (unseen === undefined) return;",
    replacement: "if (unseen !== null) return;",
    tests: RESOLVING,
  },
  {
    property: "characters that fonts draw nothing for tell no actors apart",
    file: WHO_ACTS,
    text: '.replaceAll(ALL_UNSEEN, "")',
    replacement: "",
    tests: RESOLVING,
  },
  {
    property: "another form of a name is the same actor's",
    file: WHO_ACTS,
    text: '.normalize("NFKC")',
    replacement: "",
    tests: RESOLVING,
  },
  {
    property: "another spacing of a name is the same actor's",
    file: WHO_ACTS,
    text: '.replaceAll(/\\s+/g, " ")',
    replacement: "",
    tests: RESOLVING,
  },
];
