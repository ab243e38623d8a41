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
};

/** Contains every problem that was found. `cause` is the service's error if it rejected the file. */
export class ApplyError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(shown).join('\n'), options);
    this.name = 'ApplyError';
    this.problems = problems;
  }
}

export function problemOf(file: string, message: string, at: { line: number; column: number } | null = null): Problem {
  return { file, line: at?.line ?? null, column: at?.column ?? null, message, code: null, param: null };
}

function shown({ file, line, column, message }: Problem): string {
  return `${file}${line === null ? '' : `:${line}:${column}`} ${message}`;
}
