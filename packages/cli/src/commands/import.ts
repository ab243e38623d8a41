import { misuse } from '../fault.ts';
import type { LocalInvocation } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';

const platforms = ['openai', 'dify', 'langgraph'] as const;

/** Turns an export of another platform into a folder with a deployment file. It calls no server. */
export async function importExport({ terminal, isJson, words, flags, settings }: LocalInvocation): Promise<void> {
  const [given = '', file = ''] = words;
  const platform = platforms.find((each) => each === given);
  if (!platform) throw misuse(`There is no import from \`${given}\`: write openai, dify or langgraph.`, '<platform>');
  // Loaded here, since no other command reads exports.
  const { importFolders } = await import('../import/import-folders.ts');
  const { url } = await settings();
  const written = await importFolders({
    platform,
    cwd: terminal.cwd,
    file,
    assistant: flags.assistant as string | undefined,
    out: flags.out as string | undefined,
    serverUrl: url,
  });
  if (isJson) return printJson(terminal, { imported: written });
  for (const { folder, files, gaps, secrets } of written) {
    terminal.out(`${terminal.paint('green', '✔')} Wrote ${folder}: ${files.join(', ')}\n`);
    if (secrets.length > 0)
      terminal.out(
        `  The export contained credentials, which were not written: store ${secrets.join(', ')} as secrets.\n`,
      );
    if (gaps > 0)
      terminal.out(`  ${gaps} ${gaps === 1 ? 'part has' : 'parts have'} no counterpart: read ${folder}/IMPORT.md\n`);
  }
  const [first] = written;
  if (first) terminal.err(`Read IMPORT.md, then: vestra apply ${first.folder} --promote no\n`);
}
