/** Optional parts of a deployment file, as commented examples. */
const examples: readonly [key: string, lines: string][] = [
  [
    'tools',
    `tools:
  - function: find_order            # answered by your own code
    description: Finds an order by its number.
    input: { number: string }
    read_only: true
  - function: refund_order          # waits for a yes
    description: Refunds money for an order to the card it was paid with.
    input: { number: string, amount_usd: number }
    approver: org                   # the company says yes; left out: the user does
  - mcp: https://orders.example.com/mcp`,
  ],
  ['knowledge', 'knowledge:\n  - ./knowledge                     # files that the agent looks things up in'],
  ['approvals', 'approvals: [payment, booking, cancellation]  # which of these waits are marked as such'],
];

/** Adds a commented example of each missing part to the file. */
export function withExamples(yaml: string): string {
  const missing = examples.filter(([key]) => !new RegExp(`^${key}:`, 'm').test(yaml));
  if (missing.length === 0) return yaml;
  const shown = missing.map(([, lines]) => lines.replace(/^/gm, '# ')).join('\n');
  return `${yaml.trimEnd()}\n\n# What else an agent may have (docs/deployment-file.md):\n${shown}\n`;
}
