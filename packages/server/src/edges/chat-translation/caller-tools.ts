import { reservedToolNames } from '@vestra/contract/reserved-names';

/** Functions of the client's, as a message of ours takes them, and how the client calls them itself. */
export type CallerTools = {
  declared: {
    name: string;
    description: string;
    input_schema: Record<string, unknown>;
    run_without_asking: true;
    timeout_s: number;
  }[];
  /** From the name here to the client's. */
  names: Record<string, string>;
};

type Given = {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
};

/** As long as any function of a caller's may take: the client goes on when it is ready. */
const longestSeconds = 600;

const longestName = 60;

/** Names here are lowercase; those of a client are its own. */
export function callerTools(given: readonly Given[], choice: 'auto' | 'none' | null | undefined): CallerTools {
  const names: Record<string, string> = {};
  const lastNumbers = new Map<string, number>();
  const declared = (choice === 'none' ? [] : given).map(({ name, description, parameters }) => {
    const own = freeName(name, names, lastNumbers);
    names[own] = name;
    return {
      name: own,
      description: description || name,
      input_schema: { type: 'object', ...parameters },
      // Whoever declares it runs it: no yes of a person's comes before the client's own.
      run_without_asking: true as const,
      timeout_s: longestSeconds,
    };
  });
  return { declared, names };
}

/** Numbers names that are used twice, from 2 on. `lastNumbers` keeps the last of each, so that none is tried again. */
function freeName(name: string, taken: Record<string, string>, lastNumbers: Map<string, number>): string {
  const snake = name
    .slice(0, longestName)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_');
  const begun = (/^[a-z]/.test(snake) ? snake : `f_${snake}`).slice(0, longestName);
  let number = lastNumbers.get(begun) ?? 1;
  let free = number === 1 ? begun : `${begun}_${number}`;
  while (Object.hasOwn(taken, free) || reservedToolNames.has(free)) free = `${begun}_${++number}`;
  lastNumbers.set(begun, number);
  return free;
}
