import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * The metadata that npm needs to publish a package. npm accepts a package with provenance only from the repository that
 * it names. The root's package.json or the publishing build names it.
 */
export function publishedFrom(directory: string) {
  const publishConfig = { access: 'public', provenance: true };
  const { repository: named } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository?: string };
  const { GITHUB_SERVER_URL: host, GITHUB_REPOSITORY: name } = process.env;
  const url = named ?? (host && name ? `${host}/${name}` : null);
  if (url === null) return { publishConfig };
  return {
    repository: { type: 'git', url: `git+${url}.git`, directory },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    publishConfig,
  };
}
