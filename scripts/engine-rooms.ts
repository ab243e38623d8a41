const engine = 'packages/server/src/domains/engine/';

/** The rooms of the engine, from the ground up. What lies beside them, such as `api.ts`, stands on them all. */
const rooms = ['records', 'turns', 'tools', 'questions', 'runs'];

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
