import type { ImportedAgent } from './imported-agent.ts';
import { oneLine } from './loose-value.ts';
import type { FoundSecret } from './secrets-in-export.ts';

/** `IMPORT.md`: what was taken over, what is left to do, and what has no counterpart. */
export function importReport(
  agent: ImportedAgent,
  { platform, file, secrets }: { platform: string; file: string; secrets: readonly FoundSecret[] },
): string {
  const { title, source, taken, gaps, downloads, model } = agent;
  const models =
    model === null
      ? []
      : [
          {
            what: `Model \`${oneLine(model, 80)}\``,
            instead: 'The file uses the server’s default. `vestra models list` lists others; write one as `model`.',
          },
        ];
  return [
    `# ${oneLine(title, 120)}`,
    `Imported by \`vestra import ${platform}\` from \`${oneLine(file, 120)}\` (${source}).`,
    section('Next steps', stepsOf(agent, secrets)),
    section('Taken over', taken.length > 0 ? taken.map((line) => `- ${line}`) : ['Nothing but the name.']),
    section(
      'Files to download',
      downloads.length === 0
        ? []
        : table(
            ['file', 'where', 'put it into'],
            downloads.map(({ what, where, to }) => [what, where, `\`${to}/\``]),
          ),
    ),
    section(
      'Secrets',
      secrets.length === 0
        ? []
        : [
            'The export contained these credentials. They were not written to this folder; their names replace them. Anybody who has the export can read them, so create new ones at their provider.',
            '',
            ...table(
              ['name', 'place in the export', 'store it with'],
              secrets.map(({ name, where }) => [
                `\`\${${name}}\``,
                `\`${oneLine(where, 160)}\``,
                isInFile(agent, name) ? `\`vestra secrets set ${name}\`` : 'the environment of your functions',
              ]),
            ),
          ],
    ),
    section(
      'No counterpart',
      gaps.length + models.length === 0
        ? ['Everything was taken over.']
        : table(
            ['in the export', 'do this instead'],
            [...models, ...gaps].map(({ what, instead }) => [what, instead]),
          ),
    ),
  ]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n');
}

/** Only headers of servers are filled in by Vestra. Functions run in your process. */
const isInFile = ({ servers }: ImportedAgent, name: string) => JSON.stringify(servers).includes(`\${${name}}`);

function stepsOf(agent: ImportedAgent, secrets: readonly FoundSecret[]): string[] {
  const { functions, servers, downloads, questions } = agent;
  const isInFolder = (to: string) => downloads.some((each) => each.to === to);
  const steps = [
    'Read `instructions` of `service.yaml`.',
    ...(secrets.length > 0 ? ['Store the [secrets](#secrets) that the file and your functions need.'] : []),
    ...(isInFolder('knowledge') ? ['Download the [files](#files-to-download) into the folder `knowledge`.'] : []),
    ...(isInFolder('files')
      ? ['Upload the files for the computer with `vestra files upload`, and name their ids under `computer.files`.']
      : []),
    ...(functions.length > 0
      ? [
          'Write the functions in `functions.ts`. Each waits for approval: mark those that only read with `read_only: true`, and those that need none with `run_without_asking: true`.',
        ]
      : []),
    ...(servers.length > 0 ? ['Check which tools of the MCP servers may run without approval.'] : []),
    questions.length > 0
      ? 'Say in each test what the agent must answer. Tests were drafted from the questions of the export; `tool_results` gives them the results of functions.'
      : 'Write tests: the export has no questions to draft them from.',
    'Apply the folder: `vestra apply --promote no`, then `vestra dev`.',
  ];
  return steps.map((step, index) => `${index + 1}. ${step}`);
}

const section = (heading: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `## ${heading}\n\n${lines.join('\n')}`;

/** A bar in a cell would end it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
