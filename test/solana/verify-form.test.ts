/** Attacks on the form of a transaction: its text, its length, its lengths, its header and its indices (W2). */
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect } from "vitest";
import {
  compactLength,
  keyOf,
  newestBlockhash,
  rawMessage,
  signatureOf,
  signed,
  verdict,
  wire,
  type RawMessage,
  type WriteLength,
} from "./signed-transaction.ts";
import { AMOUNT, type VerifyScene } from "./verify-scene.ts";
import { verifyTest } from "./verify-test.ts";

/** Alice's honest payment in SOL: its text, and its message as parts. */
interface Payment extends VerifyScene {
  readonly good: string;
  readonly parts: RawMessage;
}

const test = verifyTest.extend("scene", async ({ scene }): Promise<Payment> => {
  const { alice, bob, paySol } = scene;
  return {
    ...scene,
    good: await signed(scene, { signers: [alice], instructions: [paySol()] }),
    parts: {
      header: [1, 0, 1],
      keys: [keyOf(alice), keyOf(bob), SystemProgram.programId],
      blockhash: await newestBlockhash(scene.chain),
      instructions: [{ program: 2, accounts: [0, 1], data: paySol().data }],
    },
  };
});

const judgeText = (scene: Payment, text: string): Promise<string> => verdict(scene.ledger, text, scene.sol);
const judgeParts = (scene: Payment, change: Partial<RawMessage>, lengthOf?: WriteLength): Promise<string> =>
  scene.judgeBytes(scene.sol, rawMessage({ ...scene.parts, ...change }, lengthOf));
const judgeWire = (scene: Payment, bytes: Uint8Array): Promise<string> =>
  judgeText(scene, Buffer.from(bytes).toString("base64"));
const wireOfGood = (scene: Payment): Buffer => Buffer.from(scene.good, "base64");

test("the parts that are attacked below are an honest payment when left alone", async ({ scene }) => {
  const { good } = scene;
  expect(await judgeText(scene, good)).toBe("accepted");
  expect(await judgeParts(scene, {})).toBe("accepted");
  expect(await judgeParts(scene, { lookups: [] })).toBe("accepted");
});

describe("W2: text", () => {
  test("attack: the URL-safe alphabet is not_base64", async ({ scene }) => {
    const { parts } = scene;
    // Of 215 bytes some need the two characters that differ, whatever the keys are; the data here makes sure.
    const memo = Buffer.alloc(33, 0xff);
    const message = rawMessage({ ...parts, instructions: [{ program: 2, accounts: [], data: memo }] });
    const text = wire(message, [Buffer.alloc(64, 1)]);
    const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_");
    expect(urlSafe).not.toBe(text);
    expect(await judgeText(scene, text)).toBe("bad_signature");
    expect(await judgeText(scene, urlSafe)).toBe("not_base64");
  });

  test.for([
    ["before it", (text: string) => ` ${text}`],
    ["after it", (text: string) => `${text}\n`],
    ["inside it", (text: string) => `${text.slice(0, 76)}\r\n${text.slice(76)}`],
    ["a NUL after it", (text: string) => `${text}\0`],
    ["a byte order mark before it", (text: string) => `\uFEFF${text}`],
  ] as const)("attack: whitespace %s is not_base64", async ([_where, spaced], { scene }) => {
    const { good } = scene;
    expect(await judgeText(scene, spaced(good))).toBe("not_base64");
  });

  test("attack: missing, superfluous or misplaced padding is not_base64", async ({ scene }) => {
    const { good } = scene;
    expect(good).toMatch(/[^=]=$/);
    for (const text of [good.slice(0, -1), `${good}=`, `=${good}`, `${good.slice(0, -1)}==`]) {
      expect(await judgeText(scene, text)).toBe("not_base64");
    }
  });

  test("attack: bits behind the last byte, a second text for the same bytes, are not_base64", async ({
    scene,
  }) => {
    const { good } = scene;
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const last = good.at(-2) ?? "";
    const other = alphabet[alphabet.indexOf(last) + 1] ?? "";
    const twin = `${good.slice(0, -2)}${other}=`;
    expect(Buffer.from(twin, "base64")).toEqual(wireOfGood(scene));
    expect(await judgeText(scene, twin)).toBe("not_base64");
  });

  test("attack: letters that only look like base64, a data URL or JSON are not_base64", async ({ scene }) => {
    const { good } = scene;
    const texts = ["ＡＡＡＡ", `data:;base64,${good}`, JSON.stringify(good), JSON.stringify([1, 2, 3]), "*"];
    for (const text of texts) expect(await judgeText(scene, text)).toBe("not_base64");
  });

  test("attack: no bytes at all are undecodable", async ({ scene }) => {
    expect(await judgeText(scene, "")).toBe("undecodable");
  });
});

