import { text } from 'node:stream/consumers';
import { createClient } from '@vestra/sdk/client';
import { misuse, refuse } from '../fault.ts';
import type { LocalInvocation } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { showTable } from '../output/show-table.ts';
import { plain } from '../output/show-value.ts';
import { readProfiles, writeProfiles } from '../profiles.ts';
import { address, localUrl, readSettings } from '../settings.ts';

/** Saves a server and a key under a name after the server has accepted the key. */
export async function login({ terminal, isJson, globals }: LocalInvocation): Promise<void> {
  const name = globals.profile ?? 'default';
  const known = (await readProfiles(terminal.env)).profiles[name];
  const url = address(globals.url ?? (await askUrl()));
  const key = await readKey();
  const { org, mode, key: found } = await createClient({ baseUrl: url, key, retries: 1 }).me.get({}, terminal);

  const kept = await readProfiles(terminal.env);
  const path = await writeProfiles(terminal.env, {
    current: name,
    profiles: { ...kept.profiles, [name]: { url, key } },
  });
  if (isJson) return printJson(terminal, { profile: name, url, mode, org });
  const shown = found ? ` with the ${mode} key …${plain(found.last4)}` : '';
  terminal.out(
    `${terminal.paint('green', '✔')} ${plain(org.name)}${shown} at ${url}, saved as "${name}" in ${path}.\n`,
  );
  const { source } = await readSettings(terminal, {});
  if (source !== '`vestra login`')
    terminal.err(`Commands here still use ${source}: --profile ${name} selects this one.\n`);

  async function askUrl(): Promise<string> {
    if (!terminal.isInteractive) throw misuse('Missing: --url.', '--url');
    const { askText } = await import('../prompts.ts');
    return askText('Where is the server?', { initial: known?.url ?? localUrl });
  }

  /** `--key -` reads the key from standard input, which keeps it out of the shell history. */
  async function readKey(): Promise<string> {
    if (globals.key === '-') return (await text(terminal.stdin)).trim();
    if (globals.key) return globals.key;
    if (!terminal.isInteractive) throw misuse('Missing: --key (`--key -` reads it from standard input).', '--key');
    const { askHidden } = await import('../prompts.ts');
    return (await askHidden('The API key')).trim();
  }
}

export async function logout({ terminal, isJson, globals }: LocalInvocation): Promise<void> {
  const kept = await readProfiles(terminal.env);
  const name = globals.profile ?? kept.current;
  const { [name]: gone, ...profiles } = kept.profiles;
  if (!gone) throw refuse(`No profile is named "${name}".`);
  const current = kept.current === name ? (Object.keys(profiles)[0] ?? 'default') : kept.current;
  await writeProfiles(terminal.env, { current, profiles });
  if (isJson) return printJson(terminal, { profile: name, deleted: true });
  terminal.out(`Removed "${name}". The key itself stays valid: revoke it with \`vestra keys revoke\`.\n`);
}

/** Lists the profiles, or makes the named one current. */
export async function profiles({ terminal, isJson, words }: LocalInvocation): Promise<void> {
  const kept = await readProfiles(terminal.env);
  const [chosen] = words;
  if (chosen !== undefined) {
    if (!kept.profiles[chosen]) throw refuse(`No profile is named "${chosen}".`);
    await writeProfiles(terminal.env, { ...kept, current: chosen });
  }
  const current = chosen ?? kept.current;
  const data = Object.entries(kept.profiles).map(([name, { url, key }]) => ({
    name,
    current: name === current,
    url,
    mode: key.startsWith('vk_live_') ? 'live' : 'test',
    last4: key.slice(-4),
  }));
  if (isJson) return printJson(terminal, { data });
  if (data.length === 0) terminal.err('There are no profiles: create one with `vestra login`.\n');
  else terminal.out(showTable(terminal, data));
}
