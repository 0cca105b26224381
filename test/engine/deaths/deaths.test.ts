/** The rule of a death on paper: played against random lives, and wrong rules that the same play must find. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byDepth } from "../../kit/thorough.ts";
import { Deaths, RULE, type Rule, type Task } from "./model.ts";
import { lives, Play, type Life, type Outcome } from "./play.ts";

const played = (life: Life, rule?: Rule): Promise<Outcome> => new Play(life, new Deaths(rule)).outcome();

const counted = (task: Task, deaths: 0 | 1): Task => ({
  ...task,
  counted: task.counted + deaths,
  missed: deaths,
});

const wrong: Readonly<Record<string, Partial<Rule>>> = {
  "the first death makes a suspect": { isSuspect: ({ lastDeath }) => lastDeath !== null },
  "a death counts against every suspect in the hand": {
    judged: (suspects) => suspects.map((task) => counted(task, 1)),
  },
  "a death of several counts, and then they are alone": {
    judged: (suspects) => suspects.map((task) => ({ ...counted(task, 1), isAlone: suspects.length > 1 })),
  },
  "several suspects are not tried alone": {
    judged: (suspects) => suspects.map((task) => counted(task, suspects.length === 1 ? 1 : 0)),
  },
  "a suspect begins beside one that is alone": { mayBegin: () => true },
  "no suspect begins but alone, and nothing beside it": { isFree: (inHand) => inHand.length === 0 },
  "all deaths make a dead letter, not those that are counted": {
    isDeadLetter: ({ deaths }, maxCrashes) => deaths >= Math.max(1, maxCrashes),
  },
  "each lease that ends is judged as a death of its own": {
    hand: (tasks, holder, now) => {
      const ended = tasks.filter((task) => task.holder === holder && task.missed === null && task.at <= now);
      return ended.slice(0, 1);
    },
  },
  "only what has ended is judged": {
    hand: (tasks, holder, now) =>
      tasks.filter((task) => task.holder === holder && task.missed === null && task.at <= now),
  },
  "a death is explained by the suspect in hand": {
    hand: (tasks, holder) => {
      const hand = tasks.filter((task) => task.holder === holder && task.missed === null);
      const suspects = hand.filter(RULE.isSuspect);
      return suspects.length > 0 ? suspects : hand;
    },
  },
  "nothing is ever set aside": { isDeadLetter: () => false },
};

const RIGHT = { lost: [], atLarge: [], waited: [] };

const obeying = (rule?: Rule) =>
  fc.asyncProperty(lives, async (life) => {
    expect(await played(life, rule)).toMatchObject(RIGHT);
  });

describe("D71: the rule of a death", () => {
  test("no innocent is ever a dead letter, nobody waits for a stranger, and every poison is set aside", async () => {
    await fc.assert(obeying(), { numRuns: byDepth({ quick: 1_000, ci: 10_000, long: 200_000 }) });
  });

  test.each(Object.entries(wrong))("the play finds the wrong rule that %s", async (_, change) => {
    const { failed } = await fc.check(obeying({ ...RULE, ...change }), {
      numRuns: 2_000,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });

  test("a poison alone ends six processes where five deaths must be counted, and with forty others seven", async () => {
    const poison = { queue: "free", at: 0, lasts: 1, isPoison: true } as const;
    const others = Array.from({ length: 40 }, () => ({ ...poison, lasts: 2, isPoison: false }));
    const life = { acts: [], processes: 1, places: 99 };
    const alone = await new Play({ ...life, actors: [poison] }, new Deaths(), 5).outcome();
    expect(alone).toMatchObject({ ...RIGHT, deaths: 6 });
    const among = await new Play({ ...life, actors: [poison, ...others] }, new Deaths(), 5).outcome();
    expect(among).toMatchObject({ ...RIGHT, deaths: 7 });
  });

  test("D44: what one killed process had in hand is done as soon as its leases have ended, side by side", async () => {
    const actors = Array.from(
      { length: 20 },
      () => ({ queue: "free", at: 0, lasts: 2, isPoison: false }) as const,
    );
    const acts = [{ at: 1, process: 0, what: "killed", rest: 1 }] as const;
    const outcome = await new Play({ actors, acts, processes: 1, places: 99 }, new Deaths()).outcome();
    expect(outcome).toMatchObject({ ...RIGHT, latest: 8 });
  });
});
