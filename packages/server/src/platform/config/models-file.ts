import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type OwnModel, OwnModelsFault, ownModels } from '@vestra/models/catalogue/own-models';
import { StartFailure } from '../db/start-failure.ts';

/** What the operator's file says of models, as JSON or YAML. A file that cannot be used stops the start. */
export function readModelsFile(file: string, keyNamed: (variable: string) => string | undefined): OwnModel[] {
  const named = `VESTRA_MODELS_FILE (${file})`;
  try {
    return ownModels(readYaml(readFileSync(file, 'utf8')), keyNamed);
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    if (error instanceof OwnModelsFault) throw new StartFailure(`${named} is not valid. ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR';
    throw new StartFailure(`${named} cannot be read: ${isMissing ? code : 'it is neither JSON nor YAML'}.`);
  }
}

/** Settings are read before anything may wait, and a start without such a file needs no YAML: it is required, not imported. */
function readYaml(text: string): unknown {
  const library = fileURLToPath(new URL('./yaml.ts', import.meta.url));
  const { parse }: typeof import('yaml') = createRequire(import.meta.url)(library);
  return parse(text, { maxAliasCount: 0 });
}
