import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers, PageRequest } from '../../platform/http/handler.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { RepublishLive } from '../versions/versions.ts';
import type { readUpload } from './bundle.ts';
import type { OpenZip } from './open-zip.ts';
import { createSkill, presentBuiltIn, presentSkill, presentVersion, removeSkill, replaceSkill } from './skill.ts';
import { builtInSkills, readCompanySkill } from './skill-files.ts';
import { findSkill, listSkills, listVersions } from './store.ts';

/** Loaded with the first upload: a server that starts needs no rules of skills. */
const read: typeof readUpload = async (...given) => (await import('./bundle.ts')).readUpload(...given);

export function skillRoutes({
  db,
  openZip,
  republishLive,
  jobs,
}: {
  db: Database;
  openZip: OpenZip;
  republishLive: RepublishLive;
  jobs: JobSender;
}): Handlers<'skills'> {
  return {
    list: async ({ caller, query, page }) => {
      // The route lists two sources, so the cursor names its source.
      const after = afterIn(page, query.source);
      if (query.source === 'built_in') {
        const rows = (await builtInSkills()).filter(({ name }) => after === null || name > after);
        return page.of(rows, presentBuiltIn, ({ name }) => ['built_in', name]);
      }
      const rows = await listSkills(db, caller.orgId, { limit: page.limit, below: after });
      return page.of(rows, presentSkill, ({ id }) => ['company', id]);
    },
    create: async ({ origin, query, body, upload, commit }) => {
      // Read the upload before the transaction, which holds a connection and may run more than once.
      const bundle = await read({ body, upload }, openZip);
      return commit(async (tx) => presentSkill(await createSkill(tx, origin, bundle, query.slug)));
    },
    get: async ({ caller, params }) => {
      const builtIn = (await builtInSkills()).find(({ name }) => name === params.skill_id);
      if (builtIn) return { ...presentBuiltIn(builtIn), files: builtIn.files.map(withSize) };
      const found = await readCompanySkill(db, caller.orgId, params.skill_id);
      if (!found) throw fail('skill_not_found');
      return { ...presentSkill(found.row), files: found.files };
    },
    replace: async ({ origin, params, query, body, upload }) => {
      const bundle = await read({ body, upload }, openZip);
      const put = { skillId: params.skill_id, bundle };
      const wanted = { promote: query.promote, republishLive };
      return presentSkill(await transaction(db, (tx) => replaceSkill(tx, origin, put, wanted)));
    },
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeSkill(tx, origin, params.skill_id, { republishLive, jobs }));
      return { object: 'skill', id: params.skill_id, deleted: true };
    },
    versions: async ({ caller, params, page }) => {
      const skill = await findSkill(db, caller.orgId, params.skill_id);
      if (!skill) throw fail('skill_not_found');
      const below = afterIn(page, skill.id);
      const rows = await listVersions(db, skill.id, {
        limit: page.limit,
        below: below === null ? null : Number(below),
      });
      return page.of(rows, presentVersion, (row) => [row.skill_id, String(row.number)]);
    },
  };
}

const withSize = ({ path, content }: { path: string; content: string }) => ({
  path,
  bytes: Buffer.byteLength(content),
  content,
});

/** Returns the position in the cursor, and refuses a cursor of another list. */
function afterIn({ after }: PageRequest, list: string): string | null {
  if (after === null) return null;
  const [madeFor, place] = after;
  if (madeFor !== list) throw fail('invalid_cursor', { param: 'cursor' });
  return place as string;
}
