/** Who may import whom. Every rule counts type imports too: a type is knowledge. */

/** Packages of the repository that stand in for others. */
const STAND_INS = "test/drivers/";
const TESTS = `^(?!${STAND_INS})(test|examples)/`;
const ADAPTERS = "^storage/(memory|sqlite|postgres)\\.ts$|^storage/(memory|sqlite|postgres|sql)/";
const PORTS = "^storage/(storage|table)\\.ts$";
/** Entries of the package that name types of several rooms. */
const ENTRIES = "^src/(index|ledger|operator|inspector)\\.ts$";
const npm = (...names) => `(^|/)(node_modules/(@types/)?|${STAND_INS})(${names.join("|")})/`;

/** A rule of the form: what lies in `from` may import these paths, Node's own modules, and nothing else. */
const only = (name, comment, from, ...allowed) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { pathNot: allowed, dependencyTypesNot: ["core"] },
});

/** A rule of the form: what lies in `from` must not import these paths. */
const never = (name, comment, from, ...forbidden) => ({
  name,
  comment,
  severity: "error",
  from: typeof from === "string" ? { path: from } : from,
  to: { path: forbidden },
});

export default {
  forbidden: [
    only(
      "machines-decide",
      "Charts are pure: xstate and themselves.",
      "^machines/",
      "^machines/",
      npm("xstate"),
    ),
    {
      name: "machines-do-no-io",
      comment: "A chart decides; it does not even ask Node.",
      severity: "error",
      from: { path: "^machines/" },
      to: { dependencyTypes: ["core"] },
    },
    only(
      "storage-remembers",
      "Storage knows its drivers, how to try again, and itself, nothing of src and machines.",
      "^storage/",
      "^storage/",
      npm("kysely", "better-sqlite3", "pg", "p-retry"),
    ),
    never(
      "ports-are-plain",
      "The ports depend on nothing, so that anybody can implement them.",
      PORTS,
      ADAPTERS,
      "node_modules/",
    ),
    only(
      "workflows-plan",
      "What a step changes is computed from a snapshot and an event.",
      "^src/workflow/",
      "^src/workflow/",
      "^src/core/(runtime|thrown)\\.ts$",
      "^storage/(storage|table|compiled-queries)\\.ts$",
      npm("xstate", "devalue"),
    ),
    {
      name: "workflows-store-nothing",
      comment: "They name the rows of a commit; only the engine calls a storage.",
      severity: "error",
      from: { path: "^src/workflow/" },
      to: { path: "^storage/(?!table\\.ts$)", dependencyTypesNot: ["type-only"] },
    },
    only(
      "engine-knows-no-payments",
      "The engine runs any machine over any storage.",
      "^src/engine/",
      "^src/(engine|workflow)/",
      "^src/core/(runtime|clock-trust|options|duration|redacting-log|diagnostics|thrown)\\.ts$",
      "^storage/(storage|table|compiled-queries|decided|storage-unusable|task-queues)\\.ts$",
      npm("xstate", "p-retry", "zod", "croner"),
    ),
    never(
      "kernel-knows-no-rest-of-the-engine",
      "The kernel can be held in one head: neither a module nor what puts an engine together is in it.",
      "^src/engine/kernel/",
      "^src/engine/(?!kernel/)",
    ),
    never(
      "engine-knows-no-module",
      "A module can be taken away: its list names it, and the entry whose types it brings.",
      { path: "^src/engine/", pathNot: "^src/engine/(modules/|(modules|index)\\.ts$)" },
      "^src/engine/modules/",
    ),
    never(
      "core-knows-no-list-of-modules",
      "Only what puts an engine together for a host takes all modules.",
      { path: "^src/engine/", pathNot: "^src/engine/(create-engine|index)\\.ts$" },
      "^src/engine/(modules|create-engine)\\.ts$",
    ),
    {
      name: "modules-stand-alone",
      comment: "Modules of one frame never import each other.",
      severity: "error",
      from: { path: "^src/engine/modules/([^/]+)/" },
      to: { path: "^src/engine/modules/", pathNot: "^src/engine/modules/$1/" },
    },
    {
      name: "charts-stand-behind-a-port",
      comment: "Only one folder runs XState, beside the engine's own chart; the others may name its types.",
      severity: "error",
      from: {
        path: "^src/(engine|workflow)/",
        pathNot: "^src/(workflow/xstate/|engine/modules/jobs/each-chart\\.ts$)",
      },
      to: { path: "node_modules/xstate/", dependencyTypesNot: ["type-only"] },
    },
    never(
      "payments-use-ports",
      "Use cases know the ports and not who stands behind or before them.",
      "^src/payments/",
      "^src/(service|http|inspector|cli|local|solana)/",
      ENTRIES,
      ADAPTERS,
    ),
    never(
      "frame-knows-no-module",
      "A way to pay can be taken away: what all of them share names none of them.",
      "^src/payments/frame/",
      "^src/payments/(?!frame/)",
    ),
    {
      name: "ways-stand-alone",
      comment: "Ways to pay use each other by the frame's ports; the service puts them together.",
      severity: "error",
      from: { path: "^src/payments/(wallet|swap|private)/" },
      to: {
        path: "^src/payments/(wallet|swap|private|webhooks|operator)/",
        pathNot: "^src/payments/$1/",
      },
    },
    never(
      "operator-knows-no-way",
      "A way to pay brings acts, matters, recovery and its part of reconciling; the service gives them to the operator.",
      "^src/payments/operator/",
      "^src/payments/(wallet|swap|private)/",
    ),
    only(
      "sending-knows-no-payments",
      "One attempt to send a webhook is bytes, addresses and a deadline.",
      "^src/payments/webhooks/sending/",
      "^src/payments/webhooks/sending/",
      "^src/core/(runtime|options|diagnostics|networks|parse-url)\\.ts$",
      "^src/payments/frame/notices/secret-key\\.ts$",
      npm("undici", "ipaddr\\.js"),
    ),
    never(
      "sides-stay-apart",
      "The ledgers are replaceable: they know no use case, no engine and no skin.",
      "^src/(ledger|solana|local)/",
      "^src/(service|payments|http|engine|inspector|cli)/",
      ENTRIES,
    ),
    never(
      "ledger-is-a-port",
      "It is told in words without a chain's types.",
      "^src/ledger/",
      "^src/(solana|local)/",
    ),
    {
      name: "one-door-to-evidence",
      comment:
        "What several nodes agree on is counted in one file; the package hands the mark to ledgers of others.",
      severity: "error",
      from: { path: "^(src|storage|machines)/", pathNot: "^src/(solana/agree|ledger)\\.ts$" },
      to: { path: "^src/ledger/agreed\\.ts$" },
    },
    {
      name: "one-door-to-hints",
      comment: "Only who asks a node may say that one node said it.",
      severity: "error",
      from: {
        path: "^(src|storage|machines)/",
        pathNot: "^src/(solana/(ask|endpoint-statuses)|ledger)\\.ts$",
      },
      to: { path: "^src/ledger/heard\\.ts$" },
    },
    never("solana-knows-no-local-chain", "A ledger speaks to any node.", "^src/solana/", "^src/local/"),
    never(
      "local-is-a-node",
      "It speaks JSON-RPC and knows no ledger; ids of programs, lengths of accounts, the price of computing and the bytes of version 1 are the same for both.",
      "^src/local/",
      "^src/ledger/",
      "^src/solana/(?!(programs|compute-budget|message-v1)\\.ts$)",
    ),
    only(
      "receivers-need-nothing",
      "What a receiver imports is small, runs anywhere, and knows only what a notice looks like and how it is signed.",
      "^src/client/webhook/",
      "^src/client/webhook/",
      "^src/payments/frame/notices/(notice-body|secret-key)\\.ts$",
    ),
    only(
      "clients-need-the-contract",
      "A client is small: it takes types from the endpoints and the errors, and code from itself.",
      "^src/client/(?!webhook/)",
      "^src/client/(?!webhook/)",
      "^src/(core/(runtime|immutable)|errors/errors)\\.ts$",
      "^src/http/(contract|endpoints)/",
      npm("p-retry", "zod"),
    ),
    {
      name: "clients-take-types-alone",
      comment: "The schemas and their library stay out of the client's bundle.",
      severity: "error",
      from: { path: "^src/client/" },
      to: { path: ["^src/(http/|errors/errors\\.ts$)", npm("zod")], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "clients-run-anywhere",
      comment: "Browsers and workers have nothing of Node.",
      severity: "error",
      from: { path: "^src/(client/|core/runtime\\.ts$)" },
      to: { dependencyTypes: ["core"] },
    },
    never(
      "http-is-outermost",
      "What the handler can do, the service can do without it: nothing below knows the skins.",
      { path: "^src/", pathNot: `^src/(http|inspector|cli|client)/|${ENTRIES}` },
      "^src/(http|inspector|cli)/",
    ),
    never(
      "skins-use-the-service",
      "A skin speaks to the service, not to what is behind it.",
      "^src/(http|inspector)/",
      "^src/(solana|local|cli|payments/webhooks/sending)/",
    ),
    only(
      "telemetry-listens",
      "An adapter hears the channels and asks for health; it changes nothing.",
      "^src/telemetry/",
      "^src/telemetry/",
      "^src/core/(runtime|diagnostics)\\.ts$",
      "^src/service/(read-health|health-cache)\\.ts$",
      npm("prom-client", "@opentelemetry/api"),
    ),
    never(
      "nothing-needs-telemetry",
      "Who does not measure loads nothing of it.",
      { path: "^(src|storage|machines)/", pathNot: "^src/telemetry/" },
      "^src/telemetry/",
    ),
    never(
      "cli-is-last",
      "Nothing imports the command.",
      { path: "^(src|storage|machines)/", pathNot: "^src/cli/" },
      "^src/cli/",
    ),
    never(
      "src-knows-no-adapter",
      "A storage is handed in. Only the command chooses one.",
      { path: "^src/", pathNot: "^src/cli/" },
      ADAPTERS,
      npm("kysely", "better-sqlite3", "pg"),
    ),
    never(
      "solana-libraries-stay-home",
      "The chain's types appear only where the chain is spoken to.",
      { path: "^(src|storage|machines)/", pathNot: "^src/(solana|local)/" },
      npm("@solana/.+"),
    ),
    never(
      "litesvm-stays-home",
      "The local chain is optional.",
      { pathNot: "^(src|test)/local/" },
      npm("litesvm[^/]*"),
    ),
    {
      name: "examples-use-public-entries",
      comment: "An example shows what a stranger can write: imports by the package's name.",
      severity: "error",
      from: { path: "^examples/" },
      to: { path: "^(src|storage|machines|test)/", dependencyTypesNot: ["aliased"] },
    },
    never(
      "product-needs-no-tests",
      "What is published does not import its tests.",
      "^(src|storage|machines)/",
      TESTS,
    ),
    {
      name: "published-code-needs-what-it-declares",
      comment: "A devDependency is absent at the consumer's, except what the build bundles.",
      severity: "error",
      from: { path: "^(src/|storage/|machines/|test/(contracts/|kit/index\\.ts$))" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["npm", "npm-peer", "npm-optional", "type-only"],
        pathNot: npm("@solana/spl-token", "@noble/curves", "kysely"),
      },
    },
    {
      name: "resolvable",
      comment: "What is imported exists. The site has packages of its own, which few install.",
      severity: "error",
      from: { pathNot: "^test/site/" },
      to: { couldNotResolve: true },
    },
    {
      name: "no-cycle",
      comment: "Two files that need each other are one file, or three.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-folder-circle",
      comment: "Two folders that need each other are one room with a wall in the wrong place.",
      severity: "error",
      scope: "folder",
      from: { path: "^(src|storage|machines)/" },
      to: { circular: true },
    },
    {
      name: "no-orphan",
      comment: "What nobody imports and nothing runs is dead.",
      severity: "error",
      from: {
        orphan: true,
        pathNot: [
          "\\.d\\.ts$",
          "\\.config\\.ts$",
          "^test/lint/",
          "^test/foreign/typedoc\\.js$",
          "^src/solana/bigint-buffer/",
        ],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Programs that run where what they import is made, installed or served: clients that a test generates, peers of a
    // bench, scripts of a page.
    exclude: {
      path: "^(test/(foreign/(node_modules|generated-clients/tours)|bench/peers|site)|examples/(node_modules|shop/page)|src/http/docs/renderer)/",
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
