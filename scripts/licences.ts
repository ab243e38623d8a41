import { globSync, readFileSync } from 'node:fs';

/** The licences of the bundled packages, which must be distributed with them. */
export function licencesOf(files: readonly string[]): string {
  const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const [file] = globSync(`${folder}/{LICENSE,LICENCE,license,licence,COPYING}*`);
    return { heading: `## ${name} ${version} (${license})`, text: file ? readFileSync(file, 'utf8').trim() : '' };
  });
  packages.sort((a, b) => (a.heading < b.heading ? -1 : 1));
  return `${['# Licences of what is bundled', ...packages.map(({ heading, text }) => `${heading}\n\n${text}`.trim())].join('\n\n')}\n`;
}
