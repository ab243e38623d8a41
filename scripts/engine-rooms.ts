const engine = 'packages/server/src/domains/engine/';

/** The rooms of the engine, from the ground up. What lies beside them, such as `api.ts`, stands on them all. */
const rooms = ['records', 'turns', 'tools', 'questions', 'runs'];

/** Routes to what the engine keeps: they show and change its rows. Everyone else asks these, or `api.ts`. */
const doors = ['conversations', 'tasks', 'interactions'];
const roomsOfDoors = ['records', 'turns'];

/** What the rest of the house may know of the engine: a door that is wider is a wall that is missing. */
const mostNames = 30;

/** Whether this domain may import this file of the engine other than its `api.ts`. */
export function isDoorTo(domain: string | null, to: string): boolean {
  return domain !== null && doors.includes(domain) && to.startsWith(engine) && roomsOfDoors.includes(roomOf(to) ?? '');
}

export function faultsOfApi(file: string, text: string): string[] {
  if (file !== `${engine}api.ts`) return [];
  const named = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)];
  const names = named.flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
  return [
    ...(names.length > mostNames ? [`${file} gives ${names.length} names away: ${mostNames} are the most`] : []),
    ...named.filter(([, , from]) => from?.endsWith('/tables.ts')).map(() => `${file} may not give a table away`),
    ...(/export \*/.test(text) ? [`${file} names what it gives away one by one`] : []),
  ];
}

/** Each room imports only itself and those before it. Null: the import is right, or none between files of the engine. */
export function faultOfEngineImport(from: string, to: string): string | null {
  if (!from.startsWith(engine) || !to.startsWith(engine)) return null;
  const [importing, imported] = [roomOf(from), roomOf(to)];
  for (const room of [importing, imported]) {
    if (room !== null && !rooms.includes(room)) return `engine/${room} is no room of the engine: ${rooms.join(', ')}`;
  }
  if (floorOf(imported) <= floorOf(importing)) return null;
  return `engine/${importing} may not import ${to.slice(engine.length)}: its rooms are ${rooms.join(' < ')}`;
}

/** Null for a file beside the rooms. */
function roomOf(file: string): string | null {
  const [room = '', ...inside] = file.slice(engine.length).split('/');
  return inside.length === 0 ? null : room;
}

const floorOf = (room: string | null) => (room === null ? rooms.length : rooms.indexOf(room));
