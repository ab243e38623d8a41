const longest = 80;

/** What a routine is called: its name, or where it has none the start of what it asks. */
export function nameOfRoutine({ name, ask }: { name?: string | undefined; ask: string }): string {
  if (name !== undefined) return name;
  const [firstLine = ''] = ask.trimStart().split(/\r?\n/, 1);
  const start = [...firstLine].slice(0, longest).join('').trimEnd();
  return start || [...ask].slice(0, longest).join('');
}
