/** The ledger contract on what routing reads: what addresses hold, who signed, and whose money came. */
import assert from "node:assert/strict";
import { promise, type LedgerContractCase } from "./contract.ts";
import { AMOUNT, only, PLENTY } from "./payments.ts";
import { carryOut, coin, holds, makeFinal, mark, parties, planOf, signed, succeed } from "./plans.ts";

const A_MINUTE = 60_000;

/** Reads: of one block each, in the order asked, and nothing that could still vanish is called final. */
export const routingReadCases: readonly LedgerContractCase[] = [
  promise(
    "funds: what an address that was never used holds is nothing, and asking about nobody tells slot and time",
    async (world) => {
      const { ledger, token } = world;
      const { slot } = await ledger.position();
      const nobody = await ledger.funds([], [token.mint], "finalized");
      assert.deepEqual(nobody.funds, []);
      assert(nobody.slot >= slot && nobody.blockTime > 0);
      const { address } = await world.wallet({});
      const { funds, endpoint } = await ledger.funds([address], [token.mint, token.mint], "finalized");
      assert.deepEqual(funds, [{ lamports: 0n, tokens: [0n, 0n] }]);
      assert(world.endpoints.includes(endpoint));
    },
  ),
  promise("P26: funds: of more addresses than a call takes, each in its place", async (world) => {
    const [rich, poor] = [await world.wallet({ native: PLENTY, tokens: 9n }), await world.wallet({})];
    const asked = Array.from({ length: 130 }, (_, index) => (index % 7 === 0 ? rich : poor).address);
    const { funds } = await world.wait(world.ledger.funds(asked, [world.token.mint], "confirmed"));
    assert.deepEqual(
      funds,
      asked.map((address) =>
        address === rich.address ? { lamports: PLENTY, tokens: [9n] } : { lamports: 0n, tokens: [0n] },
      ),
    );
  }),
  promise(
    "E9, P3: readOrder: a deposit seen at processed is gone after a fork, and was never there at finalized",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const { address } = await world.wallet({});
      const look = { address, mints: [], owners: [], seeds: [] };
      const seen = async (commitment: "processed" | "confirmed" | "finalized"): Promise<bigint | undefined> =>
        (await world.ledger.readOrder(look, commitment)).told[0]?.order.lamports;
      await world.pass(1);
      const pay = planOf(everybody, coin(everybody.payer, address, AMOUNT));
      const { bytes } = await signed(world, pay, everybody.sponsor, everybody.payer);
      await world.ledger.broadcast(bytes);
      assert.deepEqual([await seen("processed"), await seen("finalized")], [AMOUNT, 0n]);
      await world.fork(1);
      await makeFinal(world);
      for (const commitment of ["processed", "confirmed", "finalized"] as const) {
        assert.equal(await seen(commitment), 0n, commitment);
      }
    },
  ),
  promise("funds: lamports that no transfer could move are not counted", async (world) => {
    const { funds } = await world.ledger.funds([world.token.mint], [], "confirmed");
    assert.deepEqual(funds, [{ lamports: 0n, tokens: [] }]);
  }),
  promise(
    "P26: amountsIn: what funds says of the same accounts, each in its place, and where an owner keeps a mint",
    async (world) => {
      const { ledger, token } = world;
      const [rich, poor] = [await world.wallet({ native: PLENTY, tokens: 9n }), await world.wallet({})];
      const asked = Array.from({ length: 130 }, (_, index) => {
        const { address } = index % 7 === 0 ? rich : poor;
        return index % 2 === 0
          ? { address, mint: null }
          : { address: ledger.tokenAccountOf(address, token.mint), mint: token.mint };
      });
      assert.deepEqual(
        await world.wait(ledger.amountsIn(asked, "finalized")),
        asked.map(({ mint }, index) => (index % 7 !== 0 ? 0n : mint === null ? PLENTY : 9n)),
      );
      assert.deepEqual(await ledger.amountsIn([], "finalized"), []);
    },
  ),
  promise("amountsIn: nothing where the account is not of the kind that is looked for", async (world) => {
    const { ledger, token, others } = world;
    const { address } = await world.wallet({ native: PLENTY, tokens: 9n });
    const account = ledger.tokenAccountOf(address, token.mint);
    const asked = [
      { address: account, mint: null },
      { address: account, mint: others.mint },
      { address, mint: token.mint },
      { address: token.mint, mint: null },
    ];
    assert.deepEqual(await ledger.amountsIn(asked, "confirmed"), [0n, 0n, 0n, 0n]);
    // Nor do lamports that somebody sends to where there is no account yet make tokens.
    const nobody = (await world.wallet({})).address;
    const everybody = await parties(world, { native: PLENTY });
    const place = ledger.tokenAccountOf(nobody, token.mint);
    await succeed(
      world,
      planOf(everybody, coin(everybody.payer, place, AMOUNT)),
      everybody.sponsor,
      everybody.payer,
    );
    assert.deepEqual(await ledger.amountsIn([{ address: place, mint: token.mint }], "finalized"), [0n]);
  }),
  promise("P11: amountsIn: a mint of the other token program, too", async (world) => {
    const { ledger, others } = world;
    const { address: owner } = await world.wallet({ others: 7n });
    const address = ledger.tokenAccountOf(owner, others.mint, "token-2022");
    assert.deepEqual(await ledger.amountsIn([{ address, mint: others.mint }], "finalized"), [7n]);
  }),
  promise("E9, P3: amountsIn: each commitment has its own answer", async (world) => {
    const everybody = await parties(world, { native: PLENTY });
    const { address } = await world.wallet({});
    const pay = planOf(everybody, coin(everybody.payer, address, AMOUNT));
    const { bytes } = await signed(world, pay, everybody.sponsor, everybody.payer);
    await world.ledger.broadcast(bytes);
    const seen = async (commitment: "processed" | "finalized"): Promise<bigint> =>
      only(await world.ledger.amountsIn([{ address, mint: null }], commitment));
    assert.deepEqual([await seen("processed"), await seen("finalized")], [AMOUNT, 0n]);
  }),
  promise("P13: holdingsOf: all token accounts of the owner, associated or not", async (world) => {
    const { ledger, token } = world;
    const { address } = await world.wallet({ native: PLENTY, tokens: 5n });
    await world.beside(address, 37n);
    const { lamports, tokens, endpoint } = await ledger.holdingsOf(address, [token.mint], "finalized");
    assert.deepEqual([lamports, tokens], [PLENTY, [42n]]);
    assert(world.endpoints.includes(endpoint));
    assert.deepEqual(await holds(world, address), [PLENTY, 5n]);
  }),
  promise("P11: holdingsOf: a mint of the other token program, too", async (world) => {
    const { address } = await world.wallet({ others: 7n });
    const { tokens } = await world.ledger.holdingsOf(address, [world.others.mint], "finalized");
    assert.deepEqual(tokens, [7n]);
  }),
  promise(
    "P13: holdingsOf: what holds something beside the associated account, the fullest first, the frozen left out",
    async (world) => {
      const { ledger, token } = world;
      const { address } = await world.wallet({ tokens: 7n });
      const none = await ledger.holdingsOf(address, [token.mint], "finalized");
      assert.deepEqual(none.accounts, []);
      const less = await world.beside(address, 10n);
      const frozen = await world.beside(address, 99n);
      const more = await world.beside(address, 20n);
      await world.beside(address, 0n);
      await world.freeze(frozen);
      const { accounts, slot } = await ledger.holdingsOf(address, [token.mint], "finalized");
      assert.deepEqual(accounts, [
        { address: more, mint: token.mint, amount: 20n },
        { address: less, mint: token.mint, amount: 10n },
      ]);
      assert(slot > none.slot);
    },
  ),
  promise(
    "P11, P13: holdingsOf: the associated account of the other token program is none",
    async (world) => {
      const { address } = await world.wallet({ others: 7n });
      const { accounts } = await world.ledger.holdingsOf(address, [world.others.mint], "confirmed");
      assert.deepEqual(accounts, []);
    },
  ),
  promise(
    "tokenAccountStates: for each owner in the order asked, whether there is one to be paid to",
    async (world) => {
      const { ledger, token } = world;
      const [has, hasNot] = [await world.wallet({ tokens: 1n }), await world.wallet({ native: PLENTY })];
      const asked = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? has : hasNot).address);
      assert.deepEqual(
        await world.wait(ledger.tokenAccountStates(asked.map((owner) => ({ owner, mint: token.mint })))),
        asked.map((address) => (address === has.address ? "usable" : "absent")),
      );
      assert.deepEqual(await ledger.tokenAccountStates([]), []);
    },
  ),
  promise(
    "E15: rentMinimum: more for more bytes, and what the chain asks for within a minute",
    async (world) => {
      const rent = (bytes: number): Promise<bigint> => world.wait(world.ledger.rentMinimum(bytes));
      const before = await rent(165);
      assert(before > (await rent(0)));
      await world.reprice();
      await world.pass(world.blocksToFinality);
      await world.elapse(A_MINUTE);
      assert((await rent(165)) > before);
    },
  ),
  promise(
    "E17: signedBy: only what the address itself signed, newest first, what failed with its error",
    async (world) => {
      const { ledger } = world;
      const everybody = await parties(world, { native: PLENTY });
      const { sponsor, payer } = everybody;
      const { address } = await world.wallet({ native: PLENTY });
      const pay = planOf(everybody, mark(everybody), coin(payer, address, AMOUNT));
      const paid = await succeed(world, pay, sponsor, payer);
      // Here it is named and does not sign.
      await succeed(world, planOf(everybody, coin(sponsor, payer.address, 1n)), sponsor);
      const again = await carryOut(world, pay, sponsor, payer);
      const { transactions, isWhole } = await ledger.signedBy(payer.address);
      assert.deepEqual(
        transactions.map(({ signature, error }) => [signature, error]),
        [
          [again.signed.signature, again.landed?.text],
          [paid.signature, null],
        ],
      );
      assert(isWhole);
      const [newer = 0, older = 0] = transactions.map(({ slot }) => slot);
      assert(newer > older);
      const nobody = (await world.wallet({})).address;
      assert.deepEqual(await ledger.signedBy(nobody), { transactions: [], isWhole: true });
    },
  ),
  promise("signedBy: what is not finalized yet is not listed, since it may vanish", async (world) => {
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor, payer } = everybody;
    const pay = planOf(everybody, mark(everybody), coin(payer, sponsor.address, AMOUNT));
    const { bytes, signature } = await signed(world, pay, sponsor, payer);
    await world.ledger.broadcast(bytes);
    await world.pass(world.blocksToFinality - 1);
    assert.deepEqual((await world.ledger.signedBy(payer.address)).transactions, []);
    await world.pass(1);
    assert.equal(only((await world.ledger.signedBy(payer.address)).transactions).signature, signature);
  }),
  promise(
    "heights: of every endpoint that answers; one that lags is told by the agreed height",
    async (world) => {
      const { ledger } = world;
      const before = await ledger.heights("finalized");
      assert(before.agreed === before.highest && before.highest <= world.height());
      await world.pass(7);
      const { highest } = await ledger.heights("finalized");
      assert.equal(highest, before.highest + 7);
      world.breakEndpoint(0, "lagging");
      const told = await world.wait(ledger.heights("finalized"));
      assert(told.agreed < told.highest && told.highest === highest);
    },
  ),
  promise(
    "E10: readOrder, heights: with one endpoint of two that says nothing nothing is known",
    async (world) => {
      const { ledger } = world;
      const { address } = await world.wallet({});
      const look = { address, mints: [], owners: [], seeds: ["0"] };
      for (const index of [0, 1] as const) {
        for (const problem of ["silent", "refusing", "losing_answers"] as const) {
          const mend = world.breakEndpoint(index, problem);
          const unknown = { name: "LedgerUnavailable" };
          await assert.rejects(world.wait(ledger.readOrder(look, "finalized")), unknown);
          await assert.rejects(world.wait(ledger.heights("finalized")), unknown);
          mend();
          await world.elapse(60_000);
        }
      }
      assert.deepEqual((await ledger.readOrder(look, "finalized")).markers, [null]);
    },
  ),
];
