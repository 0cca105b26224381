/** The order of the site: three doors, each with its pages, and the reader and the question of each page. */

/** A page in the sidebar. */
interface Item {
  readonly text: string;
  readonly link: string;
  readonly target?: string;
}

/** A door: a group of the sidebar, its first page first. */
interface Door {
  readonly text: string;
  readonly items: readonly Item[];
}

/** A page for users: its file, its reader, and the question that it answers. */
interface Page {
  readonly file: string;
  readonly reader: string;
  readonly question: string;
}

/** Pages for users by door, under the names of the sidebar. */
const FOR_USERS: Readonly<Record<string, Readonly<Record<string, Page>>>> = {
  "Durable charts": {
    "Make a chart durable": {
      file: "src/guide/durable-chart.md",
      reader: "knows XState",
      question: "How does my chart survive the process?",
    },
    "The engine": {
      file: "src/engine/README.md",
      reader: "has a durable chart",
      question: "What is the exact rule, and what goes wrong?",
    },
    "Examples and patterns": {
      file: "examples/README.md",
      reader: "wants to copy",
      question: "Which program is closest to mine?",
    },
    Storage: {
      file: "storage/README.md",
      reader: "chooses a database",
      question: "Where is it kept, and how do my own rows belong to it?",
    },
    "The command and the inspector": {
      file: "src/cli/README.md",
      reader: "sits before an instance that waits",
      question: "Which command shows or mends it?",
    },
  },
  Payments: {
    "Take a payment": {
      file: "src/guide/take-a-payment.md",
      reader: "has an Express app",
      question: "How does my order get paid, and when do I ship?",
    },
    "HTTP API": {
      file: "src/http/README.md",
      reader: "calls /v1",
      question: "What does the document not say: statuses, repetition, limits, refunds?",
    },
    Errors: { file: "src/guide/errors.md", reader: "got an error", question: "What do I do about it?" },
    "Client and webhooks": {
      file: "src/client/README.md",
      reader: "writes the program that pays or hears",
      question: "How do I pay once, and believe a notice?",
    },
    "Private mode, swaps": {
      file: "src/payments/private/README.md",
      reader: "takes deposits for others",
      question: "What do I promise, hold and pay?",
    },
    "Limits, speed, cost, time": {
      file: "src/guide/limits.md",
      reader: "plans",
      question: "How much, how fast, how dear, how long?",
    },
  },
  Operate: {
    Deploy: {
      file: "examples/deploy/README.md",
      reader: "puts it on a server",
      question: "What must I see before real money moves?",
    },
    "Service and options": {
      file: "src/service/README.md",
      reader: "embeds the service",
      question: "Which option, and what does health say?",
    },
    Operate: {
      file: "src/payments/operator/README.md",
      reader: "is called at night",
      question: "What has failed, and what do I do?",
    },
    "Back up, upgrade, delete": {
      file: "src/guide/data.md",
      reader: "keeps the database",
      question: "What runs again after a restore?",
    },
    "Solana ledger": {
      file: "src/solana/README.md",
      reader: "chooses endpoints",
      question: "When is a node believed?",
    },
  },
  More: {
    "Questions, guarantees, words": {
      file: "src/guide/questions.md",
      reader: "has one question",
      question: "Where does the answer stand?",
    },
  },
};

/** Pages at the end of the sidebar: the records of the package, and pages for contributors. */
const RECORDS: Readonly<Record<string, string>> = {
  Changelog: "CHANGELOG.md",
  Security: "SECURITY.md",
  Architecture: "ARCHITECTURE.md",
  Contributing: "CONTRIBUTING.md",
};

const linkOf = (file: string): string => `/${file.replace(/README\.md$/, "").replace(/\.md$/, "")}`;

export const DOORS: readonly Door[] = [
  ...Object.entries(FOR_USERS).map(([text, pages]) => ({
    text,
    items: Object.entries(pages).map(([name, { file }]) => ({ text: name, link: linkOf(file) })),
  })),
  {
    text: "The project",
    items: [
      ...Object.entries(RECORDS).map(([text, file]) => ({ text, link: linkOf(file) })),
      // The site of typedoc, which is no page of this one.
      { text: "Names", link: "/names/index.html", target: "_self" },
    ],
  },
];

/** Pages of users, with the reader and the question of each. */
export const INDEX: readonly Page[] = Object.values(FOR_USERS).flatMap((pages) => Object.values(pages));

/** The pages that users read. */
export const PAGES_FOR_USERS: readonly string[] = ["README.md", ...INDEX.map(({ file }) => file)];

/** The pages that the sidebar leads to, and the first page. */
export const PAGES_OF_SITE: readonly string[] = [...PAGES_FOR_USERS, ...Object.values(RECORDS)];
