/** The rules of this project that oxlint does not have. Plain JavaScript, because oxlint loads it itself on Node 20. */

const INJECT = "Time and chance are injected: take a Clock or a Random (src/core/runtime.ts).";

/** Readings of the outside world, as `object.property`. */
const AMBIENT_MEMBERS = new Set([
  "Date.now",
  "Math.random",
  "AbortSignal.timeout",
  "process.hrtime",
  "process.uptime",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "Keypair.generate",
]);

/** setImmediate and queueMicrotask only give up the turn; they tell no time and are left alone. */
const AMBIENT_FUNCTIONS = new Set(["Date", "setTimeout", "setInterval"]);

const AMBIENT_IMPORTS = {
  "node:crypto": /^(random|generateKey|webcrypto|getRandomValues)/,
  "node:timers": /^set(Timeout|Interval)/,
  "node:timers/promises": /./,
  "node:perf_hooks": /./,
};

/** Neither time nor chance is read directly; `new Date(ms)` and `Date.parse` only convert and are allowed. */
const noAmbient = {
  create: (context) => {
    const report = (node) => context.report({ node, message: INJECT });
    return {
      MemberExpression(node) {
        if (node.computed || node.object.type !== "Identifier") return;
        const name = `${node.object.name}.${node.property.name}`;
        if (AMBIENT_MEMBERS.has(name) || node.object.name === "performance") report(node);
      },
      NewExpression(node) {
        if (node.callee.name === "Date" && node.arguments.length === 0) report(node);
      },
      CallExpression(node) {
        if (AMBIENT_FUNCTIONS.has(node.callee.name)) report(node);
      },
      ImportDeclaration(node) {
        const forbidden = AMBIENT_IMPORTS[node.source.value];
        if (forbidden === undefined || node.importKind === "type") return;
        for (const specifier of node.specifiers) {
          if (forbidden.test(specifier.imported?.name ?? "random")) report(specifier);
        }
      },
    };
  },
};

/** What a module offers is listed name by name. */
const noExportAll = {
  create: (context) => ({
    ExportAllDeclaration(node) {
      context.report({ node, message: "List what is exported: `export *` hides the public surface." });
    },
  }),
};

/** Properties are written one by one: a literal spread into a literal says nothing but where lines should break. */
const noLiteralSpread = {
  create: (context) => ({
    ObjectExpression({ properties }) {
      for (const property of properties) {
        if (property.type !== "SpreadElement" || property.argument.type !== "ObjectExpression") continue;
        context.report({ node: property, message: "Write the properties without `...{ }` around them." });
      }
    },
  }),
};

const SILENCED = new Set(["only", "skip", "todo"]);
const EXPECTING = /\b(expect|assert|run)\w*\(/;

/** The function that a chain of calls and members starts at: `serviceTest` of `serviceTest.for(rows)("a title", …)`. */
function startOf(node) {
  const names = [];
  let at = node;
  while (at.type !== "Identifier") {
    if (at.type === "MemberExpression") names.push(at.property.name);
    at = at.type === "MemberExpression" ? at.object : at.callee;
    if (at === undefined) return { name: "", names };
  }
  return { name: at.name, names };
}

/** What vitest's own rules check of `test` alone: none is left out or runs alone, each expects something. */
const extendedTests = {
  create: (context) => ({
    CallExpression(node) {
      const { name, names } = startOf(node.callee);
      if (!/(^t|T)est$/.test(name)) return;
      if (names.some((each) => SILENCED.has(each))) {
        context.report({ node, message: "Every test runs, and none of them alone." });
      }
      const body = node.arguments.find(({ type }) => type === "ArrowFunctionExpression");
      const isTest =
        body !== undefined && !names.includes("extend") && node.arguments[0].type.endsWith("Literal");
      if (isTest && !EXPECTING.test(context.sourceCode.getText(body))) {
        context.report({ node, message: "A test that expects nothing cannot fail." });
      }
    },
  }),
};

export default {
  meta: { name: "paystate" },
  rules: {
    "extended-tests": extendedTests,
    "no-ambient": noAmbient,
    "no-export-all": noExportAll,
    "no-literal-spread": noLiteralSpread,
  },
};
