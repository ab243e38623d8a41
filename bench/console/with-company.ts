import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Company, openCompany } from './company.ts';

/** Runs `work` against a company in a temporary folder. */
export async function withCompany(work: (company: Company) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-console-'));
  // PostgreSQL runs as another user where this runs as root.
  await chmod(folder, 0o711);
  try {
    const company = await openCompany(folder);
    await work(company).finally(company.stop);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
