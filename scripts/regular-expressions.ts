import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { analyse } from 'scslre';

/**
 * Fails for each regular expression that may take more than linear time. One long text would stop the event loop, and
 * with it every request of the process.
 */

/** Patterns whose text is short. Without a file, the reason holds for each use. */
const bounded: readonly { pattern: string; file?: string; reason: string }[] = [
  { pattern: String.raw`\/+$`, reason: 'addresses of settings and schemas have at most 2,048 characters' },
  { pattern: '=+$', reason: 'base64 of a hash or a key' },
  { pattern: '^-+|-+$', reason: 'slugs are cut to 80 characters before' },
  { pattern: String.raw`\.+$`, file: 'server/src/computers/browser/site-rules.ts', reason: 'host names' },
  { pattern: String.raw`\d+$`, file: 'server/src/platform/db/pipeline.ts', reason: 'command tags of PostgreSQL' },
  { pattern: String.raw`\S[^;]*;`, file: 'server/src/platform/db/migrate.ts', reason: 'migrations of this repository' },
  { pattern: String.raw`\0+$`, file: 'server/src/operator/archive/homes-check.ts', reason: 'names in an archive' },
  {
    pattern: String.raw`\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[()|]`,
    file: 'server/src/platform/json-schema/pattern.ts',
    reason: 'patterns of schemas have at most 1,000 characters',
  },
  {
    pattern: String.raw`^[.,;:!?"'“”()[\]…]+|[.,;:!?"'“”()[\]…]+$`,
    file: 'server/src/users/memory/fact.ts',
    reason: 'facts have at most 1,000 characters',
  },
  {
    pattern: String.raw`(?<![\w/+-])(?=[\w/+=-]*[a-z])(?=[\w/+=-]*[A-Z])(?=[\w/+=-]*\d)[\w/+=-]{32,}(?![\w/+=-])`,
    file: 'server/src/users/memory/fact.ts',
    reason: 'facts have at most 1,000 characters',
  },
  {
    pattern: String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`,
    file: 'models/src/offline/facts.ts',
    reason: 'words of 200 characters are removed before',
  },
  {
    pattern: String.raw`#(\w+)|\b([A-Za-z]+[-_][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*|[A-Z]{1,6}\d{2,}|[0-9a-f]{8}-[0-9a-f-]{27})\b`,
    file: 'models/src/offline/facts.ts',
    reason: 'words of 200 characters are removed before',
  },
  {
    pattern: String.raw`[\s.!,;]+$`,
    file: 'models/src/offline/keep-memory.ts',
    reason: 'sentences of more than 300 characters are left out before',
  },
  {
    pattern: String.raw`[\p{L}\p{N}.]+$`,
    file: 'models/src/offline/sentences.ts',
    reason: 'the 40 characters before a dot',
  },
  {
    pattern: String.raw`\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+`,
    file: 'models/src/offline/words.ts',
    reason: 'the second alternative reads what the first one rejects',
  },
];

export type SlowPattern = { line: number; pattern: string };

/** The patterns of a source that may take more than linear time. */
export function slowPatternsIn(file: string, text: string): SlowPattern[] {
  const found: SlowPattern[] = [];
  new Visitor({
    Literal({ start, ...literal }) {
      if (!('regex' in literal) || !literal.regex) return;
      const { pattern, flags } = literal.regex;
      const { reports } = analyse({ source: pattern, flags }, { reportTypes: { Move: true, Self: true, Trade: true } });
      if (reports.length > 0) found.push({ line: text.slice(0, start).split('\n').length, pattern });
    },
  }).visit(parseSync(file, text).program);
  return found;
}

function run(): void {
  const packages = join(import.meta.dirname, '../packages');
  const files = globSync(
    ['{agent,contract,models,react,server}/src/**/*.{ts,tsx}', 'web/src/{markdown,session}/**/*.{ts,tsx}'],
    {
      cwd: packages,
    },
  ).filter((file) => !/\.(?:test|fixture)\.tsx?$|\/testing\//.test(file));
  const used = new Set<(typeof bounded)[number]>();
  const faults = files.flatMap((file) =>
    slowPatternsIn(file, readFileSync(join(packages, file), 'utf8')).flatMap(({ line, pattern }) => {
      const reason = bounded.find(
        (each) => each.pattern === pattern && (each.file === undefined || each.file === file),
      );
      if (reason) used.add(reason);
      return reason ? [] : [`packages/${file}:${line} /${pattern}/ may take more than linear time.`];
    }),
  );
  const unused = bounded.filter((each) => !used.has(each)).map(({ pattern }) => `No source contains /${pattern}/.`);
  for (const fault of [...faults, ...unused]) console.log(fault);
  if (faults.length + unused.length > 0) process.exitCode = 1;
}

if (import.meta.main) run();
