import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { otherRooms, packageRooms, type Room, serverRooms } from './rooms.ts';
import { graphOf, readSources, subRoomOf } from './sources.ts';

const root = join(import.meta.dirname, '..');

/** What git ignores. */
const made = new Set(['node_modules', 'dist', 'coverage']);

/** The rooms section of CONTRIBUTING.md. Throws where a folder has no row, or a row no folder. */
export function mapOfRooms(): string {
  assertSame('packages', foldersOf('packages'), Object.keys(packageRooms));
  const ofServer = Object.keys(serverRooms).filter((name) => !name.endsWith('.ts'));
  assertSame('packages/server/src', foldersOf('packages/server/src'), ofServer);
  assertSame(
    'the root',
    foldersOf('.').filter((name) => name !== 'packages'),
    Object.keys(otherRooms),
  );
  return `${[
    table('package', packageRooms, (name) => `packages/${name}`),
    'In `packages/server/src`, where everybody may import `caller.ts`, `async/` and `db/start-failure.ts`:',
    table('room', serverRooms, (name) => (name.endsWith('.ts') ? name : `${name}/`)),
    `Domains: ${domains().join(', ')}.`,
    Object.entries(otherRooms)
      .map(([name, holds]) => `- \`${name}/\`: ${holds}`)
      .join('\n'),
  ].join('\n\n')}\n`;
}

const foldersOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('.') && !made.has(name))
    .sort();

function assertSame(where: string, folders: readonly string[], rows: readonly string[]): void {
  const [unnamed, gone] = [
    folders.filter((name) => !rows.includes(name)),
    rows.filter((name) => !folders.includes(name)),
  ];
  if (unnamed.length + gone.length === 0) return;
  throw new Error(
    `scripts/rooms.ts does not say what is in ${where}: without a row ${unnamed.join(', ') || 'none'}, without a folder ${gone.join(', ') || 'none'}.`,
  );
}

function table(title: string, rooms: Record<string, Room>, pathOf: (name: string) => string): string {
  const rows = Object.entries(rooms).map(
    ([name, { holds, imports }]) =>
      `| \`${pathOf(name)}\` | ${holds} | ${imports.map((each) => `\`${each}\``).join(', ') || '–'} |`,
  );
  return [`| ${title} | what is in it | may import |`, '|---|---|---|', ...rows].join('\n');
}

/** Each with its own rooms, those that are imported first. */
function domains(): string[] {
  const graph = graphOf(readSources(), subRoomOf);
  const inOrder: string[] = [];
  const add = (room: string) => {
    if (inOrder.includes(room)) return;
    for (const below of graph.get(room) ?? []) if (below.split('/')[0] === room.split('/')[0]) add(below);
    inOrder.push(room);
  };
  for (const room of [...graph.keys()].sort()) add(room);
  return foldersOf('packages/server/src/domains').map((domain) => {
    const own = inOrder.filter((room) => room.startsWith(`${domain}/`)).map((room) => room.slice(domain.length + 1));
    return own.length === 0 ? domain : `${domain} (${own.join(' < ')})`;
  });
}
