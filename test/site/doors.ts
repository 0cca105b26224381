/** The order of the site: three doors, each with its pages. */

/** A page in the sidebar. */
interface Item {
  readonly text: string;
  readonly link: string;
}

/** A door: a group of the sidebar, its first page first. */
interface Door {
  readonly text: string;
  readonly items: readonly Item[];
}

/** Pages by door, as files of the repository. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Durable charts": {
    "Make a chart durable": "src/guide/durable-chart.md",
    "The engine": "src/engine/README.md",
    Patterns: "examples/patterns/README.md",
    Cancel: "src/guide/cancel.md",
    "Storage, your own tables": "storage/README.md",
    Inspector: "src/inspector/README.md",
  },
  Payments: {
    "Take a payment": "src/guide/take-a-payment.md",
    "A shop in an hour": "examples/shop/README.md",
    "HTTP API": "src/http/README.md",
    Errors: "src/guide/errors.md",
    Client: "src/client/README.md",
    Webhooks: "src/payments/webhooks/README.md",
    "Wallet mode": "src/payments/wallet/README.md",
    "Private mode, swaps": "src/payments/private/README.md",
    "Cost and time": "src/guide/cost-and-time.md",
  },
  Operate: {
    "From desk to mainnet": "src/service/mainnet.md",
    "Service and options": "src/service/README.md",
    Deploy: "examples/deploy/README.md",
    Operate: "src/payments/operator/README.md",
    Failures: "src/service/failures.md",
    "Back up, upgrade, delete": "src/guide/data.md",
    "Limits and throughput": "src/guide/limits.md",
    Metrics: "src/telemetry/README.md",
    Runtimes: "src/service/runtimes.md",
    "The command": "src/cli/README.md",
    "Solana ledger": "src/solana/README.md",
  },
  More: {
    Questions: "src/guide/questions.md",
    Guarantees: "src/guide/guarantees.md",
    Glossary: "src/guide/glossary.md",
    Dependencies: "src/guide/dependencies.md",
    Examples: "examples/README.md",
    Architecture: "ARCHITECTURE.md",
    Contributing: "CONTRIBUTING.md",
    Changelog: "CHANGELOG.md",
    Security: "SECURITY.md",
  },
};

const linkOf = (file: string): string => `/${file.replace(/README\.md$/, "").replace(/\.md$/, "")}`;

export const DOORS: readonly Door[] = Object.entries(FILES).map(([text, pages]) => ({
  text,
  items: Object.entries(pages).map(([name, file]) => ({ text: name, link: linkOf(file) })),
}));

/** The pages that the sidebar leads to, and the first page. */
export const PAGES_OF_SITE: readonly string[] = [
  "README.md",
  ...Object.values(FILES).flatMap((pages) => Object.values(pages)),
];

/** The pages that users read: those of contributors, and the record of changes, are left out. */
export const PAGES_FOR_USERS: readonly string[] = PAGES_OF_SITE.filter(
  (page) => !["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].includes(page),
);
