/** A world whose ledger asks two nodes that can be made to lie, of which both must agree. */
// modules: private
import { lyingNode, type LyingNode } from "./lying-nodes.ts";
import type { Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** A world with two nodes. */
export interface TwoNodes extends Scene {
  /** The first is the one that is asked first. */
  readonly nodes: readonly [LyingNode, LyingNode];
}

export const twoNodesTest = sceneTest.extend("world", async ({ open }): Promise<TwoNodes> => {
  const nodes: LyingNode[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    nodes.push(lyingNode(chain, "preferred"), lyingNode(chain, "other"));
    return ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  const [preferred, other] = nodes;
  if (preferred === undefined || other === undefined) throw new Error("a world is opened with its nodes");
  return { ...world, nodes: [preferred, other] };
});
