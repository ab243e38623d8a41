// Answers the agent's calls: `npx vestra functions serve functions.js`. Write the rows to your database instead.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';

const file = join(import.meta.dirname, 'invoices.csv');
const saved = new Set();
const cell = (value) => `"${String(value).replaceAll('"', '""')}"`;

export async function save_invoice({ number, supplier, date, total, currency }, { call_id }) {
  // The same call may come twice after a crash. Its id is the key under which it is saved once.
  if (!saved.has(call_id)) await appendFile(file, `${[number, supplier, date, total, currency].map(cell).join(',')}\n`);
  saved.add(call_id);
  return { saved: number };
}