describe("W2: length", () => {
  test("attack: 1,233 bytes are too_large, 1,232 are not", async ({ scene }) => {
    expect(await judgeWire(scene, Buffer.alloc(1_233, 1))).toBe("too_large");
    expect(await judgeWire(scene, Buffer.alloc(1_232, 1))).toBe("undecodable");
  });

  test("attack: a payment behind which a kilobyte is hidden is too_large, or undecodable when it is short", async ({
    scene,
  }) => {
    expect(await judgeWire(scene, Buffer.concat([wireOfGood(scene), Buffer.alloc(1_200)]))).toBe("too_large");
    expect(await judgeWire(scene, Buffer.concat([wireOfGood(scene), Buffer.alloc(1_000)]))).toBe(
      "undecodable",
    );
  });

  test("attack: one byte after the message is undecodable, in both formats", async ({ scene }) => {
    const { parts } = scene;
    for (const lookups of [undefined, []] as const) {
      const message = rawMessage({ ...parts, ...(lookups === undefined ? {} : { lookups }) });
      const longer = Buffer.concat([message, Buffer.alloc(1)]);
      // Signed with it and without it: the signature is good over one reading of the bytes.
      const { alice } = scene;
      expect(await judgeText(scene, wire(longer, [signatureOf(longer, alice)]))).toBe("undecodable");
      expect(await judgeText(scene, wire(longer, [signatureOf(message, alice)]))).toBe("undecodable");
    }
  });

  test("attack: a second payment behind the first is undecodable", async ({ scene }) => {
    expect(await judgeWire(scene, Buffer.concat([wireOfGood(scene), wireOfGood(scene)]))).toBe("undecodable");
  });

  test("attack: a transaction cut short at any byte is undecodable", async ({ scene }) => {
    const bytes = wireOfGood(scene);
    for (let length = 1; length < bytes.length; length += 1) {
      expect(await judgeWire(scene, bytes.subarray(0, length)), `${length} bytes`).toBe("undecodable");
    }
  });
});

describe("W2: versions", () => {
  test.for([1, 2, 127])(
    "attack: a message of version %i is unsupported_version",
    async (version, { scene }) => {
      const { parts } = scene;
      const message = rawMessage({ ...parts, lookups: [] });
      message[0] = 0x80 + version;
      expect(await scene.judgeBytes(scene.sol, message)).toBe("unsupported_version");
    },
  );

  test("attack: a transaction that begins with a version after 1, its signatures behind it, is unsupported_version, and what only begins like version 1 is undecodable", async ({
    scene,
  }) => {
    const { parts } = scene;
    for (const [first, refused] of [
      [0x80, "unsupported_version"],
      [0x81, "undecodable"],
      [0x82, "unsupported_version"],
    ] as const) {
      const message = Buffer.concat([Buffer.from([first]), rawMessage(parts)]);
      const bytes = Buffer.concat([message, signatureOf(message, scene.alice)]);
      expect(await judgeWire(scene, bytes)).toBe(refused);
    }
  });

  test("attack: a legacy message sent as v0, and a v0 message as legacy, are undecodable", async ({
    scene,
  }) => {
    const { parts } = scene;
    const legacy = rawMessage(parts);
    const v0 = rawMessage({ ...parts, lookups: [] });
    expect(await scene.judgeBytes(scene.sol, Buffer.concat([Buffer.from([0x80]), legacy]))).toBe(
      "undecodable",
    );
    expect(await scene.judgeBytes(scene.sol, v0.subarray(1))).toBe("undecodable");
  });
});

