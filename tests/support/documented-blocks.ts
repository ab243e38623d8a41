/**
 * The blocks of code in a page, and what becomes of each when the page is followed:
 *
 * - `console`, `sh`: typed, line by line. In `console` a line after `$ ` is typed and the others must be shown; `…` stands for anything.
 *   The word `background` leaves it running to the end of the page, `terminal` types it in a pipe and at a terminal.
 * - with `title="name"`: written to that file.
 * - `ts`, `js`: run by Node as a separate program; `continued` puts what the programs before it said in front.
 * - `yaml`, `json`: must be readable, and where it is a part of a deployment file, one that is taken.
 * - any other language: only shown.
 * - after `<!-- not run: why -->`: only shown, for that reason.
 */
export type Block = {
  line: number;
  language: string;
  words: readonly string[];
  /** The file it stands for. */
  title: string | null;
  code: string;
  /** Why it is not run. */
  reason: string | null;
};

export type Command = { command: string; shows: string[] };

export function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(
    /(?:<!-- not run: (?<reason>[^>]+?) -->\s*\n)?^(?<indent> *)```(?<language>\w*)(?<rest>[^\n]*)\n(?<code>[\s\S]*?)^\k<indent>```$/gm,
  );
  return [...found].map((match) => {
    const { reason = null, indent = '', language = '', rest = '', code = '' } = match.groups ?? {};
    const before = markdown.slice(0, match.index + (reason === null ? 0 : match[0].indexOf('```')));
    return {
      line: before.split('\n').length,
      language,
      words: rest
        .replace(/title="[^"]*"/, '')
        .split(' ')
        .filter(Boolean),
      title: /title="([^"]*)"/.exec(rest)?.[1] ?? null,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      reason,
    };
  });
}

/** Whether the commands of a block are typed at a terminal: every block is typed in a pipe, some at a terminal too. */
export const placesOf = ({ words }: Block): boolean[] => (words.includes('terminal') ? [false, true] : [false]);

export const isTyped = ({ language }: Block) => ['console', 'sh'].includes(language);
export const isProgram = ({ language, title }: Block) => ['ts', 'js', 'mjs'].includes(language) && title === null;

/** The commands of a block, each with the lines that it must print. */
export function commandsIn({ language, code }: Block): Command[] {
  const commands: Command[] = [];
  for (const line of wholeLines(code)) {
    const command = /^(?:\$ |(?=(?:npx|npm|vestra|curl) ))([\s\S]+?)(?:\s+# .*)?$/.exec(line)?.[1];
    if (command) commands.push({ command, shows: [] });
    else if (language === 'sh' && /^\s*[^#\s]/.test(line)) commands.push({ command: line, shows: [] });
    else if (language === 'console' && line.trim() !== '') commands.at(-1)?.shows.push(line);
  }
  return commands;
}

/** Joins a line that ends in a backslash with the next one, and the lines of a `curl` body until its quote closes. */
function wholeLines(code: string): string[] {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of code.split('\n')) {
    if (isOpen) lines.push(`${lines.pop()}\n${line}`);
    else lines.push(line);
    const whole = lines.at(-1) ?? '';
    isOpen = whole.endsWith('\\') || (/^(\$ )?curl /.test(whole) && whole.split("'").length % 2 === 0);
  }
  return lines;
}

/** The line as it must stand in what was said. */
export const shown = (line: string): RegExp => new RegExp(`^${line.split('…').map(escaped).join('.*')}$`, 'm');

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** How a command ends that does what its page shows: `ask` in a script says by 5 that somebody is waited for. */
export const exitCodeOf = ({ command, shows }: Command): number =>
  command.includes('vestra ask ') && shows.some((line) => line.startsWith('? ')) ? 5 : 0;

/** `org_…` in a command is the last such id that was said before it. */
export function withIds(command: string, said: string): string {
  return command.replace(/\b([a-z]{2,5}_)…/g, (whole, prefix: string) => {
    const ids = said.match(new RegExp(`\\b${prefix}\\w+`, 'g'));
    return ids?.at(-1) ?? whole;
  });
}
