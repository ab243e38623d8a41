import { type ChangeLive, changeLiveVersions } from '../../agents/versions/index.ts';
import { tellPromoted } from './promotion.ts';
import { dropPending } from './store.ts';

/** Lets live versions go on with changed content, as promotions: a run that was to promote another no longer does. */
export const changeLive: ChangeLive = async (tx, origin, resourceId, next) => {
  for (const { deployment, version } of await changeLiveVersions(tx, origin, resourceId, next)) {
    await dropPending(tx, deployment.id, 'live');
    await tellPromoted(tx, { origin, deployment, version, becameDefault: false });
  }
};