describe("W2: lengths of lists that are not written the shortest way", () => {
  const twoBytes: WriteLength = (length) => [(length & 0x7f) | 0x80, (length >> 7) & 0x7f];
  const threeBytes: WriteLength = (length) => [
    (length & 0x7f) | 0x80,
    ((length >> 7) & 0x7f) | 0x80,
    length >> 14,
  ];

  test("attack: a count of signatures in two bytes is undecodable: it begins like version 1", async ({
    scene,
  }) => {
    const bytes = wireOfGood(scene);
    expect(await judgeWire(scene, Buffer.concat([Buffer.from([0x81, 0]), bytes.subarray(1)]))).toBe(
      "undecodable",
    );
  });

  /** Writes only the n-th length of a message otherwise. */
  const onlyNth = (n: number, otherwise: WriteLength): WriteLength => {
    let written = -1;
    return (length) => {
      written += 1;
      return written === n ? otherwise(length) : compactLength(length);
    };
  };

  test.for([
    [0, "accounts"],
    [1, "instructions"],
    [2, "an instruction's accounts"],
    [3, "an instruction's data"],
    [4, "lookups"],
  ] as const)("attack: length %i, of %s, in two or three bytes is undecodable", async ([n], { scene }) => {
    const formats = n < 4 ? [{}, { lookups: [] }] : [{ lookups: [] }];
    for (const longer of [twoBytes, threeBytes]) {
      for (const format of formats) {
        expect(await judgeParts(scene, format, onlyNth(n, longer))).toBe("undecodable");
      }
    }
  });

  test("attack: lengths of a lookup's lists in two bytes are undecodable", async ({ scene }) => {
    const { address } = scene.mallory;
    const lookups = [{ table: new PublicKey(address), writable: [0], readonly: [1] }];
    expect(await judgeParts(scene, { lookups })).toBe("unknown_lookup_table");
    for (const n of [5, 6]) {
      expect(await judgeParts(scene, { lookups }, onlyNth(n, twoBytes))).toBe("undecodable");
    }
  });

  test("attack: lengths beyond 16 and beyond 32 bits are undecodable, and soon", async ({ scene }) => {
    const huge: WriteLength = () => [0xff, 0xff, 0x03];
    const negative: WriteLength = () => [0x80, 0x80, 0x80, 0x80, 0x08];
    // 2^32 too long, which arithmetic of 32 bits forgets.
    const wrapped: WriteLength = (length) => [(length & 0x7f) | 0x80, 0x80, 0x80, 0x80, 0x10];
    const endless: WriteLength = () => Array<number>(500).fill(0x80);
    for (const lengthOf of [huge, negative, wrapped, endless]) {
      for (const n of [0, 1, 2, 3, 4]) {
        expect(await judgeParts(scene, { lookups: [] }, onlyNth(n, lengthOf))).toBe("undecodable");
      }
    }
  });
});

describe("W2: headers", () => {
  const judgeSigned = (scene: Payment, message: Uint8Array, signatures: number): Promise<string> =>
    judgeText(scene, wire(message, Array<Buffer>(signatures).fill(signatureOf(message, scene.alice))));

  test("attack: a transaction with no signatures is undecodable", async ({ scene }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, rawMessage(parts), 0)).toBe("undecodable");
    expect(await judgeSigned(scene, rawMessage({ ...parts, header: [0, 0, 1] }), 0)).toBe("undecodable");
  });

  test("attack: a message that requires no signature is undecodable, though one is there", async ({
    scene,
  }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, rawMessage({ ...parts, header: [0, 0, 1] }), 1)).toBe("undecodable");
  });

  test("attack: more signatures than the message requires are undecodable", async ({ scene }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, rawMessage(parts), 2)).toBe("undecodable");
  });

  test("attack: fewer signatures than the message requires are undecodable", async ({ scene }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, rawMessage({ ...parts, header: [2, 0, 1] }), 1)).toBe("undecodable");
  });

  test("attack: a message that requires more signatures than it has accounts is undecodable", async ({
    scene,
  }) => {
    const { parts } = scene;
    expect(await judgeSigned(scene, rawMessage({ ...parts, header: [4, 0, 0] }), 4)).toBe("undecodable");
    expect(await judgeSigned(scene, rawMessage({ ...parts, header: [127, 0, 0] }), 1)).toBe("undecodable");
  });

  test("attack: a fee payer who is read-only is undecodable", async ({ scene }) => {
    expect(await judgeParts(scene, { header: [1, 1, 1] })).toBe("undecodable");
    expect(await judgeParts(scene, { header: [1, 2, 1] })).toBe("undecodable");
  });

  test("attack: more read-only accounts than accounts are undecodable", async ({ scene }) => {
    expect(await judgeParts(scene, { header: [1, 0, 2] })).toBe("accepted");
    expect(await judgeParts(scene, { header: [1, 0, 3] })).toBe("undecodable");
    expect(await judgeParts(scene, { header: [1, 0, 255] })).toBe("undecodable");
  });

  test("attack: a recipient marked read-only can be verified but not paid: the chain refuses it", async ({
    scene,
  }) => {
    const { parts } = scene;
    const message = rawMessage({ ...parts, header: [1, 0, 2] });
    const answer = await scene.ledger.verifyPayment(
      wire(message, [signatureOf(message, scene.alice)]),
      scene.sol,
    );
    if ("refused" in answer) throw new Error(answer.refused);
    const fault = await scene.ledger.simulatePayment(answer.verified, scene.sol);
    expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  });
});

