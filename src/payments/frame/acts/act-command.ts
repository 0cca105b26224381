/** A command of an operator, as a module declares it beside its act: arguments, one call, and the page of the answer. */
import type { Takes, ValuesOf } from "../../../core/takes.ts";
import type { ActContext } from "../intake/rules.ts";

/** For programs, and as a page for people. */
type Answer = readonly [value: unknown, page: string];

/** A command; `Operator` is the part of the service's operator that it calls. */
export interface OperatorCommand<Operator> {
  /** With the word of its group, such as `operator pause`. */
  readonly name: string;
  /** Its first sentence stands in the list of all commands. */
  readonly help: string;
  readonly takes: Takes;
  /** Whether it changes something, in the name of a person with a reason. */
  readonly isAct: boolean;
  /** The sentence that refuses values that do not go together, before anything is opened; null for good ones. */
  fault(values: Readonly<Record<string, unknown>>): string | null;
  call(operator: Operator, values: Readonly<Record<string, unknown>>, by: ActContext): Promise<Answer>;
}

interface Declared<T> {
  readonly name: string;
  readonly help: string;
  readonly takes: T & Takes;
  readonly fault?: (values: ValuesOf<T>) => string | null;
}

/** A command that reads. */
export function reading<Operator, T>(
  { fault, ...row }: Declared<T>,
  read: (operator: Operator, values: ValuesOf<T>) => Promise<Answer>,
): OperatorCommand<Operator> {
  return {
    ...row,
    isAct: false,
    fault: (values) => fault?.(values as ValuesOf<T>) ?? null,
    call: (operator, values) => read(operator, values as ValuesOf<T>),
  };
}

/** A command that changes something, in the name of a person. */
export function acting<Operator, T>(
  { fault, ...row }: Declared<T>,
  act: (operator: Operator, values: ValuesOf<T>, by: ActContext) => Promise<Answer>,
): OperatorCommand<Operator> {
  return {
    ...row,
    isAct: true,
    fault: (values) => fault?.(values as ValuesOf<T>) ?? null,
    call: (operator, values, by) => act(operator, values as ValuesOf<T>, by),
  };
}
