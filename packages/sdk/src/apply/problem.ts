/** One fault of a folder, and its location. */
export type Problem = {
  /** Relative to the folder. */
  file: string;
  line: number | null;
  column: number | null;
  message: string;
  /** The service's code, if the service found it. */
  code: string | null;
  /** The service's name for the location, if it has one. */
  param: string | null;
  /** The line of the file with a mark at the location, for a file that is not YAML. */
  excerpt?: string;
};

/** Contains every problem that was found. `cause` is the service's error if it rejected the file. */
export class ApplyError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    const sorted = inLineOrder(problems);
    super(sorted.map(shown).join('\n'), options);
    this.name = 'ApplyError';
    this.problems = sorted;
  }
}

export function problemOf(file: string, message: string, at: { line: number; column: number } | null = null): Problem {
  return { file, line: at?.line ?? null, column: at?.column ?? null, message, code: null, param: null };
}

/** A local file has no fields: the service's name for a part of the upload would mislead. */
function shown({ file, line, column, param, message, excerpt }: Problem): string {
  if (line === null) return `${file}: ${message}`;
  const sentence = `${file}:${line}:${column} ${param ? `${param}: ` : ''}${message}`;
  return excerpt === undefined ? sentence : `${sentence}\n${excerpt}`;
}

/** By file, in the order of the lines. Problems of whole files come last. */
const inLineOrder = (problems: readonly Problem[]): Problem[] => {
  const files = problems.map(({ file }) => file);
  return [...problems].sort(
    (one, other) =>
      Number(one.line === null) - Number(other.line === null) ||
      (one.line === null ? compare(one.file, other.file) : files.indexOf(one.file) - files.indexOf(other.file)) ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  );
};

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
