const longest = 80;

/** The display name of a routine: its name, or the start of its `ask`. */
export function nameOfRoutine({ name, ask }: { name?: string | undefined; ask: string }): string {
  if (name !== undefined) return name;
  const [firstLine = ''] = ask.trimStart().split(/\r?\n/, 1);
  const start = [...firstLine].slice(0, longest).join('').trimEnd();
  return start || [...ask].slice(0, longest).join('');
}
