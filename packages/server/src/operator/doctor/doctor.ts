import { modelsInUse } from '../../agents/deployments/index.ts';
import { type Config, readConfig } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { dataFolderFindings } from './data-folder.ts';
import { databaseFindings } from './database.ts';
import { fileFindings } from './files.ts';
import { bad, type Finding } from './finding.ts';
import { retiringFindings, vendorFindings } from './models.ts';
import { moneyFindings } from './money.ts';
import { nodeFinding, programFindings } from './programs.ts';
import { serverFindings } from './server.ts';
import { settingFindings, unknownSettings } from './settings.ts';

/** Looks at everything that a server here needs, whether or not one runs, and changes nothing. */
export async function examine(env: Record<string, string | undefined>): Promise<Finding[]> {
  const config = readSettings(env);
  if ('status' in config) return [nodeFinding(), config, ...unknownSettings(env)];
  const lookInside = async (db: Database) => {
    const used = await modelsInUse(db);
    return [...retiringFindings(config, used), ...(await moneyFindings(db, used))];
  };
  const parts = await Promise.all([
    programFindings(config),
    dataFolderFindings(config),
    fileFindings(config),
    databaseFindings(config, lookInside),
    vendorFindings(config),
    serverFindings(config),
  ]);
  return [nodeFinding(), ...settingFindings(env, config), ...parts.flat()];
}

function readSettings(env: Record<string, string | undefined>): Config | Finding {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return bad('settings', error.message, 'The server does not start before this is mended.');
  }
}

const signs = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

export function showFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.flatMap(({ status, about, what, remedy }) => [
    `${signs[status]}  ${about.padEnd(width)}  ${what}`,
    ...(remedy === null ? [] : [`${' '.repeat(width + 8)}→ ${remedy}`]),
  ]);
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length;
  return [...lines, '', `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} to mend.`].join('\n');
}
