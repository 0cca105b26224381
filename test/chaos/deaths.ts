/** When processes are killed under load: each after a life that was drawn for it, or one of them each second. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Life } from "./plan.ts";
import type { Victim } from "./victim.ts";

/** The processes that are killed, and what is called after each kill. */
export interface Deaths {
  readonly victims: readonly Victim[];
  readonly onDeath: () => Promise<void>;
}

const SECOND_MS = 1_000;

/** Every place lives one life after the other until none is left. */
export async function dieAsDrawn({ victims, onDeath }: Deaths, lives: readonly Life[]): Promise<void> {
  const left = [...lives];
  await Promise.all(
    victims.map(async (victim) => {
      for (let life = left.shift(); life !== undefined; life = left.shift()) {
        await victim.live(life);
        await onDeath();
      }
    }),
  );
}

/**
 * So many seconds: in each one the process is killed that was started first of those that take requests. Where no other
 * takes them, as on a busy machine, the youngest that is still starting is killed, so that there is work under way.
 */
export async function dieEachSecond({ victims, onDeath }: Deaths, seconds: number): Promise<void> {
  await Promise.all(victims.map((victim) => victim.start()));
  const eldest = [...victims];
  const began = performance.now();
  for (let second = 1; second <= seconds; second += 1) {
    await sleep(began + second * SECOND_MS - performance.now());
    const victim = nextOf(eldest);
    if (victim === undefined) return;
    eldest.splice(eldest.indexOf(victim), 1);
    eldest.push(victim);
    await victim.replace();
    await onDeath();
  }
  await Promise.all(victims.map((victim) => victim.end()));
}

function nextOf(eldest: readonly Victim[]): Victim | undefined {
  const [first, second] = eldest.filter(({ baseUrl }) => baseUrl !== null);
  const starting = eldest.filter(({ baseUrl }) => baseUrl === null);
  return second === undefined ? (starting.at(-1) ?? first) : first;
}
