/** What happens without any copy's doing: deposits, time, bytes that land, backups, restores. */
import { has, type Scenario } from "./scenario.ts";
import {
  begun,
  NONE,
  type Outcome,
  OUTCOMES,
  REST,
  type Row,
  type SignedBytes,
  type State,
} from "./state.ts";

/** A step, by what it changes. */
export type Moves = Generator<readonly [act: string, change: Partial<State>]>;

/** Everything that may happen now. */
export function* worldMoves(scenario: Scenario, state: State): Moves {
  const amount = scenario.deposits[state.deposits];
  if (amount !== undefined) {
    yield [`${amount} come`, { balance: state.balance + amount, deposits: state.deposits + 1 }];
  }
  if (!state.isWindowOver) yield ["the window ends", { isWindowOver: true }];
  const isAnyYoung = state.copies.some((copy) => copy !== null && copy.youth > 0);
  if (scenario.bytes === "die" && (state.bytes.length > 0 || isAnyYoung)) {
    yield ["151 blocks pass", later(state)];
  }
  for (const bytes of state.bytes) yield* lands(scenario, state, bytes);
  if (scenario.restores) yield* restores(scenario, state);
}

function later({ bytes, copies }: State): Partial<State> {
  return {
    bytes: bytes.filter(({ life }) => life > 1).map((signed) => ({ ...signed, life: signed.life - 1 })),
    copies: copies.map((copy) => copy && { ...copy, youth: Math.max(0, copy.youth - 1) }),
  };
}

function* lands(scenario: Scenario, state: State, signed: SignedBytes): Moves {
  const bytes = state.bytes.filter((other) => other !== signed);
  const { chunk, what } = signed;
  if (chunk === REST) {
    if (state.balance < what) return;
    const sent = { balance: state.balance - what, toSender: state.toSender + what };
    yield [`a rest of ${what} lands`, { ...sent, bytes }];
    return;
  }
  const outcome = OUTCOMES[chunk]?.[what];
  if (outcome === undefined || state.markers[chunk] !== NONE || state.balance < sumOf(outcome)) return;
  const isBought = has(scenario, "K2: the rent goes in the same transaction");
  yield [
    `chunk ${chunk} lands: ${outcome.name}`,
    {
      markers: isBought ? state.markers.map((old, at) => (at === chunk ? what : old)) : state.markers,
      balance: state.balance - sumOf(outcome),
      paid: state.paid.map((times, member) => times + (outcome.recipients.includes(member) ? 1 : 0)),
      fees: state.fees + outcome.fee,
      bytes,
    },
  ];
}

function sumOf({ recipients, fee }: Outcome): number {
  return recipients.length + fee;
}

function* restores(scenario: Scenario, { copies, backup }: State): Moves {
  const row = copies[0]?.row ?? null;
  if (row !== null && !isSame(row, backup)) yield ["a backup is made", { backup: row }];
  if (backup === null) return;
  const parts = startOf(scenario);
  for (const place of copies.keys()) {
    const restored = copies.map((copy, at) => (at === place ? begun(backup, parts) : copy));
    yield [`copy ${place} begins from the backup`, { copies: restored }];
  }
}

/** What a process finds that begins. */
export function startOf(scenario: Scenario): { readonly isStarting: boolean; readonly youth: number } {
  const isAboutTold = scenario.about === "told";
  const hasJournal = has(scenario, "K17: the journal has a line of each end without a decision");
  return { isStarting: isAboutTold && hasJournal, youth: isAboutTold ? 2 : 0 };
}

function isSame(row: Row, other: Row | null): boolean {
  return (
    other !== null &&
    row.phase === other.phase &&
    row.signed === other.signed &&
    row.ends === other.ends &&
    row.status === other.status &&
    row.outcomes.every((outcome, chunk) => outcome === other.outcomes[chunk])
  );
}