describe("W2: accounts and indices", () => {
  test("attack: an account that is listed twice is undecodable", async ({ scene }) => {
    const { alice, bob } = scene;
    const system = SystemProgram.programId;
    const twice = [
      [keyOf(alice), keyOf(bob), keyOf(bob), system],
      [keyOf(alice), keyOf(alice), keyOf(bob), system],
      [keyOf(alice), keyOf(bob), system, system],
    ];
    for (const keys of twice) {
      const to = keys.findIndex((key) => key.equals(keyOf(bob)));
      const instructions = [{ program: 3, accounts: [0, to], data: scene.paySol().data }];
      expect(await judgeParts(scene, { keys, instructions })).toBe("undecodable");
    }
  });

  test("attack: the fee payer as program is undecodable", async ({ scene }) => {
    const { parts } = scene;
    const [honest = { program: 2, accounts: [], data: [] }] = parts.instructions;
    expect(await judgeParts(scene, { instructions: [honest, { program: 0, accounts: [], data: [] }] })).toBe(
      "undecodable",
    );
  });

  test("attack: a program index beyond the accounts is undecodable", async ({ scene }) => {
    for (const program of [3, 255]) {
      const instructions = [{ program, accounts: [0, 1], data: scene.paySol().data }];
      expect(await judgeParts(scene, { instructions })).toBe("undecodable");
      expect(await judgeParts(scene, { instructions, lookups: [] })).toBe("undecodable");
    }
  });

  test("attack: an account index beyond the accounts is undecodable", async ({ scene }) => {
    for (const beyond of [3, 4, 255]) {
      const instructions = [{ program: 2, accounts: [0, beyond], data: scene.paySol().data }];
      expect(await judgeParts(scene, { instructions })).toBe("undecodable");
      expect(await judgeParts(scene, { instructions, lookups: [] })).toBe("undecodable");
      // Also where no program would ever look at it.
      const hung = [{ program: 2, accounts: [0, 1, beyond], data: scene.paySol().data }];
      expect(await judgeParts(scene, { instructions: hung })).toBe("undecodable");
    }
  });

  test("attack: an account index beyond what the lookups bring is undecodable, before any table is read", async ({
    scene,
  }) => {
    const lookups = [{ table: keyOf(scene.mallory), writable: [7], readonly: [9] }];
    const at = (index: number): Promise<string> =>
      judgeParts(scene, {
        lookups,
        instructions: [{ program: 2, accounts: [0, index], data: scene.paySol().data }],
      });
    expect(await at(4)).toBe("unknown_lookup_table");
    expect(await at(5)).toBe("undecodable");
  });

  test("attack: a lookup that brings no account is undecodable", async ({ scene }) => {
    const lookups = [{ table: keyOf(scene.mallory), writable: [], readonly: [] }];
    expect(await judgeParts(scene, { lookups })).toBe("undecodable");
  });

  test("attack: a program out of a lookup table is undecodable", async ({ scene }) => {
    const { alice, bob } = scene;
    const table = await scene.table([SystemProgram.programId]);
    const message = rawMessage({
      header: [1, 0, 0],
      keys: [keyOf(alice), keyOf(bob)],
      blockhash: await scene.blockhash(),
      instructions: [{ program: 2, accounts: [0, 1], data: scene.paySol().data }],
      lookups: [{ table: table.key, writable: [], readonly: [0] }],
    });
    expect(await scene.judgeBytes(scene.sol, message)).toBe("undecodable");
  });

  test("attack: Bob's place taken by Mallory in the list of accounts, instructions untouched, is content_mismatch", async ({
    scene,
  }) => {
    const keys = [keyOf(scene.alice), keyOf(scene.mallory), SystemProgram.programId];
    expect(await judgeParts(scene, { keys })).toBe("content_mismatch");
  });

  test("attack: payer and recipient exchanged in the instruction is content_mismatch", async ({ scene }) => {
    const instructions = [{ program: 2, accounts: [1, 0], data: scene.paySol({ amount: AMOUNT }).data }];
    expect(await judgeParts(scene, { instructions })).toBe("content_mismatch");
  });
});
