/** The refusal of an operator's command. */

/** The command was refused and nothing was changed. The message names what is wrong and what would be right. */
export class OperatorRefused extends Error {
  override readonly name = "OperatorRefused";
}

/** The refusal of what needs private mode while it is off. */
export function privateModeIsOff(): OperatorRefused {
  return new OperatorRefused("private mode is off: start a service with privateRouting");
}
